/**
 * What a report is written from: one plain object. Only the cohort's summary is needed; every other part that is there
 * gets its section, and every part that is not is left out of the page without a trace.
 * The types are structural: results of the core fit as they are (`Comparison`, `Association`, `KaplanMeier`, `CoxFit`,
 * `NumberOfGroups`, `Stability`), and so does what was read back from a run's JSON files.
 * Arrays with one entry per individual follow `placements.ids`.
 */
import type {
  Comparison,
  Complaint,
  FitRecord,
  Groups,
  Marker,
  Placements,
  TrajectoryModel,
} from "@trajectory-maps/core";
import type {
  Characteristic,
  LandmarkSurvival,
  ModelComparison,
  ModelDifference,
  NumberOfGroups,
  Sensitivity,
  SeveralComparison,
  SharingVerdict,
  Stability,
} from "@trajectory-maps/core/study";

import type { StudyCovariates } from "./covariates.ts";
import type { StudyRisk } from "./study-risk.ts";

/** One number per entry; typed arrays and JSON arrays alike. */
export type Numbers = ArrayLike<number>;

export interface Study {
  readonly cohort: CohortSummary;
  /** Headline; made from the marker's name if left out. */
  readonly title?: string;
  /** The map. Linear models may stand here too; their places are scores. */
  readonly model?: TrajectoryModel;
  readonly placements?: Placements;
  /** Baselines for the maps side by side; same individuals in the same order as `placements`. */
  readonly baselines?: readonly Baseline[];
  readonly groups?: StudyGroups;
  /** What is known of individuals, by group (`studyCharacteristics`). */
  readonly characteristics?: StudyCharacteristics;
  readonly outcomes?: readonly StudyOutcome[];
  readonly comparison?: StudyComparison;
  /** Several markers on one map; cohort, model, placements and courses of groups above are then those of the first. */
  readonly several?: SeveralStudy;
  /** Effects of the model's covariates (`studyCovariates`). */
  readonly covariates?: StudyCovariates;
  readonly association?: StudyAssociation;
  readonly survival?: StudySurvival;
  /** Refits with one choice changed at a time. */
  readonly sensitivity?: Sensitivity;
  /** How the fit went; default the model's own record. */
  readonly record?: FitRecord;
  readonly run?: StudyRun;
  readonly options?: StudyOptions;
}

/** One of several markers: its own summary, and model and places as seen through it (`viewMarker`, `viewPlacements`). */
export interface StudyMarker extends Pick<Study, "cohort" | "model" | "placements"> {}

export interface SeveralStudy {
  readonly markers: readonly StudyMarker[];
  readonly sharing?: SharingVerdict;
  readonly comparison?: SeveralComparison;
}

export interface StudyOptions {
  /** Counts from 1 up to this, exclusive, are written "<11". Default 11; 1 shows every count. */
  readonly smallCell?: number;
  /** Whether places of single individuals are drawn ("places") or only counts per cell ("none", the default). */
  readonly individualLevel?: "none" | "places";
  /** Time of the terrain under the groups; default `lastShownTime`. */
  readonly terrainTime?: number;
  /** Spline coefficient of the second map, from 1. Default 2, as published. */
  readonly coefficient?: number;
  /** Outcome that colours the maps side by side. Default the one with the smallest p-value. */
  readonly mapOutcome?: string;
}

/** What was read, in numbers; holds no rows. */
export interface CohortSummary {
  readonly marker: Marker;
  readonly numIndividuals: number;
  readonly numObservations: number;
  /** Rows in the file and rows left out, if it was read from one. */
  readonly numRows?: number;
  readonly numRowsLeftOut?: number;
  /** Smallest, quartiles and largest number of visits, [5]. */
  readonly visitQuantiles: Numbers;
  readonly singleVisit: number;
  /** Individuals with 1, 2, 3, 4–5, 6–8 and 9 or more visits, [6]. */
  readonly visitClasses: Numbers;
  readonly firstTime: number;
  readonly lastTime: number;
  /** Quartiles of the last visit's time, [3]. */
  readonly lastTimeQuartiles: Numbers;
  /** Mean and standard deviation of all visit times, with how many differ, and of the values. */
  readonly time: { readonly mean: number; readonly sd: number; readonly distinct?: number };
  readonly value: { readonly mean: number; readonly sd: number; readonly quantiles: Numbers };
  /** Which times are observed together: individuals with visits in both bins, [bins,bins] over equal bins of time. */
  readonly design: { readonly edges: Numbers; readonly counts: Numbers };
  /** Values in bins of equal width on the scale of the model; edges on the marker's own scale. */
  readonly histogram: { readonly edges: Numbers; readonly counts: Numbers };
  readonly warnings: readonly Complaint[];
  /** What was understood without being said. */
  readonly notes: readonly string[];
}

export interface Baseline {
  /** "lmm", "fpca", … */
  readonly name: string;
  readonly placements: Pick<Placements, "location" | "mapDimension">;
}

