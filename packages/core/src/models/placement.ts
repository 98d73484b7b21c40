/** Places of individuals on a map: one with its full posterior, many as columns. All in the shown frame. */
import { checkForm, checkGiven, isNamed } from "../errors.ts";
import type { CoefficientPosterior } from "./mixture/posterior.ts";

/** A Gaussian variational posterior N(location, covariance) of a place, as the published model reports it. */
export interface VariationalPlace {
  readonly location: Float64Array; // [q]
  readonly covariance: Float64Array; // [q,q]
  /** Lower bound of log p(y_i). */
  readonly bound: number;
}

/** Visits of one individual in order of time, values on the scale of the model. */
export interface VisitHistory {
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** W of noise/serial.ts, where values below or above a limit are pseudo-values. */
  readonly weights?: Float64Array;
}

/** A visit that is probably wrong. */
export interface SuspectValue {
  readonly id: string;
  /** Name of the marker. */
  readonly marker: string;
  readonly time: number;
  /** As it was measured, and what the individual's other values let expect; both on the marker's own scale. */
  readonly value: number;
  readonly expected: number;
  /** That the value is wrong. */
  readonly probability: number;
}

/** One individual, placed: all that prediction needs. */
export interface Placement {
  readonly id: string;
  /** Which fit placed it (`fitKey`): predictions by another are refused. */
  readonly placedBy?: string;
  readonly numObservations: number;
  /** Time of the last observation; −∞ without any. */
  readonly lastTime: number;
  /** The visits, where the noise of a new measurement is correlated with theirs. */
  readonly visits?: VisitHistory;
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
  /** Posterior mass further than a length-scale from every inducing point, where the map says nothing. */
  readonly outsideMass: number;
  /** How usual the visits are, from 1 to 0 (course-fit.ts); near 0 they are like no course of the model, whatever the place says. */
  readonly courseFit: number;
  /** Visits that are probably wrong; they moved the place all the same. Left out where there are none. */
  readonly suspects?: readonly SuspectValue[];
  /** Why nothing can be said of the individual (result-checks.ts): predictions refuse it. Left out where all is well. */
  readonly fault?: string;
  /** Where there are several markers, what belongs to each; visits and posterior above are then those of the first. */
  readonly markers?: readonly MarkerPlacement[];
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
  /** Posterior mean and sd of log λ_i where individuals differ in their noise: how unsteadily each was measured. */
  readonly noiseLevel?: {
    readonly mean: Float64Array; // [m]
    readonly sd: Float64Array; // [m]
  };
  /** The same of each of several markers that has levels. */
  readonly noiseLevels?: readonly NonNullable<Places["noiseLevel"]>[];
  /** Visits of each of several markers, [m] each; above are all together. */
  readonly visitsOfMarkers?: readonly Int32Array[];
}

/** What a placement holds of one marker of several. */
export interface MarkerPlacement
  extends Pick<Placement, "numObservations" | "lastTime" | "visits" | "posterior" | "numOutsideTimes"> {}

/** A placement by several markers as `predict` reads it for one of them: the place of all, the marker's own visits and courses. */
export function viewPlacement(placement: Placement, marker: number): Placement {
  const { markers, visits: _, ...shared } = placement;
  return markers === undefined ? placement : { ...shared, ...markers[marker] };
}

/** Many placements by several markers as a view of the model by one of them reads them: coefficients are the marker's own. */
export function viewPlacements(
  placements: Placements,
  markers: readonly { readonly basis: { readonly numBasis: number } }[],
  marker: number,
): Placements {
  if (markers.length === 1) return placements;
  const sizes = markers.map(({ basis }) => basis.numBasis);
  const before = sizes.slice(0, marker).reduce((sum, d) => sum + d, 0);
  const [d, D] = [sizes[marker], sizes.reduce((sum, size) => sum + size, 0)];
  const coefficients = new Float64Array(placements.ids.length * d);
  for (let i = 0; i < placements.ids.length; i++) {
    coefficients.set(placements.coefficients.subarray(i * D + before, i * D + before + d), i * d);
  }
  const { noiseLevels: _, visitsOfMarkers: __, ...shared } = placements;
  return { ...shared, coefficients };
}

