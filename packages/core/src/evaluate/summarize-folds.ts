/**
 * Fold results put together (docs/math/evaluation.md §3): scores over folds, forecasts by horizon and by visits known,
 * coverage, differences paired by individual, last visits missed to one side, and the verdict.
 */
import type { Approximation } from "../noise/noise.ts";
import { normalQuantile } from "../numeric/special.ts";
import { compensatedSum } from "../numeric/sum.ts";
import {
  type ComparedModel,
  DEFAULT_MODELS,
  type ModelDifference,
  type PairedDifference,
  REFERENCES,
} from "./compared-models.ts";
import { centralCoverage, type ForecastScores } from "./forecast.ts";
import { verdictOf } from "./verdict.ts";

/** What one fold of one model gives; plain data. */
export interface FoldResult {
  readonly model: ComparedModel;
  readonly fold: number;
  readonly ids: readonly string[];
  /** Visits of each individual, [m]. */
  readonly visits: Int32Array;
  readonly numObservations: number;
  readonly logLikelihood: Float64Array;
  /** Why it is approximate, if it is: values below or above a limit, and noise levels beside them. */
  readonly approximate?: Approximation;
  /** Forecasts of the second half of the visits from the first. */
  readonly later: ForecastScores;
  /** Forecasts of every visit from all before it. */
  readonly next: ForecastScores;
}

/** Mean, standard error and standard deviation over folds. */
export interface FoldSummary {
  readonly mean: number;
  readonly se: number;
  readonly sd: number;
}

/** Shares of forecast visits inside their central 50% and 90% intervals. */
export interface Coverage {
  readonly p50: number;
  readonly p90: number;
}

/** Error and coverage of the forecasts of one class. */
export interface ForecastClass extends Coverage {
  /** Of horizons from (inclusive) to (exclusive), in time since the last visit known; or of visits known, both included. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly crps: number;
  readonly mae: number;
}

export interface ModelComparison {
  readonly model: ComparedModel;
  readonly mean: "scalar" | "spline";
  readonly subjectLogLik: FoldSummary;
  readonly observationLogLik: FoldSummary;
  /** The second half of the visits from the first. */
  readonly forecast: {
    readonly count: number;
    readonly logDensity: number;
    readonly crps: number;
    readonly mae: number;
    readonly byHorizon: readonly ForecastClass[];
  };
  readonly coverage: Coverage;
  /** Every visit from all before it. */
  readonly nextVisit: {
    readonly count: number;
    readonly crps: number;
    readonly mae: number;
    readonly coverage: Coverage;
    readonly byKnown: readonly ForecastClass[];
    /** Last visits of all individuals with two or more: shares below and above the 90% band. */
    readonly last: { readonly count: number; readonly below: number; readonly above: number };
  };
  /** Counts of PIT values in ten equal bins; flat if the model is calibrated. */
  readonly pit: readonly number[];
}

export interface Comparison {
  readonly models: readonly ModelComparison[];
  readonly differences: readonly ModelDifference[];
  readonly folds: number;
  readonly repeats: number;
  readonly verdict: string;
  readonly warnings: readonly {
    readonly code: "informative-dropout" | "approximate-likelihood";
    readonly message: string;
  }[];
}

/** What was compared, with the defaults of a comparison. */
export interface SummaryOptions {
  readonly models?: readonly ComparedModel[];
  readonly folds?: number;
  readonly repeats?: number;
  readonly mean?: "scalar" | "spline";
}

/** Puts fold results together, in any order they came. */
export function summarizeFolds(results: readonly FoldResult[], options: SummaryOptions = {}): Comparison {
  const { models = DEFAULT_MODELS, folds = 10, repeats = 1, mean = "scalar" } = options;
  const byModel = models.map((model) => results.filter((r) => r.model === model).sort((a, b) => a.fold - b.fold));
  const reference = REFERENCES.find((model) => models.includes(model)) ?? models[0];
  const summaries = models.map((model, k) => summarizeModel(model, byModel[k], mean, folds));
  const difference = (model: ComparedModel, other: ComparedModel) =>
    modelDifference(model, byModel[models.indexOf(model)], other, byModel[models.indexOf(other)]);
  const differences = models.filter((model) => model !== reference).map((model) => difference(model, reference));
  const fitted = models.filter((_, k) => byModel[k].length > 0);
  const reasonOf = (model: ComparedModel) =>
    byModel[models.indexOf(model)].find((own) => own.approximate !== undefined)?.approximate;
  const main = summaries.find(({ model }) => model === "dtm") ?? summaries[models.indexOf(reference)];
  return {
    models: summaries,
    differences,
    folds,
    repeats,
    verdict: verdictOf(models, reference, difference),
    warnings: [...dropoutWarning(main), ...approximateWarnings(fitted, reasonOf)],
  };
}

