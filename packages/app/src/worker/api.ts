/**
 * What the page may ask of the worker. Arguments and results are plain data that survive structured clone; the cohort,
 * the model and the places are kept on both sides, so that the page can answer small questions (the lens) by itself.
 */
import type {
  Association,
  Cohort,
  Comparison,
  Complaint,
  Groups,
  Placements,
  Prediction,
  TrajectoryModel,
} from "@trajectory-maps/core";
import type { FhirListing } from "@trajectory-maps/core/fhir";
import type { CovariateChoices, Outcome, TablePreview } from "@trajectory-maps/core/ingest";
import type { Crossing, DtmRunSnapshot, Interval, NoiseChoice } from "@trajectory-maps/core/models";
import type {
  ComparedModel,
  GroupMethod,
  LandmarkSurvival,
  MapStability,
  PersonLike,
  Replay,
  SeveralComparison,
  SharingVerdict,
  SuspectValue,
} from "@trajectory-maps/core/study";

import type { Fans } from "./fans.ts";
import type { Visits } from "./marker-view.ts";
import type { PreparedMap } from "./prepare.ts";
import type { Checked, FhirRules, ImportChoice, Loaded, LoadedSubjects, Suspects, TableForm } from "./reading-types.ts";

export type * from "./reading-types.ts";

export interface FitChoice {
  readonly kind: "dtm" | "dtm-paper";
  readonly mapDimension: 1 | 2 | 3;
  readonly schedule?: "batch" | "svi" | "paper";
  readonly mean: "scalar" | "spline";
  /** White if left out; the published map has no other. */
  readonly noise?: NoiseChoice;
  readonly learn?: boolean;
  readonly numBasis?: number;
  /** Further starts; by the size of the cohort if left out. */
  readonly restarts?: number;
  readonly tolerance?: number;
  readonly maxIterations?: number;
  /** Covariates of the table of individuals that the map takes into account. */
  readonly covariates?: CovariateChoices;
  readonly seed: number;
}

/** Sent while a fit runs. */
export interface FitUpdate {
  readonly stage: string;
  readonly iteration: number;
  readonly maxIterations: number;
  /** Bound after this iteration. */
  readonly value: number;
  /** Bounds since the last update. */
  readonly trace: readonly number[];
  /** Means of the places as they stand, shown frame, [m,q]; not in every update. */
  readonly places?: Float32Array;
  readonly seconds: number;
  readonly secondsLeft: number | null;
  /** Gain per pass below which the fit counts a pass as settled; null if its schedule has no such rule. */
  readonly stopGain: number | null;
  /** How far places are still expected to move, and where the fit stops; null if it does not stop by that. */
  readonly movement: { readonly remaining: number; readonly limit: number } | null;
  /** The last update of the first start: what is left is placing everybody. */
  readonly done: boolean;
  /** The map of the first start, once it has ended while others are tried: how many. */
  readonly first?: { readonly fitted: Fitted; readonly startsLeft: number };
}

export interface Fitted {
  readonly model: TrajectoryModel;
  readonly placements: Placements;
  /** The cohort as the model reads it, if that is not the one loaded: with covariates, in the order of the model's markers. */
  readonly cohort?: Cohort;
  readonly seconds: number;
  /** False if the fit was stopped before its rule was met. */
  readonly finished: boolean;
}

/** Whether two fits gave the same map: bounds equal to the last bit come of one start of one fit. */
export function isSameMap({ model: { record: a } }: Fitted, { model: { record: b } }: Fitted): boolean {
  return a.trace.length > 0 && a.trace[a.trace.length - 1] === b.trace[b.trace.length - 1];
}

/** An example with its finished map. */
export interface Demo {
  readonly loaded: Loaded;
  readonly subjects: LoadedSubjects;
  readonly fitted: Fitted;
  readonly groups: Groups;
  /** What its light of trust rests on; null where the page was built without. */
  readonly comparison: Comparison | null;
}

export interface GroupChoice {
  readonly method?: GroupMethod;
  readonly numGroups: number | "auto";
  readonly minObservations?: number;
  readonly better?: "high" | "low";
  readonly seed: number;
}

/** An individual: visits of each marker on its own scale, [K], and coded covariates where the model has some, [P]. */
export interface Individual {
  readonly id: string;
  readonly visits: readonly Visits[];
  readonly covariates?: Float64Array;
}

