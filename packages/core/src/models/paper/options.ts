/**
 * Options of the published model and their defaults. Defaults follow the measurements of docs/math/dtm-paper.md §8:
 * full S_i, FPCA start and L-BFGS on the collapsed bound; `schedule: "paper"` is the published recipe to the letter.
 */
import type { Marker } from "../../cohort/marker.ts";
import { checkOption, DtmError } from "../../errors.ts";
import type { KernelChoice } from "../../wasm/instance.ts";
import type { ColumnNames, FitControl, Json } from "../fit.ts";
import type { InducingOptions } from "../gp/inducing.ts";
import type { LogPrior, Priors } from "./state.ts";

/**
 * How the bound is climbed.
 * - "batch": L-BFGS on the collapsed bound, then one local pass from several starts.
 * - "svi": minibatches with natural-gradient steps; any number of individuals.
 * - "paper": the published recipe: principal component scores with sd 0.1, diagonal S_i, minibatches of 25, five
 *   epochs, step 0.1/epoch, fixed hyperparameters, scaled conjugate gradients for the local step.
 * - "coordinate": exact q(u) and local steps in turn; never decreases.
 */
export type DtmPaperSchedule = "batch" | "svi" | "paper" | "coordinate";

/** Options of a fit of the published model. */
export interface DtmPaperOptions extends FitControl {
  /** q. Default 2. */
  readonly mapDimension?: 1 | 2 | 3;
  /** Default "batch" up to 50,000 individuals, "svi" above. */
  readonly schedule?: DtmPaperSchedule;
  /** Default "rbf"; "linear" is the model the paper starts from. */
  readonly kernel?: "rbf" | "linear";
  /** Default a regular grid; for the linear kernel the unit vectors. */
  readonly inducing?: InducingOptions;
  /** α to start from or keep. Default Tr Σ/d of the linear mixed model (divided by q for the linear kernel). */
  readonly signalVariance?: number;
  /** ℓ to start from or keep, one or one per dimension. Default 1. */
  readonly lengthscale?: number | readonly number[];
  /** Learn one length-scale per dimension. Default only if `lengthscale` is a list. */
  readonly lengthscalePerDimension?: boolean;
  /** ε relative to α. Default 1e-6. */
  readonly jitter?: number;
  /** S_i diagonal. Default false; true for "paper". */
  readonly diagonalLocations?: boolean;
  /** Where places start: FPCA posterior, or principal component scores with sd `startSd`. Default "fpca"; "scores" for "paper". */
  readonly startPlaces?: "fpca" | "scores";
  /** Default 0.1. */
  readonly startSd?: number;
  /** Learn μ (if scalar), σ², α and ℓ together. Default false. */
  readonly learn?: boolean;
  /** Learn the inducing places too ("batch" only). Default false. */
  readonly learnInducing?: boolean;
  /** Priors on the logs of σ², α, ℓ; they matter only when these are learned. Default none. */
  readonly priors?: Priors;
  /** "batch": L-BFGS iterations (150); "coordinate": sweeps (100). */
  readonly maxIterations?: number;
  /** "batch", "coordinate": stop when the gain falls below tolerance · |bound|, twice in a row. Default 1e-7, 1e-6. */
  readonly tolerance?: number;
  /** "svi": default m/20 within [25, 1000]; "paper": 25. */
  readonly batchSize?: number;
  /** "svi": default 10; "paper": 5. */
  readonly epochs?: number;
  /** Natural-gradient step of epoch e is stepSize/e. Default 0.5; "paper": 0.1. */
  readonly stepSize?: number;
  readonly marker?: Marker;
  /** Names of the columns that the cohort was read from. */
  readonly columns?: ColumnNames;
  /** Warnings to put first in the record (from preparing the cohort). */
  readonly warnings?: readonly string[];
}

/** All options in force; plain data. */
export interface DtmPaperSettings {
  readonly mapDimension: number;
  readonly schedule: DtmPaperSchedule;
  readonly kernel: "rbf" | "linear";
  readonly inducing: InducingOptions;
  readonly signalVariance: number | null;
  readonly lengthscales: readonly number[];
  readonly sharedLengthscale: boolean;
  readonly jitter: number;
  readonly diagonalLocations: boolean;
  readonly startPlaces: "fpca" | "scores";
  readonly startSd: number;
  readonly learn: boolean;
  readonly learnInducing: boolean;
  readonly priors: Priors;
  readonly maxIterations: number;
  readonly tolerance: number;
  readonly batchSize: number;
  readonly epochs: number;
  readonly stepSize: number;
  readonly kernels: KernelChoice;
  readonly seed: number;
}

const WHERE = "fitDtmPaper";

