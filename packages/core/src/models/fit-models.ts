/**
 * The fits of the library, from a cohort to a finished model: prepare, start, fit, orient. Maps can be fitted in one go
 * (`fitDtm`) or step by step (`startDtm`, `resumeDtm`), with the same result bit for bit.
 */

import { type CohortSizes, cohortSize, cohortSizes } from "../basis/cohort-sums.ts";
import type { BasisStatistics, CohortStatistics } from "../basis/statistics.ts";
import type { CodedCovariates } from "../cohort/coding.ts";
import { type Cohort, checkCohort } from "../cohort/cohort.ts";
import type { Marker } from "../cohort/marker.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { checkGiven, checkOption } from "../errors.ts";
import type { Noise, NoiseChoice } from "../noise/noise.ts";
import { multiplyTransposed } from "../numeric/matrix.ts";
import { checkInducing } from "./check-inducing.ts";
import { noiseLike, oneOf, prepareMarkers } from "./choose-noise.ts";
import type { DtmModel } from "./dtm/model.ts";
import { type DtmSnapshot, resumeDtm as resumeLattice, startDtm as startLattice } from "./dtm/run.ts";
import type { DtmOptions } from "./dtm/settings.ts";
import type { FitControl } from "./fit.ts";
import { mapMeans } from "./gp/sparse-map.ts";
import { mapStart, referenceEffects } from "./linear/start.ts";
import { type CohortFitOptions, type LinearModels, linearModels } from "./linear-models.ts";
import { type MeanKind, meanCovariates, withoutEffects } from "./mean.ts";
import { type MapModel, placeNodes, type TrajectoryModel } from "./model.ts";
import { checkFitNames } from "./option-names.ts";
import { linearPart, orientMarkers } from "./orient.ts";
import type { DtmPaperModel } from "./paper/model.ts";
import type { DtmPaperOptions } from "./paper/options.ts";
import { type DtmPaperSnapshot, resumeDtmPaper, startDtmPaper } from "./paper/run.ts";
import { prepareCohort } from "./prepare.ts";
import { checkSnapshot, completeRun, type FitRun, type FitState, type RunProgress } from "./run.ts";
import { isPublished, usualRestarts } from "./sizes.ts";

export { fitFpca, fitLinear, fitLmm } from "./linear-models.ts";

/** What maps take of the linear models. */
interface FromLinear {
  /** The linear models of the same cohort, basis, mean and dimension, if they have been fitted. Default: fitted first. */
  readonly linear?: LinearModels;
}

/** Options of the recommended map (`kind: "dtm"`, the default for one or two dimensions). */
export type FitLatticeOptions = Omit<DtmOptions, "markers" | "covariates" | "mapDimension"> &
  CohortFitOptions &
  FromLinear & { readonly kind?: "dtm"; readonly mapDimension?: 1 | 2 };

type PaperOptions = Omit<DtmPaperOptions, "marker" | "warnings" | "mapDimension"> &
  Omit<CohortFitOptions, "priors"> &
  FromLinear & {
    /** Constant population mean (published) or a mean curve, subtracted first. Default "scalar". */
    readonly mean?: MeanKind;
  };

/** Options of the map as published: by its kind, or by asking for three dimensions. */
export type FitPaperOptions = PaperOptions &
  (
    | { readonly kind: "dtm-paper"; readonly mapDimension?: 1 | 2 | 3 }
    | { readonly kind?: "dtm-paper"; readonly mapDimension: 3 }
  );

export type FitDtmOptions = FitLatticeOptions | FitPaperOptions;

/**
 * Fits a disease trajectory map: the recommended one, or the published one by `kind: "dtm-paper"` or three dimensions.
 * @throws DtmError "too-few-individuals", "one-observation-each", "one-time", "no-variation", "option" or "cancelled".
 * @example
 * const model = fitDtm(cohort, { mapDimension: 2, seed: 1 });
 * model.record.verdict; // whether and why the fit stopped
 */
