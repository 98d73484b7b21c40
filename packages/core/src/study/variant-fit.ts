/**
 * Pieces of a sensitivity study that threads may share: the fit of one variant with everybody's place, group and posterior, and the
 * scores of one fold under one variant. A fit that is refused or breaks down is a result as well, with its reason.
 */
import { testKernel } from "../associate/place-features.ts";
import { posteriorFeatures } from "../associate/posterior-features.ts";
import type { Cohort } from "../cohort/cohort.ts";
import { splitCohort } from "../cohort/split.ts";
import { DtmError } from "../errors.ts";
import { heldOutLogLikelihood } from "../evaluate/held-out.ts";
import { type GroupMethod, groupPlaces } from "../map/groups.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { embed } from "../models/place.ts";
import { refitLike } from "./refit.ts";
import { changeVisits, placedVisits, type Variant } from "./variants.ts";

/** What all pieces share. */
export interface SensitivityShared {
  readonly model: TrajectoryModel;
  readonly cohort: Cohort;
}

export interface VariantTask {
  readonly variant: Variant;
  readonly numGroups: number;
  readonly method: GroupMethod;
  readonly seed: number;
  /** Whether features of whole posteriors are wanted, for outcomes. */
  readonly withFeatures: boolean;
}

/** A variant fitted to the cohort. */
export interface VariantFit {
  readonly converged: boolean;
  /** Who is placed: those with visits left. */
  readonly ids: readonly string[];
  readonly mapDimension: number;
  readonly location: Float64Array; // [n,q]
  /** Groups, [n]. */
  readonly labels: Int32Array;
  /** Features of whole posteriors, [n,F]. */
  readonly features: Float64Array | null;
}

/** Why a fit cannot be had. */
export interface FailedFit {
  readonly failed: string;
}

/** Fits a variant to the cohort, and places and groups everybody who has visits in it. */
export function fitVariant({ model, cohort }: SensitivityShared, task: VariantTask): VariantFit | FailedFit {
  const { variant, numGroups, method, seed, withFeatures } = task;
  const { refit: change, visits, seedStep = 0 } = variant;
  return orFailed(() => {
    const fitted = refitLike(model, changeVisits(cohort, visits), { seed: seed + seedStep, ...(change && { change }) });
    const placed = placedVisits(cohort, visits);
    const placements = embed(fitted, placed);
    const [features] = withFeatures ? posteriorFeatures(fitted, placed, [testKernel(fitted.mapDimension)]) : [null];
    return {
      converged: fitted.record.converged,
      ids: placed.ids,
      mapDimension: fitted.mapDimension,
      location: placements.location,
      labels: groupPlaces(fitted, placements, { method, numGroups, seed }).labels,
      features: features?.rows ?? null,
    };
  });
}

export interface VariantFoldTask {
  /** The model as it was fitted, where left out. */
  readonly variant?: Variant;
  readonly fold: number;
  readonly folds: number;
  readonly seed: number;
}

/** Scores of the individuals of a fold. */
export interface VariantFold {
  /** Their positions in the cohort. */
  readonly individuals: Int32Array;
  /** log p(y_i) on the scale of the variant's model. */
  readonly logLikelihood: Float64Array;
}

/** Fits a variant, from one start, to the other folds, and scores this one. */
export function scoreVariant({ model, cohort }: SensitivityShared, task: VariantFoldTask): VariantFold | FailedFit {
  const { variant, fold, folds, seed } = task;
  const { train, test, testIndividuals } = splitCohort(cohort, folds, seed)[fold];
  const { refit: change, visits, seedStep = 0 } = variant ?? {};
  return orFailed(() => {
    const given = { seed: seed + seedStep, restarts: 0, ...(change && { change }) };
    const fitted = refitLike(model, changeVisits(train, visits), given);
    const { logLikelihood } = heldOutLogLikelihood(fitted, placedVisits(test, visits));
    return { individuals: testIndividuals, logLikelihood };
  });
}

function orFailed<T>(work: () => T): T | FailedFit {
  try {
    return work();
  } catch (error) {
    if (error instanceof DtmError && error.code !== "cancelled") return { failed: error.message };
    throw error;
  }
}
