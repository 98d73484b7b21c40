/**
 * Options of the published model and their defaults. Defaults follow the measurements of docs/math/dtm-paper.md §8:
 * full S_i, FPCA start and L-BFGS on the collapsed bound; `schedule: "paper"` is the published recipe to the letter.
 */
import type { Marker } from "../../cohort/marker.ts";
import { checkOption } from "../../errors.ts";
import type { ColumnNames, FitControl, Json } from "../fit.ts";
import type { InducingOptions } from "../gp/inducing.ts";
import { MANY_INDIVIDUALS } from "../sizes.ts";
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

/** Options that are no settings, or are kept in another form. */
type OtherwiseKept =
  | Exclude<keyof FitControl, "seed" | "kernels">
  | "marker"
  | "columns"
  | "warnings"
  | "signalVariance"
  | "lengthscale"
  | "lengthscalePerDimension";

/** All options in force; plain data. */
export interface DtmPaperSettings extends Required<Omit<DtmPaperOptions, OtherwiseKept>> {
  readonly signalVariance: number | null;
  readonly lengthscales: readonly number[];
  readonly sharedLengthscale: boolean;
}

/** Checks the options and fills in defaults for m individuals. */
export function paperSettings(options: DtmPaperOptions, m: number): DtmPaperSettings {
  const { schedule = defaultSchedule(options, m), kernel = "rbf", mapDimension: q = 2 } = options;
  const literal = schedule === "paper";
  check([1, 2, 3].includes(q), "mapDimension 1, 2 or 3", q, "Use 2.");
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

/** Minibatches for large cohorts, unless something is to be learned that only whole passes can. */
function defaultSchedule({ learn, kernel }: DtmPaperOptions, m: number): DtmPaperSchedule {
  const needsBatch = learn === true && kernel === "linear";
  return m > MANY_INDIVIDUALS && !needsBatch ? "svi" : "batch";
}

/** Settings as they are written to a fit record. */
export function settingsRecord(settings: DtmPaperSettings): { readonly [key: string]: Json } {
  return JSON.parse(JSON.stringify(settings));
}

function defaultInducing(kernel: "rbf" | "linear", q: number): InducingOptions {
  if (kernel === "rbf") return { placement: "grid" };
  const unit = (c: number) => Array.from({ length: q }, (_, k) => (k === c ? 1 : 0));
  return { placement: "given", locations: Array.from({ length: q }, (_, c) => unit(c)) };
}

function checkSettings(s: DtmPaperSettings): void {
  choose("schedule", s.schedule, ["batch", "svi", "paper", "coordinate"]);
  choose("kernel", s.kernel, ["rbf", "linear"]);
  choose("startPlaces", s.startPlaces, ["fpca", "scores"]);
  choose("inducing.placement", s.inducing.placement, ["grid", "kmeans", "given"]);
  const { lengthscales: ells, mapDimension: q } = s;
  const wanted = `one length-scale or ${q} (one per dimension)`;
  check(ells.length === q, wanted, ells.length, "Give as many as the map has dimensions.");
  const equal = !s.sharedLengthscale || ells.every((ell) => ell === ells[0]);
  check(
    equal,
    "equal length-scales when they are shared",
    ells.join(", "),
    "Leave out lengthscalePerDimension: false.",
  );
  const positive = { signalVariance: s.signalVariance ?? 1, startSd: s.startSd, tolerance: s.tolerance };
  for (const [name, value] of [...Object.entries(positive), ...ells.map((ell) => ["lengthscale", ell] as const)]) {
    check(Number.isFinite(value) && value > 0, `${name} above 0`, value);
  }
  const { maxIterations, batchSize, epochs } = s;
  for (const [name, value] of Object.entries({ maxIterations, batchSize, epochs })) {
    check(Number.isInteger(value) && value >= 1, `${name} as a whole number of 1 or more`, value);
  }
  check(s.jitter >= 0 && s.jitter <= 1e-2, "jitter within [0, 0.01]", s.jitter, "Use 1e-6.");
  check(s.stepSize > 0 && s.stepSize <= 1, "stepSize within (0, 1]", s.stepSize, "Use 0.1 or 0.5.");
  for (const [name, prior] of Object.entries(s.priors) as [string, LogPrior | undefined][]) {
    const ok = prior === undefined || (Number.isFinite(prior.mean) && prior.precision >= 0);
    check(ok, `priors.${name} with a finite mean and a precision of 0 or more`, JSON.stringify(prior));
  }
  const [batch, svi] = [s.schedule === "batch", s.schedule === "svi"];
  const fixed = `with schedule "${s.schedule}"`;
  const use = (names: string) => `Use schedule ${names} to learn them.`;
  check(!s.learn || batch || svi, `fixed hyperparameters ${fixed}`, "learn: true", use('"batch" or "svi"'));
  const rbf = !(s.learn && svi) || s.kernel === "rbf";
  check(rbf, `the RBF kernel ${fixed} and learn: true`, "the linear one", 'Use schedule "batch".');
}

function choose(name: string, value: string, allowed: readonly string[]): void {
  check(allowed.includes(value), `${name} among ${allowed.join(", ")}`, value);
}

function check(ok: boolean, expected: string, received: unknown, remedy = ""): void {
  checkOption(ok, "fitDtmPaper", expected, received, remedy);
}
