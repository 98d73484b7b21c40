import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { onlyMarker } from "../cohort/cohort.ts";
import { type Complaint, DtmError } from "../errors.ts";
import { dayNumber, timeUnitOf, writeDay } from "./calendar.ts";
import { describeTimes } from "./origin.ts";
import { previewTable } from "./preview.ts";
import { readCohort } from "./read-cohort.ts";
import type { ReadCohortOptions } from "./read-options.ts";
import { readDate } from "./written-dates.ts";

function refused(text: string, options: ReadCohortOptions = {}): readonly Complaint[] {
  try {
    readCohort(text, options);
  } catch (error) {
    if (error instanceof DtmError) return error.complaints;
    throw error;
  }
  throw new Error("the text was accepted");
}

const table = (...rows: string[]) => `id,date,value\n${rows.join("\n")}\n`;
const timesOf = (text: string, options: ReadCohortOptions = {}) =>
  Array.from(onlyMarker(readCohort(text, options).cohort).times);
const inDays = { marker: { timeUnit: "days" } };

describe("days of the calendar", () => {
  it("are those of Date.UTC, there and back", () => {
    fc.assert(
      fc.property(fc.integer({ min: -60_000, max: 80_000 }), (days) => {
        const date = new Date(days * 86_400_000);
        expect(dayNumber(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())).toBe(days);
        expect(writeDay(days)).toBe(date.toISOString().slice(0, 10));
      }),
      { numRuns: 5000 },
    );
  });

  it("know their units in other languages", () => {
    const words = ["Monat", "mois", "meses", "mesi", "maanden", "Jahre", "années", "semaines", "giorni"];
    expect(words.map(timeUnitOf)).toEqual([...Array(5).fill("months"), "years", "years", "weeks", "days"]);
  });

  it("know their units by many names", () => {
    expect(["yr", "Months", "wk", "d", "fortnight"].map(timeUnitOf)).toEqual([
      "years",
      "months",
      "weeks",
      "days",
      undefined,
    ]);
  });
});

describe("readDate", () => {
  const day = dayNumber(2020, 1, 31);

  it.each([
    "Fri 31 Jan 2020",
    "Friday, January 31, 2020",
    "Fr., 31. Januar 2020 10:15",
    "vendredi 31 janvier 2020",
    "31 janv. 2020",
    "viernes, 31 de enero de 2020",
    "venerdì 31 gennaio 2020",
    "vrijdag 31 januari 2020",
    "sexta-feira, 31 de janeiro de 2020",
    "2020-01-31",
    "2020/01/31",
    "2020.1.31",
    "2020-01-31T10:15:00",
    "2020-01-31 10:15",
    "2020-01-31T23:30:00-05:00",
    "2020-01-31T00:10:00.123456+0530",
    "2020-01-31T00:00:00Z",
    "2020-01-31 12:00:00 UTC",
    "31-Jan-2020",
    "31 January 2020",
    "31JAN2020",
    "31JAN2020:10:30:00",
    "Jan 31, 2020",
    "31-jan-2020 08:00",
    "31. Januar 2020",
  ])("reads %s as the day that is written", (cell) => {
    expect(readDate(cell)).toMatchObject({ kind: "day", day });
  });

  it.each([
    ["31/01/2020", { kind: "ordered", first: 31, second: 1, year: 2020 }],
    ["1.2.2020 10:15", { kind: "ordered", first: 1, second: 2, timed: true }],
    ["01/31/2020 2:15 PM", { kind: "ordered", first: 1, second: 31 }],
    ["31.01.20", { kind: "short", parts: [31, 1, 20] }],
    ["31-Jan-20", { kind: "short", parts: [31, 1, 20], order: "dmy" }],
    ["2020-03", { kind: "month", year: 2020, month: 3 }],
    ["3 févr. 2020", { kind: "day", day: dayNumber(2020, 2, 3) }],
    ["1er août 2020", { kind: "day", day: dayNumber(2020, 8, 1) }],
    ["lundi 3 février 2020", { kind: "day", day: dayNumber(2020, 2, 3) }],
    ["Mar 3 2020", { kind: "day", day: dayNumber(2020, 3, 3) }],
    ["mar 3 mrt 2020", { kind: "day", day: dayNumber(2020, 3, 3) }],
    ["marzo de 2020", { kind: "month", year: 2020, month: 3 }],
    ["Mon 03/02/2020", { kind: "ordered", first: 3, second: 2, year: 2020 }],
    ["5. Okt 2020", { kind: "day", day: dayNumber(2020, 10, 5) }],
    ["Mar 2020", { kind: "month", year: 2020, month: 3 }],
    ["2021-02-30", { kind: "none" }],
    ["31/13/2020", { kind: "none" }],
    ["2020-01-31T25:00", { kind: "none" }],
    ["9999-12-31", { kind: "none" }],
  ])("says of %s what it can be", (cell, found) => {
    expect(readDate(cell)).toMatchObject(found);
  });

  it.each([
    "3 jui 2020",
    "Xyz 3 Feb 2020",
    "Mon",
    "",
    "71",
    "2020",
    "1.5",
    "10:15",
    "2020-01-31x",
    "31 mg 2020",
    "1-2-3",
    "p-2020-01-31",
  ])("takes '%s' for no date", (cell) => {
    expect(readDate(cell)).toBeUndefined();
  });

  it("never takes one date for another, in whatever order it is written", () => {
    const days = fc.integer({ min: dayNumber(1900, 1, 1), max: dayNumber(2100, 12, 31) });
    fc.assert(
      fc.property(days, fc.constantFrom("/", ".", "-"), (one, mark) => {
        const [y, m, d] = writeDay(one).split("-");
        for (const [order, text] of [
          ["dmy", [d, m, y].join(mark)],
          ["mdy", [m, d, y].join(mark)],
        ] as const) {
          const origin = "date:1970-01-01";
          expect(timesOf(table(`p,${text},1`, `q,${text},2`), { ...inDays, origin, dateOrder: order })).toEqual([
            one,
            one,
          ]);
        }
      }),
    );
  });
});