export function fitDtm(cohort: Cohort, options: FitPaperOptions): DtmPaperModel;
export function fitDtm(cohort: Cohort, options?: FitLatticeOptions): DtmModel;
export function fitDtm(cohort: Cohort, options?: FitDtmOptions): MapModel;
export function fitDtm(cohort: Cohort, options: FitDtmOptions = {}): MapModel {
  return completeRun(startDtm(cohort, options));
}

export type DtmProgress = RunProgress;

/** A map fit under way. */
export interface DtmRun extends Pick<FitRun<FitState, unknown, MapModel>, "step" | "places" | "finish"> {
  /** All that is needed to go on later: plain data, bound to the cohort by a checksum. */
  snapshot(): DtmRunSnapshot;
  /** What the fit reads of the cohort; `embed` of the same cohort can use it again. */
  readonly statistics: CohortStatistics;
  /** The linear models without covariates, where it started from them or was given them; a run that was resumed knows them no more. */
  readonly linear?: LinearModels;
}

/** A stored fit: plain data, bound to the cohort by a checksum. */
export type DtmRunSnapshot = DtmSnapshot | DtmPaperSnapshot;

/**
 * Starts a map fit: linear start, then nothing until `step` is called.
 * @throws what `fitDtm` throws.
 * @example
 * const run = startDtm(cohort);
 * for (let { done } = run.step(); !done; { done } = run.step()) draw(run.places());
 * const model = run.finish();
 */
export function startDtm(cohort: Cohort, options: FitDtmOptions = {}): DtmRun {
  checkCohort("startDtm", cohort);
  checkGiven("startDtm", { options });
  checkFitNames<FitDtmOptions>("fitDtm", options);
  const isPaper = isPublished(options);
  const fitted = options.linear?.lmm.markers.map((marker) => marker.noise);
  const usual = usualNoise(isPaper ? "dtm-paper" : "dtm", cohort, (options as FitLatticeOptions).residual);
  const noise = cohort.markers.map((_, k) => noiseLike(oneOf(options.noise, k) ?? usual, fitted?.[k]));
  const kinds = noise.map((own) => (typeof own === "string" ? own : own.kind));
  const remedy = "The map as published has one noise variance for all.";
  checkOption(!isPaper || kinds[0] === "white", "fitDtm", 'noise "white" for this map', kinds[0], remedy);
  const numCensored = cohort.markers.reduce((sum, { censored }) => sum + (censored?.filter(Boolean).length ?? 0), 0);
  checkOption(
    !isPaper || numCensored === 0,
    "fitDtm",
    "measured values for the map as published",
    `${numCensored} below or above a limit`,
    'Use kind "dtm", which reads limits, or give numbers, such as half of the limit.',
  );
  const { statistics, warnings } = prepareMarkers(cohort, { ...(options as FitLatticeOptions), noise });
  const markers = cohort.markers.map(({ marker }) => marker);
  return startPrepared({ markers, statistics, warnings, covariates: cohort.covariates }, options);
}

/** A cohort reduced to all that a fit reads of it (`prepareMarkers`): no visits, no ids. */
export interface PreparedCohortStatistics {
  readonly markers: readonly Marker[];
  readonly statistics: CohortStatistics;
  readonly warnings?: readonly string[];
  readonly covariates?: CodedCovariates;
}

/** `fitDtm` of statistics that were taken before, elsewhere perhaps; their noise is that of the fit. */
export function fitDtmStatistics(prepared: PreparedCohortStatistics, options: FitLatticeOptions = {}): DtmModel {
  return completeRun(startPrepared(prepared, options)) as DtmModel;
}

