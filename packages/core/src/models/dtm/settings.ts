/** Options of the recommended map, with defaults filled in and ranges checked at the door. */

import type { CodedCovariates } from "../../cohort/coding.ts";
import { DEFAULT_MARKER } from "../../cohort/marker.ts";
import { checkOption } from "../../errors.ts";
import type { FitControl, Json, MarkerModel, PriorChoice } from "../fit.ts";
import type { MapStart } from "../map-start.ts";
import { MANY_INDIVIDUALS, MAP_SAMPLE, usualRestarts } from "../sizes.ts";
import { LENGTHSCALE_BOUNDS } from "./kernel-step.ts";
import { latticeNodes, type NodeOptions } from "./nodes.ts";

/**
 * The residual individual effect e_i ~ N(0, Σ_e) beside the map: Σ_e = τ Σ_LMM with τ at most the cap (recommended),
 * none, or a free diagonal or full Σ_e. A free full Σ_e can empty the map.
 */
export type ResidualKind = "capped" | "none" | "diagonal" | "full";

/** Which inducing points. */
export interface InducingOptions {
  /** Inducing points per axis of a regular grid. Default 5 (q = 2) or 9 (q = 1). */
  readonly perDimension?: number;
  /** The grid spans [−halfWidth, halfWidth]. Default 2 (q = 2) or 3 (q = 1). */
  readonly halfWidth?: number;
}

/** Options of a fit; all have defaults. */
export interface DtmOptions extends FitControl {
  /** q, 1 or 2. Default 2. */
  readonly mapDimension?: number;
  readonly nodes?: NodeOptions;
  readonly inducing?: InducingOptions;
  /** Constant population mean or mean curve. Default: as in the start. */
  readonly mean?: "scalar" | "spline";
  /** Default "capped". */
  readonly residual?: ResidualKind;
  /** Largest τ of a capped residual; Infinity for none. Default 0.2. */
  readonly cap?: number;
  /** Learn mean, noise, residual, signal variance and length-scale, all together. Default true; false keeps the start's. */
  readonly learn?: boolean;
  /** A weak prior on the noise, or none. Default "none"; fits of a cohort take the weak one. */
  readonly priors?: PriorChoice;
  /** ℓ at the start (and throughout with `learn: false`). Default 1. */
  readonly lengthscale?: number;
  /** Whole passes, or minibatches for cohorts of any size. Default "batch" up to 50,000 individuals, "svi" above. */
  readonly schedule?: "batch" | "svi";
  /** Individuals per minibatch of "svi". Default by the size of the cohort. */
  readonly batchSize?: number;
  /** "svi" settles on a random sample of this size before it visits everybody. Default 65,536; all if fewer than twice that. */
  readonly sampleSize?: number;
  /** Iterations ("batch") or passes over the cohort ("svi") at most. Default 600 or 60. */
  readonly maxIterations?: number;
  /**
   * "batch": the fit has settled once places are expected to move by less than this, in standard deviations of the prior of
   * places (root mean square). Default 0.01. "svi": gains of the bound below this, relative to it, count as none. Default 1e-5.
   */
  readonly tolerance?: number;
  /**
   * Further fits from other starts (principal component scores, then random places); the best bound wins. Default 2 up to
   * 5,000 individuals, 0 above.
   */
  readonly restarts?: number;
  /** Covariates of everybody, in the order of the individuals (docs/math/covariates.md). Default: none. */
  readonly covariates?: CodedCovariates;
  /** What was measured, marker by marker, and the columns it was read from. Default: markers without a name. */
  readonly markers?: readonly MarkerNames[];
}

/** A marker and where it was read from. */
export type MarkerNames = Pick<MarkerModel, "marker" | "columns">;

/** Options that are settings as they are, once defaults are filled in. */
type Kept =
  | ("mapDimension" | "mean" | "residual" | "learn" | "lengthscale" | "schedule" | "batchSize" | "sampleSize")
  | ("maxIterations" | "tolerance" | "restarts" | "priors" | "kernels" | "seed" | "markers");

/** All options in force: plain data, kept in snapshots and the fit record. */
export interface DtmSettings extends Required<Pick<DtmOptions, Kept>> {
  readonly nodeStep: number;
  readonly nodeRadius: number;
  readonly inducingPerDimension: number;
  readonly inducingHalfWidth: number;
  /** null for no cap. */
  readonly cap: number | null;
}

const RESIDUAL_KINDS: readonly ResidualKind[] = ["capped", "none", "diagonal", "full"];

