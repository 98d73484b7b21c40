/** The fitted model as published: plain data, nothing of single individuals. */
import type { ModelBase } from "../fit.ts";
import type { SparseMap } from "../gp/sparse-map.ts";
import type { ElboTerms } from "./bound.ts";
import type { DtmPaperSchedule } from "./options.ts";

/** The Disease Trajectory Map of Schulam & Arora (2016). */
export interface DtmPaperModel extends ModelBase {
  readonly kind: "dtm-paper";
  /** q(u) in whitened form, with kernel and inducing places. */
  readonly map: SparseMap;
  /** Whether q(x_i) has a diagonal covariance. */
  readonly diagonalLocations: boolean;
  readonly schedule: DtmPaperSchedule;
  /** Whether hyperparameters were learned. */
  readonly learned: boolean;
  /** The bound at the end, line by line. */
  readonly elbo: ElboTerms;
}
