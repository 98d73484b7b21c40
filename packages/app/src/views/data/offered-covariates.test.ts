import { describe, expect, it } from "vitest";
import { offeredCovariates } from "./offered-covariates.ts";

const ids = ["a", "b", "c", "d"];
const column = (name: string, ...cells: string[]) => ({ name, cells });

describe("columns offered as covariates", () => {
  it("come with what they look like, ids and outcomes apart", () => {
    const table = {
      ids,
      columns: [
        column("id", ...ids),
        column("age", "50", "61", "NA", "47.5"),
        column("sex", "m", "f", "f", ""),
        column("died", "0", "1", "0", "1"),
      ],
    };
    const died = { name: "died" } as Parameters<typeof offeredCovariates>[1][number];
    expect(offeredCovariates(table, [died])).toEqual([
      { name: "age", kind: "number", levels: ["47.5", "50", "61"] },
      { name: "sex", kind: "category", levels: ["f", "m"] },
    ]);
  });

  it("read decimal commas as the table does", () => {
    const table = { ids, decimal: "," as const, columns: [column("dose", "0,5", "1", "1,5", "2")] };
    expect(offeredCovariates(table, []).map(({ kind }) => kind)).toEqual(["number"]);
  });
});