/** Checks the options and fills in defaults for m individuals. */
export function paperSettings(options: DtmPaperOptions, m: number): DtmPaperSettings {
  const { schedule = defaultSchedule(options, m), kernel = "rbf", mapDimension: q = 2 } = options;
  const literal = schedule === "paper";
  choose("schedule", schedule, ["batch", "svi", "paper", "coordinate"]);
  choose("kernel", kernel, ["rbf", "linear"]);
  checkOption(Number.isInteger(q) && q >= 1 && q <= 3, WHERE, "mapDimension 1, 2 or 3", q, "Use 2.");
  const { lengthscale = 1 } = options;
  const lengthscales = typeof lengthscale === "number" ? new Array<number>(q).fill(lengthscale) : [...lengthscale];
  const settings: DtmPaperSettings = {
    mapDimension: q,
    schedule,
    kernel,
    inducing: options.inducing ?? defaultInducing(kernel, q),
    signalVariance: options.signalVariance ?? null,
    lengthscales,
    sharedLengthscale: !(options.lengthscalePerDimension ?? typeof lengthscale !== "number"),
    jitter: options.jitter ?? 1e-6,
    diagonalLocations: options.diagonalLocations ?? literal,
    startPlaces: options.startPlaces ?? (literal ? "scores" : "fpca"),
    startSd: options.startSd ?? 0.1,
    learn: options.learn ?? false,
    learnInducing: options.learnInducing ?? false,
    priors: options.priors ?? {},
    maxIterations: options.maxIterations ?? (schedule === "coordinate" ? 100 : 150),
    tolerance: options.tolerance ?? (schedule === "coordinate" ? 1e-6 : 1e-7),
    batchSize: Math.min(m, options.batchSize ?? (literal ? 25 : Math.min(1000, Math.max(25, Math.round(m / 20))))),
    epochs: options.epochs ?? (literal ? 5 : 10),
    stepSize: options.stepSize ?? (literal ? 0.1 : 0.5),
    kernels: options.kernels ?? "auto",
    seed: options.seed ?? 1,
  };
  checkSettings(settings);
  return settings;
}

/** Above this many individuals minibatches are the default. */
const MANY_INDIVIDUALS = 50_000;

/** Minibatches for large cohorts, unless something is to be learned that only whole passes can. */
function defaultSchedule({ learn, learnInducing, kernel }: DtmPaperOptions, m: number): DtmPaperSchedule {
  const needsBatch = learnInducing === true || (learn === true && kernel === "linear");
  return m > MANY_INDIVIDUALS && !needsBatch ? "svi" : "batch";
}

/** Settings as they are written to a fit record. */
export function settingsRecord(settings: DtmPaperSettings): { readonly [key: string]: Json } {
  const { inducing, priors, ...rest } = settings;
  const given = Object.entries(priors).filter((entry): entry is [string, LogPrior] => entry[1] !== undefined);
  const plain = given.map(([name, { mean, precision }]): [string, Json] => [name, { mean, precision }]);
  return { ...rest, inducing: { ...inducing }, priors: Object.fromEntries(plain) };
}

function defaultInducing(kernel: "rbf" | "linear", q: number): InducingOptions {
  if (kernel === "rbf") return { placement: "grid" };
  const unit = (c: number) => Array.from({ length: q }, (_, k) => (k === c ? 1 : 0));
  return { placement: "given", locations: Array.from({ length: q }, (_, c) => unit(c)) };
}

function checkSettings(s: DtmPaperSettings): void {
  choose("startPlaces", s.startPlaces, ["fpca", "scores"]);
  choose("inducing.placement", s.inducing.placement, ["grid", "kmeans", "given"]);
  positive("signalVariance", s.signalVariance ?? 1);
  checkOption(
    s.lengthscales.length === s.mapDimension,
    WHERE,
    `one length-scale or ${s.mapDimension} (one per dimension)`,
    s.lengthscales.length,
    "Give as many as the map has dimensions.",
  );
  for (const ell of s.lengthscales) positive("lengthscale", ell);
  checkOption(
    !s.sharedLengthscale || s.lengthscales.every((ell) => ell === s.lengthscales[0]),
    WHERE,
    "equal length-scales when they are shared",
    s.lengthscales.join(", "),
    "Leave out lengthscalePerDimension: false.",
  );
  checkOption(s.jitter >= 0 && s.jitter <= 1e-2, WHERE, "jitter within [0, 0.01]", s.jitter, "Use 1e-6.");
  positive("startSd", s.startSd);
  positive("maxIterations", s.maxIterations);
  positive("tolerance", s.tolerance);
  positive("epochs", s.epochs);
  for (const [name, value] of Object.entries({
    maxIterations: s.maxIterations,
    batchSize: s.batchSize,
    epochs: s.epochs,
  })) {
    checkOption(Number.isInteger(value) && value >= 1, WHERE, `${name} as a whole number of 1 or more`, value, "");
  }
  checkOption(s.stepSize > 0 && s.stepSize <= 1, WHERE, "stepSize within (0, 1]", s.stepSize, "Use 0.1 or 0.5.");
  const priors = Object.entries(s.priors) as [string, LogPrior | undefined][];
  for (const [name, prior] of priors) {
    const ok = prior === undefined || (Number.isFinite(prior.mean) && prior.precision >= 0);
    checkOption(ok, WHERE, `priors.${name} with a finite mean and a precision of 0 or more`, JSON.stringify(prior), "");
  }
  checkLearning(s);
}

function checkLearning(s: DtmPaperSettings): void {
  const allowed = s.schedule === "batch" || s.schedule === "svi";
  checkOption(
    !s.learn || allowed,
    WHERE,
    `fixed hyperparameters with schedule "${s.schedule}"`,
    "learn: true",
    'Use schedule "batch" or "svi" to learn them.',
  );
  checkOption(
    !s.learnInducing || s.schedule === "batch",
    WHERE,
    `fixed inducing places with schedule "${s.schedule}"`,
    "learnInducing: true",
    'Use schedule "batch" to learn them.',
  );
  if (s.learn && s.schedule === "svi" && s.kernel === "linear") {
    throw new DtmError(
      "option",
      `${WHERE}: expected the RBF kernel with schedule "svi" and learn: true, received the linear one. Use schedule "batch".`,
    );
  }
}

function positive(name: string, value: number): void {
  checkOption(Number.isFinite(value) && value > 0, WHERE, `${name} above 0`, value, "");
}

function choose(name: string, value: string, allowed: readonly string[]): void {
  checkOption(allowed.includes(value), WHERE, `${name} among ${allowed.join(", ")}`, value, "");
}
