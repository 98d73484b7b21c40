import { describe, expect, it } from "vitest";
import { onlyMarker } from "../cohort/cohort.ts";
import { previewTable } from "./preview.ts";
import { readCohort } from "./read-cohort.ts";

const ROWS = "id,time,value\na,0,80\na,1,77\n";
const PLAIN = readCohort(ROWS).cohort;

describe("above the header", () => {
  it.each([
    ["sep=;", `sep=;\r\n${ROWS.replaceAll(",", ";").replaceAll("\n", "\r\n")}`],
    ['"sep=,"', `"sep=,"\n${ROWS}`],
    ["a tab", `\ufeffsep=\t\n${ROWS.replaceAll(",", "\t")}`],
  ])("the delimiter is taken from a line sep=: %s", (_, text) => {
    const { cohort, notes } = readCohort(text);
    expect(cohort).toEqual(PLAIN);
    expect(notes.join(" ")).toContain("sep=");
  });

  it("a delimiter that is none of those read is refused at its line", () => {
    expect(() => readCohort(`sep=^\n${ROWS}`)).toThrow(expect.objectContaining({ code: "unsupported-format" }));
  });

  it.each([
    ["spaces", ROWS.replaceAll(",", " "), "write.csv"],
    ["spaces, as R's write.table has them", '"id" "time" "value"\n"1" "a" 0 80\n"2" "a" 1 77\n', "write.csv"],
    ["spaces, with decimal commas", "id time value\na 0,5 80\n", "write.csv"],
    ["nothing, as whole lines are in quotes", '"id,time,value"\n"a,0,80"\n"a,1,77"\n', "quotes around each line"],
  ])("columns that are separated by %s are refused in one line that says so", (_, text, remedy) => {
    for (const table of [text, text.replaceAll("\n", "\r\n")]) {
      expect(() => readCohort(table)).toThrow(expect.objectContaining({ code: "unsupported-format" }));
      expect(() => readCohort(table)).toThrow(remedy);
    }
  });

  it("a name over two lines is a name", () => {
    const { cohort } = readCohort(
      `"number of this\nperson as in table 1",time,value\n${ROWS.slice(ROWS.indexOf("\n") + 1)}`,
      {
        columns: { id: "number of this\nperson as in table 1" },
      },
    );
    expect(cohort.ids).toEqual(PLAIN.ids);
  });

  it("names with spaces are names", () => {
    const named = readCohort(ROWS.replace("id,time,value", "patient id,time in years,lung value"), {
      columns: { id: "patient id", time: "time in years", value: "lung value" },
    });
    expect(onlyMarker(named.cohort).values).toEqual(onlyMarker(PLAIN).values);
  });

  it("comments are passed over and told, and lines still count", () => {
    const { cohort, notes } = readCohort(`# export, of 2020\n#\n\n${ROWS}`);
    expect(cohort).toEqual(PLAIN);
    expect(notes.join(" ")).toContain('3 lines above the header, the first "# export, of 2020", are passed over.');
    expect(() => readCohort(`# export\n${ROWS.replace("77", "high")}`)).toThrow("line 4");
    expect(previewTable(`# export\n${ROWS}`).columns.map(({ name }) => name)).toEqual(["id", "time", "value"]);
  });

  it.each([`#${ROWS}`, `# exported\n# ${ROWS}`, "#,id,time,value\n1,a,0,80\n2,a,1,77\n"])(
    "a header that begins with # is one: %j",
    (text) => {
      expect(readCohort(text).cohort).toEqual(PLAIN);
    },
  );

  it("a file of comments alone is empty", () => {
    expect(() => readCohort("# nothing\n# here\n")).toThrow(expect.objectContaining({ code: "empty-file" }));
  });
});

describe("a column of dates beside one of times of day", () => {
  const text = "id,date,time,fvc\na,2020-01-01,10:30,80\na,2020-01-11,09:15,77\nb,2020-01-01,,80\n";
  const inDays = { marker: { timeUnit: "days" } };

  it("is the time, and that is told", () => {
    const { cohort, columns, notes } = readCohort(text, inDays);
    expect(Array.from(onlyMarker(cohort).times)).toEqual([0, 10, 0]);
    expect(columns).toMatchObject({ time: "date", value: "fvc" });
    expect(notes.join(" ")).toContain('Column "date" is taken as time; the times of day in "time" are passed over.');
    expect(previewTable(text).guesses.map(({ column }) => column)).toEqual([0, 1, 3]);
  });

  it("is not, where times are numbers or named", () => {
    const numbers = text.replace("10:30", "5").replace("09:15", "6").replace("01,,", "01,7,");
    expect(readCohort(numbers).columns).toMatchObject({ time: "time", value: "fvc" });
    expect(() => readCohort(text, { columns: { time: "time", value: "fvc" } })).toThrow("times of day");
  });
});
