/** Every numbered example runs, and says something true. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as core from "@trajectory-maps/core";
import type { EffectTables } from "@trajectory-maps/core/models";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";

const FOLDER = fileURLToPath(new URL("../examples/", import.meta.url));
const scripts = readdirSync(FOLDER).filter((name) => /^\d\d-.*\.mjs$/.test(name));

/** Lines an example printed, and what it returned. */
async function play(name: string): Promise<{ lines: string[]; result: Record<string, unknown> }> {
  const lines: string[] = [];
  const { run } = (await import(`../examples/${name}.mjs`)) as {
    run: (print: (line: string) => void) => Promise<object>;
  };
  const result = (await run((line) => lines.push(line))) as Record<string, unknown>;
  return { lines, result };
}

describe("examples", () => {
  it("are numbered without a gap", () => {
    const numbers = readdirSync(FOLDER).flatMap((name) => /^(\d\d)-/.exec(name)?.[1] ?? []);
    expect(numbers).toEqual(numbers.map((_, k) => String(k + 1).padStart(2, "0")));
    expect(scripts).toHaveLength(7);
  });

  it("quick start: from a CSV file to a map", async () => {
    const { lines, result } = await play("01-quick-start");
    expect(lines[0]).toBe("312 individuals, 1945 observations, warnings: 1");
    expect(lines[1]).toMatch(/^Settled/);
    expect((result.places as core.Placements).location).toHaveLength(624);
  });

  it("a new individual: bands hold their medians and widen with time", async () => {
    const { result } = await play("02-embed-a-new-individual");
    const { median, lower, upper } = result.course as core.Prediction;
    for (const k of median.keys()) {
      expect(lower[k]).toBeLessThan(median[k]);
      expect(median[k]).toBeLessThan(upper[k]);
    }
    expect(Math.log(upper[2] / lower[2])).toBeGreaterThan(Math.log(upper[0] / lower[0]));
  });

  it("comparison: the spline model beats principal components of rank two on bilirubin", async () => {
    const { lines, result } = await play("03-compare-models");
    const { models } = result as unknown as core.Comparison;
    const score = (name: string) => models.find(({ model }) => model === name)!.subjectLogLik.mean;
    expect(score("lmm")).toBeGreaterThan(score("fpca"));
    expect(lines).toHaveLength(5);
  });

  it("outcomes: death follows the map, the randomised treatment does not", async () => {
    const { result } = await play("04-outcomes");
    const [death, , treatment] = (result as unknown as core.Association).outcomes;
    expect(death.adjusted.holm).toBeLessThan(0.05);
    expect(treatment.p).toBeGreaterThan(0.05);
  });

  it("library in Node: a saved model loads as it was, errors carry a code", async () => {
    const { lines, result } = await play("05-library-in-node");
    const { model, again } = result as { model: core.TrajectoryModel; again: core.TrajectoryModel };
    expect(core.saveModel(again)).toBe(core.saveModel(model));
    expect(lines.at(-1)).toMatch(/^censored-value: /);
  });

  it("several markers: they share the map, and one of them is forecast from the other", async () => {
    const { lines, result } = await play("07-several-markers");
    expect(lines[0]).toMatch(/^One map is supported/);
    const { median } = result as unknown as { median: Float64Array };
    expect(median[0]).toBeGreaterThan(2);
    expect(median[0]).toBeLessThan(4);
  });

  it("covariates: places follow the stage and not the randomised treatment, and so do forecasts", async () => {
    const { result } = await play("08-covariates");
    const { shifts, effects, forecasts } = result as unknown as EffectTables & { forecasts: number[] };
    expect(shifts[0].test.pValue).toBeLessThan(0.001);
    const treatment = effects.find(({ covariate }) => covariate === "treatment")!;
    expect(treatment.lower).toBeLessThan(0);
    expect(treatment.upper).toBeGreaterThan(0);
    expect(forecasts[1]).toBeGreaterThan(forecasts[0]);
  });

  it("library in a page: its script draws everyone with nothing but exports of the library", () => {
    const page = readFileSync(`${FOLDER}06-in-a-page.html`, "utf8");
    const { document } = parseHTML(page);
    const script = document.querySelector("script[type=module]")?.textContent ?? "";
    const [statement, names] = /import \{([^}]+)\} from "\.\.\/packages\/core\/dist\/browser\.mjs";/.exec(script) ?? [];
    const imported = (names ?? "").split(",").map((name) => name.trim());
    for (const name of imported) expect(core).toHaveProperty(name);
    const exported = new Map<string, unknown>(Object.entries(core));
    const values = imported.map((name) => exported.get(name));
    new Function("document", ...imported, script.replace(statement ?? "", ""))(document, ...values);
    expect(document.querySelectorAll("circle")).toHaveLength(80);
    expect(document.getElementById("summary")?.textContent).toMatch(/^80 simulated individuals\. Settled/);
  });
});
