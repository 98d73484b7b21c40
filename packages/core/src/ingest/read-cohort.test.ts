import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numIndividuals, numObservations, onlyMarker, selectIndividuals, selectVisits } from "../cohort/cohort.ts";
import { type Complaint, DtmError } from "../errors.ts";
import { inspectCohort } from "./quality.ts";
import { readCohort } from "./read-cohort.ts";
import type { ReadCohortOptions } from "./read-options.ts";

/** Complaints of a refused text; each must have all four parts. */
function refused(text: string, options: ReadCohortOptions = {}): readonly Complaint[] {
  try {
    readCohort(text, options);
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    for (const { expected, received, remedy, severity } of error.complaints) {
      expect([expected, received, remedy].every((part) => part.length > 0)).toBe(true);
      expect(severity).toBe("refuse");
    }
    expect(error.code).toBe(error.complaints[0].code);
    return error.complaints;
  }
  throw new Error("the text was accepted");
}

const table = (...rows: string[]) => `id,time,value\n${rows.join("\n")}\n`;
const GOOD = table("p1,0,71", "p1,1,70", "p2,0.5,80", "p3,2,65.5");
const good = readCohort(GOOD).cohort;

/** A table with one cell of `value` or `time` in question, on line 3. */
const withValue = (cell: string) => table("p1,0,71", `p2,1,${cell}`, "p3,2,65.5");
const withTime = (cell: string) => table("p1,0,71", `p2,${cell},70`, "p3,2,65.5");

describe("readCohort takes the same cohort from", () => {
  const lines = GOOD.trimEnd().split("\n");
  it.each([
    ["a byte-order mark", `\ufeff${GOOD}`],
    ["no newline at the end", GOOD.trimEnd()],
    ["CRLF", GOOD.replaceAll("\n", "\r\n")],
    ["bare CR", GOOD.replaceAll("\n", "\r")],
    ["mixed line ends", GOOD.replace("\n", "\r\n")],
    ["tabs", GOOD.replaceAll(",", "\t")],
    ["vertical bars", GOOD.replaceAll(",", "|")],
    ["semicolons and decimal commas", GOOD.replaceAll(",", ";").replaceAll(".", ",")],
    ["blank lines in the middle and at the end", `${lines.join("\n\n")}\n\n\n`],
    ["rows in another order", [lines[0], ...lines.slice(1).reverse()].join("\n")],
    ["columns in another order", lines.map((line) => line.split(",").reverse().join(",")).join("\n")],
    ["names in other case and with spaces", GOOD.replace("id,time,value", " ID ,Time,value")],
    ["an unnamed index column", lines.map((line, k) => `${k === 0 ? "" : k},${line}`).join("\n")],
    [
      "quoted cells, one with a line break",
      GOOD.replace("id,", 'id,"a ""note""",').replaceAll(/^(p\d)/gm, '"$1","x\ny"'),
    ],
    ["spaces and no-break spaces round numbers", GOOD.replaceAll("71", " 71\u00a0")],
    ["other ways to write numbers", GOOD.replace("71", "7.1E+01").replace("0.5", ".5").replace("80", "+80.")],
  ])("%s", (_, text) => {
    expect(readCohort(text).cohort).toEqual(good);
  });
});

