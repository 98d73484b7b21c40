/**
 * The fits of the library, from a cohort to a finished model: prepare, start, fit, orient. Maps can be fitted in one go
 * (`fitDtm`) or step by step (`startDtm`, `resumeDtm`), with the same result bit for bit.
 */
import { averageGram, type BasisStatistics } from "../basis/statistics.ts";
import { type Cohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { checkOption } from "../errors.ts";
import { checkInducing } from "./check-inducing.ts";
import type { DtmModel } from "./dtm/model.ts";
import { type DtmSnapshot, resumeDtm as resumeLattice, startDtm as startLattice } from "./dtm/run.ts";
import type { DtmOptions } from "./dtm/settings.ts";
import type { ColumnNames, FitControl } from "./fit.ts";
import { mapMeans } from "./gp/sparse-map.ts";
import { type FpcaModel, type FpcaStatisticsOptions, fitFpcaStatistics } from "./linear/fpca.ts";
import { fitLmmStatistics, type LmmModel, type LmmStatisticsOptions } from "./linear/lmm.ts";
import { linearParameters, scoreDirections } from "./linear/scores.ts";
import { linearStart } from "./linear/start.ts";
import { type MapModel, placeNodes } from "./model.ts";
import { linearPart, orientationMatrix } from "./orient.ts";
import type { DtmPaperModel } from "./paper/model.ts";
import type { DtmPaperOptions } from "./paper/options.ts";
import { type DtmPaperSnapshot, resumeDtmPaper, startDtmPaper } from "./paper/run.ts";
import { type PrepareOptions, prepareCohort } from "./prepare.ts";
import { checkSnapshot, completeRun, type RunProgress, type StartResult } from "./run.ts";

/** Options that every fit of a cohort takes. */
export interface CohortFitOptions extends PrepareOptions, FitControl {
  /** Column names the cohort was read from, kept in the model for reading the next one alike. */
  readonly columns?: ColumnNames;
}

type OfStatistics = "marker" | "warnings" | "start";

export type LmmOptions = Omit<LmmStatisticsOptions, OfStatistics> & CohortFitOptions;
export type FpcaOptions = Omit<FpcaStatisticsOptions, OfStatistics> &
  CohortFitOptions & {
    /** The linear mixed model of the same cohort, if it has been fitted: components start from its leading ones. */
    readonly lmm?: LmmModel;
  };

/** Fits the linear mixed model with spline coefficients w_i ~ N(0, Σ). */
export function fitLmm(cohort: Cohort, options: LmmOptions = {}): LmmModel {
  const { statistics, warnings } = prepareCohort(cohort, options);
  const model = fitLmmStatistics(statistics, { ...options, marker: onlyMarker(cohort).marker, warnings });
  return orientLinear(withColumns(model, options), statistics);
}

/** Fits the reduced-rank model (functional principal components) w_i = F x_i. */
export function fitFpca(cohort: Cohort, options: FpcaOptions = {}): FpcaModel {
  const { statistics, warnings } = prepareCohort(cohort, options);
  const { lmm, ...others } = options;
  const start = lmm === undefined ? {} : { start: linearParameters(lmm) };
  const model = fitFpcaStatistics(statistics, { ...others, ...start, marker: onlyMarker(cohort).marker, warnings });
  return orientLinear(withColumns(model, options), statistics);
}

/** Options of the recommended map (`kind: "dtm"`, the default for one or two dimensions). */
export type FitLatticeOptions = Omit<DtmOptions, "marker" | "columns" | "mapDimension"> &
  CohortFitOptions & { readonly kind?: "dtm"; readonly mapDimension?: 1 | 2 };

type PaperOptions = Omit<DtmPaperOptions, "marker" | "warnings" | "mapDimension"> &
  CohortFitOptions & {
    /** Constant population mean (published) or a mean curve, subtracted first. Default "scalar". */
    readonly mean?: "scalar" | "spline";
  };

/** Options of the map as published: by its kind, or by asking for three dimensions. */
export type FitPaperOptions = PaperOptions &
  (
    | { readonly kind: "dtm-paper"; readonly mapDimension?: 1 | 2 | 3 }
    | { readonly kind?: "dtm-paper"; readonly mapDimension: 3 }
  );

export type FitDtmOptions = FitLatticeOptions | FitPaperOptions;

/** Fits a disease trajectory map: the recommended one, or the published one by `kind: "dtm-paper"` or three dimensions. */
export function fitDtm(cohort: Cohort, options: FitPaperOptions): DtmPaperModel;
export function fitDtm(cohort: Cohort, options?: FitLatticeOptions): DtmModel;
export function fitDtm(cohort: Cohort, options?: FitDtmOptions): MapModel;
export function fitDtm(cohort: Cohort, options: FitDtmOptions = {}): MapModel {
  return completeRun(startDtm(cohort, options));
}

export type DtmProgress = RunProgress;

/** A map fit under way. */
export interface DtmRun {
  /** One iteration; `done` when the fit has stopped. */
  step(): DtmProgress;
  /** All that is needed to go on later: plain data, bound to the cohort by a checksum. */
  snapshot(): DtmRunSnapshot;
  /** Means of everybody's place as the fit stands, in the fit's own frame, [m,q]: for watching a fit settle. */
  places(): Float64Array;
  /** The finished starts of a fit with restarts, the best first; none without. */
  starts(): readonly StartResult[];
  /** What the fit reads of the cohort; `embed` of the same cohort can use it again. */
  readonly statistics: BasisStatistics;
  /** The model as it stands; the fit need not be done. */
  finish(): MapModel;
}

/** A stored fit: plain data, bound to the cohort by a checksum. */
export type DtmRunSnapshot = DtmSnapshot | DtmPaperSnapshot;

/** Starts a map fit: linear start, then nothing until `step` is called. */
export function startDtm(cohort: Cohort, options: FitDtmOptions = {}): DtmRun {
  const { statistics: own, warnings } = prepareCohort(cohort, options);
  const statistics = options.shards?.open(own).statistics ?? own;
  const { mapDimension = 2, mean = "scalar", seed, onProgress, signal, kernels, shards } = options;
  checkKind(options, mapDimension);
  checkInducing(options.inducing, mapDimension, numIndividuals(cohort));
  const start = linearStart(statistics, { mapDimension, mean, seed, onProgress, signal, kernels, shards });
  const marked = { ...start, warnings: [...warnings, ...start.warnings] };
  const { marker } = onlyMarker(cohort);
  if (options.kind === "dtm-paper" || mapDimension === 3) {
    const paper = { ...options, mapDimension, marker, warnings: marked.warnings } as DtmPaperOptions;
    return orientedRun(startDtmPaper(statistics, marked, paper), statistics);
  }
  return orientedRun(startLattice(statistics, marked, { ...options, marker } as DtmOptions), statistics);
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

/** Goes on from a snapshot of the same cohort; the result equals an undisturbed fit bit for bit. */
export function resumeDtm(cohort: Cohort, snapshot: DtmRunSnapshot, control: FitControl = {}): DtmRun {
  checkSnapshot(snapshot, ["dtm", "dtm-paper"]);
  const { statistics: own } = prepareCohort(cohort, { basis: snapshot.basis });
  const statistics = control.shards?.open(own).statistics ?? own;
  if (snapshot.kind === "dtm") return orientedRun(resumeLattice(statistics, snapshot, control), statistics);
  return orientedRun(resumeDtmPaper(statistics, snapshot, control), statistics);
}

interface InnerRun {
  step(): DtmProgress;
  snapshot(): DtmRunSnapshot;
  places(): Float64Array;
  starts(): readonly StartResult[];
  finish(): MapModel;
}

/** A run whose model is turned to its shown axes. */
function orientedRun(run: InnerRun, statistics: BasisStatistics): DtmRun {
  return { ...run, statistics, finish: () => orientMap(run.finish(), statistics) };
}

function withColumns<M extends MapModel | LmmModel | FpcaModel>(model: M, options: { columns?: ColumnNames }): M {
  return options.columns === undefined ? model : { ...model, columns: options.columns };
}

function orientLinear<M extends LmmModel | FpcaModel>(model: M, statistics: BasisStatistics): M {
  const q = model.mapDimension;
  const orientation = orientationMatrix(scoreDirections(model), averageGram(statistics), model.basis, q);
  return { ...model, orientation };
}

function orientMap<M extends MapModel>(model: M, statistics: BasisStatistics): M {
  const q = model.mapDimension;
  // F̂ only fixes directions: a coarse lattice is enough (q = 3: draws, good to a degree or so).
  const nodes = model.kind === "dtm" ? model.nodes : placeNodes(q, q === 3 ? { numDraws: 8000 } : { step: 0.25 });
  const means = mapMeans(model.map, nodes.locations, nodes.logWeights.length);
  const F = linearPart(nodes.locations, nodes.logWeights, means, model.basis.numBasis, q);
  return { ...model, orientation: orientationMatrix(F, averageGram(statistics), model.basis, q) };
}
