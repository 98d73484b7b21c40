import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Cohort, makeCohort } from "../../cohort/cohort.ts";
import { fitLmm } from "../fit-models.ts";

interface Lme4 {
  readonly tool: string;
  readonly simulated: { readonly id: number[]; readonly time: number[]; readonly value: number[] };
  readonly cases: { readonly name: string; readonly mean: "scalar" | "spline"; readonly logLik: number }[];
}

const read = (path: string) => readFileSync(new URL(`../../../../../${path}`, import.meta.url), "utf8");
const lme4: Lme4 = JSON.parse(read("oracles/lme4.json"));
const [header, ...rows] = read("examples/pbc/visits.csv")
  .trim()
  .split("\n")
  .map((line) => line.split(","));

function cohortOf(name: string): Cohort {
  if (name === "simulated") {
    const { id, time, value } = lme4.simulated;
    return makeCohort({ ids: id.map(String), times: time, values: value });
  }
  const column = (title: string) => rows.map((row) => row[header.indexOf(title)]);
  return makeCohort({ ids: column("id"), times: column("time").map(Number), values: column(name).map(Number) });
}

describe("fitLmm against lme4", () => {
  it.each(lme4.cases)("is never more than 1e-4 below its maximum: $name, $mean mean", ({ name, mean, logLik }) => {
    const model = fitLmm(cohortOf(name), { rounded: false, mean, priors: "none" });
    expect(model.record.converged).toBe(true);
    expect(model.record.trace.at(-1)!).toBeGreaterThan(logLik - 1e-4);
    // Both climbed the same hill: a gap upward would mean that one of the two likelihoods is another function.
    expect(model.record.trace.at(-1)!).toBeLessThan(logLik + 0.01);
  });
});
