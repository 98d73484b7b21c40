/**
 * What a study will take, roughly, before it begins: one start of the map is timed over a few of its steps on the cohort
 * itself, and the fits of every step are counted. Fits take more or fewer steps than assumed, so this is good to a factor of two.
 */
import { type Cohort, numIndividuals, startDtm } from "@trajectory-maps/core";
import { usualRestarts } from "@trajectory-maps/core/models";
import { VARIANT_FAMILIES } from "@trajectory-maps/core/study";
import { listOption, type Options, textOption } from "./command.ts";
import { wholeNumber } from "./numbers.ts";
import { THREAD_GAIN } from "./plan-estimate.ts";

/** Steps of one start on the bundled and simulated cohorts: 40 to 200. */
const STEPS = 100;
const TRIAL_STEPS = 4;
/** Refits of groups are to this share of at most so many individuals. */
const REFIT = { share: 0.8, most: 2_000 };
/** Variants of each kind that an analysis of sensitivity refits, about. */
const VARIANTS = 2;

export interface StepTime {
  readonly step: string;
  readonly fits: number;
  readonly seconds: number;
}

/** Map fits and seconds of each step; steps without fits take little. */
export function studyTimes(cohort: Cohort, steps: readonly string[], options: Options, jobs: number): StepTime[] {
  const one = secondsOfStart(cohort);
  const m = numIndividuals(cohort);
  const number = (name: string, preset: number) =>
    wholeNumber(`--${name}`, textOption(options, name) ?? String(preset), 0);
  const starts = 1 + number("restarts", usualRestarts(m));
  const folds = number("folds", 10) * number("repeats", 1);
  const variants = VARIANTS * (listOption(options, "sensitivity") ?? VARIANT_FAMILIES).length;
  const counts: Readonly<Record<string, readonly [fits: number, share: number]>> = {
    fit: [starts, 1],
    groups: [number("stability", 20), REFIT.share * Math.min(1, REFIT.most / m)],
    compare: [folds, (number("folds", 10) - 1) / number("folds", 10)],
    sensitivity: [variants * (starts + number("sensitivityFolds", 5)), 1],
  };
  // Tests of one outcome take about as long as a start.
  const tests = (listOption(options, "outcomes")?.length ?? 0) + (options.event === undefined ? 0 : 1);
  // Starts of one fit share threads inside their passes; the others run side by side.
  const threads = 1 + THREAD_GAIN * (jobs - 1);
  return steps.map((step) => {
    const [fits, share] = counts[step] ?? [0, 0];
    const others = step === "associate" ? tests : 0;
    return { step, fits, seconds: ((fits * share + others) * one) / threads };
  });
}

/** Seconds of one start of the map, from its linear start and a few steps. */
function secondsOfStart(cohort: Cohort): number {
  const began = performance.now();
  const run = startDtm(cohort, { restarts: 0 });
  run.step();
  const linear = performance.now();
  for (let k = 0; k < TRIAL_STEPS && !run.step().done; k++);
  const ended = performance.now();
  return (linear - began + (STEPS * (ended - linear)) / TRIAL_STEPS) / 1000;
}
