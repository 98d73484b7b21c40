/** The models that can be compared, by name, and the difference of two of them. */

export const COMPARED_MODELS = [
  "population",
  "locf",
  "constant",
  "line",
  "lmm-paper",
  "lmm",
  "fpca",
  "dtm",
  "dtm-paper",
  "classes",
  "lcmm",
] as const;
export type ComparedModel = (typeof COMPARED_MODELS)[number];

/** Compared unless others are asked for. */
export const DEFAULT_MODELS: readonly ComparedModel[] = ["population", "locf", "lmm-paper", "lmm", "fpca", "dtm"];

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
