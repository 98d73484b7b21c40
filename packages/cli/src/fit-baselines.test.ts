/** `dtm fit` where a baseline cannot be fitted. */
import { existsSync } from "node:fs";
import { DtmError } from "@trajectory-maps/core";
import { afterAll, expect, it, vi } from "vitest";
import { run, smallCohort, workplace } from "../test/harness.ts";

// A cohort whose components cannot be fitted is hard to find; progress of their fit is where this one fails.
vi.mock(import("@trajectory-maps/core/models"), async (original) => {
  const core = await original();
  const fitLinear: typeof core.fitLinear = (cohort, options = {}) => {
    const onProgress: typeof options.onProgress = ({ stage }) => {
      if (stage === "functional principal components") throw new DtmError("not-monotone", "It fell.");
    };
    return core.fitLinear(cohort, { ...options, onProgress });
  };
  return { ...core, fitLinear };
});

const here = workplace();
afterAll(here.clear);

it("leaves the baseline out, says so, and keeps it in the record of the run", async () => {
  const visits = here.file("visits.csv", smallCohort(30).visits);
  const { code, out, talk } = await run("fit", visits, "--model", "lmm", "-o", here.at("run"));
  const words = "Functional principal components could not be fitted and are left out: It fell.";
  expect(code).toBe(0);
  expect(talk).toContain(words);
  expect(JSON.parse(here.text("run", "run.json")).warnings).toContain(words);
  expect(out).not.toContain("fpca.json");
  expect(existsSync(here.at("run", "baselines", "lmm.json"))).toBe(true);
  expect(existsSync(here.at("run", "baselines", "fpca.json"))).toBe(false);
  expect((await run("groups", here.at("run"), "--stability", "0")).code).toBe(0);
});

it("refuses to fit the model itself, with the reason", async () => {
  const visits = here.file("visits.csv", smallCohort(30).visits);
  const { code, talk } = await run("fit", visits, "--model", "fpca", "-o", here.at("other"));
  expect(code).not.toBe(0);
  expect(talk).toContain("could not be fitted");
  expect(existsSync(here.at("other", "model.json"))).toBe(false);
});
