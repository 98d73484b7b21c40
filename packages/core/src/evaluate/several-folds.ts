/**
 * One fold of a comparison of models of several markers (docs/math/evaluation.md §6): the models are fitted to the others and asked for
 *   log p(everything);   for each marker A   log p(A future | A past),   log p(A future | all pasts),   log p(A | the other markers),
 * each a difference of two log-likelihoods of parts of the data. The past of an individual is what was measured up to the median of the
 * times at which any of its markers was.
 */
import { type Cohort, censoredSides, type MarkerSeries, numIndividuals } from "../cohort/cohort.ts";
import { applyTransform } from "../cohort/marker.ts";
import { visitTimes } from "../cohort/several-markers.ts";
import { splitCohort } from "../cohort/split.ts";
import { partsFor, priorsOf, statisticsFor } from "../models/covariate-model.ts";
import type { DtmModel } from "../models/dtm/model.ts";
import { checkCancelled, type FitControl, viewMarker } from "../models/fit.ts";
import { fitDtm } from "../models/fit-models.ts";
import { fitLinear, fitLmm } from "../models/linear-models.ts";
import { mixedModelForm } from "../models/mean.ts";
import { posteriorFunctionals } from "../models/mixture/conditioner.ts";
import { mixtureCdf } from "../models/mixture/normal-mixture.ts";
import type { ScoredModel } from "../models/model.ts";
import { visitsOf } from "../models/new-individuals.ts";
import { embed, keptFor } from "../models/place.ts";
import { measurementsAt } from "../models/predicting/measurements.ts";
import type { PrepareOptions } from "../models/prepare.ts";
import { type Approximation, approximationOf } from "../noise/noise.ts";
import { sortedQuantile } from "../numeric/select.ts";
import { censoredPit } from "./censored-scores.ts";
import { scorer } from "./held-out.ts";
import { measured } from "./sharing.ts";

/**
 * One shared map; a map for each marker; the mixed model of all markers with a full covariance; one for each marker; and, where there are
 * covariates, which the maps then know, the mixed model of all markers with their effects in its mean.
 */
export const SEVERAL_MODELS = ["dtm", "dtm-separate", "lmm", "lmm-separate", "lmm-covariates"] as const;
export type SeveralModel = (typeof SEVERAL_MODELS)[number];

export interface SeveralOptions extends Omit<PrepareOptions, "basis" | "statistics">, FitControl {
  /** Default 10. */
  readonly folds?: number;
  /** Cross-validations with other splits, pooled. Default 1. */
  readonly repeats?: number;
  /** Population mean of the maps; mixed models have a curve. Default "scalar". */
  readonly mean?: "scalar" | "spline";
  /** Further starts of maps in each fold. Default 0. */
  readonly restarts?: number;
  /** Default 2. */
  readonly mapDimension?: 1 | 2;
}

/** What a model says of one marker of every held-out individual, log densities [m]. */
export interface MarkerScores {
  /** Of the future given the marker's own past, and given all pasts. */
  readonly givenOwn: Float64Array;
  readonly givenAll: Float64Array;
  /** Of the whole marker, by itself and given all of the others. */
  readonly alone: Float64Array;
  readonly givenOthers: Float64Array;
}

/** What one fold gives; plain data. */
export interface SeveralFold {
  readonly fold: number;
  readonly ids: readonly string[];
  readonly markers: readonly string[];
  /** Future values of each marker, [K] of [m], and whether the individual has the marker at all. */
  readonly numFuture: readonly Int32Array[];
  readonly hasMarker: readonly Uint8Array[];
  readonly models: readonly {
    readonly model: SeveralModel;
    readonly logLikelihood: Float64Array;
    readonly markers: readonly MarkerScores[];
  }[];
  /** Of the shared map: PIT of future values given all pasts, and sizes of 90% regions by each marker alone and by all. */
  readonly pit: readonly Float64Array[];
  readonly areaAlone: readonly Float64Array[];
  readonly area: Float64Array;
  /** Why log-likelihoods are approximate, if they are: values below or above a limit, and noise levels beside them. */
  readonly approximate?: Approximation;
}