export interface StudyGroup {
  /** Number of the group in `labels`. */
  readonly group: number;
  readonly letter: string;
  readonly name: string;
  /** The course in numbers, under its name. */
  readonly summary?: string;
  readonly size: number;
  /** Median and 10% to 90% fan over the members' expected courses, original scale, [T] each. */
  readonly times: Numbers;
  readonly median: Numbers;
  readonly lower: Numbers;
  readonly upper: Numbers;
  /** Members whose last visit is at or after each time, [T]. */
  readonly followed: Numbers;
  /** From when enough members were observed, to when half are followed; worked out from `followed` where left out. */
  readonly from?: number;
  readonly until?: number;
  /** Branches of the tree within the group whose courses differ from it: how many were clustered, and the median of their expected courses, [T]. */
  readonly parts?: readonly StudyGroupPart[];
  /** Name, summary and course of the group in each of several markers. */
  readonly markers?: readonly Pick<StudyGroup, "name" | "summary" | "times" | "median" | "lower" | "upper">[];
  /** Mean probability of this group among its members. */
  readonly probability?: number;
  /** Share of pairs of members kept together over resamples; left out if not studied. */
  readonly pairsKept?: number;
}

export interface StudyGroupPart {
  readonly numMembers: number;
  readonly median: Numbers;
  readonly from: number;
  readonly until: number;
}

export interface StudyGroups {
  /** Group of each individual, below 0 for none, [m]. */
  readonly labels: Numbers;
  /** In the order of the letters. */
  readonly groups: readonly StudyGroup[];
  /** Individuals whose places were clustered; the others joined by their place. */
  readonly numClustered?: number;
  /** How they were made, in one or two sentences. */
  readonly method?: string;
  /** How their number was chosen: what was tried, and the sentence. */
  readonly number?: Pick<NumberOfGroups, "numGroups" | "separated" | "evidence" | "courses"> &
    Partial<Pick<NumberOfGroups, "sentence">>;
  readonly stability?: StudyStability;
  /** One less the mean entropy of membership in units of log K: 1 if everybody's group is sure, 0 if nobody's. */
  readonly entropy?: number;
  /** Heights of all merges of the tree, never falling. */
  readonly mergeHeights?: Numbers;
  /** The top of the tree, for the figure of merges. */
  readonly tree?: StudyTree;
}

export interface StudyStability extends Omit<Stability, "groups"> {
  /** R² of the places of each refit with those of the map; absent in files of older versions. */
  readonly mapAgreement?: readonly number[];
}

/** The last merges of a tree of places. */
export type StudyTree = Groups["treeTop"];

/** Groups in `rows` are numbered as in `StudyGroups.labels`. */
export interface StudyCharacteristics {
  readonly rows: readonly Characteristic[];
  /** Individuals whom the table of individuals does not list, where there is one. */
  readonly notListed?: number;
}

export interface StudyOutcome {
  readonly name: string;
  /** 1 case, 0 control, 255 missing, [m]. */
  readonly labels: Numbers;
}

/** As `compare --json`. */
export interface StudyComparison extends Pick<Comparison, "folds" | "verdict"> {
  readonly models: readonly (Omit<ModelComparison, "model" | "nextVisit"> & {
    readonly model: string;
    /** Every visit from all before it; files of older versions lack it. */
    readonly nextVisit?: ModelComparison["nextVisit"];
  })[];
  readonly differences: readonly (Omit<ModelDifference, "model" | "reference" | "nextCrps"> & {
    readonly model: string;
    readonly reference: string;
    readonly nextCrps?: ModelDifference["nextCrps"];
  })[];
  readonly repeats?: number;
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
}

export interface StudyEstimate {
  readonly value: number;
  readonly lower: number;
  readonly upper: number;
}

export interface StudyAdjusted {
  readonly holm: number;
  readonly bh: number;
}

/**
 * Where two groups differ, as core's `DifferenceMap`: [size,size], first axis slowest; NaN, or null in JSON, where nothing is
 * said: beyond the reach of the band, and the share also where too few individuals are near.
 */
export interface StudyDifferenceMap {
  readonly axes: readonly Numbers[];
  /** Difference of the average posteriors and half-width of its simultaneous 95% band. */
  readonly difference: Numbers;
  readonly halfWidth: Numbers;
  /** Local share of cases and effective number of individuals. */
  readonly share: Numbers;
  readonly individuals: Numbers;
  readonly draws?: number;
}

/** A p-value, the draws behind it, and its approximation by moments. */
export interface StudyTest {
  readonly p: number;
  readonly draws?: number;
  readonly approximation?: number;
}

/** As core's `PredictorComparison`; null in JSON where there are too few cases. */
export interface StudyPredictors {
  readonly measure: "AUC" | "C";
  readonly rows: readonly (StudyEstimate & { readonly predictors: string })[];
  /** What the place adds to last value and visits. */
  readonly added: StudyEstimate;
  /** Unknown of older files. */
  readonly placeUsed?: boolean;
  readonly verdict: string;
}

/** Where on the map an outcome is more common (side 1) or rarer (−1) than chance allows, in shares. */
export interface StudyContrast {
  readonly side: number;
  readonly centre: Numbers | null;
  readonly here: StudyRate;
  readonly elsewhere: StudyRate;
  readonly drawn: { readonly here: StudyRate; readonly elsewhere: StudyRate };
}

