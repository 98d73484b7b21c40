/** Groups and survival against R's own functions; the files say tool, version, command and seed. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkNlme } from "../oracles/check/nlme.ts";
import { checkHclust, checkSurvival, checkVarimax } from "../oracles/check/r.ts";
import { passes } from "../oracles/check/run.ts";

const read = (name: string) => JSON.parse(readFileSync(new URL(`../fixtures/r/${name}.json`, import.meta.url), "utf8"));

describe("R's fixtures", () => {
  it("say where they come from and ask for 1e-6", () => {
    for (const name of ["hclust", "varimax", "survival", "two_markers"]) {
      expect(read(name)).toMatchObject({
        tool: expect.stringMatching(/R version/),
        command: expect.stringContaining("Rscript"),
        seed: expect.any(Number),
        tolerance: 1e-6,
      });
    }
  });

  it("hold for Ward trees: merges, heights, order of leaves and cuts", () => {
    const checks = checkHclust(read("hclust"));
    expect(checks.length).toBeGreaterThan(90);
    expect(checks.filter((check) => !passes(check))).toEqual([]);
  });

  it("hold for the mixed model of two markers by nlme", () => {
    const checks = checkNlme(read("two_markers"));
    expect(checks).toHaveLength(10);
    expect(checks.filter((check) => !passes(check))).toEqual([]);
  });

  it("hold for varimax rotations", () => {
    const checks = checkVarimax(read("varimax"));
    expect(checks.length).toBeGreaterThan(10);
    expect(checks.filter((check) => !passes(check))).toEqual([]);
  });

  it("hold for Kaplan–Meier curves, log-rank tests, Cox regressions with their checks, and competing events", () => {
    const checks = checkSurvival(read("survival"));
    expect(checks.length).toBeGreaterThan(1000);
    expect(checks.filter((check) => !passes(check))).toEqual([]);
  });

  it("are really compared: a small change of a file is found", () => {
    const trees = read("hclust");
    trees.cases[3].height[50] += 1e-4;
    expect(checkHclust(trees).filter((check) => !passes(check))).toHaveLength(1);
    const survival = read("survival");
    survival.cases[0].kaplan_meier[0].log_log.median[2] = 7;
    survival.cases[3].cox[0].concordance_se *= 1.0001;
    survival.cases[4].cox[5].proportional[0].chisq[3] *= 1.0001;
    survival.cases[6].cox[0].base_hazard[survival.cases[6].cox[0].base_hazard.length - 1] *= 1.0001;
    survival.competing[2].curves[1].standard_error[9][1] *= 1.0001;
    expect(checkSurvival(survival).filter((check) => !passes(check))).toHaveLength(5);
  });
});
