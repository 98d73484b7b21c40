import { readCohort } from "@trajectory-maps/core";
import { previewTable } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import { addMarker, nameMarkersBy } from "./several-choice.ts";
import { assign, choiceForModel, guessChoice, readChoice } from "./table-choice.ts";
import { originOptions, plainNote, sinceWords, tableAsRead, wideUnit } from "./table-form.ts";
import { openQuestion, questionsOf } from "./table-questions.ts";

const DATED = previewTable("id,date,fvc\na,03/04/2020,80\na,05/06/2021,78\nb,07/08/2020,91\nb,01/02/2022,90\n");
const CLEAR = previewTable(
  "id,date,birth,fvc\na,2020-04-03,1960-01-01,80\na,2021-04-03,1960-01-01,78\nb,2020-08-07,1971-02-03,91\n",
);

describe("dates", () => {
  it("of two orders ask one question, with both readings, and nothing else", () => {
    const choice = guessChoice(DATED);
    const [question, ...others] = questionsOf(choice, DATED, null);
    expect(others).toEqual([]);
    expect(question.cells[0]).toBe("03/04/2020");
    expect(question.answers.map(({ readings }) => readings[0])).toEqual(["3 April 2020", "4 March 2020"]);
    expect(openQuestion(choice, DATED, null)).not.toBeNull();
    const answered = question.answers[1].take(choice);
    expect(openQuestion(answered, DATED, null)).toBeNull();
    expect(readChoice(answered, DATED)).toMatchObject({
      dateOrder: "mdy",
      origin: "first",
      marker: { timeUnit: "years" },
    });
  });

  it("are counted from the first visit, from a column of either table, or from a date", () => {
    const choice = guessChoice(CLEAR);
    expect(sinceWords(choice, CLEAR, null)).toBe(" since the first visit");
    const beside = { name: "subjects.csv", preview: previewTable("id,onset\na,2019-01-01\nb,2018-05-05\n") };
    expect(originOptions(choice, CLEAR, beside).map(({ origin }) => origin)).toEqual([
      "first",
      "column:birth",
      "column:onset",
      "date:2020-01-01",
    ]);
  });

  it("are not counted anyhow for a model that does not say from when", () => {
    const text = JSON.stringify({
      model: { marker: { name: "fvc" }, columns: { id: "id", time: "time", value: "fvc" } },
    });
    const choice = choiceForModel(guessChoice(CLEAR), CLEAR, text);
    expect(readChoice(choice, CLEAR).origin).toBe("none");
    expect(openQuestion(choice, CLEAR, null)).toMatch(/from when/);
    const dated = JSON.stringify({
      model: { marker: { name: "fvc" }, columns: { origin: "column:birth", dates: true } },
    });
    expect(readChoice(choiceForModel(guessChoice(CLEAR), CLEAR, dated), CLEAR).origin).toBe("column:birth");
  });
});

describe("dates that contradict each other", () => {
  const mixed = previewTable("id,date,fvc\na,22/08/2015,80\na,08/23/2016,78\nb,01/02/2015,91\nb,13/02/2016,90\n");

  it("of both orders ask which is right, and show what is left out", () => {
    const choice = guessChoice(mixed);
    const [question, ...others] = questionsOf(choice, mixed, null);
    expect(others).toEqual([]);
    expect(question.cells).toEqual(["22/08/2015", "13/02/2016", "08/23/2016"]);
    expect(question.answers.map(({ readings }) => readings)).toEqual([
      ["22 August 2015", "13 February 2016", "left out"],
      ["left out", "left out", "23 August 2016"],
    ]);
    expect(openQuestion(choice, mixed, null)).not.toBeNull();
    expect(readChoice(question.answers[0].take(choice), mixed)).toMatchObject({ dateOrder: "dmy" });
  });

  it("as a spreadsheet leaves them are swapped back if so answered", () => {
    const days = ["2020-05-03", "2020-07-03", "2020-09-03", "2020-11-03", "2020-12-03"];
    const texts = ["13", "15", "17", "19", "21"].map((day) => `${day}/03/2020`);
    const text = `id,date,fvc\n${[...days, ...texts].map((date, k) => `p${k % 2},${date},${80 + k}`).join("\n")}\n`;
    const table = previewTable(text);
    const choice = guessChoice(table);
    const [question] = questionsOf(choice, table, null);
    expect(question.cells).toEqual(["2020-05-03", "2020-07-03", "2020-09-03", "13/03/2020"]);
    const [back, right] = question.answers;
    expect(back.readings).toEqual(["5 March 2020", "7 March 2020", "9 March 2020", "13 March 2020"]);
    expect(right.readings[0]).toBe("3 May 2020");
    const spans = [back, right].map((answer) => {
      const { cohort } = readCohort(text, { ...readChoice(answer.take(choice), table), origin: "date:2020-03-01" });
      return Math.round(365.25 * Math.max(...cohort.markers[0].times));
    });
    expect(spans).toEqual([20, 277]);
    expect(openQuestion(right.take(choice), table, null)).toBeNull();
  });
});