describe("readCohort with dates", () => {
  const VISITS = table("p1,2020-01-01,71", "p1,2020-12-31,70", "p2,2019-06-01,80", "p2,2019-07-01,79");

  it("counts years from the first visit, and says so", () => {
    const read = readCohort(VISITS);
    expect(Array.from(onlyMarker(read.cohort).times)).toEqual([0, 365 / 365.25, 0, 30 / 365.25]);
    expect(onlyMarker(read.cohort).marker.timeUnit).toBe("years");
    expect(read.columns).toMatchObject({ time: "date", origin: "first", dates: true });
    expect(read.notes.join(" ")).toContain("since the first visit of each individual. Choose otherwise by --origin");
  });

  it("says how times were counted, for methods", () => {
    const months = describeTimes({ origin: "column:onset", dates: true }, "months");
    expect(months).toBe('Times are months (of 30.4375 days), by calendar days, since "onset" of each individual.');
    expect(describeTimes({ origin: "date:2010-01-31", dates: true }, "days")).toContain("since 2010-01-31.");
    expect(describeTimes({ origin: "first" }, "")).toBe("Times are numbers, since the first visit of each individual.");
    expect(describeTimes({}, "years")).toBe("");
  });

  it.each([
    ["months", 30.4375],
    ["weeks", 7],
    ["days", 1],
  ])("counts %s if asked to", (timeUnit, days) => {
    expect(timesOf(VISITS, { marker: { timeUnit } })).toEqual([0, 365 / days, 0, 30 / days]);
  });

  it("takes a date as origin, and tells of visits before it", () => {
    const read = readCohort(VISITS, { ...inDays, origin: "date:2020-01-01" });
    expect(Array.from(onlyMarker(read.cohort).times)).toEqual([0, 365, -214, -184]);
    expect(read.notes.join(" ")).toContain("2 observations before the origin");
    expect(read.warnings).toEqual([]);
  });

  it("takes a column of visits or of individuals as origin, in its own order of day and month", () => {
    const rows = ["p1,2020-01-01,71,31/12/2019", "p1,2020-01-11,70,31/12/2019", "p2,2019-06-01,80,01/05/2019"];
    const text = `id,date,value,onset\n${rows.join("\n")}\n`;
    expect(timesOf(text, { ...inDays, origin: "column:onset" })).toEqual([1, 11, 31]);
    const subjects = { ids: ["p2", "p1"], columns: [{ name: "Onset", cells: ["2019-05-01", "2019-12-31"] }] };
    const read = readCohort(VISITS, { ...inDays, origin: "column:onset", subjects });
    expect(Array.from(onlyMarker(read.cohort).times)).toEqual([1, 366, 31, 61]);
    expect(read.columns.origin).toBe("column:onset");
  });

  it("refuses individuals without an origin by their count, or leaves them out", () => {
    const subjects = { ids: ["p1"], columns: [{ name: "onset", cells: ["2019-12-31"] }], file: "s.csv" };
    const asked = { ...inDays, origin: "column:onset", subjects } as const;
    const [complaint] = refused(VISITS, asked);
    expect(complaint).toMatchObject({ code: "missing-origin", where: { file: "s.csv", column: "onset" } });
    expect(complaint.received).toBe('none for 1 of 2 individuals ("p2")');
    const read = readCohort(VISITS, { ...asked, onBad: "leave-out" });
    expect(read.cohort.ids).toEqual(["p1"]);
    expect(read.numRowsLeftOut).toBe(2);
    expect(read.leftOut).toEqual([{ code: "missing-origin", count: 2 }]);
    expect(refused(VISITS, { ...asked, origin: "column:birth" })[0].code).toBe("missing-column");
    const twice = {
      ids: ["p1", "p1", "p2"],
      columns: [{ name: "onset", cells: ["2019-12-31", "2019-12-30", "2019-01-01"] }],
    };
    expect(refused(VISITS, { ...asked, subjects: twice })[0].code).toBe("contradicting-origin");
  });

  it("subtracts numbers from numbers, and never mixes both", () => {
    const text = "id,age,value,onset\na,50,1,48\na,51,2,48\nb,60,3,60.5\n";
    expect(timesOf(text, { origin: "column:onset" })).toEqual([2, 3, -0.5]);
    expect(timesOf(text, { origin: "first" })).toEqual([0, 1, 0]);
    expect(refused(text, { origin: "date:2020-01-01" })[0].code).toBe("mixed-time");
    const dated = "id,date,value,onset\na,2020-01-01,1,48\n";
    expect(refused(dated, { origin: "column:onset" })[0].code).toBe("mixed-time");
  });

  it("reads the next table alike by its columns", () => {
    const { columns, cohort } = readCohort(VISITS, { origin: "date:2020-01-01", marker: { timeUnit: "months" } });
    const again = readCohort(VISITS, { columns, marker: onlyMarker(cohort).marker });
    expect(again.cohort).toEqual(cohort);
    const numbers = readCohort("id,date,value\na,0,1\na,2,2\n", { columns, marker: onlyMarker(cohort).marker });
    expect(Array.from(onlyMarker(numbers.cohort).times)).toEqual([0, 2]);
    expect(numbers.notes.join(" ")).toContain("Times are numbers here");
  });

  it("asks one question about a column whose order is open", () => {
    const rows = Array.from({ length: 14 }, (_, k) => `p${k},0${1 + (k % 9)}/02/2020,7${k}`);
    const complaints = refused(table(...rows));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatchObject({ code: "ambiguous-date", where: { line: 2, column: "date" } });
    expect(complaints[0].received).toContain('"01/02/2020" is 2020-02-01 day first and 2020-01-02 month first');
    expect(complaints[0].remedy).toContain("--date-order dmy");
  });

  it("lets one cell decide for all, and refuses two that contradict each other by their lines", () => {
    const open = ["p1,01/02/2020,71", "p2,03/02/2020,70"];
    expect(timesOf(table(...open, "p1,13/02/2020,71"), inDays)).toEqual([0, 12, 0]);
    expect(timesOf(table(...open, "p1,02/13/2020,71"), inDays)).toEqual([0, 42, 0]);
    const complaints = refused(table(...open, "p1,13/02/2020,71", "p1,02/14/2020,7"));
    expect(complaints).toHaveLength(1);
    expect(complaints[0].code).toBe("mixed-dates");
    expect(complaints[0].received).toMatch(/line 4.*line 5/);
    expect(refused(table(...open, "p1,13/02/2020,71"), { dateOrder: "mdy" })[0]).toMatchObject({
      code: "no-such-date",
      where: { line: 4 },
    });
  });

  it("does not let dates of one mark decide for those of another", () => {
    const rows = ["p,22.08.2015,1", "p,05/08/2015,2", "q,01/09/2015,3"];
    const complaints = refused(table(...rows));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatchObject({ code: "ambiguous-date", where: { line: 3 } });
    expect(complaints[0].received).toContain("2 like");
    expect(timesOf(table(...rows), { ...inDays, dateOrder: "dmy" })).toEqual([0, 17, 0]);
  });

  it("asks where a spreadsheet seems to have swapped day and month of the dates that it could read", () => {
    const swapped = [3, 5, 7, 9, 11].map((day) => `p,2020-0${(day % 6) + 2}-${String(day).padStart(2, "0")},${day}`);
    const left = [14, 17, 20, 23, 26].map((day) => `q,${day}/05/2020,${day}`);
    const complaints = refused(table(...swapped, ...left));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatchObject({ code: "mixed-dates", where: { line: 7 } });
    for (const more of ["r,2020-01-13,1", "r,05/05/2020,1", "r,12/05/2020,1"]) {
      const isFine = more !== "r,05/05/2020,1";
      const read = () => timesOf(table(...swapped, ...left, more));
      if (isFine) expect(read()).toHaveLength(11);
      else expect(read).toThrow(/swaps day and month/);
    }
    expect(timesOf(table(...swapped, ...left), { dateOrder: "dmy" })).toHaveLength(10);
  });

  it("swaps day and month back where that is asked for, and only in columns that can be swapped", () => {
    // 5 March as a spreadsheet left it, which read day and month the other way round.
    const days = ["p,2020-05-03,1", "p,2020-07-03,2", "p,2020-09-03,3", "p,2020-11-03,4", "p,2020-12-03,5"];
    const texts = ["13", "15", "17", "19", "21"].map((day) => `p,${day}/03/2020,6`);
    const options = { ...inDays, origin: "date:2020-03-01", swappedDates: true } as const;
    expect(timesOf(table(...days, ...texts), options)).toEqual([4, 6, 8, 10, 11, 12, 14, 16, 18, 20]);
    expect(readCohort(table(...days, ...texts), options).notes).toContainEqual(
      expect.stringContaining("Day and month of 5 dates such as 2020-05-03 were swapped back."),
    );
    expect(timesOf(table("p,2020-03-05,1", "p,2020-03-31,2"), options)).toEqual([4, 30]);
  });

  it("asks one question about years of two digits, months alone and years alone", () => {
    const short = table("p1,31/01/20,1", "p1,28/02/21,2", "p2,01/01/99,3");
    expect(refused(short).map((c) => c.code)).toEqual(["short-year"]);
    expect(timesOf(short, { ...inDays, dateOrder: "dmy", yearPivot: 30, origin: "date:1999-01-01" })).toEqual([
      7700, 8094, 0,
    ]);
    const partial = table("p1,2020-03,1", "p1,2020-04-15,2", "p2,2020,3", "p2,2020-07-02,4");
    const [complaint, ...others] = refused(partial);
    expect(others).toEqual([]);
    expect(complaint).toMatchObject({ code: "partial-date", where: { line: 2 } });
    expect(complaint.remedy).toContain("--partial-dates middle");
    expect(timesOf(partial, { ...inDays, partialDates: "middle" })).toEqual([0, 31, 0, 1]);
  });

  it("reads 20200131 where name and all cells say so, or if asked to", () => {
    expect(timesOf(table("p1,20200131,1", "p1,20200301,2"), inDays)).toEqual([0, 30]);
    const other = "id,time,value\np1,20200131,1\np1,20200301,2\n";
    expect(timesOf(other)).toEqual([20200131, 20200301]);
    expect(readCohort(other).warnings[0].code).toBe("spreadsheet-dates");
    expect(timesOf(other, { ...inDays, dateOrder: "ymd" })).toEqual([0, 30]);
    expect(refused(table("p1,20200131,1", "p1,20200230,2"))[0].code).toBe("no-such-date");
    expect(timesOf(table("p1,0,1", "p1,1,2"))).toEqual([0, 1]);
  });

  it("complains once of numbers among dates, and of a unit that is none", () => {
    const mixed = refused(table("p1,2020-01-01,1", "p1,5,1", "p1,6,1"));
    expect(mixed.map((c) => c.code)).toEqual(["mixed-time"]);
    expect(refused(VISITS, { marker: { timeUnit: "moons" } })[0].code).toBe("dates-need-origin");
    expect(() => readCohort(VISITS, { origin: "onset" })).toThrow(expect.objectContaining({ code: "option" }));
  });

  describe("in any time zone", () => {
    const zone = process.env.TZ;
    afterEach(() => {
      process.env.TZ = zone;
    });
    it.each(["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Europe/Berlin"])("%s", (other) => {
      process.env.TZ = other;
      const rows = ["p1,2020-03-28T23:30:00-05:00,1", "p1,2020-03-29T00:30:00+14:00,2", "p1,2011-12-31,3"];
      expect(timesOf(table(...rows), inDays)).toEqual([0, 3010, 3011]);
    });
  });
});

