import { readCohort } from "@trajectory-maps/core";
import { previewTable } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import { choiceForModel, guessChoice, readChoice } from "./table-choice.ts";
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
