/**
 * Do the map and its groups come back in other samples? The model is fitted again to 80% of the individuals, drawn at random, and
 * everybody is placed by the new fit: how well the places agree with the first ones (R² after turning, mirroring and scaling),
 * and, grouped into the same number of groups, how well the groups do (docs/math/groups.md §3). Each refit is a stateless piece
 * of work (`refitPart`), so threads may share them, and the result does not depend on how many there are.
 */
import { type Cohort, numIndividuals, selectIndividuals } from "../cohort/cohort.ts";
import { resampleSeed, type Stability, stabilityOf } from "../map/clusters/stability.ts";
import { type GroupMethod, groupPlaces } from "../map/groups.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { embed, embedPlaces } from "../models/place.ts";
import { procrustes } from "../numeric/procrustes.ts";
import { createRandom } from "../numeric/random.ts";
import { refitLike } from "./refit.ts";

/** Individuals a resample is drawn from at most; a refit of more takes minutes and tells the same. */
const MAX_RESAMPLED = 2000;

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
  /** Runs one task; a pool of threads can stand in. Default `refitPart`. */
  readonly run?: (task: ResampleTask) => RefitPart | Promise<RefitPart>;
  /** Above 1 all tasks are handed to `run` at once, which keeps its own queue. Default 1. */
  readonly jobs?: number;
  readonly onProgress?: (done: number, of: number) => void;
}

/** What a refit to a part of the individuals says of everybody. */
export interface RefitPart {
  /** Groups, [m]. */
  readonly labels: Int32Array;
  /** R² of the places with those of the first fit. */
  readonly agreement: number;
}

/** Share of the individuals in a refit. */
const SHARE = 0.8;

/** Places and groups of the cohort's individuals by a model fitted to a part of them. */
export function refitPart({ model, cohort, numGroups, method, seed }: ResampleTask): RefitPart {
  const m = numIndividuals(cohort);
  const part = selectIndividuals(cohort, drawIndividuals(m, Math.max(2, Math.round(SHARE * m)), seed));
  const fitted = refitLike(model, part, { seed, coarse: true });
  const placements = embed(fitted, cohort);
  const first = embedPlaces(model, cohort);
  return {
    labels: groupPlaces(fitted, placements, { method, numGroups, seed }).labels,
    agreement: procrustes(placements.location, first.location, m, model.mapDimension).rSquared,
  };
}

/** Groups under refits, and R² of each refit's places with the first. */
export interface MapStability extends Stability {
  readonly mapAgreement: readonly number[];
}

/**
 * Stability of the map and of its groups `labels` [m] under refits to 80% of at most 2,000 individuals.
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
): Promise<MapStability> {
  const { method = "bisect", numResamples = 20, seed = 1, run = refitPart, jobs = 1, onProgress } = options;
  const m = numIndividuals(cohort);
  const chosen = drawIndividuals(m, MAX_RESAMPLED, seed);
  const part = chosen.length === m ? cohort : selectIndividuals(cohort, chosen);
  const reference = Int32Array.from(chosen, (i) => labels[i]);
  let done = 0;
  const refit = async (b: number) => {
    const found = await run({ model, cohort: part, numGroups, method, seed: resampleSeed(seed, b) });
    onProgress?.(++done, numResamples);
    return found;
  };
  const resamples = Array.from({ length: numResamples }, (_, b) => b);
  const found: RefitPart[] = [];
  if (jobs > 1) found.push(...(await Promise.all(resamples.map(refit))));
  else for (const b of resamples) found.push(await refit(b));
  const groups = stabilityOf(
    reference,
    found.map(({ labels: again }) => again),
  );
  return { ...groups, mapAgreement: found.map(({ agreement }) => agreement) };
}

/** Positions of `count` of m individuals drawn without replacement, in order; of everybody if there are no more. */
function drawIndividuals(m: number, count: number, seed: number): Int32Array {
  if (m <= count) return Int32Array.from({ length: m }, (_, i) => i);
  return createRandom(seed).permutation(m).slice(0, count).sort();
}