describe("a preview of dates", () => {
  it("can be sent between threads", () => {
    const preview = previewTable(table("p1,01/02/2020,71", "p1,03/04/2020,70"));
    expect(structuredClone(preview)).toEqual(preview);
  });

  it("gives both readings of an open column, and the order of one that shows it", () => {
    const { dates } = previewTable(table("p1,01/02/2020,71", "p1,03/04/2020,70")).columns[1];
    expect(dates).toMatchObject({
      form: "ambiguous",
      readings: [{ cell: "01/02/2020", dmy: "2020-02-01", mdy: "2020-01-02" }, {}],
    });
    expect(previewTable(table("p1,01/02/2020,71", "p1,30/04/2020,70")).columns[1].dates).toMatchObject({
      form: "clear",
      order: "dmy",
    });
    expect(previewTable(table("p1,2020-01-31 10:00,71")).columns[1].dates).toMatchObject({
      form: "clear",
      timed: true,
    });
    expect(previewTable(table("p1,31/01/20,71")).columns[1].dates?.form).toBe("short");
    expect(previewTable(table("p1,2020-03,71")).columns[1].dates?.form).toBe("partial");
    expect(previewTable(table("p1,3,71")).columns[1].dates).toBeUndefined();
  });

  it("gives cells of both orders of a column that contradicts itself, and both readings of a swapped one", () => {
    const both = previewTable(table("p1,22/08/2015,1", "p1,08/23/2015,2", "p2,01/02/2015,3")).columns[1].dates;
    expect(both).toMatchObject({ form: "mixed" });
    expect(both?.readings).toEqual([
      { cell: "22/08/2015", dmy: "2015-08-22", mdy: "no date" },
      { cell: "08/23/2015", dmy: "no date", mdy: "2015-08-23" },
    ]);
    const days = [3, 5, 7, 9, 11].map((day) => `p,2020-02-${String(day).padStart(2, "0")},1`);
    const texts = [13, 15, 17, 19, 21].map((day) => `p,${day}/03/2020,6`);
    const { dates } = previewTable(table(...days, ...texts)).columns[1];
    expect(dates).toMatchObject({ form: "swapped", order: "dmy" });
    expect(dates?.swaps?.[0]).toEqual({ cell: "2020-02-03", back: "2020-03-02" });
  });
});