export interface StudyRate {
  readonly cases: number;
  readonly known: number;
  readonly share: number;
}

/** As `associate --json`. */
export interface StudyAssociation {
  /** Covariates adjusted for, and individuals who lack one; files of older versions lack both. */
  readonly adjustedFor?: readonly string[];
  readonly leftOut?: number;
  readonly outcomes: readonly (StudyTest & {
    readonly outcome: string;
    readonly cases: number;
    readonly controls: number;
    readonly missing: number;
    /** What a case is, in words: `sex is "m"`. */
    readonly caseMeans?: string;
    readonly adjusted: StudyAdjusted;
    /** p under a prior estimated from everyone; NaN or null where there is none. */
    readonly priorP?: number | null;
    readonly effect: { readonly auc: StudyEstimate };
    /** Simple predictors beside the place, held out; files of older versions lack it. */
    readonly predictors?: StudyPredictors;
    readonly warnings: readonly { readonly code: string; readonly message: string }[];
    /** Where on the map the groups differ, for related outcomes. */
    readonly differenceMap?: StudyDifferenceMap | null;
    /** Shares in the outlined area and elsewhere, held out; files of older versions lack it. */
    readonly contrast?: StudyContrast | null;
    /** The test among people seen equally often, null where visits do not differ; p null where they determine the outcome. */
    readonly seenEqually?: { readonly p: number | null; readonly draws?: number } | null;
    /** The test from values up to a common time, where visits follow the course. */
    readonly landmark?: (StudyTest & { readonly landmark: number }) | null;
    readonly representations: {
      readonly [name: string]: StudyTest & {
        readonly adjusted?: StudyAdjusted;
        readonly kde: { readonly p: number; readonly adjusted?: StudyAdjusted } | null;
        readonly auc?: StudyEstimate;
      };
    };
  })[];
  /** Number, last and first time of visits tested like an outcome. */
  readonly controls?: readonly (StudyTest & { readonly control: string })[];
  readonly madeUp?: { readonly labellings: number; readonly below: number } | null;
  readonly primary?: string;
  readonly seed?: number;
  readonly draws?: number;
}

type CoxFit = LandmarkSurvival["cox"];

/** Survival by group from a landmark on. */
export interface StudySurvival extends StudyRisk {
  /** Name of the event. */
  readonly event: string;
  /** Only visits up to here place the individual; time runs from here. */
  readonly landmark: number;
  readonly curves: readonly {
    readonly group: number;
    readonly numIndividuals: number;
    readonly numEvents: number;
    readonly times: Numbers;
    readonly survival: Numbers;
    readonly lower: Numbers;
    readonly upper: Numbers;
    readonly atRisk: Numbers;
  }[];
  /** Groups of the curves where they are not those of the whole study; default `Study.groups`. */
  readonly groups?: readonly { readonly group: number; readonly letter: string; readonly name: string }[];
  /** Groups of the study that nobody joins at the landmark. */
  readonly emptyGroups?: readonly { readonly letter: string; readonly name: string }[];
  readonly logRank?: { readonly statistic: number; readonly degrees: number; readonly pValue: number };
  readonly cox?: Pick<CoxFit, "likelihoodRatio" | "concordance" | "numIndividuals" | "numEvents" | "warnings"> & {
    readonly terms: readonly Pick<CoxFit["terms"][number], "hazardRatio" | "lower" | "upper" | "pValue">[];
    /** Names of the terms; default "first axis", "second axis", … */
    readonly names?: readonly string[];
  };
  /** Simple predictors up to the landmark beside the place, held out; files of older versions lack it. */
  readonly predictors?: StudyPredictors;
  /** Time to the event against whole posteriors, from all values up to the end of follow-up. */
  readonly adjustedFor?: readonly string[];
  readonly withoutCovariates?: number;
  /** Names of the terms of `cox` behind the axes, and the test of the axes beside them. */
  readonly coxCovariates?: readonly string[];
  readonly placeTest?: LandmarkSurvival["placeTest"];
  readonly mapTest?: StudyTest & { readonly numIndividuals: number; readonly numEvents: number };
  readonly leftOut?: LandmarkSurvival["leftOut"];
  /** Individuals by group at the landmark (rows) and group from all visits (columns), in the study's order. */
  readonly crossTable?: readonly (readonly number[])[];
}

/** Where the numbers came from. */
export interface StudyRun {
  /** The command that made the fit. */
  readonly command?: string;
  /** Every command behind the page, in order, the one that wrote it last; shown instead of `command`. */
  readonly commands?: readonly string[];
  readonly seed?: number;
  /** Name and version of each piece of software, e.g. { name: "Node", version: "20.19.0" }. */
  readonly versions?: readonly { readonly name: string; readonly version: string }[];
  /** Day of the run as text, so that equal studies give equal pages. */
  readonly date?: string;
  /** File the visits were read from, its name alone. */
  readonly source?: string;
  /** Digest of the input. Printed only if keyed: an unkeyed one lets anyone test guesses about rows. */
  readonly digest?: { readonly algorithm: string; readonly value: string; readonly keyed: boolean };
}