/** `startDtm` of statistics. */
export function startPrepared(prepared: PreparedCohortStatistics, options: FitDtmOptions = {}): DtmRun {
  const { markers, warnings = [], covariates: described } = prepared;
  const { mapDimension = 2, columns } = options;
  const isPaper = isPublished(options);
  const statistics = options.shards?.open(prepared.statistics).statistics ?? prepared.statistics;
  checkKind(options, mapDimension);
  checkInducing(options.inducing, mapDimension, cohortSize(statistics[0]));
  // Tolerances and limits of iterations are the map's. The map as published has no priors, nor have the models it starts from.
  const { mean, seed, onProgress, signal, kernels, shards } = options;
  const control = { seed, onProgress, signal, kernels, shards };
  const priors = isPaper ? "none" : ((options as FitLatticeOptions).priors ?? "weak");
  const inMean = isPaper || described === undefined ? null : meanCovariates(described);
  const covariates = inMean ?? undefined;
  // Linear models that are given are without effects of covariates; a map with effects starts from others.
  const common = { ...control, mapDimension, mean, priors };
  const linear =
    (inMean === null ? options.linear : undefined) ??
    linearModels(markers, statistics, warnings, { ...common, columns, covariates });
  checkLinear(options.linear ?? linear, statistics, mean ?? "scalar", mapDimension);
  const effects = linear.covariateEffects;
  const moved = inMean && effects ? withoutEffects(statistics, effects, inMean.covariates) : statistics;
  const withScores = isPaper || ((options as FitLatticeOptions).restarts ?? usualRestarts(moved[0].numIndividuals)) > 0;
  const fromLinear = mapStart(moved, linear, shards, withScores);
  const mixedModel = covariates && referenceEffects(statistics, { ...common, covariates }, linear);
  const start = { ...fromLinear, ...(mixedModel && { mixedModel }), warnings: [...warnings, ...fromLinear.warnings] };
  const named = markers.map((marker, k) => ({
    marker,
    ...(columns === undefined ? {} : { columns: oneOf(columns, k) }),
  }));
  const run = isPaper
    ? startDtmPaper(statistics[0], start, {
        ...options,
        mapDimension,
        columns: oneOf(columns, 0),
        marker: markers[0],
        warnings: start.warnings,
      } as DtmPaperOptions)
    : startLattice(statistics, start, { ...options, priors, markers: named, covariates: described } as DtmOptions);
  const baselines = inMean === null ? linear : options.linear;
  return { ...orientedRun(run, statistics), ...(baselines && { linear: baselines }) };
}

/**
 * The noise of a fit for which none is asked (decision 0015). A map of one marker takes what the data ask for. White is that of the published map
 * and of a free residual covariance, which know no other; of several markers and of covariates, whose verdict and intervals were
 * measured with it; and of linear models alone, which are then those of other software.
 */
export function usualNoise(
  kind: TrajectoryModel["kind"],
  { markers, covariates }: Pick<Cohort, "markers" | "covariates">,
  residual: DtmOptions["residual"] = "capped",
): NoiseChoice {
  const able = kind === "dtm" && (residual === "capped" || residual === "none");
  return able && markers.length === 1 && covariates === undefined ? "auto" : "white";
}

function noiseText({ kind, correlation }: Noise): string {
  const serial =
    correlation === undefined ? "" : ` (range ${correlation.range}, white share ${correlation.whiteShare})`;
  return `${kind} noise${serial}`;
}

/** Refuses linear models of another basis, mean, noise or dimension, or of other numbers of individuals and values: those of another cohort. */
function checkLinear(
  { lmm, fpca, sampledFrom = lmm.record }: LinearModels,
  statistics: CohortStatistics,
  mean: MeanKind,
  q: number,
): void {
  const text = (
    parts: readonly Pick<BasisStatistics, "basis" | "center" | "noise">[],
    kinds: readonly MeanKind[],
    dimension: number,
    { numIndividuals, numObservations }: CohortSizes,
  ) => {
    const each = parts.map(
      ({ basis, center, noise }, k) =>
        `a ${kinds[k]} mean, ${noiseText(noise)}, values about ${center} and knots ${basis.knots.join(", ")}`,
    );
    return `${dimension} dimensions, ${each.join("; ")}, ${numIndividuals} individuals and ${numObservations} values`;
  };
  const expected = text(
    statistics,
    statistics.map(() => mean),
    q,
    cohortSizes(statistics),
  );
  for (const { markers, mapDimension } of fpca === undefined ? [lmm] : [lmm, fpca]) {
    const kinds = markers.map((own) => own.mean.kind);
    const received = text(markers, kinds, mapDimension, sampledFrom);
    const remedy = "Fit them to the same cohort with the same options, or leave them out.";
    checkOption(received === expected, "fitDtm", `linear models of ${expected}`, received, remedy);
  }
}