describe("readCohort refuses", () => {
  it.each<[string, string, string, number | undefined]>([
    ["an empty text", "", "empty-file", 1],
    ["blank lines only", "\n \n", "empty-file", 1],
    ["a header without rows", "id,time,value\n", "no-rows", undefined],
    ["a web page", "<!DOCTYPE html><html></html>", "not-text", 1],
    ["a workbook", "PK\u0003\u0004abc", "not-text", 1],
    ["a control character in an id", table("p1\u0000,0,71"), "control-character", 2],
    ["a row with too few fields", table("p1,0,71", "p2,1"), "ragged-row", 3],
    ["a row with too many fields", table("p1,0,71", "p2,1,2,3"), "ragged-row", 3],
    ["a row with another delimiter", table("p1,0,71", "p2,1,71", "p3;1;2"), "ragged-row", 4],
    ["a second table with other columns", `${GOOD}\na,b\n1,2\n`, "ragged-row", 7],
    ["an unclosed quote, where it was opened", `${GOOD}"p4,0,71\n${"p5,0,71\n".repeat(5000)}`, "unclosed-quote", 6],
    ["text after a quote", table("p1,0,71", '"p1"x,0,71', "p2,0,1"), "text-after-quote", 3],
    ["a repeated column", "id,time,value,value\np1,0,1,2\n", "duplicate-column", 1],
    ["no header", "p1,0,71\np2,1,70\n", "no-header", 1],
    ["wide layout", "id,value_0,value_1\np1,1,2\n", "missing-column", 1],
    ["a line of units", table(",years,mg/dL", "p1,0,71"), "not-a-number", 2],
    ["an empty id", table("p1,0,1", " ,0,71"), "missing-id", 3],
    ["a very long id", table(`${"x".repeat(2000)},0,71`), "field-too-long", 2],
    ["a value without time", table("p1,0,71", "p1,,71"), "missing-time", 3],
    ["dates, though their model has numbers", table("p1,2020-01-31,71", "p2,2020-02-29,70"), "dates-need-origin", 2],
    ["numbers, then dates", table("p1,0,71", "p2,1,70", "p2,2020-01-31,71"), "mixed-time", 4],
    ["dates and large numbers", table("p1,2020-01-31,71", "p2,15778368,70", "p2,2020-02-29,71"), "mixed-time", 3],
    ["dates and seconds since 1970", table("p1,2020-01-31,71", "p2,1577836800,70"), "mixed-time", 3],
    ["dates that may be two", table("p1,01/02/2020,71", "p1,03/04/2020,70"), "ambiguous-date", 2],
    ["a date among numbers", withTime("01/02/2020"), "mixed-time", 3],
    ["a date that does not exist", withTime("2021-02-30"), "no-such-date", 3],
    ["points and commas as decimal marks", "id;time;value\na;0,5;1\nb;0.5;2\n", "mixed-decimals", 2],
    ["nothing but missing values", table("p1,0,NA", "p2,1,"), "no-rows", undefined],
    ["a letter of an id that was lost before", table("M\ufffdller,0,71"), "not-utf8", 2],
    ["a NUL in a column that is not read", "id,time,value,note\np1,0,71,a\np2,1,70,b\u0000\n", "control-character", 3],
    ["JSON", '[{"id":"p1","time":0,"value":71}]', "unsupported-format", 1],
    ["JSON by lines", '{"id":"p1","time":0,"value":71}\n', "unsupported-format", 1],
    ["a NUL in the header", "id,time,value,no\u0000te\np1,0,71,a\n", "control-character", 1],
    ["points that may separate thousands", "id;time;value\na;0;1.234\nb;1;987\nb;2;2.050\n", "ambiguous-comma", 2],
    ["commas that may separate thousands", "id;time;value\na;0;1,234\nb;1;987\nb;2;2,050\n", "ambiguous-comma", 2],
  ])("%s", (_, text, code, line) => {
    const complaints = refused(text, code === "dates-need-origin" ? { origin: "none" } : {});
    expect(complaints[0].code).toBe(code);
    expect(complaints[0].where.line).toBe(line);
  });

  it.each([
    ["<LOD", "censored-value"],
    [">", "censored-value"],
    ["≤0.3 mg", "censored-value"],
    ["5 mg", "not-a-number"],
    ["71%", "not-a-number"],
    ["~70", "not-a-number"],
    ['"71,2"', "not-a-number"],
    ['"1,234.5"', "not-a-number"],
    ['"1.234,5"', "not-a-number"],
    ["0x1F", "not-a-number"],
    ["0b11", "not-a-number"],
    ["1_000", "not-a-number"],
    ["1e", "not-a-number"],
    ["--1", "not-a-number"],
    ["1 2", "not-a-number"],
    ["5\u22122", "not-a-number"],
    ["Infinity", "not-finite"],
    ["-inf", "not-finite"],
    ["1e400", "not-finite"],
    ["1e-400", "underflow"],
    ["high", "not-a-number"],
    ["TRUE", "not-a-number"],
    ["#DIV/0!", "not-a-number"],
    ["2020-01-31", "not-a-number"],
  ])("the value %s with its place", (cell, code) => {
    const [complaint] = refused(withValue(cell), { file: "visits.csv" });
    expect(complaint.code).toBe(code);
    expect(complaint.where).toEqual({ file: "visits.csv", line: 3, column: "value", columnNumber: 3 });
    expect(complaint.received).toContain(cell.replaceAll('"', ""));
  });

  it("names what it thinks went wrong", () => {
    const remedy = (cell: string) => refused(withValue(cell))[0].remedy;
    expect(remedy('"71,2"')).toContain("decimal comma");
    expect(remedy('"1,234.5"')).toContain("thousands separators");
    expect(remedy("#N/A")).toContain("spreadsheet");
    expect(remedy("2020-01-31")).toContain("columns swapped");
    const units = refused(table("p0,years,mg/dL", "p1,0,71"));
    expect(units.map((c) => c.where.line)).toEqual([2, 2]);
    expect(units[0].remedy).toContain("skipLines");
  });

  it.each([
    ["time", "Apr-18", "2020-01-31"],
    ["time", "2018-W15", "2020-01-31"],
    ["time", "3m", "--time-unit"],
    ["time", "0.27 years", "--time-unit"],
    ["value", "69.0%", "--unit %"],
    ["value", "71 mg/dL", "--unit"],
    ["value", "true", "1 for true"],
    ["value", "poor", "Give a number"],
  ])("a %s such as %s throughout in one complaint, with what helps", (what, cell, remedy) => {
    const rows = Array.from({ length: 30 }, (_, k) => (what === "time" ? `p${k},${cell},71` : `p${k},${k},${cell}`));
    const [complaint, ...others] = refused(table(...rows, "p99,1,70"));
    expect(others).toEqual([]);
    expect(complaint).toMatchObject({ where: { line: 2, column: what }, received: `"${cell}", in 30 rows` });
    expect(complaint.remedy).toContain(remedy);
    expect(complaint.remedy).not.toContain("skip");
    // Fewer are told line by line.
    expect(refused(table("p1,0,71", rows[0], "p2,1,71", "p2,2,72", rows[1]))).toHaveLength(2);
  });

  it("ids that stand once above their rows, in one complaint", () => {
    const rows = Array.from({ length: 20 }, (_, k) => `${k % 2 === 0 ? `p${k}` : ""},${k},71`);
    const complaints = refused(table(...rows));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatchObject({ code: "missing-id", received: "an empty cell, in 10 rows" });
    expect(complaints[0].remedy).toContain("merged");
  });

  it("shows three cells of a column that is bad throughout, and the lines of others", () => {
    const rows = Array.from({ length: 30 }, (_, k) => `p${k},${k}m,${k === 7 ? "low" : 71}`);
    const complaints = refused(table(...rows));
    expect(complaints.map(({ received, where }) => [received, where.line])).toEqual([
      ['30 cells such as "0m", "1m", "2m"', 2],
      ['"low"', 9],
    ]);
  });

  it("advises to skip a first line of units only where the next line is good", () => {
    const complaints = refused(table("p0,years,mg/dL", "p1,0,high", "p2,0,71"));
    const isAdvised = (name: string) => complaints.find(({ where }) => where.column === name)?.remedy.includes("skip");
    expect([isAdvised("time"), isAdvised("value")]).toEqual([true, false]);
  });

  it("a column that is not there, naming the columns found and the nearest name", () => {
    const [complaint] = refused("pid,time,value\np1,0,71\n", { columns: { id: "id" } });
    expect(complaint.code).toBe("missing-column");
    expect(complaint.received).toContain('"pid", "time", "value"');
    expect(complaint.remedy).toContain('"pid"');
  });

  it("values outside the transform's domain, each with its line", () => {
    const complaints = refused(table("p1,0,0", "p1,1,5", "p2,0,-3"), { marker: { transform: "log" } });
    expect(complaints.map((c) => [c.code, c.where.line])).toEqual([
      ["transform-domain", 2],
      ["transform-domain", 4],
    ]);
  });
});