/** An individual to look at, which marker, and which visits count. */
export interface IndividualQuestion extends Individual {
  /** Position of the marker that is asked about. Default 0. */
  readonly marker?: number;
  /** Whether the map answers alone, without the mixed model that forecasts fall back on and that knows no covariates. Default false. */
  readonly alone?: boolean;
  /** Only visits up to this time are used; all if left out. */
  readonly knownAt?: number;
  /** Times at which the course is wanted. */
  readonly at: readonly number[];
  readonly threshold?: number;
  /** Whether the trail of places after each visit is wanted. */
  readonly trail?: boolean;
  /** Two times between which the change of the curve is wanted. */
  readonly change?: readonly [number, number];
}

/** Somebody whose like are looked for. */
export interface LikeQuestion {
  readonly location: Float64Array;
  readonly covariance: Float64Array;
  /** Visits up to this time count, of everybody. */
  readonly until: number;
  /** Position of the individual itself, which is left out; −1 for a new one. */
  readonly self: number;
}

/** Everything the inspector shows of one individual. */
export interface IndividualAnswer {
  readonly location: Float64Array;
  readonly covariance: Float64Array;
  readonly outsideMass: number;
  readonly logLikelihood: number;
  /** How usual the visits are, from 1 to 0: `fitsNoCourse` says when they are like no course seen. */
  readonly courseFit: number;
  /** Visits used, of whatever marker: how many, and the time of the last. */
  readonly numUsed: number;
  readonly lastUsed: number;
  /** Cells of the 50% and 90% regions of the exact posterior, [n,2] each; empty for other than two dimensions. */
  readonly region50: Float64Array;
  readonly region90: Float64Array;
  /** Side of a cell. */
  readonly cell: number;
  readonly curve: Prediction;
  /** Last time to which enough similar people were followed, with their follow-up known. */
  readonly supportedTo?: number;
  readonly observation: Prediction;
  /** The band of a new measurement, after the last visit as wide as the calibration has it if that is wider; null without one. */
  readonly calibrated: { readonly lower: Float64Array; readonly upper: Float64Array } | null;
  readonly crossing: Crossing | null;
  /** Probability that the curve is below the threshold, at each time asked for; null without a threshold. */
  readonly below: Float64Array | null;
  readonly change: Interval | null;
  /** Covariates of the individual far outside those fitted. */
  readonly farCovariates: readonly string[];
  /** Visits that are probably wrong by the model; those of a cohort are judged by everybody's values (`suspects`). */
  readonly suspects: readonly SuspectValue[];
  /** Standard deviation of the place in prior sd, from its 50% region as for the dots of the map. */
  readonly sd: number;
  readonly trail: readonly { readonly time: number; readonly location: Float64Array }[];
  /** Probability of each group, [K]; empty without groups. */
  readonly membership: Float64Array;
}

export interface AssociateChoice {
  readonly outcomes: readonly string[];
  readonly draws: number;
  readonly seed: number;
}

/** A share surface on a regular grid over a box, first row at the bottom. */
export interface ShareSurface {
  readonly outcome: string;
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** [ny,nx], NaN where too few individuals are near. */
  readonly share: Float64Array;
  /** 1 and −1 where the difference between those with and without it leaves its band, [ny,nx]. */
  readonly outside: Int8Array;
}

/** LMM and FPCA beside the map, everyone placed by each. */
export interface BaselinePlaces {
  readonly name: "lmm" | "fpca";
  readonly model: TrajectoryModel;
  readonly placements: Placements;
}

export interface CompareChoice {
  readonly models: readonly ComparedModel[];
  readonly folds: number;
  readonly mean: "scalar" | "spline";
  readonly mapDimension: 1 | 2 | 3;
  readonly seed: number;
}

/** Told while something long runs. */
export type Progress = (done: number, of: number, what: string) => void;