/** Which part of a marker is told. */
type Part = "none" | "past" | "all";

/** Fits the models to the individuals outside the fold and scores those in it. Fold f of repeat r is fold r·folds + f. */
export function evaluateSeveralFold(cohort: Cohort, fold: number, options: SeveralOptions = {}): SeveralFold {
  const { folds = 10, seed = 1 } = options;
  const { train, test } = splitCohort(cohort, folds, seed + Math.floor(fold / folds))[fold % folds];
  const parts = partsOf(test);
  const { shared, fitted } = fitSeveral(train, options);
  const asked = SEVERAL_MODELS.filter((model) => model !== "lmm-covariates" || cohort.covariates !== undefined);
  const models = asked.map((model) => {
    checkCancelled(options.signal);
    return { model, ...scoresOf(fitted[model](), parts) };
  });
  const map = shared();
  return {
    fold,
    ids: test.ids,
    markers: test.markers.map(({ marker }) => marker.name),
    numFuture: test.markers.map(({ offsets }, k) => {
      const past = parts.cohort((l) => (l === k ? "past" : "none")).markers[k].offsets;
      return Int32Array.from(test.ids, (_, i) => offsets[i + 1] - offsets[i] - (past[i + 1] - past[i]));
    }),
    hasMarker: test.markers.map(({ offsets }) =>
      Uint8Array.from(test.ids, (_, i) => (offsets[i + 1] > offsets[i] ? 1 : 0)),
    ),
    models,
    pit: test.markers.map((_, k) => forecastPit(map, test, parts, k)),
    areaAlone: test.markers.map((_, k) => embed(viewMarker(map, k), measured(test, k)).area90),
    area: embed(map, test).area90,
    ...approximate(map.markers.map(({ noise }) => approximationOf(noise))),
  };
}

function approximate(reasons: readonly (Approximation | null)[]): Pick<SeveralFold, "approximate"> {
  const reason = (["levels", "limits"] as const).find((one) => reasons.includes(one));
  return reason === undefined ? {} : { approximate: reason };
}

/** log p of what is told of every individual, [m]. */
type Score = (told: (marker: number) => Part) => Float64Array;

/** A model or several, each of one marker. */
type Fitted = (parts: Parts) => Score;

/** How the models are fitted; what the shared map starts from and the map itself are fitted once. */
function fitSeveral(train: Cohort, options: SeveralOptions) {
  const { mean = "scalar", restarts = 0, mapDimension = 2, seed, signal, numBasis, degree, noise = "white" } = options;
  const common = { seed, signal, numBasis, degree, noise };
  const mapOptions = { ...common, mean, restarts, mapDimension };
  let kept: DtmModel | undefined;
  const shared = (): DtmModel => {
    const linear = () => fitLinear(train, { ...common, mean, mapDimension, sampleSize: numIndividuals(train) });
    kept ??= fitDtm(train, { ...mapOptions, linear: linear() });
    return kept;
  };
  const each = (fit: (own: Cohort) => ScoredModel) => () =>
    separate(train.markers.map((_, k) => fit(measured(train, k))));
  const curve = { ...common, mean: "spline" } as const;
  const fitted: { readonly [model in SeveralModel]: () => Fitted } = {
    dtm: () => together(shared()),
    "dtm-separate": each((own) => fitDtm(own, mapOptions)),
    lmm: () => together(fitLmm(train, curve)),
    "lmm-separate": each((own) => fitLmm(own, curve)),
    "lmm-covariates": () => {
      const effects = train.covariates && mixedModelForm(train.covariates.coding);
      return together(fitLinear(train, { ...curve, mapDimension, sampleSize: numIndividuals(train), effects }).lmm);
    },
  };
  return { shared, fitted };
}

function together(model: ScoredModel): Fitted {
  const score = scorer(model);
  return (parts) => (told) => {
    const cohort = parts.cohort(told);
    return score(statisticsFor(model, cohort), cohort);
  };
}

