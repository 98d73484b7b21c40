/** How covariates of individuals are coded as columns of numbers: what a cohort carries and a model keeps (covariates/ makes it). */

/** What a covariate changes: the place, or the mean course by a constant, a constant and a slope, or a spline. */
export const COVARIATE_EFFECTS = ["places", "level", "level-and-rate", "curve"] as const;
export type CovariateEffect = (typeof COVARIATE_EFFECTS)[number];

/** Individuals with a missing value: left out of the fit, or with a column that says so. */
export const MISSING_RULES = ["complete", "indicator"] as const;
export type MissingRule = (typeof MISSING_RULES)[number];

/** How a missing value of a category is called, as a level. */
export const UNKNOWN = "unknown";

export interface Covariate {
  readonly name: string;
  readonly kind: "number" | "category";
  readonly effect: CovariateEffect;
  /** Levels of a category, its reference first; none of a number. */
  readonly levels: readonly string[];
  /** Whether a missing value has a column. */
  readonly hasUnknown: boolean;
}

/** A column: (x − center) / scale, x the number itself, or 1 for one level (or a missing number) and 0 otherwise. */
export interface CodedColumn {
  /** Such as "age", "sex: m", "age: unknown". */
  readonly name: string;
  /** Position of its covariate. */
  readonly covariate: number;
  /** The level that is 1; null for the number itself. */
  readonly level: string | null;
  readonly center: number;
  readonly scale: number;
}

/** What a model keeps. */
export interface CovariateCoding {
  readonly covariates: readonly Covariate[];
  readonly columns: readonly CodedColumn[]; // [P]
  readonly missing: MissingRule;
}

/** Covariates of the individuals of a cohort. */
export interface CodedCovariates {
  readonly coding: CovariateCoding;
  /** Coded columns, [m,P]. */
  readonly values: Float64Array;
}