/** The noise sd of an individual over that of the middle: median and ends of the central 90 % interval. */
export function noiseRatio({ mean, sd }: NonNullable<Places["noiseLevel"]>, individual: number) {
  const at = (score: number) => Math.exp(0.5 * (mean[individual] + score * sd[individual]));
  return { ratio: at(0), lower: at(-Z_90), upper: at(Z_90) };
}

/** Standard deviations to either side that hold 90 % of a normal distribution. */
const Z_90 = 1.6448536269514722;

/** An individual whose place means nothing, by position, and why. */
export interface PlaceFault {
  readonly individual: number;
  readonly reason: string;
}

/** Many individuals, placed, with what else their posteriors say. */
export interface Placements extends Places {
  /** Posterior means of the spline coefficients, as deviations from the population mean, [m,d]; of several markers one after the other. */
  readonly coefficients: Float64Array;
  /** Areas (lengths for q = 1) of the 50% and 90% highest-density regions, [m]. */
  readonly area50: Float64Array;
  readonly area90: Float64Array;
  readonly outsideMass: Float64Array; // [m]
  /** Covariates of each individual far outside those fitted, [m]; of a model without covariates left out. */
  readonly farCovariates?: readonly (readonly string[])[];
  readonly numOutsideTimes: Int32Array; // [m]
  /** Individuals of whom nothing can be said, by position: their columns are rounding. Left out where there are none. */
  readonly faults?: readonly PlaceFault[];
  /** Variational posteriors of the published model, beside the exact ones. */
  readonly variational?: {
    readonly location: Float64Array; // [m,q]
    readonly covariance: Float64Array; // [m,q,q]
    readonly bound: Float64Array; // [m]
  };
}

/** Throws a DtmError unless these are placements: for callers whom no compiler warns. */
export function checkPlacements(where: string, placements: unknown): void {
  checkGiven(where, { placements });
  const isPlaced = isNamed(placements) && Array.isArray(placements.ids) && ArrayBuffer.isView(placements.location);
  checkForm(isPlaced, where, "placed individuals", placements, "Place a cohort first: embed(model, cohort).");
}

/** Standard deviations from the middle to the border of the 50% region of a Gaussian in 1 and 3 dimensions. */
const HALF_1 = 0.6744897501960817;
const HALF_3 = 1.5381722544550522;

/**
 * Standard deviation of a place from the size of its 50% region, because a moment is pulled by the little mass that lies
 * where the map means nothing: that of the Gaussian whose region is as large,
 *   q = 1: length / (2 · 0.6745),   q = 2: √(area / 2π ln 2),   q = 3: ∛(3 volume / 4π) / 1.5382;
 * without a size √(tr S / q) for the covariance S [q,q].
 */
export function placeSd(size: number, covariance: ArrayLike<number>, q: number): number {
  if (Number.isFinite(size) && size > 0) {
    if (q === 1) return size / (2 * HALF_1);
    if (q === 2) return Math.sqrt(size / (2 * Math.PI * Math.LN2));
    return Math.cbrt((3 * size) / (4 * Math.PI)) / HALF_3;
  }
  let trace = 0;
  for (let c = 0; c < q; c++) trace += covariance[c * q + c];
  return Math.sqrt(Math.max(trace, 0) / q);
}

/** `placeSd` of every individual, [m]. */
export function placeSds({ ids, area50, covariance, mapDimension: q }: Placements): Float64Array {
  return Float64Array.from(ids, (_, i) => placeSd(area50[i], covariance.subarray(i * q * q, (i + 1) * q * q), q));
}
