/** The fitted map as we recommend it: plain data, nothing of single individuals. */
import type { CovariateCoding } from "../../covariates/covariates.ts";
import type { MarkerModel, ModelBase } from "../fit.ts";
import type { SparseMap } from "../gp/sparse-map.ts";
import type { EffectForm } from "../mean.ts";
import type { ResidualKind } from "./settings.ts";

/** What the map holds of one marker. */
export interface DtmMarkerModel extends MarkerModel {
  /** γ [P,h] of covariates with effects in the mean, by coded column, then column of the form. */
  readonly effects?: Float64Array;
  /** f: place → coefficients. */
  readonly map: SparseMap;
  /** The residual individual effect e ~ N(0, Σ_e). */
  readonly residual: {
    readonly kind: ResidualKind;
    /** Σ_e, [d,d]; zero without residual effects. */
    readonly covariance: Float64Array;
    /** Σ_e = τ Σ_LMM; null unless capped. */
    readonly tau: number | null;
    /** Largest τ allowed; null without a cap. */
    readonly cap: number | null;
    readonly atCap: boolean;
  };
  /** Share of the variance between individuals, averaged over observed times, that the map carries. */
  readonly varianceShare: number;
  /** Ḡ = Σ G_i/N, the average weight of the observed times, [d,d]. */
  readonly averageGram: Float64Array;
}

/** A fitted map with exact places on nodes and a residual effect. */
export interface DtmModel extends ModelBase<DtmMarkerModel> {
  readonly kind: "dtm";
  /** The places an individual may take, and their prior. */
  readonly nodes: {
    /** [Γ,q], fit's frame. */
    readonly locations: Float64Array;
    /** log π_g, [Γ]. */
    readonly logWeights: Float64Array;
    readonly step: number;
    readonly radius: number;
  };
  /** How covariates of individuals are coded, where the model has any. */
  readonly covariates?: CovariateCoding;
  /** x_i ~ N(Φz_i, I) for the coded columns z of covariates that shift places. */
  readonly shift?: {
    /** Φ, [q,P], fit's frame. */
    readonly loadings: Float64Array;
    /** Covariance of Φ, by axis, then column, [qP,qP]: the inverse of the observed information. */
    readonly covariance: Float64Array;
  };
  /** Effects of covariates in the mean; their γ stand with the markers, whose mean is that of z = 0. */
  readonly effects?: {
    readonly form: EffectForm;
    /** Covariance of γ of all markers, one after another, [ΣPh,ΣPh]. */
    readonly covariance: Float64Array;
    /** Of the t distribution of intervals: individuals less parameters of all means. */
    readonly degreesOfFreedom: number;
  };
  /** Lower bound of the log-likelihood. Not comparable between data sets, bases or node sets. */
  readonly bound: number;
}