/** The mean function of each model whose mean is no option. */
const OWN_MEAN: Partial<Record<ComparedModel, "scalar" | "spline">> = {
  population: "spline",
  locf: "spline",
  constant: "scalar",
  line: "spline",
  lmm: "spline",
  "lmm-covariates": "spline",
  "lmm-paper": "scalar",
  "dtm-paper": "scalar",
  classes: "scalar",
  lcmm: "spline",
};

function summarizeModel(
  model: ComparedModel,
  results: readonly FoldResult[],
  mean: "scalar" | "spline",
  folds: number,
): ModelComparison {
  const later = joinScores(results.map((r) => r.later));
  const next = joinScores(results.map((r) => r.next));
  const bins = new Array<number>(10).fill(0);
  for (const u of later.pit) bins[Math.min(9, Math.floor(10 * u))]++;
  const perFold = (size: (r: FoldResult) => number) =>
    overFolds(
      results.map((r) => compensatedSum(r.logLikelihood) / size(r)),
      folds,
    );
  return {
    model,
    mean: OWN_MEAN[model] ?? mean,
    subjectLogLik: perFold((r) => r.ids.length),
    observationLogLik: perFold((r) => r.numObservations),
    forecast: {
      count: later.pit.length,
      logDensity: average(later.logDensity),
      crps: average(later.crps),
      mae: average(later.absoluteError),
      byHorizon: byHorizon(later),
    },
    coverage: coverageOf(later.pit),
    nextVisit: {
      count: next.pit.length,
      crps: average(next.crps),
      mae: average(next.absoluteError),
      coverage: coverageOf(next.pit),
      byKnown: byKnown(next),
      last: lastVisits(results),
    },
    pit: bins,
  };
}

function average(x: Float64Array): number {
  return compensatedSum(x) / x.length;
}

function coverageOf(pit: Float64Array): Coverage {
  return { p50: centralCoverage(pit, 0.5), p90: centralCoverage(pit, 0.9) };
}

type Columns = Pick<ForecastScores, "horizon" | "logDensity" | "crps" | "pit" | "absoluteError" | "known">;

function joinScores(scores: readonly ForecastScores[]): Columns {
  const column = (pick: (s: ForecastScores) => ArrayLike<number>) =>
    Float64Array.from(scores.flatMap((s) => Array.from(pick(s))));
  return {
    known: Int32Array.from(column((s) => s.known)),
    horizon: column((s) => s.horizon),
    logDensity: column((s) => s.logDensity),
    crps: column((s) => s.crps),
    pit: column((s) => s.pit),
    absoluteError: column((s) => s.absoluteError),
  };
}

/** `size` is the number of folds of one repeat: repeats split the same individuals again and add no others. */
function overFolds(scores: readonly number[], size = scores.length): FoldSummary {
  const n = scores.length;
  const mean = compensatedSum(scores) / n;
  const sd = n > 1 ? Math.sqrt(compensatedSum(scores.map((s) => (s - mean) ** 2)) / (n - 1)) : 0;
  return { mean, sd, se: sd / Math.sqrt(size) };
}

/** The forecasts at the given positions. */
function forecastClass(scores: Columns, part: Int32Array, from: number, to: number): ForecastClass {
  const at = (x: Float64Array) => Float64Array.from(part, (j) => x[j]);
  const error = { crps: average(at(scores.crps)), mae: average(at(scores.absoluteError)) };
  return { from, to, count: part.length, ...error, ...coverageOf(at(scores.pit)) };
}

/** Four quarters of the horizons, equally many forecasts each. */
function byHorizon(scores: Columns): ForecastClass[] {
  const { horizon } = scores;
  const order = Int32Array.from(horizon, (_, k) => k).sort((a, b) => horizon[a] - horizon[b] || a - b);
  const cut = (k: number) => Math.floor((k * order.length) / 4);
  return [0, 1, 2, 3].flatMap((k) => {
    const part = order.subarray(cut(k), cut(k + 1));
    if (part.length === 0) return [];
    const end = order[cut(k + 1)] ?? part[part.length - 1];
    return [forecastClass(scores, part, horizon[part[0]], horizon[end])];
  });
}

/** One visit known, two, 3 to 4, 5 to 8, … */
function byKnown(scores: Columns): ForecastClass[] {
  const { known } = scores;
  const all = Int32Array.from(known, (_, k) => k);
  const most = known.reduce((a, b) => Math.max(a, b), 0);
  const classes: ForecastClass[] = [];
  for (let from = 1, to = 1; from <= most; from = to + 1, to *= 2) {
    const part = all.filter((k) => known[k] >= from && known[k] <= to);
    if (part.length > 0) classes.push(forecastClass(scores, part, from, to));
  }
  return classes;
}

