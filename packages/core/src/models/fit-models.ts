/**
 * The fits of the library, from a cohort to a finished model: prepare, start, fit, orient. Maps can be fitted in one go
 * (`fitDtm`) or step by step (`startDtm`, `resumeDtm`), with the same result bit for bit.
 */

import type { BasisStatistics } from "../basis/statistics.ts";
import { type Cohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { checkOption } from "../errors.ts";
import type { Noise } from "../noise/noise.ts";
import { checkInducing } from "./check-inducing.ts";
import { noiseLike, prepareFit } from "./choose-noise.ts";
import type { DtmModel } from "./dtm/model.ts";
import { type DtmSnapshot, resumeDtm as resumeLattice, startDtm as startLattice } from "./dtm/run.ts";
import type { DtmOptions } from "./dtm/settings.ts";
import { type FitControl, markerModel } from "./fit.ts";
import { mapMeans } from "./gp/sparse-map.ts";
import { mapStart } from "./linear/start.ts";
import { type CohortFitOptions, type LinearModels, linearModels } from "./linear-models.ts";
import type { MeanKind } from "./mean.ts";
import { type MapModel, placeNodes } from "./model.ts";
import { linearPart, orientationMatrix } from "./orient.ts";
import type { DtmPaperModel } from "./paper/model.ts";
import type { DtmPaperOptions } from "./paper/options.ts";
import { type DtmPaperSnapshot, resumeDtmPaper, startDtmPaper } from "./paper/run.ts";
import { prepareCohort } from "./prepare.ts";
import { checkSnapshot, completeRun, type FitRun, type FitState, type RunProgress } from "./run.ts";

export { fitFpca, fitLinear, fitLmm } from "./linear-models.ts";

/** What maps take of the linear models. */
interface FromLinear {
  /** The linear models of the same cohort, basis, mean and dimension, if they have been fitted. Default: fitted first. */
  readonly linear?: LinearModels;
}

/** Options of the recommended map (`kind: "dtm"`, the default for one or two dimensions). */
export type FitLatticeOptions = Omit<DtmOptions, "marker" | "columns" | "mapDimension"> &
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
  readonly statistics: BasisStatistics;
  /** The linear models that it started from; a run that was resumed knows them no more. */
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
  const { mapDimension = 2, columns } = options;
  const isPaper = options.kind === "dtm-paper" || mapDimension === 3;
  const noise = noiseLike(options.noise, options.linear && markerModel(options.linear.lmm).noise) ?? "white";
  const kind = typeof noise === "string" ? noise : noise.kind;
  const remedy = "The map as published has one noise variance for all.";
  checkOption(!isPaper || kind === "white", "fitDtm", 'noise "white" for this map', kind, remedy);
  const { statistics: own, warnings } = prepareFit(cohort, { ...options, noise } as FitLatticeOptions);
  const statistics = options.shards?.open(own).statistics ?? own;
  checkKind(options, mapDimension);
  checkInducing(options.inducing, mapDimension, numIndividuals(cohort));
  // Tolerances and limits of iterations are the map's. The map as published has no priors, nor have the models it starts from.
  const { mean, seed, onProgress, signal, kernels, shards } = options;
  const control = { seed, onProgress, signal, kernels, shards };
  const priors = isPaper ? "none" : ((options as FitLatticeOptions).priors ?? "weak");
  const linear =
    options.linear ?? linearModels(cohort, [statistics], warnings, { ...control, mapDimension, mean, priors, columns });
  checkLinear(linear, statistics, mean ?? "scalar", mapDimension);
  const fromLinear = mapStart([statistics], linear, shards);
  const start = { ...fromLinear, warnings: [...warnings, ...fromLinear.warnings] };
  const { marker } = onlyMarker(cohort);
  const run = isPaper
    ? startDtmPaper(statistics, start, {
        ...options,
        mapDimension,
        marker,
        warnings: start.warnings,
      } as DtmPaperOptions)
    : startLattice(statistics, start, { ...options, priors, marker } as DtmOptions);
  return { ...orientedRun(run, statistics), linear };
}

function noiseText({ kind, correlation }: Noise): string {
  const serial =
    correlation === undefined ? "" : ` (range ${correlation.range}, white share ${correlation.whiteShare})`;
  return `${kind} noise${serial}`;
}

/** Refuses linear models of another basis, mean, noise or dimension, or of values with another mean: those of another cohort. */
function checkLinear({ lmm, fpca }: LinearModels, statistics: BasisStatistics, mean: MeanKind, q: number): void {
  const text = (
    { basis, center, noise }: Pick<BasisStatistics, "basis" | "center" | "noise">,
    kind: MeanKind,
    dimension: number,
  ) =>
    `${dimension} dimensions, a ${kind} mean, ${noiseText(noise)}, values of mean ${center} and knots ${basis.knots.join(", ")}`;
  const expected = text(statistics, mean, q);
  for (const model of fpca === undefined ? [lmm] : [lmm, fpca]) {
    const received = text(markerModel(model), markerModel(model).mean.kind, model.mapDimension);
    const remedy = "Fit them to the same cohort with the same options, or leave them out.";
    checkOption(received === expected, "fitDtm", `linear models of ${expected}`, received, remedy);
  }
}

function checkKind(options: FitDtmOptions, mapDimension: number): void {
  const { kind, seed = 1 } = options as { kind?: unknown; seed?: number };
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
  checkOption(Number.isFinite(seed), "fitDtm", "a finite seed", seed, "Use a whole number.");
}

/**
 * Goes on from a snapshot of the same cohort; the result equals an undisturbed fit bit for bit.
 * @throws DtmError "bad-snapshot", "other-version" or "other-data".
 * @example
 * const kept = run.snapshot(); // plain data, for structured clone
 * const later = resumeDtm(cohort, kept);
 */
export function resumeDtm(cohort: Cohort, snapshot: DtmRunSnapshot, control: FitControl = {}): DtmRun {
  checkSnapshot(snapshot, ["dtm", "dtm-paper"]);
  const { statistics: own } = prepareCohort(cohort, { basis: snapshot.basis }, snapshot.noise);
  const statistics = control.shards?.open(own).statistics ?? own;
  const run =
    snapshot.kind === "dtm"
      ? resumeLattice(statistics, snapshot, control)
      : resumeDtmPaper(statistics, snapshot, control);
  return orientedRun(run, statistics);
}

/** A run whose model is turned to its shown axes. */
function orientedRun(run: Omit<DtmRun, "statistics">, statistics: BasisStatistics): DtmRun {
  return { ...run, statistics, finish: () => orientMap(run.finish(), statistics) };
}

function orientMap<M extends MapModel>(model: M, statistics: BasisStatistics): M {
  const own = markerModel(model);
  const q = model.mapDimension;
  // F̂ only fixes directions: a coarse lattice is enough (q = 3: draws, good to a degree or so).
  const nodes = model.kind === "dtm" ? model.nodes : placeNodes(q, q === 3 ? { numDraws: 8000 } : { step: 0.25 });
  const means = mapMeans(own.map, nodes.locations, nodes.logWeights.length);
  const F = linearPart(nodes.locations, nodes.logWeights, means, own.basis.numBasis, q);
  return { ...model, orientation: orientationMatrix(F, statistics.averageGram, own.basis, q) };
}