describe("readCohort, meeting many bad cells", () => {
  const text = table(...Array.from({ length: 400 }, (_, k) => `p${k},${k},${k % 2 === 0 ? "<LOD" : "high"}`));

  it("reports twenty of each kind in words, and all with right totals to programs", () => {
    let caught: unknown;
    try {
      readCohort(text);
    } catch (error) {
      caught = error;
    }
    const { message, complaints } = caught as DtmError;
    expect(message.match(/censored-value/g)).toHaveLength(21);
    expect(message.match(/not-a-number/g)).toHaveLength(21);
    expect(message.match(/and 180 more/g)).toHaveLength(2);
    expect(complaints).toHaveLength(400);
    expect(complaints[0].count).toBe(200);
  });

  it("leaves bad rows out only when asked, and counts them", () => {
    const read = readCohort(text + GOOD.slice(GOOD.indexOf("\n") + 1), { onBad: "leave-out" });
    expect(read.cohort).toEqual(good);
    expect(read.numRows).toBe(404);
    expect(read.numRowsLeftOut).toBe(400);
    expect(read.warnings.map((w) => [w.code, w.count, w.where.line])).toEqual([
      ["censored-value", 200, 2],
      ["not-a-number", 200, 3],
    ]);
    for (const { received, remedy } of read.warnings) {
      expect(received).toMatch(/, the first of 200$/);
      expect(remedy).toMatch(/^Such rows are left out\. /);
    }
  });

  it("does not leave out what makes the whole text unreadable", () => {
    expect(refused(`${GOOD}"p4,0,71\n`, { onBad: "leave-out" })[0].code).toBe("unclosed-quote");
  });

  it("says what is wrong where no row is left", () => {
    const asked = { onBad: "leave-out" } as const;
    expect(refused(table("p1,0,x"), asked)).toMatchObject([{ code: "not-a-number", where: { line: 2 } }]);
    expect(refused(table("p1,0,NA"), asked)[0].code).toBe("no-rows");
  });
});

