/**
 * Comparison of models of several markers by cross-validation (docs/math/evaluation.md §6): one shared map against a map for each marker,
 * the mixed model of all markers, and one for each. Differences are paired by individual; those of forecasts are per value, Σd_i/Σn_i with
 * the standard error √Σ(d_i − r n_i)²/Σn_i of a ratio r.
 */
import type { Cohort } from "../cohort/cohort.ts";
import { median } from "../numeric/select.ts";
import { normalQuantile } from "../numeric/special.ts";
import type { PairedDifference } from "./compared-models.ts";
import { gainText, likelihoodSign } from "./difference-words.ts";
import { centralCoverage } from "./forecast.ts";
import {
  evaluateSeveralFold,
  type MarkerScores,
  type SeveralFold,
  type SeveralModel,
  type SeveralOptions,
} from "./several-folds.ts";
import { approximateWarnings, type Comparison } from "./summarize-folds.ts";

/** A paired difference, with the mean without the 5% largest and smallest, and the share of individuals above 0. */
export interface SeveralDifference extends PairedDifference {
  readonly trimmed: number;
  readonly above: number;
}

/** What is told of one marker. */
export interface MarkerComparison {
  readonly marker: string;
  readonly numFuture: number;
  /** Log density of future values, per value, against the marker's own map given its own past. */
  readonly forecast: {
    /** The shared map given all pasts, and given the marker's own past alone. */
    readonly dtm: PairedDifference;
    readonly dtmOwnPast: PairedDifference;
    /** The mixed model of all markers given all pasts; where there are covariates the one that knows them, here and below. */
    readonly lmm: PairedDifference;
    /** What the pasts of the other markers add within the shared map. */
    readonly othersAdd: PairedDifference;
  };
  /** Predicted from the other markers alone, per individual who has it, against its own map without any. */
  readonly fromOthers: { readonly dtm: PairedDifference; readonly lmm: PairedDifference };
  /** Of forecasts by the shared map given all pasts. */
  readonly coverage: { readonly p50: number; readonly p90: number };
  /** Median size of the 90% region, placed by the marker alone. */
  readonly areaAlone: number;
}

export interface SeveralComparison {
  readonly folds: number;
  readonly repeats: number;
  readonly numIndividuals: number;
  /** Held-out log-likelihood per individual, and coverage of all forecasts of the shared map. */
  readonly models: readonly {
    readonly model: SeveralModel;
    readonly perIndividual: number;
    readonly coverage: { readonly p50: number; readonly p90: number };
    readonly forecast: { readonly count: number };
  }[];
  /** Every model against the mixed model of all markers (maps with covariates: the one that knows them), and the shared map against separate ones. */
  readonly differences: readonly (SeveralDifference & {
    readonly model: SeveralModel;
    readonly reference: SeveralModel;
  })[];
  readonly markers: readonly MarkerComparison[];
  readonly area: number;
  readonly verdict: string;
  readonly warnings: Comparison["warnings"];
}

/**
 * Cross-validates models of several markers, one fold after the other.
 * @throws what the fits throw.
 * @example
 * const { verdict, differences } = compareSeveral(cohort, { folds: 5 });
 */
export function compareSeveral(cohort: Cohort, options: SeveralOptions = {}): SeveralComparison {
  const { folds = 10, repeats = 1, onProgress } = options;
  const total = folds * repeats;
  const results = Array.from({ length: total }, (_, fold) => {
    const found = evaluateSeveralFold(cohort, fold, options);
    onProgress?.({ stage: "folds", iteration: fold + 1, maxIterations: total, value: Number.NaN });
    return found;
  });
  return summarizeSeveral(results, repeats);
}

