/**
 * Do the groups of a study come back in other samples? Individuals are drawn with replacement, the model is fitted again
 * to the sample, the first individuals are placed by the new fit and grouped into the same number of groups; the two
 * partitions are then compared (docs/math/groups.md §3). Each resample is a stateless piece of work (`resampleLabels`),
 * so threads may share them, and the result does not depend on how many there are.
 */
import { type Cohort, makeCohort, numIndividuals, onlyMarker, selectIndividuals } from "../cohort/cohort.ts";
import { resampleSeed, type Stability, stabilityOf } from "../map/clusters/stability.ts";
import { type GroupMethod, groupPlaces } from "../map/groups.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { embed } from "../models/place.ts";
import { createRandom } from "../numeric/random.ts";
import { refitLike } from "./refit.ts";

/** Individuals a resample is drawn from at most; a refit of more takes minutes and tells the same. */
export const MAX_RESAMPLED = 2000;

export interface ResampleTask {
  readonly model: TrajectoryModel;
  readonly cohort: Cohort;
  readonly numGroups: number;
  /** Default "bisect". */
  readonly method?: GroupMethod;
  readonly seed: number;
}

export interface StudyStabilityOptions {
  /** How the groups were made. Default "bisect". */
  readonly method?: GroupMethod;
  /** B. Default 20. */
  readonly numResamples?: number;
  readonly seed?: number;
  /** Runs one task; a pool of threads can stand in. Default `resampleLabels`. */
  readonly run?: (task: ResampleTask) => ArrayLike<number> | Promise<ArrayLike<number>>;
  /** Above 1 all tasks are handed to `run` at once, which keeps its own queue. Default 1. */
  readonly jobs?: number;
  readonly onProgress?: (done: number, of: number) => void;
}

/** Groups of the cohort's individuals by a model fitted to a sample of them, [m]. */
export function resampleLabels({ model, cohort, numGroups, method, seed }: ResampleTask): Int32Array {
  const sample = drawIndividuals(cohort, seed);
  const fitted = refitLike(model, sample, { seed, coarse: true });
  const placements = embed(fitted, cohort);
  return groupPlaces(fitted, placements, { method, numGroups, seed }).labels;
}

/** As many individuals as the cohort has, drawn with replacement; one drawn twice is two individuals. */
function drawIndividuals(cohort: Cohort, seed: number): Cohort {
  const random = createRandom(seed);
  const series = onlyMarker(cohort);
  const m = numIndividuals(cohort);
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (let k = 0; k < m; k++) {
    const i = random.integer(m);
    for (let j = series.offsets[i]; j < series.offsets[i + 1]; j++) {
      ids.push(`draw ${String(k).padStart(8, "0")}`);
      times.push(series.times[j]);
      values.push(series.values[j]);
    }
  }
  return makeCohort({ ids, times, values }, series.marker);
}

/**
 * Stability of the groups `labels` [m] under bootstrap refits of at most 2,000 individuals.
 * @throws DtmError "option" without resamples.
 * @example
 * const { verdict } = await studyStability(model, cohort, groups.labels, groups.groups.length);
 */
export async function studyStability(
  model: TrajectoryModel,
  cohort: Cohort,
  labels: ArrayLike<number>,
  numGroups: number,
  options: StudyStabilityOptions = {},
): Promise<Stability> {
  const { method = "ward", numResamples = 20, seed = 1, run = resampleLabels, jobs = 1, onProgress } = options;
  const chosen = chooseIndividuals(numIndividuals(cohort), seed);
  const part = chosen.length === numIndividuals(cohort) ? cohort : selectIndividuals(cohort, chosen);
  const reference = Int32Array.from(chosen, (i) => labels[i]);
  let done = 0;
  const labelsOf = async (b: number) => {
    const found = await run({ model, cohort: part, numGroups, method, seed: resampleSeed(seed, b) });
    onProgress?.(++done, numResamples);
    return found;
  };
  const resamples = Array.from({ length: numResamples }, (_, b) => b);
  if (jobs > 1) return stabilityOf(reference, await Promise.all(resamples.map(labelsOf)));
  const found: ArrayLike<number>[] = [];
  for (const b of resamples) found.push(await labelsOf(b));
  return stabilityOf(reference, found);
}

function chooseIndividuals(m: number, seed: number): Int32Array {
  const all = Int32Array.from({ length: m }, (_, i) => i);
  if (m <= MAX_RESAMPLED) return all;
  const random = createRandom(seed);
  for (let k = 0; k < MAX_RESAMPLED; k++) {
    const other = k + random.integer(m - k);
    [all[k], all[other]] = [all[other], all[k]];
  }
  return all.subarray(0, MAX_RESAMPLED).slice().sort();
}