/** The worker's door. Each method may throw a DtmError with its code and complaints. */
export interface WorkerApi {
  /** Reads the head of a file: columns, first rows, guesses with reasons. The worker keeps the file for `check` and `read`. */
  preview(file: Blob, name: string, form?: TableForm): Promise<TablePreview>;
  /** Reads the head of a file and keeps nothing: for telling tables apart. */
  look(file: Blob, name: string): Promise<TablePreview>;
  /** Whether a file holds resources of FHIR, by its beginning. */
  isFhir(file: Blob, name: string): Promise<boolean>;
  /** Reads files of FHIR resources for the codes that can be asked for. The worker keeps the files for `check` and `read`. */
  listCodes(files: readonly File[], rules: FhirRules, onProgress?: Progress): Promise<FhirListing>;
  /** Lays a table of individuals beside the file looked at, for origins of time; null for none. */
  layBeside(file: Blob | null, name: string): Promise<void>;
  /** Reads the file looked at without taking it over; unreadable rows are left out and told. Progress is in bytes. */
  check(choice: ImportChoice, onProgress?: Progress): Promise<Checked>;
  /** Takes the cohort of the file looked at, which is read only if it was not checked with the same choice. */
  read(choice: ImportChoice): Promise<Loaded>;
  /** Values that the others of an individual contradict, of the table checked last or of the cohort; found by a helper. */
  suspects(checked: boolean): Promise<Suspects>;
  /** Gives up a check under way: it fails with the code "cancelled". */
  stopReading(): Promise<void>;
  /** A simulated cohort with its outcomes. */
  example(name: "pfvc" | "tss", seed: number): Promise<{ loaded: Loaded; subjects: LoadedSubjects }>;
  /** The simulated lung function cohort with a map that was fitted when the page was built. */
  demo(packed: string): Promise<Demo>;
  readSubjects(file: Blob, name: string, id?: string): Promise<LoadedSubjects>;
  outcomes(names: readonly string[]): Promise<{ outcomes: readonly Outcome[]; warnings: readonly Complaint[] }>;
  /** Takes up a cohort and what belongs to it again, after a reload. */
  restore(loaded: Loaded, subjects: LoadedSubjects | null, fitted: Fitted | null): Promise<void>;
  /**
   * Reads a saved model; the cohort in memory is placed by it. Covariates come from the table of individuals, or are given as the
   * table of coded ones that a run keeps.
   */
  openModel(text: string, coded?: Blob): Promise<Fitted>;

  /** What the first drawing of a large map rests on; null of a map that the page draws at once. */
  prepare(): Promise<PreparedMap | null>;

  /**
   * Fits a map. Resolves when it ends, is stopped or is cancelled (null). The map of the first start is told as soon as it is
   * there, and answers questions while the other starts run.
   */
  fit(choice: FitChoice, onUpdate: (update: FitUpdate) => void, from?: DtmRunSnapshot): Promise<Fitted | null>;
  /** Pauses the first start, or goes on with it; whether it did: once its map is shown there is nothing to pause. */
  pauseFit(paused: boolean): Promise<boolean>;
  /** Ends a fit: keeps the map as it stands, or throws it away. */
  endFit(keep: boolean): Promise<void>;
  /** State of the running fit, or of one that was stopped, to go on with; null if there is none. */
  fitSnapshot(): Promise<DtmRunSnapshot | null>;

  /**
   * Groups of the map. Made `apart`, by a helper, everything else is answered meanwhile; fails with the code "cancelled"
   * once the map is another or other groups are asked for.
   */
  groups(choice: GroupChoice, apart?: boolean): Promise<Groups>;
  stability(numResamples: number, seed: number, onProgress: Progress): Promise<MapStability | null>;
  /** Median courses and fans of the members and of everyone else, of one marker at the given times. */
  fans(members: readonly number[], times: Float64Array, marker: number): Promise<Fans>;
  /** Whether the markers of the map share it, from a map of each alone; null if that was cancelled by another map. */
  sharing(): Promise<SharingVerdict | null>;
  individual(question: IndividualQuestion): Promise<IndividualAnswer>;
  /** Curve of the first individual minus that of the second, at the times the first question asks for. */
  /** The people most like somebody placed as given, by what was known of everybody at a time. */
  peopleLike(question: LikeQuestion): Promise<readonly PersonLike[]>;
  /** What was forecast for every visit but the first and what came: of one individual, or null for some of the cohort. */
  replay(individual: number | null, marker: number): Promise<Replay>;
  difference(first: IndividualQuestion, second: IndividualQuestion): Promise<readonly Interval[]>;
  baselines(): Promise<readonly BaselinePlaces[]>;
  associate(choice: AssociateChoice, onProgress: Progress): Promise<Association | null>;
  shareSurface(outcome: string): Promise<ShareSurface>;
  survival(event: string, timeColumn: string, landmark?: number): Promise<LandmarkSurvival>;
  compare(choice: CompareChoice, onProgress: Progress): Promise<Comparison | null>;
  /** The same for a map of several markers: against maps of each, and mixed models. */
  compareSeveral(choice: Omit<CompareChoice, "models">, onProgress: Progress): Promise<SeveralComparison | null>;
  /** Ends a running stability study, association or comparison; its promise resolves with null. */
  cancel(): Promise<void>;
  modelFile(): Promise<string>;
}