/** Inducing points along each axis where none are asked for. */
export function usualPerDimension(mapDimension: number): number {
  return mapDimension === 1 ? 9 : 5;
}

/** Settings for a cohort of `numIndividuals` that starts from the linear models. */
export function dtmSettings(
  options: DtmOptions,
  start: Pick<MapStart, "markers">,
  numIndividuals: number,
): DtmSettings {
  const startMean = start.markers[0].mean.kind;
  const { mapDimension = 2, mean = startMean, residual = "capped", cap = 0.2, learn = true, lengthscale = 1 } = options;
  const {
    restarts = usualRestarts(numIndividuals),
    seed = 1,
    markers = start.markers.map(() => ({ marker: DEFAULT_MARKER })),
  } = options;
  const { schedule = numIndividuals > MANY_INDIVIDUALS ? "svi" : "batch" } = options;
  const { kernels = "auto", priors = "none" } = options;
  const nodes = latticeNodes(mapDimension, options.nodes);
  const stochastic = schedule === "svi";
  const { maxIterations = stochastic ? 60 : 600, tolerance = stochastic ? 1e-5 : 0.01 } = options;
  const automaticSample = numIndividuals >= 2 * MAP_SAMPLE ? MAP_SAMPLE : numIndividuals;
  const sampleSize = Math.min(options.sampleSize ?? automaticSample, numIndividuals);
  const batchSize = Math.min(options.batchSize ?? automaticBatchSize(sampleSize), sampleSize);
  const { perDimension = usualPerDimension(mapDimension), halfWidth = mapDimension === 1 ? 3 : 2 } =
    options.inducing ?? {};
  const check = (holds: boolean, expected: string, received: unknown, remedy = "") =>
    checkOption(holds, "dtm", expected, received, remedy);
  const [shortest, longest] = LENGTHSCALE_BOUNDS;
  check(mean === "scalar" || mean === "spline", 'mean "scalar" or "spline"', mean);
  check(priors === "weak" || priors === "none", 'priors "weak" or "none"', priors);
  check(RESIDUAL_KINDS.includes(residual), `residual one of ${RESIDUAL_KINDS.join(", ")}`, residual);
  check(cap > 0, "cap above 0", cap, 'Use residual: "none" for a map without residual effects.');
  check(
    lengthscale >= shortest && lengthscale <= longest,
    `lengthscale from ${shortest} to ${longest}`,
    lengthscale,
    "Places have unit variance, so 1 is a usual value.",
  );
  check(schedule === "batch" || stochastic, 'schedule "batch" or "svi"', schedule);
  for (const [name, value, least] of [
    ["maxIterations", maxIterations, 1],
    ["restarts", restarts, 0],
    ["sampleSize", sampleSize, 1],
    ["batchSize", batchSize, 1],
    ["inducing.perDimension", perDimension, 2],
  ] as const) {
    check(Number.isInteger(value) && value >= least, `${name} a whole number of ${least} or more`, value);
  }
  check(halfWidth > 0 && halfWidth <= 10, "inducing.halfWidth above 0, at most 10", halfWidth, "Use 2.");
  check(
    tolerance > 0 && tolerance < 1,
    "a tolerance above 0 and below 1",
    tolerance,
    stochastic ? "Use 1e-5." : "Use 0.01.",
  );
  return {
    mapDimension,
    nodeStep: nodes.step,
    nodeRadius: nodes.radius,
    inducingPerDimension: perDimension,
    inducingHalfWidth: halfWidth,
    mean,
    residual,
    cap: residual === "capped" && Number.isFinite(cap) ? cap : null,
    learn,
    priors,
    lengthscale,
    schedule,
    batchSize,
    sampleSize,
    maxIterations,
    tolerance,
    restarts,
    kernels,
    seed,
    markers,
  };
}

/** The settings as the fit record lists them; markers have their own place in a model. */
export function recordedOptions(settings: DtmSettings): { readonly [key: string]: Json } {
  const { seed: _seed, markers: _markers, batchSize, sampleSize, ...listed } = settings;
  return { ...listed, ...(settings.schedule === "svi" ? { batchSize, sampleSize } : {}) };
}

/**
 * An eighth of those visited, at least 128 (below, noise rules); a sixteenth from 1,024 on, at most 4,096 (above, the
 * global step no longer counts, and threads have enough to share).
 */
function automaticBatchSize(numVisited: number): number {
  const most = Math.min(Math.max(Math.ceil(numVisited / 16), 1024), 4096);
  return Math.min(Math.max(Math.ceil(numVisited / 8), 128), most);
}
