import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import type { SubjectsTable } from "../ingest/subjects-table.ts";
import { readOutcomes } from "./outcomes.ts";

const COHORT = ["a", "b", "c", "d"];

/** A table from rows of cells, the first column being the id. */
function table(header: readonly string[], ...rows: readonly (readonly string[])[]): SubjectsTable {
  return {
    file: "subjects.csv",
    ids: rows.map((row) => row[0]),
    columns: header.slice(1).map((name, k) => ({ name, cells: rows.map((row) => row[k + 1]) })),
  };
}

const column = (...cells: readonly string[]) => table(["id", "ill"], ...COHORT.map((id, k) => [id, cells[k]]));

function refusal(specification: string, subjects: SubjectsTable): DtmError {
  try {
    readOutcomes([specification], subjects, COHORT);
  } catch (error) {
    if (error instanceof DtmError) return error;
  }
  throw new Error("expected a refusal");
}

describe("readOutcomes of a table of others", () => {
  const of = (...ids: readonly string[]) => table(["id", "ill"], ...ids.map((id, k) => [id, String(k % 2)]));
  const complaint = (subjects: SubjectsTable, ids: readonly string[]) => {
    try {
      readOutcomes(["ill", "nothing"], subjects, ids);
    } catch (error) {
      return (error as DtmError).complaints.map(({ code, remedy }) => `${code}: ${remedy}`).join("\n");
    }
    return "accepted";
  };

  it.each([
    [["P1", "P2"], ["p1", "p2"], "Without regard to upper and lower case, 2 of 2"],
    [["P01", "P02", "Q1"], ["P1", "P2"], "Without regard to zeros in front of numbers, 2 of 3"],
    [["P 1", "P 2"], ["P1", "P2"], "Without regard to spaces, 2 of 2"],
    [["p-001", "p-002"], ["P1", "P2"], "and other signs, 2 of 2"],
  ])("%j beside %j says that alone, and how ids would be the same", (theirs, ids, words) => {
    expect(complaint(of(...theirs), ids)).toMatch(/^other-ids: No id is in both: [^\n]*$/);
    expect(complaint(of(...theirs), ids)).toContain(words);
  });

  it("says no more where nothing would help", () => {
    expect(complaint(of("x", "y"), ["p1"])).toMatch(/or name the column of ids\.$/);
  });
});

describe("readOutcomes takes", () => {
  it.each([
    [["1", "0", "", "1"], "0/1"],
    [["yes", "No", " ", "YES"], "yes/no in any case"],
    [["true", "FALSE", "NA", "true"], "true/false, with marks of missing cells"],
  ])("%j: %s", (cells) => {
    const { outcomes } = readOutcomes(["ill"], column(...cells), COHORT);
    expect(outcomes[0]).toMatchObject({ name: "ill", cases: 2, controls: 1, missing: 1, notes: [] });
    expect([...outcomes[0].labels]).toEqual([1, 0, 255, 1]);
  });

  it("any other two values, the later in text order as the case, and says so", () => {
    const [outcome] = readOutcomes(["ill"], column("ddC", "ddI", "ddI", "ddC"), COHORT).outcomes;
    expect([...outcome.labels]).toEqual([0, 1, 1, 0]);
    expect(outcome.caseMeans).toBe('ill is "ddI"');
    expect(outcome.notes[0]).toContain("ill=ddC");
  });

  it("a level or a threshold, and a column whose name holds an equals sign", () => {
    const subjects = table(["id", "stage", "x=1"], ["a", "2", "1"], ["b", "10", "0"], ["c", "3", "0"], ["d", "", "1"]);
    const { outcomes } = readOutcomes(["stage=3", "stage>=3", "x=1", "STAGE>=2.5"], subjects, COHORT);
    expect(outcomes.map(({ labels }) => [...labels])).toEqual([
      [0, 0, 1, 255],
      [0, 1, 1, 255],
      [1, 0, 0, 1],
      [0, 1, 1, 255],
    ]);
    expect(outcomes[1]).toMatchObject({ caseMeans: "stage is at least 3", controlMeans: "stage is below 3" });
  });

  it("the same id twice if both rows agree or one is empty; individuals not listed are missing", () => {
    const rows = [
      ["a", "1"],
      ["a", "1"],
      ["b", ""],
      ["b", "0"],
    ];
    const [outcome] = readOutcomes(["ill"], table(["id", "ill"], ...rows), COHORT).outcomes;
    expect(outcome).toMatchObject({ cases: 1, controls: 1, missing: 2 });
  });

  it("unknown ids with one warning that counts them", () => {
    const rows = [
      ["a", "1"],
      ["b", "0"],
      ["zz", "maybe"],
      ["zz", "never"],
      ["y", "1"],
    ];
    const { outcomes, warnings } = readOutcomes(["ill"], table(["id", "ill"], ...rows), COHORT);
    expect(outcomes[0]).toMatchObject({ cases: 1, controls: 1 });
    expect(warnings).toMatchObject([{ code: "unknown-ids", count: 2, where: { file: "subjects.csv", line: 4 } }]);
  });
});

describe("readOutcomes refuses", () => {
  it("three values, and shows how to name the case", () => {
    const error = refusal("ill", column("yes", "no", "unknown", "no"));
    expect(error.code).toBe("many-values");
    expect(error.message).toContain('"unknown"');
    expect(error.message).toContain("ill=");
    expect(error.complaints[0].where).toMatchObject({ file: "subjects.csv", column: "ill" });
  });

  it.each([
    ["ill", ["1", "1", "1", ""]],
    ["ill", ["", "", "", ""]],
    ["ill", ["same", "same", "", ""]],
    ["ill=x", ["1", "0", "1", ""]],
    ["ill>=7", ["1", "2", "3", ""]],
  ])("one class: %s of %j", (specification, cells) => {
    expect(refusal(specification, column(...cells)).code).toBe("one-class");
  });

  it("contradictions, with both lines", () => {
    const subjects = table(["id", "ill"], ["a", "1"], ["b", "0"], ["a", "0"]);
    const error = refusal("ill", subjects);
    expect(error.code).toBe("contradicting-outcome");
    expect(error.message).toContain("line 2");
    expect(error.complaints[0].where.line).toBe(4);
  });

  it("cells that are no numbers below a threshold, each with its line", () => {
    const error = refusal("ill>=2", column("1", "two", "3", "4x"));
    expect(error.code).toBe("not-a-number");
    expect(error.complaints.map(({ where }) => where.line)).toEqual([3, 5]);
  });

  it("unknown columns and thresholds, all at once", () => {
    try {
      readOutcomes(["death", "ill>=often", "ill"], column("1", "1", "1", "1"), COHORT);
      expect.unreachable();
    } catch (error) {
      const { complaints } = error as DtmError;
      expect(complaints.map(({ code }) => code)).toEqual(["missing-column", "outcome-specification", "one-class"]);
      expect(complaints[0].remedy).toContain("ill");
    }
  });
});