/** What the folds of one or more repeats give, put together. */
export function summarizeSeveral(results: readonly SeveralFold[], repeats = 1): SeveralComparison {
  const pooled = (of: (fold: SeveralFold) => ArrayLike<number>) =>
    Float64Array.from(results.flatMap((result) => Array.from(of(result))));
  const ids = results.flatMap((result) => result.ids);
  const rows = new Map<string, number[]>();
  ids.forEach((id, row) => {
    rows.set(id, [...(rows.get(id) ?? []), row]);
  });
  // The mean over repeats: an individual scored again is no other individual.
  const joined = (of: (fold: SeveralFold) => ArrayLike<number>) => {
    const all = pooled(of);
    return Float64Array.from(rows.values(), (own) => own.reduce((sum, row) => sum + all[row], 0) / own.length);
  };
  const told = results[0].models.map(({ model: name }) => name);
  const mixed: SeveralModel = told.includes("lmm-covariates") ? "lmm-covariates" : "lmm";
  const model = (fold: SeveralFold, name: SeveralModel) => fold.models.find((own) => own.model === name)!;
  const joint = (name: SeveralModel) => joined((fold) => model(fold, name).logLikelihood);
  const pit = (k: number) => pooled((fold) => fold.pit[k]);
  const names = results[0].markers;
  const pits = Float64Array.from(names.flatMap((_, k) => Array.from(pit(k))));
  const pairs: readonly (readonly [SeveralModel, SeveralModel])[] = [
    ["dtm", "dtm-separate"],
    ["dtm", mixed],
    ["dtm-separate", mixed],
    ["lmm-separate", "lmm"],
    ...(mixed === "lmm" ? [] : ([[mixed, "lmm"]] as const)),
  ];
  const differences = pairs.map(([name, reference]) => ({
    ...{ model: name, reference },
    ...difference(minus(joint(name), joint(reference))),
  }));
  const markers = names.map((marker, k): MarkerComparison => {
    const score = (name: SeveralModel, of: keyof MarkerScores) => joined((fold) => model(fold, name).markers[k][of]);
    const n = joined((fold) => fold.numFuture[k]);
    const has = joined((fold) => fold.hasMarker[k]);
    const own = score("dtm-separate", "givenOwn");
    const perValue = (scores: Float64Array, reference = own) => ratio(minus(scores, reference), n);
    const perPerson = (scores: Float64Array) => ratio(minus(scores, score("dtm-separate", "alone")), has);
    return {
      marker,
      numFuture: n.reduce((sum, v) => sum + v, 0),
      forecast: {
        dtm: perValue(score("dtm", "givenAll")),
        dtmOwnPast: perValue(score("dtm", "givenOwn")),
        lmm: perValue(score(mixed, "givenAll")),
        othersAdd: perValue(score("dtm", "givenAll"), score("dtm", "givenOwn")),
      },
      fromOthers: { dtm: perPerson(score("dtm", "givenOthers")), lmm: perPerson(score(mixed, "givenOthers")) },
      coverage: coverageOf(pit(k)),
      areaAlone: median(pooled((fold) => fold.areaAlone[k])),
    };
  });
  return {
    folds: results.length / repeats,
    repeats,
    numIndividuals: rows.size,
    models: told.map((name) => ({
      model: name,
      perIndividual: mean(joint(name)),
      // Forecasts of the shared map alone are looked at value by value.
      coverage: name === "dtm" ? coverageOf(pits) : { p50: Number.NaN, p90: Number.NaN },
      forecast: { count: name === "dtm" ? pits.length : 0 },
    })),
    differences,
    markers,
    area: median(pooled((fold) => fold.area)),
    verdict: verdictOf(differences[0], differences[1]),
    warnings: approximateWarnings(
      told,
      () => results.find(({ approximate }) => approximate !== undefined)?.approximate,
    ),
  };
}

function verdictOf(
  separate: SeveralDifference,
  mixed: SeveralDifference & { readonly reference: SeveralModel },
): string {
  const known = mixed.reference === "lmm-covariates" ? " with the same covariates" : "";
  const against = (d: PairedDifference, than: string) => {
    const sign = likelihoodSign(d);
    if (sign === 0) return `no gain of one map over ${than} is shown`;
    return `one map predicts held-out individuals ${sign === 1 ? "better" : "worse"} than ${than}`;
  };
  const first = against(separate, "separate maps");
  return (
    `${first.charAt(0).toUpperCase()}${first.slice(1)}: ${gainText(separate)} in log-likelihood per held-out individual; ` +
    `${against(mixed, `the mixed model of all markers${known}`)}: ${gainText(mixed)}.`
  );
}

function coverageOf(pit: Float64Array) {
  return { p50: centralCoverage(pit, 0.5), p90: centralCoverage(pit, 0.9) };
}

function minus(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((v, i) => v - b[i]);
}

function mean(x: Float64Array): number {
  return x.reduce((sum, v) => sum + v, 0) / x.length;
}

const REACH = normalQuantile(0.975);

/** Σd/Σn, and its interval. */
function ratio(d: Float64Array, n: Float64Array): PairedDifference {
  const total = n.reduce((sum, v) => sum + v, 0);
  const r = d.reduce((sum, v) => sum + v, 0) / total;
  const se = Math.sqrt(d.reduce((sum, v, i) => sum + (v - r * n[i]) ** 2, 0)) / total;
  return { mean: r, se, lower: r - REACH * se, upper: r + REACH * se };
}

/** Mean over individuals, its interval, the trimmed mean and the share above 0. */
function difference(d: Float64Array): SeveralDifference {
  const sorted = d.slice().sort();
  const cut = Math.floor(0.05 * d.length);
  return {
    ...ratio(d, new Float64Array(d.length).fill(1)),
    trimmed: mean(sorted.slice(cut, sorted.length - cut)),
    above: d.filter((v) => v > 0).length / d.length,
  };
}
