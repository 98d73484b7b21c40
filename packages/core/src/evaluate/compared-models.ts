/** The models that can be compared, by name, and the difference of two of them. */

export const COMPARED_MODELS = ["constant", "line", "lmm", "fpca", "dtm", "dtm-paper", "classes"] as const;
export type ComparedModel = (typeof COMPARED_MODELS)[number];

export interface ModelDifference {
  readonly model: ComparedModel;
  readonly reference: ComparedModel;
  /** Mean over held-out individuals of the difference in log-likelihood, its paired standard error and 95% interval. */
  readonly mean: number;
  readonly se: number;
  readonly lower: number;
  readonly upper: number;
}