function checkKind(options: FitDtmOptions, mapDimension: number): void {
  const { kind } = options as { kind?: unknown };
  checkOption(
    kind === undefined || kind === "dtm" || kind === "dtm-paper",
    "fitDtm",
    'kind "dtm" or "dtm-paper"',
    kind,
    "Leave it out for the recommended map.",
  );
  checkOption(
    kind !== "dtm" || mapDimension !== 3,
    "fitDtm",
    'kind "dtm" with one or two dimensions',
    `${mapDimension} dimensions`,
    'Use kind "dtm-paper" for three.',
  );
}

/**
 * Goes on from a snapshot of the same cohort; the result equals an undisturbed fit bit for bit.
 * @throws DtmError "bad-snapshot", "other-version" or "other-data".
 * @example
 * const kept = run.snapshot(); // plain data, for structured clone
 * const later = resumeDtm(cohort, kept);
 */
export function resumeDtm(cohort: Cohort, snapshot: DtmRunSnapshot, control: FitControl = {}): DtmRun {
  checkCohort("resumeDtm", cohort);
  checkGiven("resumeDtm", { snapshot, control });
  checkSnapshot(snapshot, ["dtm", "dtm-paper"]);
  const own = snapshot.markers.map(
    ({ basis, noise }, k) => prepareCohort(markerCohort(cohort, k), { basis }, noise).statistics,
  );
  const statistics = control.shards?.open(own).statistics ?? own;
  const run =
    snapshot.kind === "dtm"
      ? resumeLattice(statistics, snapshot, control)
      : resumeDtmPaper(statistics[0], snapshot, control);
  return orientedRun(run, statistics);
}

/** A run whose model is turned to its shown axes. */
function orientedRun(run: Omit<DtmRun, "statistics">, statistics: CohortStatistics): DtmRun {
  return { ...run, statistics, finish: () => orientMap(run.finish(), statistics) };
}

function orientMap<M extends MapModel>(model: M, statistics: CohortStatistics): M {
  const q = model.mapDimension;
  // F̂ only fixes directions: a coarse lattice is enough (q = 3: draws, good to a degree or so).
  const nodes = model.kind === "dtm" ? model.nodes : placeNodes(q, q === 3 ? { numDraws: 8000 } : { step: 0.25 });
  const parts = model.markers.map(({ map, basis }, k) => {
    const means = mapMeans(map, nodes.locations, nodes.logWeights.length);
    const linear = linearPart(nodes.locations, nodes.logWeights, means, basis.numBasis, q);
    const gram = statistics[k].averageGram;
    const variance = model.markers.length === 1 ? 1 : weightedVariance(gram, linear, model.markers[k], q);
    return { F: linear, gram, basis, variance };
  });
  return { ...model, orientation: orientMarkers(parts, q) };
}

/** Tr Ḡ(F̂F̂' + Σ_e), the variance between individuals at observed times but for bends of the map. */
function weightedVariance(gram: Float64Array, F: Float64Array, part: MapModel["markers"][number], q: number): number {
  const d = part.basis.numBasis;
  const covariance = multiplyTransposed(F, F, d, q, d);
  const residual = "residual" in part ? part.residual.covariance : new Float64Array(d * d);
  return gram.reduce((sum, g, e) => sum + g * (covariance[e] + residual[e]), 0);
}