function separate(models: readonly ScoredModel[]): Fitted {
  const scores = models.map((model) => scorer(model));
  return (parts) => (told) => {
    const whole = parts.cohort(told);
    const total = new Float64Array(numIndividuals(whole));
    whole.markers.forEach((series, k) => {
      if (series.times.length === 0) return;
      const cohort = { ...whole, markers: [series] };
      const own = scores[k](statisticsFor(models[k], cohort), cohort);
      own.forEach((v, i) => {
        total[i] += v;
      });
    });
    return total;
  };
}

function scoresOf(fitted: Fitted, parts: Parts) {
  const score = fitted(parts);
  const minus = (a: Float64Array, b: Float64Array) => a.map((v, i) => v - b[i]);
  const logLikelihood = score(() => "all");
  const past = score(() => "past");
  const markers = parts.markers.map((_, k): MarkerScores => {
    const alone = score((l) => (l === k ? "all" : "none"));
    return {
      givenOwn: minus(
        alone,
        score((l) => (l === k ? "past" : "none")),
      ),
      givenAll: minus(
        score((l) => (l === k ? "all" : "past")),
        past,
      ),
      alone,
      givenOthers: minus(
        logLikelihood,
        score((l) => (l === k ? "none" : "all")),
      ),
    };
  });
  return { logLikelihood, markers };
}

/** Parts of the data of the same individuals. */
interface Parts {
  readonly markers: readonly MarkerSeries[];
  readonly cohort: (told: (marker: number) => Part) => Cohort;
}

function partsOf(cohort: Cohort): Parts {
  const { ids, markers } = cohort;
  const { offsets, times } = visitTimes(cohort);
  const until = Float64Array.from(ids, (_, i) => sortedQuantile(times.subarray(offsets[i], offsets[i + 1]), 0.5));
  const past = markers.map((series) => firstOf(series, (t, i) => t <= until[i]));
  const none = markers.map((series) => firstOf(series, () => false));
  return {
    markers,
    cohort: (told) => ({
      ...cohort,
      markers: markers.map((series, k) => ({ all: series, past: past[k], none: none[k] })[told(k)]),
    }),
  };
}

/** The observations that are taken, the same individuals. */
function firstOf(series: MarkerSeries, taken: (time: number, individual: number) => boolean): MarkerSeries {
  const { offsets, times, values, censored } = series;
  const kept: number[] = [];
  const ends = new Int32Array(offsets.length);
  for (let i = 0; i + 1 < offsets.length; i++) {
    for (let j = offsets[i]; j < offsets[i + 1]; j++) if (taken(times[j], i)) kept.push(j);
    ends[i + 1] = kept.length;
  }
  const of = (column: Float64Array) => Float64Array.from(kept, (j) => column[j]);
  const sides = censoredSides(censored && Int8Array.from(kept, (j) => censored[j]));
  return { marker: series.marker, offsets: ends, times: of(times), values: of(values), ...sides };
}

/** PIT of the future values of marker k given all pasts, under the shared map. */
function forecastPit(model: DtmModel, test: Cohort, parts: Parts, k: number): Float64Array {
  const known = parts.cohort(() => "past");
  const statistics = statisticsFor(model, known);
  const { condition } = keptFor(model);
  const priors = priorsOf(model, known);
  const partOf = partsFor(model, known, k);
  const { offsets, times, values, censored, marker } = test.markers[k];
  const pit: number[] = [];
  for (let i = 0; i < numIndividuals(test); i++) {
    const seen = known.markers[k].offsets[i + 1] - known.markers[k].offsets[i];
    const from = offsets[i] + seen;
    if (from === offsets[i + 1]) continue;
    const own = partOf(i);
    const functional = posteriorFunctionals(condition(statistics, i, priors(i))[k], own.mean.coefficients);
    const history = own.noise.correlation === undefined || seen === 0 ? {} : { visits: visitsOf(model, known, i, k) };
    for (let j = from; j < offsets[i + 1]; j++) {
      const { rows, given } = measurementsAt(own, history, [times[j]], true);
      const { value } = functional(rows, 0, true, given?.[0]);
      const y = applyTransform(marker.transform, values[j]);
      const side = censored?.[j] ?? 0;
      pit.push(side === 0 ? mixtureCdf(value, y) : censoredPit(value, y, side, pit.length + 1));
    }
  }
  return Float64Array.from(pit);
}
