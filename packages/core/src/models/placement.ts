/** Places of individuals on a map: one with its full posterior, many as columns. All in the shown frame. */
import type { CoefficientPosterior } from "./mixture/posterior.ts";

/** A Gaussian variational posterior N(location, covariance) of a place, as the published model reports it. */
export interface VariationalPlace {
  readonly location: Float64Array; // [q]
  readonly covariance: Float64Array; // [q,q]
  /** Lower bound of log p(y_i). */
  readonly bound: number;
}

/** One individual, placed: all that prediction needs. */
export interface Placement {
  readonly id: string;
  readonly numObservations: number;
  /** Time of the last observation; −∞ without any. */
  readonly lastTime: number;
  /** Posterior mean of the place, [q]. */
  readonly location: Float64Array;
  /** Posterior covariance of the place, [q,q]. */
  readonly covariance: Float64Array;
  /** Posterior of the coefficients; its node places are in the fit's frame. */
  readonly posterior: CoefficientPosterior;
  readonly logLikelihood: number;
  readonly variational?: VariationalPlace;
  /** Observations outside the times the model was trained on; they were moved to its first or last time. */
  readonly numOutsideTimes: number;
  /** Posterior mass further than a length-scale from every inducing place, where the map says nothing. */
  readonly outsideMass: number;
}

/** Many individuals: where each stands and when it was seen; holds no observations. */
export interface Places {
  readonly ids: readonly string[];
  readonly mapDimension: number;
  readonly numObservations: Int32Array; // [m]
  readonly location: Float64Array; // [m,q]
  readonly covariance: Float64Array; // [m,q,q]
  readonly logLikelihood: Float64Array; // [m]
  /** First and last observation time, [m]. */
  readonly firstTime: Float64Array;
  readonly lastTime: Float64Array;
}

/** Many individuals, placed, with what else their posteriors say. */
export interface Placements extends Places {
  /** Posterior means of the spline coefficients, as deviations from the population mean, [m,d]. */
  readonly coefficients: Float64Array;
  /** Areas (lengths for q = 1) of the 50 % and 90 % highest-density regions, [m]. */
  readonly area50: Float64Array;
  readonly area90: Float64Array;
  readonly outsideMass: Float64Array; // [m]
  readonly numOutsideTimes: Int32Array; // [m]
  /** Variational posteriors of the published model, beside the exact ones. */
  readonly variational?: {
    readonly location: Float64Array; // [m,q]
    readonly covariance: Float64Array; // [m,q,q]
    readonly bound: Float64Array; // [m]
  };
}