/** How last visits lie to their forecasts from all visits before. */
function lastVisits(results: readonly FoldResult[]): ModelComparison["nextVisit"]["last"] {
  let [count, below, above] = [0, 0, 0];
  for (const { visits, next } of results) {
    next.pit.forEach((u, k) => {
      if (next.known[k] !== visits[next.individual[k]] - 1) return;
      count++;
      if (u < 0.05) below++;
      if (u > 0.95) above++;
    });
  }
  return { count, below: below / count, above: above / count };
}

/**
 * Informative dropout: last visits are missed to one side, more than twice as often as to the other, and more often than
 * 5% by two standard errors.
 */
function dropoutWarning({ nextVisit: { last } }: ModelComparison): Comparison["warnings"] {
  const [side, other, more, less] =
    last.below > last.above ? ["below", "above", last.below, last.above] : ["above", "below", last.above, last.below];
  const chance = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / last.count);
  if (!(more > 2 * less && more > chance)) return [];
  const percent = (share: number) => `${Math.round(100 * share)}%`;
  const message =
    `Of ${last.count} last visits ${percent(more)} lie ${side} and ${percent(less)} ${other} the 90% band of their forecast ` +
    "(5% each are expected): individuals may leave because of their course (informative dropout). Forecasts of those " +
    `who would have left are then too ${side === "below" ? "high" : "low"}.`;
  return [{ code: "informative-dropout", message }];
}

/** Limits of detection make likelihoods approximate, and those of models with noise levels in another way than others. */
export function approximateWarnings<Name extends string>(
  models: readonly Name[],
  reasonOf: (model: Name) => Approximation | undefined,
): Comparison["warnings"] {
  if (models.every((model) => reasonOf(model) === undefined)) return [];
  const levels = models.filter((model) => reasonOf(model) === "levels");
  const others = models.filter((model) => reasonOf(model) !== "levels");
  const rest = others.length === 0 ? "" : `, not with those of ${others.join(", ")}`;
  const read =
    levels.length === 0
      ? ""
      : ` Models with noise levels (${levels.join(", ")}) read such values at the level expected of the individual: compare their log-likelihoods with each other${rest}.`;
  const message = `Log-likelihoods of individuals with values below or above a limit are approximate: do not compare them with those of values without limits.${read}`;
  return [{ code: "approximate-likelihood", message }];
}

/** Differences of two models in log-likelihood and in the CRPS of the next visit, from their folds in the same order. */
export function modelDifference(
  model: ComparedModel,
  results: readonly FoldResult[],
  reference: ComparedModel,
  referenceResults: readonly FoldResult[],
): ModelDifference {
  const logLikelihood = paired(results, (r, f) => ({
    individual: r.ids.map((_, i) => i),
    difference: r.logLikelihood.map((v, i) => v - referenceResults[f].logLikelihood[i]),
  }));
  const nextCrps = paired(results, ({ next }, f) => ({
    individual: next.individual,
    difference: next.crps.map((v, k) => v - referenceResults[f].next.crps[k]),
  }));
  return { model, reference, ...logLikelihood!, nextCrps };
}

/**
 * One difference for each individual, its mean over visits and repeats: an individual scored again is no other individual.
 * Null if nobody has any.
 */
function paired(
  results: readonly FoldResult[],
  differences: (
    result: FoldResult,
    fold: number,
  ) => { readonly individual: ArrayLike<number>; readonly difference: Float64Array },
): PairedDifference | null {
  const scored = new Map<string, { sum: number; count: number }>();
  results.forEach((result, f) => {
    const { individual, difference } = differences(result, f);
    difference.forEach((value, k) => {
      const id = result.ids[individual[k]];
      const own = scored.get(id) ?? { sum: 0, count: 0 };
      own.sum += value;
      own.count++;
      scored.set(id, own);
    });
  });
  return scored.size === 0 ? null : meanDifference([...scored.values()].map(({ sum, count }) => sum / count));
}

/** The mean of differences, one for each individual, with its standard error and 95% interval. */
export function meanDifference(differences: readonly number[]): PairedDifference {
  const { mean, se } = overFolds(differences);
  const reach = studentQuantile(differences.length - 1) * se;
  return { mean, se, lower: mean - reach, upper: mean + reach };
}

/** The 97.5% quantile of Student's t (Cornish–Fisher, to 0.01 from three degrees of freedom on); infinite below that. */
function studentQuantile(degrees: number): number {
  if (degrees < 3) return Number.POSITIVE_INFINITY;
  const z = normalQuantile(0.975);
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ];
  return terms.reduce((sum, term, k) => sum + term / degrees ** (k + 1), z);
}
