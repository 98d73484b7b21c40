import { codeCovariates, encodeFor } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import { decodedRow, rangeOf, typicalRow } from "./covariate-rows.ts";

const m = 120;
const ids = Array.from({ length: m }, (_, i) => `P${i}`);
const table = {
  ids,
  columns: [
    { name: "age", cells: ids.map((_, i) => (i % 10 === 0 ? "" : String(30 + i))) },
    { name: "sex", cells: ids.map((_, i) => (i % 3 === 0 ? "m" : "f")) },
    { name: "arm", cells: ids.map((_, i) => ["a", "b", "b", "c"][i % 4]) },
  ],
};
const covariates = [{ name: "age" }, { name: "sex", reference: "m" }, { name: "arm" }];
const { coding, values } = codeCovariates(table, ids, { covariates, effect: "level", missing: "indicator" });
const P = coding.columns.length;

describe("covariates of an individual", () => {
  it("come back from coded columns as they were in the table", () => {
    for (let i = 0; i < m; i++) {
      const [age, sex, arm] = table.columns.map(({ cells }) => cells[i]);
      const row = decodedRow(coding, values.subarray(i * P, (i + 1) * P));
      expect(row).toEqual({ ...(age === "" ? {} : { age: Number(age) }), sex, arm });
      expect(encodeFor(coding, { age: undefined, ...row })).toEqual(values.slice(i * P, (i + 1) * P));
    }
  });

  it("are typical at the mean of numbers and the most frequent levels, within what a slider offers", () => {
    const row = typicalRow(coding);
    expect([row.sex, row.arm]).toEqual(["f", "b"]);
    const { least, most, step } = rangeOf(coding, "age");
    expect(row.age).toBeGreaterThan(least);
    expect(row.age).toBeLessThan(most);
    expect(step).toBeLessThan((most - least) / 50);
  });
});