describe("readCohort warns of", () => {
  const codes = (text: string, options: ReadCohortOptions = {}) =>
    readCohort(text, options).warnings.map((w) => w.code);

  it.each(["", "  ", "NA", "N/A", "NaN", "null", "."])("a missing value written as '%s', never taken as 0", (mark) => {
    const read = readCohort(withValue(mark));
    expect(read.warnings).toMatchObject([{ code: "missing-value", count: 1, where: { line: 3 } }]);
    expect(numObservations(read.cohort)).toBe(2);
    expect(read.numRowsLeftOut).toBe(1);
  });

  it("nothing in a good text", () => {
    expect(readCohort(GOOD).warnings).toEqual([]);
  });

  it("ids that differ by spaces only, and merges them", () => {
    const read = readCohort(table("p1,0,1", "p1 ,1,2", "p2,0,3"));
    expect(read.cohort.ids).toEqual(["p1", "p2"]);
    expect(read.warnings).toMatchObject([{ code: "id-whitespace", count: 1, where: { line: 3 } }]);
  });

  it("negative times, day numbers, repeats and same times", () => {
    expect(readCohort(table("p1,-1.5,1", "p1,0,2", "p2,-1,3")).warnings).toMatchObject([
      { code: "negative-time", count: 2, where: { line: 2 } },
    ]);
    expect(codes(table("p1,44197,1", "p1,44228,2"))).toEqual(["spreadsheet-dates"]);
    for (const [a, b] of [
      ["1431907200", "1440201600"],
      ["1431907200000", "1440201600000"],
      ["201505181030", "201508221030"],
    ]) {
      expect(codes(table(`p1,${a},1`, `p1,${b},2`))).toEqual(["spreadsheet-dates"]);
    }
    const repeats = readCohort(table("p1,1,5", "p1,1,6", "p2,1,5", "p2,1,5", "p2,1,5"));
    const expected = [
      { code: "duplicate-rows", count: 2, where: { line: 5 }, received: expect.stringContaining("lines 5 and 6") },
      { code: "same-time", count: 1, where: { line: 3 } },
    ];
    expect(repeats.warnings).toMatchObject(expected);
    expect(numObservations(repeats.cohort)).toBe(3);
    expect(repeats).toMatchObject({ numRowsLeftOut: 2, leftOut: [{ code: "duplicate-rows", count: 2 }] });
    const kept = readCohort(table("p1,1,5", "p1,1,6", "p2,1,5", "p2,1,5", "p2,1,5"), { keepRepeats: true });
    expect(kept.warnings).toMatchObject(expected);
    expect(numObservations(kept.cohort)).toBe(5);
    expect(kept).toMatchObject({ numRowsLeftOut: 0, leftOut: [] });
  });

  it("codes for missing, outliers and values outside a stated range", () => {
    const rows = (extra: string) => table(...Array.from({ length: 60 }, (_, k) => `p${k},${k},${50 + k}`), extra);
    expect(readCohort(rows("q1,1,-999\nq2,2,-999")).warnings).toMatchObject([
      { code: "suspected-missing-code", count: 2, where: { line: 62 } },
    ]);
    expect(readCohort(rows("q1,1,7100")).warnings).toMatchObject([{ code: "outlier", count: 1, where: { line: 62 } }]);
    expect(readCohort(rows("q1,4000,71")).warnings).toMatchObject([
      { code: "far-time", count: 1, where: { line: 62, column: "time" }, received: expect.stringContaining("4000") },
    ]);
    expect(codes(rows("q1,1,99\nq2,1,99"))).toEqual([]);
    expect(readCohort(rows("q1,1,111"), { marker: { limits: [0, 110] } }).warnings).toMatchObject([
      { code: "out-of-range", count: 1 },
    ]);
  });
});

