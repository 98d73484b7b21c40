/** The models that can be compared, by name, and the difference of two of them. */
import type { Cohort } from "../cohort/cohort.ts";

export const COMPARED_MODELS = [
  "population",
  "locf",
  "constant",
  "line",
  "lmm-paper",
  "lmm",
  "lmm-covariates",
  "fpca",
  "fpca-covariates",
  "dtm",
  "dtm-plain",
  "dtm-paper",
  "classes",
  "lcmm",
] as const;
export type ComparedModel = (typeof COMPARED_MODELS)[number];

/** Compared unless others are asked for, where there are no covariates. */
export const DEFAULT_MODELS: readonly ComparedModel[] = ["population", "locf", "lmm-paper", "lmm", "fpca", "dtm"];

/** Models that ask for a cohort with covariates. */
export const WITH_COVARIATES: readonly ComparedModel[] = ["lmm-covariates", "fpca-covariates", "dtm-plain"];

/** Compared unless others are asked for: a map with covariates is held against baselines with the same ones, and the map without. */
export function defaultModels({ covariates }: Pick<Cohort, "covariates">): readonly ComparedModel[] {
  if (covariates === undefined) return DEFAULT_MODELS;
  const own = new Set([...DEFAULT_MODELS, ...WITH_COVARIATES]);
  return COMPARED_MODELS.filter((model) => own.has(model));
}

/** The first of these that takes part is what others are compared with. */
export const REFERENCES: readonly ComparedModel[] = ["lmm-covariates", "lmm", "lmm-paper"];

/** Mean over held-out individuals of a paired difference, its standard error and 95% interval. */
export interface PairedDifference {
  readonly mean: number;
  readonly se: number;
  readonly lower: number;
  readonly upper: number;
}

/** Difference in log-likelihood, above zero where the model is better than the reference. */
export interface ModelDifference extends PairedDifference {
  readonly model: ComparedModel;
  readonly reference: ComparedModel;
  /** Difference in the CRPS of the next visit, below zero where the model is better; null where nobody has a second visit. */
  readonly nextCrps: PairedDifference | null;
}