describe("cells that look like dates, or are times of day", () => {
  it("are one complaint, however many", () => {
    const odd = refused(table(...Array.from({ length: 40 }, (_, k) => `a,${k % 28} 月x 2020,${k}`)));
    expect(odd).toHaveLength(1);
    expect(odd[0]).toMatchObject({ code: "not-a-number", where: { column: "date" } });
    const clocks = refused("id,time,value\na,10:30,1\na,11:30,2\nb,9:05,3\n");
    expect(clocks).toHaveLength(1);
    expect(clocks[0].remedy).toContain("times of day");
  });
});

describe("many rows", () => {
  const numRows = 40_000;
  const dated = Array.from(
    { length: numRows },
    (_, k) => `p${k % 1000},${writeDay(18_000 + Math.floor(k / 1000))},${k}`,
  );

  it("are all counted, whatever they are kept in", () => {
    const times = timesOf(table(...dated), inDays);
    expect(times).toHaveLength(numRows);
    expect(times.every((time, k) => time === k % 40)).toBe(true);
  });

  it("are all left out where an origin is lacking", () => {
    const rows = dated.map((row, k) => `${row},${k % 1000 === 7 ? "" : "2019-01-01"}`);
    const text = `id,date,value,onset\n${rows.join("\n")}\n`;
    const { cohort } = readCohort(text, { ...inDays, origin: "column:onset", onBad: "leave-out" });
    expect(cohort.ids).toHaveLength(999);
    expect(onlyMarker(cohort).times.length).toBe(numRows - 40);
  });
});
