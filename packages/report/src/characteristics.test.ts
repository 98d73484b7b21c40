import { makeCohort } from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { characteristicRows, characteristicsNote, studyCharacteristics } from "./characteristics.ts";
import { contextOf } from "./content/context.ts";
import { flowFigure } from "./content/flow-figure.ts";
import { type Study, type StudyGroup, summarizeCohort } from "./index.ts";

const M = 60;
const ids = Array.from({ length: M }, (_, i) => `p${100 + i}`);
/** Forty individuals with two visits, twenty with three. */
const cohort = makeCohort(
  {
    ids: ids.flatMap((id, i) => (i < 40 ? [id, id] : [id, id, id])),
    times: Float64Array.from(ids.flatMap((_, i) => (i < 40 ? [0, 1] : [0, 1, 3]))),
    values: Float64Array.from(ids.flatMap((_, i) => (i < 40 ? [10 + i, 5] : [50 + i, 5, 5]))),
  },
  { name: "marker", unit: "mg", transform: "identity", timeUnit: "years" },
);
const labels = ids.map((_, i) => (i < 40 ? 0 : 1));
const table = {
  ids,
  columns: [
    { name: "sex", cells: ids.map((_, i) => (i % 2 === 0 ? "f" : "m")) },
    // Three of forty and twelve of twenty.
    { name: "rare", cells: ids.map((_, i) => (i < 3 || (i >= 40 && i < 52) ? "1" : "0")) },
    { name: "age", cells: ids.map((_, i) => (i === 5 ? "" : String(30 + i))) },
  ],
};
const group = (at: number, letter: string, size: number): StudyGroup => ({
  group: at,
  letter,
  name: `group ${letter}`,
  size,
  times: [0],
  median: [1],
  lower: [0],
  upper: [2],
  followed: [size],
});
const study = (smallCell: number): Study => ({
  cohort: summarizeCohort(cohort, { numRows: 145, numRowsLeftOut: 5 }),
  // The letters need not follow the numbers of the groups.
  groups: { labels, groups: [group(1, "A", 20), group(0, "B", 40)] },
  characteristics: studyCharacteristics(cohort, { labels, numGroups: 2 }, { table, columns: ["sex", "rare", "age"] }),
  options: { smallCell },
});
const rowsOf = (smallCell: number) =>
  new Map(
    characteristicRows(contextOf(study(smallCell))).map(({ head, cells, difference }) => [
      head,
      [...cells, difference],
    ]),
  );

describe("characteristics by group", () => {
  it("show every count in the owner's own report, in the order of the letters", () => {
    const rows = rowsOf(1);
    // All of a group have as many visits: any difference is infinite in units of their spread.
    expect(rows.get("Visits")).toEqual(["3.00 (0.00)", "2.00 (0.00)", "2.33 (0.48)", "∞"]);
    expect(rows.get("f")).toEqual(["10 (50%)", "20 (50%)", "30 (50%)", ""]);
    expect(rows.get("Sex")).toEqual(["0.00"]);
    // |0.6 − 0.075| / √((0.6·0.4 + 0.075·0.925) / 2).
    const difference = 0.525 / Math.sqrt((0.24 + 0.075 * 0.925) / 2);
    expect(rows.get("Rare")).toEqual(["12 (60%)", "3 (8%)", "15 (25%)", difference.toFixed(2)]);
    expect(rows.get("missing")).toEqual(["0", "1", "1", ""]);
  });

  it("round a category with a small count to fives and keep its difference back in a report for sharing", () => {
    const rows = rowsOf(11);
    // Of twenty "<11" and "<11" would be ten and ten; and the same where they are not.
    expect(rows.get("f")).toEqual(["–", "20 (45–55%)", "30 (47–53%)", ""]);
    expect(rows.get("Rare")).toEqual(["–", "<11", "15 (22–28%)", "–"]);
    expect(rows.get("missing")).toEqual(["0", "<11", "<11", ""]);
    // Means of groups large enough stand as they are.
    expect(rows.get("Age")?.[0]).toBe(rowsOf(1).get("Age")?.[0]);
  });

  it("give of rounded counts the percentages that they leave open, and say what the smallest is", () => {
    // A: 12 of 25; B: 13 of 34, where one is missing.
    const own = ids.map((_, i) => (i < 35 ? 0 : 1));
    const cells = ids.map((_, i) => (i === 34 ? "" : i < 13 || (i >= 35 && i < 47) ? "1" : "0"));
    const named = { table: { ids, columns: [{ name: "ascites", cells }] }, columns: ["ascites"] };
    const of = (sizes: readonly [number, number]) => {
      const groups = { labels: own, groups: [group(1, "A", sizes[0]), group(0, "B", sizes[1])] };
      const characteristics = studyCharacteristics(cohort, { labels: own, numGroups: 2 }, named);
      return contextOf({ ...study(11), groups, characteristics });
    };
    const shown = (sizes: readonly [number, number]) =>
      characteristicRows(of(sizes)).find(({ head }) => head === "Ascites")?.cells;
    expect(shown([25, 35])).toEqual(["11 (44–48%)", "15 (38–68%)", "25 (39–54%)"]);
    expect(characteristicsNote(of([25, 35]))).toContain("rounded to fives (11 at least), with the percentages");
    // Percentages of a group whose size is held back would tell it.
    expect(shown([5, 35])).toEqual(["11", "15", "25 (39–54%)"]);
  });

  it("give no mean of a group with too few values, nor of the one it could be worked out from", () => {
    const few = study(11);
    const rows = characteristicRows(contextOf({ ...few, options: { smallCell: 25 } }));
    const age = rows.find(({ head }) => head === "Age");
    expect(age?.cells.slice(0, 2)).toEqual(["–", "–"]);
    expect(age?.difference).toBe("–");
  });
});

describe("the flow", () => {
  it("counts rows, individuals by visits and what was left out", () => {
    const { table: own } = flowFigure(contextOf(study(1)));
    expect(own.rows).toEqual([
      ["145 rows in the table", "–"],
      ["5 rows left out", "–"],
      [
        "60 individuals, 140 observations",
        "With 1, 2 and 3 visits: 0, 40 and 20; With 4–5, 6–8 and 9 or more: 0, 0 and 0",
      ],
      ["2 groups", "60 individuals"],
    ]);
  });

  it("says how many were clustered as the text of the groups does", () => {
    const made = study(11);
    const { table: own } = flowFigure(contextOf({ ...made, groups: { ...made.groups!, numClustered: 47 } }));
    expect(own.rows.at(-1)).toEqual(["2 groups", "60 individuals; 47 clustered, the others joined by their place"]);
  });

  it("does not give a small number of rows left out away by the rows of the table", () => {
    const { table: shared } = flowFigure(contextOf(study(11)));
    expect(shared.rows.slice(0, 2)).toEqual([
      ["Rows of the table", "–"],
      ["<11 rows left out", "–"],
    ]);
  });
});