describe("readCohort", () => {
  it("keeps ids as text: 007 and 7, 1e5 and 100000, and names of object properties", () => {
    const ids = ["007", "7", "1e5", "100000", "__proto__", "constructor", "toString", "=1+1"];
    const read = readCohort(table(...ids.map((id) => `${id},0,1`)));
    expect([...read.cohort.ids].sort()).toEqual([...ids].sort());
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("guesses columns by usual names and says so; names given win", () => {
    const text = "patient_id,years,day,fvc\na,0,0,80\nb,1,365,70\n";
    const guessed = readCohort(text, { columns: { value: "fvc" } });
    expect(guessed.columns).toEqual({ id: "patient_id", time: "years", value: "fvc" });
    expect(guessed.notes.join(" ")).toContain('"years" is taken as time');
    expect(readCohort(text, { columns: { value: "fvc", time: "day" } }).columns.time).toBe("day");
    expect(readCohort("subject,t,fvc\na,0,80\n").columns).toEqual({ id: "subject", time: "t", value: "fvc" });
  });

  it("names the marker after its column and keeps transform and units", () => {
    const { cohort } = readCohort("id,time,bili\na,0,80\n", { marker: { transform: "log", unit: "mg/dl" } });
    const { marker } = onlyMarker(cohort);
    expect(marker).toEqual({ name: "bili", unit: "mg/dl", timeUnit: "", transform: "log" });
  });

  it("skips lines when asked, keeping the numbers of later lines", () => {
    const text = table(",years,mg/dL", "p1,0,71", "p2,1,x");
    expect(refused(text, { skipLines: [2] })).toMatchObject([{ where: { line: 4 } }]);
  });

  it("counts physical lines through quoted line breaks", () => {
    const [complaint] = refused('id,note,time,value\np1,"a\n\nb",0,71\r\np2,"c\r\nd",1,x\n');
    expect(complaint.where.line).toBe(5);
  });

  it("takes a decimal comma in a comma file only when told", () => {
    const read = readCohort('id,time,value\np1,"0,5","71,2"\n', { decimal: "," });
    expect([onlyMarker(read.cohort).times[0], onlyMarker(read.cohort).values[0]]).toEqual([0.5, 71.2]);
  });

  it("takes commas as decimal marks where one of them can be nothing else, or when told", () => {
    const values = (text: string, options: ReadCohortOptions = {}) => [
      ...onlyMarker(readCohort(text, options).cohort).values,
    ];
    expect(values("id;time;value\na;0;1,234\na;1;12,5\n")).toEqual([1.234, 12.5]);
    expect(values("id;time;value\na;0,5;1,234\n")).toEqual([1.234]);
    expect(values("id;time;value\na;0;1,234\n", { decimal: "," })).toEqual([1.234]);
    expect(values("id;time;value\na;0;1.234\n", { decimal: "." })).toEqual([1.234]);
    expect(values("id;time;value\na;0;1.234\n", { thousands: "." })).toEqual([1234]);
    expect(values("id;time;value\na;0;1.234\na;1;0.5\n")).toEqual([1.234, 0.5]);
    expect(values("id\ttime\tvalue\na\t0\t1.234\n")).toEqual([1.234]);
  });

  it("takes no point for a decimal mark where the mark is a comma", () => {
    const [complaint] = refused("id;time;value\na;0;1.234\n", { decimal: "," });
    expect(complaint).toMatchObject({ code: "not-a-number", where: { line: 2 } });
    expect(complaint.remedy).toContain("comma");
  });

  it("warns of two units in one column, with the ratio of medians and who has both", () => {
    const rows = Array.from({ length: 90 }, (_, k) => {
      const creatinine = 0.6 + (1.4 * ((k * 37) % 90)) / 90;
      // The last ten individuals write µmol/L throughout, three others at their last visit.
      const other = k >= 60 || k === 2 || k === 5 || k === 8;
      return `p${Math.floor(k / 3)},${k % 3},${other ? 88.4 * creatinine : creatinine}`;
    });
    const [warning, ...more] = readCohort(table(...rows)).warnings;
    expect(more).toEqual([]);
    expect(warning).toMatchObject({ code: "two-units", severity: "warn", count: 33, where: { line: 4 } });
    const ratio = Number(/medians ([\d.]+) times/.exec(warning.received)?.[1]);
    expect(ratio).toBeGreaterThan(75);
    expect(ratio).toBeLessThan(105);
    expect(warning.received).toContain("both in 3 individuals");
  });

  it("sees no second unit in skewed values, nor in a handful of large ones", () => {
    const skewed = Array.from({ length: 200 }, (_, k) => `p${k},${k % 5},${Math.exp(4 * Math.sin(k))}`);
    expect(readCohort(table(...skewed)).warnings.map((w) => w.code)).toEqual([]);
    const scores = Array.from({ length: 200 }, (_, k) => `p${k},${k % 5},${[1, 1, 2, 9, 10][k % 5]}`);
    expect(readCohort(table(...scores)).warnings.map((w) => w.code)).toEqual([]);
    const few = Array.from({ length: 200 }, (_, k) => `p${k},${k % 5},${k < 4 ? 500 + k : 50 + (k % 50)}`);
    expect(readCohort(table(...few)).warnings.map((w) => w.code)).not.toContain("two-units");
  });

  it("reads a text in pieces as it reads it whole, wherever it is cut", () => {
    const body = Array.from({ length: 3000 }, (_, k) => `p${k % 37},${k / 8},${k % 11},"n ${k}\nline"`);
    for (const end of ["\n", "\r\n"]) {
      const text = `\ufeffid,time,value,note${end}${body.join(end)}${end}${end}`;
      const whole = readCohort(text);
      for (const size of [1, 7, 1000, 20_000, 1 << 20]) {
        const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, k) => text.substr(k * size, size));
        if (size > 1 || end === "\n") expect(readCohort(pieces)).toEqual(whole);
      }
      const bad = `${text}p1,x,3,""${end}`;
      const cut = [bad.slice(0, 30_000), bad.slice(30_000)];
      const complaints = (source: string | string[]) => refused(source as string, { file: "v.csv" });
      expect(complaints(cut)).toEqual(complaints(bad));
      expect(complaints(bad)[0].where.line).toBe(6003);
    }
  });

  it("gives every cell its nearest double or a complaint", () => {
    const digits = fc.stringMatching(/^[0-9]{0,25}$/);
    const cell = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.tuple(fc.constantFrom("", "-", "+"), digits, fc.constantFrom("", "."), digits).map((parts) => parts.join("")),
      fc.tuple(digits, fc.integer({ min: -400, max: 400 })).map(([d, e]) => `${d}e${e}`),
      fc.stringMatching(/^[-+0-9.eExX_ a-f%<]{1,8}$/),
    );
    fc.assert(
      fc.property(cell, (text) => {
        let value: number | undefined;
        try {
          value = onlyMarker(readCohort(`id,time,value\np,0,${text}\n`).cohort).values[0];
        } catch (error) {
          expect(error).toBeInstanceOf(DtmError);
        }
        if (value === undefined) return;
        // Of a limit, the number behind its sign.
        const written = text.trim().replace(/^<\s*/, "");
        expect(written).toMatch(/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/);
        expect(value).toBe(Number(written) + 0);
        expect(Number.isFinite(value)).toBe(true);
        if (/[1-9]/.test(text.replace(/[eE].*/, ""))) expect(value).not.toBe(0);
      }),
      { numRuns: 3000 },
    );
  });

  it("reads the bundled cohort", () => {
    const text = readFileSync(new URL("../../../../examples/pbc/visits.csv", import.meta.url), "utf8");
    const read = readCohort(text, { columns: { value: "bili" }, marker: { transform: "log" } });
    expect([numIndividuals(read.cohort), numObservations(read.cohort)]).toEqual([312, 1945]);
    // Four bilirubin values ten times their neighbours, or a tenth of them.
    expect(read.warnings).toMatchObject([{ code: "outlier", count: 4 }]);
    const cholesterol = readCohort(text, { columns: { value: "chol" } });
    expect(cholesterol.warnings).toMatchObject([
      { code: "missing-value", count: 821 },
      { code: "outlier", count: 5 },
    ]);
  });

  it("reads 200,000 rows, and finds a stray quote before them", () => {
    const rows = Array.from(
      { length: 200_000 },
      (_, k) => `p${k % 5000},${(k % 977) / 100},${50 + (k % 61)}.${k % 10}`,
    );
    const body = rows.join("\n");
    expect(numObservations(readCohort(table(body)).cohort)).toBe(200_000);
    expect(refused(table('p0,0,"1', body))[0].where.line).toBe(2);
  });
});