describe("numbers", () => {
  it("with a comma that may be either are asked about, and read as answered", () => {
    const text = 'id,time,value\na,0,"1,234"\na,1,"2,345"\nb,0,"3,456"\n';
    const table = previewTable(text);
    const choice = guessChoice(table);
    const [question] = questionsOf(choice, table, null);
    const values = question.answers.map(({ take }) => [
      ...readCohort(text, readChoice(take(choice), table)).cohort.markers[0].values,
    ]);
    expect(values).toEqual([
      [1234, 2345, 3456],
      [1.234, 2.345, 3.456],
    ]);
  });
});

describe("units", () => {
  it("named in a column are asked about", () => {
    const table = previewTable("id,time,creatinine,unit\na,0,1.1,mg/dL\na,1,99,umol/L\nb,0,1.3,mg/dL\n");
    const choice = guessChoice(table);
    const [question] = questionsOf(choice, table, null);
    expect(question.answers.map(({ words }) => words)).toEqual([
      "All to mg/dL",
      "All to umol/L",
      "Leave values as written",
    ]);
    expect(readChoice(question.answers[1].take(choice), table)).toMatchObject({
      unitColumns: ["unit"],
      marker: { unit: "umol/L" },
    });
    expect(readChoice(question.answers[2].take(choice), table)).not.toHaveProperty("unitColumns");
  });
});

describe("units of several markers", () => {
  it("beside a column of names are asked about for each that has several", () => {
    const rows = ["crea,1,mg/dL", "crea,80,umol/L", "alb,4,g/dL", "a1c,6,%", "a1c,48,mmol/mol"];
    const table = previewTable(
      `id,time,test,value,unit\n${rows.map((row, k) => `p${k % 2},${k},${row}`).join("\n")}\n`,
    );
    const choice = nameMarkersBy(guessChoice(table), 2, table);
    const [crea, a1c, ...others] = questionsOf(choice, table, null);
    expect(others).toEqual([]);
    expect(crea.words).toBe("Values of “crea” come in units named by “unit”. To which are they brought?");
    expect(crea.cells).toEqual(["mg/dL", "umol/L"]);
    const first = crea.answers[1].take(choice);
    expect(openQuestion(first, table, null)).not.toBeNull();
    const both = a1c.answers[0].take(first);
    expect(openQuestion(both, table, null)).toBeNull();
    expect(readChoice(both, table)).toMatchObject({
      unitColumns: ["unit", "unit", "unit"],
      markers: [{ unit: "umol/L" }, { unit: "g/dL" }, { unit: "%" }],
    });
    const left = a1c.answers[2].take(first);
    expect(readChoice(left, table).unitColumns).toEqual(["unit", "unit", ""]);
  });

  it("in columns of their own are found by the names of these", () => {
    const table = previewTable(
      "id,time,crea,crea_unit,alb,alb_unit\na,0,1,mg/dL,4,g/dL\na,1,80,umol/L,5,g/dL\nb,0,2,mg/dL,3.5,g/dL\nb,1,90,umol/L,4.1,g/dL\n",
    );
    const one = assign(guessChoice(table), 2, "value", table);
    const choice = addMarker(one, { source: "alb", column: 4, level: "", chosen: -1 }, table);
    const [question, ...others] = questionsOf(choice, table, null);
    expect(others).toEqual([]);
    expect(question.words).toContain("“crea_unit”");
    expect(readChoice(question.answers[0].take(choice), table)).toMatchObject({
      unitColumns: ["crea_unit", "alb_unit"],
      markers: [{ unit: "mg/dL" }, { unit: "g/dL" }],
    });
  });
});

describe("a wide table", () => {
  const wide = previewTable("id,fvc_0,fvc_6,fvc_12\na,80,79,77\nb,91,90,\n");

  it("asks about that first, and is read by the columns of the long one", () => {
    expect(openQuestion(guessChoice(wide), wide, null)).toMatch(/columns are times/);
    expect(wideUnit(wide.wide!)).toBe("months");
    const long = tableAsRead(wide, { wide: true });
    const choice = { ...guessChoice(long), form: { wide: true as const }, timeUnit: "months" };
    expect(openQuestion(choice, long, null)).toBeNull();
    expect(readChoice(choice, long)).toMatchObject({
      wide: true,
      columns: { id: "id", time: "time", value: "fvc" },
      marker: { timeUnit: "months" },
    });
  });
});

describe("plainNote", () => {
  it("leaves out what only a command line can do", () => {
    expect(
      plainNote("Letters are read as Windows-1252. If names look wrong, say the encoding (--encoding; encoding)."),
    ).toBe("Letters are read as Windows-1252.");
    expect(plainNote("Columns are separated by semicolons.")).toBe("Columns are separated by semicolons.");
  });
});
