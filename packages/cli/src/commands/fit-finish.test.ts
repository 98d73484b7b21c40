/** What `dtm fit` does where a baseline cannot be fitted. */
import { existsSync } from "node:fs";
import { DtmError, readCohort } from "@trajectory-maps/core";
import type { FitProgress } from "@trajectory-maps/core/models";
import { afterAll, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../../test/harness.ts";
import type { Context } from "./command.ts";
import { finishRun, type Work } from "./fit-finish.ts";
import { openKeeper } from "./fit-keep.ts";
import { type FinishedFit, fitAny, type Kind } from "./fit-model.ts";

const here = workplace();
afterAll(here.clear);

/** A fit of linear models in which the components fail: a cohort that does so is hard to find. */
function failingFit(kind: Kind) {
  const warned: string[] = [];
  const onProgress = ({ stage }: FitProgress) => {
    if (stage === "functional principal components") throw new DtmError("not-monotone", "It fell.");
  };
  const context: Context = {
    commandLine: "dtm fit visits.csv",
    talk: {
      say: () => {},
      warn: (text) => warned.push(text),
      fail: () => {},
      insist: () => {},
      during: (_, work) => work(onProgress),
    },
  };
  const signals = { received: () => undefined, release: () => {} };
  const read = readCohort(smallCohort(30).visits);
  const choice = { kind, mapDimension: 2, mean: "scalar", noise: "white", seed: 1 } as const;
  const checkpoints = { keep: () => {} };
  const about = {
    folder: here.at("run"),
    source: "visits.csv",
    options: {},
    read,
    choice,
    context,
    checkpoints,
    also: [],
  };
  const work: Work = { ...about, signals, shards: undefined, keeper: openKeeper(about) };
  return { work, warned, fit: () => fitAny(read, choice, context, signals, undefined, () => {}) };
}

it("leaves a baseline out, says so, and keeps that in the record of the run", async () => {
  const { work, warned, fit } = failingFit("lmm");
  const { text } = await finishRun((await fit()) as FinishedFit, work);
  const words = "Functional principal components could not be fitted and are left out: It fell.";
  expect(warned).toContain(words);
  expect(JSON.parse(here.text("run", "run.json")).warnings).toContain(words);
  expect(text).not.toContain("fpca.json");
  expect(existsSync(here.at("run", "baselines", "lmm.json"))).toBe(true);
  expect(existsSync(here.at("run", "baselines", "fpca.json"))).toBe(false);
  expect((await run("groups", here.at("run"), "--stability", "0")).code).toBe(0);
});

it("refuses where it was the model asked for, with the reason", () => {
  expect(() => failingFit("fpca").fit()).toThrow("could not be fitted and are left out: It fell.");
});