describe("readCohort, meeting limits", () => {
  it("takes a value below or above a limit as that, whatever the sign, and says so", () => {
    const cells = ["<0.3", "< 0.3", "≤0.3", "<=0.3", "&lt;0.3", ">50", "≥ 50", "&gt;50", "0.3", "7"];
    const { cohort, notes } = readCohort(table(...cells.map((cell, k) => `p${k % 2},${k},${cell}`)));
    const { values, censored } = cohort.markers[0];
    expect([...values]).toEqual([0.3, 0.3, 0.3, 50, 0.3, 0.3, 0.3, 50, 50, 7]);
    expect([...censored!]).toEqual([-1, -1, -1, 1, 0, -1, -1, 1, 1, 0]);
    expect(notes.join(" ")).toContain(
      "8 of 10 values of value are given as below or above a limit: < 0.3 (5), > 50 (3)",
    );
    expect(structuredClone(cohort)).toEqual(cohort);
  });

  it("reads limits with a decimal comma, and refuses one that has no number in the domain of the transform", () => {
    const { cohort } = readCohort("id;time;value\na;0;<0,3\na;1;0,7\n");
    expect([...cohort.markers[0].values]).toEqual([0.3, 0.7]);
    expect([...cohort.markers[0].censored!]).toEqual([-1, 0]);
    expect(refused(table("a,0,<0"), { marker: { transform: "log" } })[0].code).toBe("transform-domain");
    expect(refused(table("a,<2,7"))[0].code).toBe("censored-value");
  });

  it("counts one in the singular", () => {
    const { warnings, notes } = readCohort("id,time,value\np1,0,71\np1,0,71\n\np1,1,\np1,0,72\np2,0,70\np2,1,69\n");
    const said = [...warnings.map(({ received, remedy }) => `${received}. ${remedy}`), ...notes].join("\n");
    expect(said).toContain("1 exact repeat of another row (line 3)");
    expect(said).toContain("1 row without one. It was left out.");
    expect(said).toContain("1 more value at a time already seen, in 1 individual.");
    expect(said).toContain("1 blank line was skipped.");
  });

  it("tells a limit from the same number measured, and finds exact repeats of either", () => {
    const { cohort, warnings } = readCohort(table("a,0,5", "a,0,<5", "a,0,<5", "a,1,6"));
    expect([...cohort.markers[0].values]).toEqual([5, 5, 6]);
    expect([...cohort.markers[0].censored!]).toEqual([-1, 0, 0]);
    expect(warnings.map(({ code }) => code)).toContain("duplicate-rows");
    const { limits } = inspectCohort(readCohort(table("a,0,5", "a,1,<5", "b,1,6", "b,2,>9")));
    expect(limits).toEqual([
      { side: -1, limit: 5, count: 1 },
      { side: 1, limit: 9, count: 1 },
    ]);
  });

  it("is as before where nothing is a limit: no column, and none after the limits are selected away", () => {
    const { cohort } = readCohort(table("a,0,<5", "a,1,6", "b,0,7", "b,1,8"));
    expect("censored" in selectIndividuals(cohort, [1]).markers[0]).toBe(false);
    expect([...selectIndividuals(cohort, [0]).markers[0].censored!]).toEqual([-1, 0]);
    expect([...selectVisits(cohort, () => 1).markers[0].censored!]).toEqual([-1, 0]);
    expect("censored" in selectVisits(cohort, () => 1, true).markers[0]).toBe(false);
  });
});
