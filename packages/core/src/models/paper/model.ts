/** The fitted model as published: plain data, nothing of single individuals. */
import type { MarkerModel, ModelBase } from "../fit.ts";
import type { SparseMap } from "../gp/sparse-map.ts";
import type { ElboTerms } from "./bound.ts";
import type { DtmPaperSchedule } from "./options.ts";

/** What the published map holds of its marker. */
export interface PaperMarkerModel extends MarkerModel {
  /** q(u) in whitened form, with kernel and inducing points. */
  readonly map: SparseMap;
}

/** The Disease Trajectory Map of Schulam & Arora (2016). */
export interface DtmPaperModel extends ModelBase<PaperMarkerModel> {
  readonly kind: "dtm-paper";
  /** Whether q(x_i) has a diagonal covariance. */
  readonly diagonalLocations: boolean;
  readonly schedule: DtmPaperSchedule;
  /** Whether hyperparameters were learned. */
  readonly learned: boolean;
  /** The bound at the end, line by line. */
  readonly elbo: ElboTerms;
}
