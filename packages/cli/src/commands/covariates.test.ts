import { fileURLToPath } from "node:url";
import { readCohort } from "@trajectory-maps/core";
import { afterAll, describe, expect, it } from "vitest";
import { workplace } from "../../test/harness.ts";
import { readText } from "../io/read.ts";
import type { Talk } from "../print/talk.ts";
import { covariateChoices, readCovariates, readCovariatesFor } from "./covariates.ts";

const PBC = (name: string) => fileURLToPath(new URL(`../../../../examples/pbc/${name}`, import.meta.url));
const here = workplace();
afterAll(here.clear);

const told: string[] = [];
const context = {
  talk: { say: (text: string) => told.push(text), warn: (text: string) => told.push(text) } as unknown as Talk,
  commandLine: "dtm",
};
const { cohort } = readCohort(readText(PBC("visits.csv")), { columns: { value: "bili" } });

describe("--covariates", () => {
  it("names columns with kind, effect and reference", () => {
    const options = { covariates: "age, sex:level,stage:category:curve", reference: "sex=m", missing: "indicator" };
    expect(covariateChoices(options)).toEqual({
      covariates: [
        { name: "age" },
        { name: "sex", reference: "m", effect: "level" },
        { name: "stage", kind: "category", effect: "curve" },
      ],
      effect: "places",
      missing: "indicator",
    });
    const quoted = { covariates: '"age, years":number,"drug: dose"', reference: '"drug: dose"="a=b, c"' };
    expect(covariateChoices(quoted)?.covariates).toEqual([
      { name: "age, years", kind: "number" },
      { name: "drug: dose", reference: "a=b, c" },
    ]);
    expect(() => covariateChoices({ covariates: "drug: dose" })).toThrow(/in double quotes/);
    expect(covariateChoices({ missing: "complete", effects: "places" })).toBeUndefined();
    expect(() => covariateChoices({ covariates: "age:log" })).toThrow(/number, category, places.*received "log"/);
    expect(() => covariateChoices({ covariates: "age", reference: "sex=f" })).toThrow(/received "sex"/);
    expect(() => covariateChoices({ covariates: "age", reference: "sex" })).toThrow(/name=level/);
    expect(() => covariateChoices({ subjects: "x.csv" })).toThrow(/--subjects: expected with --covariates/);
    expect(() => covariateChoices({ effects: "curve" })).toThrow(/--effects: expected with --covariates/);
    expect(() => covariateChoices({ missing: "indicator" })).toThrow(/--missing: expected with --covariates/);
  });

  it("codes columns of a table of individuals for a cohort, and of the visits themselves", async () => {
    const options = { subjects: PBC("subjects.csv"), covariates: "age,sex,treatment" };
    const covariates = await readCovariates(PBC("visits.csv"), cohort, options, context);
    expect(covariates?.coding.columns.map(({ name }) => name)).toEqual(["age", "sex: m", "treatment: placebo"]);
    expect(covariates?.ids).toEqual(cohort.ids);
    const [first = ""] = cohort.ids;
    const z = await readCovariatesFor(covariates!.coding, "-", { ...cohort, ids: [first] }, options, context);
    expect(z).toEqual(covariates?.values.slice(0, 3));
    await expect(readCovariates(PBC("visits.csv"), cohort, { covariates: "albumin" }, context)).rejects.toThrow(
      /This changes in time; only values known at the first visit can be used/,
    );
    await expect(readCovariates("-", cohort, { covariates: "age" }, context)).rejects.toThrow(/standard input/);
  });

  it("says who is left out", async () => {
    const rows = cohort.ids.map((id, i) => `${id},${i % 40 === 0 ? "" : 30 + ((i * 7) % 41)}`);
    const subjects = here.file("subjects.csv", `id,age\n${rows.join("\n")}\n`);
    told.length = 0;
    const covariates = await readCovariates(PBC("visits.csv"), cohort, { subjects, covariates: "age" }, context);
    expect(covariates?.leftOut).toHaveLength(8);
    expect(told[0]).toContain("none for age of 8 individuals. 8 of 312 individuals were left out.");
    expect(told[1]).toMatch(/^Left out: .* and 3 more\.$/);
  });
});
