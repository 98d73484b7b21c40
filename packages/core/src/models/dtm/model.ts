/** The fitted map as we recommend it: plain data, nothing of single individuals. */
import type { MarkerModel, ModelBase } from "../fit.ts";
import type { SparseMap } from "../gp/sparse-map.ts";
import type { ResidualKind } from "./settings.ts";

/** What the map holds of one marker. */
export interface DtmMarkerModel extends MarkerModel {
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
  /** x_i ~ N(Φz_i, I) for the coded columns z of covariates that shift places. */
  readonly shift?: {
    /** Φ, [q,P], fit's frame. */
    readonly loadings: Float64Array;
    /** Covariance of Φ, by axis, then column, [qP,qP]: the inverse of the observed information. */
    readonly covariance: Float64Array;
  };
  /** Lower bound of the log-likelihood. Not comparable between data sets, bases or node sets. */
  readonly bound: number;
}
