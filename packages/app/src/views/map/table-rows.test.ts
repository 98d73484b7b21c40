import { describe, expect, it } from "vitest";
import { filterRows, sortRows, type TableRow } from "./table-rows.ts";
import { readVisits } from "./visits-text.ts";

const row = (index: number, id: string, expected: number, outcomes = ""): TableRow => ({
  index,
  id,
  visits: 1,
  first: 0,
  last: 1,
  group: index % 2,
  probability: 1,
  sd: 0.2,
  expected,
  outcomes,
});
const ROWS = [row(0, "P-10", 5), row(1, "P-9", Number.NaN, "Ulcers"), row(2, "P-1", 7)];
const ids = (rows: readonly TableRow[]) => rows.map((r) => r.id);

describe("rows of the table", () => {
  it("sort ids as a reader counts, and numbers with the unknown last in both orders", () => {
    expect(ids(sortRows(ROWS, "id", false))).toEqual(["P-1", "P-9", "P-10"]);
    expect(ids(sortRows(ROWS, "expected", false))).toEqual(["P-10", "P-1", "P-9"]);
    expect(ids(sortRows(ROWS, "expected", true))).toEqual(["P-1", "P-10", "P-9"]);
  });

  it("stay in the order of the cohort where they are equal", () => {
    expect(ids(sortRows(ROWS, "visits", true))).toEqual(["P-10", "P-9", "P-1"]);
  });

  it("are filtered by every word, over id, group and outcomes", () => {
    const group = (g: number) => ["A stable", "B falls"][g];
    expect(ids(filterRows(ROWS, "p-1", group))).toEqual(["P-10", "P-1"]);
    expect(ids(filterRows(ROWS, "falls ulc", group))).toEqual(["P-9"]);
    expect(filterRows(ROWS, "  ", group)).toBe(ROWS);
  });
});

describe("readVisits", () => {
  it("reads what a spreadsheet pastes, with or without a heading", () => {
    expect(readVisits("time\tFVC\n0\t91.3\n1,5\t88\n")).toEqual({
      times: ["0", "1.5"],
      values: [["91.3"], ["88"]],
      refused: [],
    });
    expect(readVisits("0, 91.3\r\n2 85")).toEqual({ times: ["0", "2"], values: [["91.3"], ["85"]], refused: [] });
  });

  it("refuses by line what is not two numbers", () => {
    expect(readVisits("0,1\nx,2\n3\n4,5,6\n\n5,−2")).toEqual({
      times: ["0", "5"],
      values: [["1"], ["−2"]],
      refused: [2, 3, 4],
    });
  });
});
