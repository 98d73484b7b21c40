/**
 * The test of one outcome, and all that stands beside its p-value: the approximation, the check of the prior, the AUC, what
 * the place adds to simple predictors, the published density test of posterior means, where on the map the groups differ, and, where visits follow the course, the
 * test from values up to a common time.                                            (docs/math/association.md)
 */
import type { Cohort } from "../cohort/cohort.ts";
import { visitTimes } from "../cohort/several-markers.ts";
import { DtmError } from "../errors.ts";
import type { TrajectoryModel } from "../models/model.ts";
import type { Placements } from "../models/placement.ts";
import { takeRows, trace } from "../numeric/matrix.ts";
import { type Adjustment, seenEqually } from "./adjustment.ts";
import { type OutcomeContrast, outcomeContrast } from "./contrast.ts";
import { type DifferenceMap, differenceMap } from "./difference-map.ts";
import { kdeTest } from "./kde-test.ts";
import { type AdjustedPValue, fewCasesMessage, UNADJUSTED } from "./multiplicity.ts";
import { DEFAULT_DRAWS, type MultiplierOptions, multiplierP } from "./multipliers.ts";
import { CASE, CONTROL } from "./outcomes.ts";
import { type Estimate, pairAuc } from "./pair-auc.ts";
import { featuresUntil, type PosteriorFeatures } from "./posterior-features.ts";
import { comparePredictors, type PredictorComparison } from "./predictors.ts";
import { approximateP, scoreOf, withoutCovariates } from "./score-test.ts";

export type WarningCode = "too-few" | "few-cases" | "depends-on-prior" | "visits-follow-course" | "no-density-test";

export interface AssociationWarning {
  readonly code: WarningCode;
  readonly message: string;
}

/** p by multipliers, its approximation by moments, and the draws behind it; NaN where nothing was tested. */
export interface LabelTest {
  readonly p: number;
  readonly approximation: number;
  readonly draws: number;
}

/** The published test of posterior means; null where it is not defined or, having no covariates, not asked for. */
export interface PublishedTest {
  readonly statistic: number;
  readonly z: number;
  readonly p: number;
  readonly adjusted: AdjustedPValue;
}

export interface RepresentationAssociation extends LabelTest {
  readonly adjusted: AdjustedPValue;
  /** Share of pairs in which the case is on the cases' side, the pair left out; of features less what covariates explain. */
  readonly auc: Estimate;
  readonly kde: PublishedTest | null;
}

/** The test from values up to a common time, and the approximate p-value over such times. */
export interface LandmarkTest extends LabelTest {
  /** The time by which a tenth of the smaller group was last seen. */
  readonly landmark: number;
  readonly curve: readonly { readonly landmark: number; readonly approximation: number }[];
}

export interface OutcomeAssociation extends LabelTest {
  readonly outcome: string;
  readonly cases: number;
  readonly controls: number;
  readonly missing: number;
  /** Individuals whose outcome is known and a covariate is not. */
  readonly leftOut: number;
  readonly adjusted: AdjustedPValue;
  /** p under a prior estimated from everyone's posterior; NaN for linear models. */
  readonly priorP: number;
  readonly effect: {
    readonly auc: Estimate;
    /**
     * Squared distance of the two average posteriors, smoothed, at equal covariates; an unbiased estimate, which may fall
     * below 0.
     */
    readonly distance: number;
  };
  /** How well last value, visits and place tell it, held out, and what the place adds. */
  readonly predictors: PredictorComparison;
  /** Where on the map the groups differ; null unless below 0.05 after Holm on a map of one or two dimensions. */
  readonly differenceMap: DifferenceMap | null;
  /** Shares with the outcome in the outlined part of that map and elsewhere; null where no place stands out. */
  readonly contrast: OutcomeContrast | null;
  /** Made where visits follow the course and p is below 0.05. */
  readonly landmark: LandmarkTest | null;
  /** The same test among people seen equally often and long, made where p is below 0.05; null where visits do not differ, NaN where they determine the outcome. */
  readonly seenEqually: LabelTest | null;
  readonly warnings: readonly AssociationWarning[];
  readonly representations: { readonly [name: string]: RepresentationAssociation };
}

/** A model with everyone's place and the features of whole posteriors. */
export interface Representation {
  readonly name: string;
  readonly placements: Placements;
  readonly features: PosteriorFeatures;
}

/** What the tests of all outcomes share. */
export interface PreparedStudy {
  readonly model: TrajectoryModel;
  readonly cohort: Cohort;
  readonly adjustment: Adjustment;
  readonly representations: readonly Representation[];
  readonly primary: Representation;
  /** Features for pictures; null for maps that have none. */
  readonly mapFeatures: PosteriorFeatures | null;
  /** Features under an estimated prior, [m,F]. */
  readonly reweighted: Float64Array | null;
}

export interface TestOptions extends MultiplierOptions {
  readonly seed?: number;
  /** An aborted association throws DtmError "cancelled". */
  readonly signal?: { readonly aborted: boolean };
}

export const LEVEL = 0.05;
/** Fewer in a class are not tested. */
export const LEAST = 5;
/** Checks are compared with 0.05 and need no small p-values. */
const CHECK_DRAWS = 999;
/** Shares of the smaller group that were last seen by the landmarks of the curve; the first is the landmark of the test. */
const LEFT = [0.1, 0.25, 0.5, 0.75];

/** Tests a label (NaN for unknown) against features [m,F], given covariates. The order of individuals does not matter, bit for bit. */
export async function testLabel(
  features: Float64Array,
  labels: ArrayLike<number>,
  adjustment: Adjustment,
  seed: number,
  options: TestOptions,
): Promise<LabelTest> {
  checkSignal(options);
  const score = scoreOf(...sortedRows(features, labels, adjustment));
  const draws = options.draws ?? DEFAULT_DRAWS;
  return { p: await multiplierP(score, seed, options), approximation: approximateP(score), draws };
}

/** Rows, labels and covariates of the known, in an order that does not depend on the caller's: by label, features, covariates. */
function sortedRows(
  features: Float64Array,
  labels: ArrayLike<number>,
  { columns }: Adjustment,
): [Float64Array, Float64Array, Float64Array[]] {
  const F = features.length / labels.length;
  const isKnown = (i: number) => !Number.isNaN(labels[i]) && columns.every(({ values }) => !Number.isNaN(values[i]));
  const known = Array.from(labels, (_, i) => i).filter(isKnown);
  const byRows = (a: number, b: number) => {
    for (let f = 0; f < F; f++) {
      const difference = features[a * F + f] - features[b * F + f];
      if (difference !== 0) return difference;
    }
    const differing = columns.find(({ values }) => values[a] !== values[b]);
    return differing === undefined ? 0 : differing.values[a] - differing.values[b];
  };
  known.sort((a, b) => labels[a] - labels[b] || byRows(a, b));
  const pick = (values: ArrayLike<number>) => Float64Array.from(known, (i) => values[i]);
  return [takeRows(features, F, known), pick(labels), columns.map(({ values }) => pick(values))];
}

/** Options of a check: fewer draws. */
export function checkOptions(options: TestOptions): TestOptions {
  return { ...options, draws: Math.min(options.draws ?? DEFAULT_DRAWS, CHECK_DRAWS) };
}

/** Labels with NaN for the missing, [m], and how many have each. */
export function knownLabels(labels: Uint8Array) {
  const z = Float64Array.from(labels, (label) => (label === CASE || label === CONTROL ? label : Number.NaN));
  const count = (label: number) => labels.reduce((s, v) => s + (v === label ? 1 : 0), 0);
  return { z, cases: count(CASE), controls: count(CONTROL) };
}

/**
 * All tests of one outcome with labels [m], missing for the `leftOut` who lack a covariate; p-values are adjusted and maps drawn
 * later.
 */
export async function testOutcome(
  study: PreparedStudy,
  { name: outcome, labels, leftOut }: { readonly name: string; readonly labels: Uint8Array; readonly leftOut: number },
  visitsFollow: boolean,
  seed: number,
  options: TestOptions,
): Promise<OutcomeAssociation> {
  const { z, cases, controls } = knownLabels(labels);
  const counts = { outcome, cases, controls, missing: labels.length - cases - controls - leftOut, leftOut };
  const { adjustment } = study;
  const warnings: AssociationWarning[] = [];
  const warn = (code: WarningCode, message: string) => void warnings.push({ code, message });
  const tested = Math.min(cases, controls) >= LEAST;
  const few = fewCasesMessage(cases, controls);
  if (!tested) warn("too-few", `Fewer than ${LEAST} in a class: not tested.`);
  else if (few !== undefined) warn("few-cases", few);

  const representations: Record<string, RepresentationAssociation> = {};
  for (const { name, placements, features } of study.representations) {
    const kde = adjustment.columns.length > 0 ? null : published(placements, z);
    if (typeof kde === "string") warn("no-density-test", `${name}: ${kde}`);
    representations[name] = {
      ...(tested ? await testLabel(features.rows, z, adjustment, seed, options) : UNTESTED),
      adjusted: UNADJUSTED,
      auc: tested ? adjustedAuc(features.rows, z, adjustment, seed) : NO_ESTIMATE,
      kde: typeof kde === "string" ? null : kde,
    };
  }
  const { p, approximation, draws, auc } = representations[study.primary.name];
  const { reweighted } = study;
  const priorP =
    tested && reweighted !== null
      ? (await testLabel(reweighted, z, adjustment, seed, checkOptions(options))).p
      : Number.NaN;
  if ((p < LEVEL && priorP >= LEVEL) || (p >= LEVEL && priorP < LEVEL)) {
    warn("depends-on-prior", `Depends on the assumed spread of places: p ${short(priorP)} with an estimated one.`);
  }
  const landmark = p < LEVEL && visitsFollow ? await landmarkTest(study, z, seed, checkOptions(options)) : null;
  if (landmark !== null) {
    warn(
      "visits-follow-course",
      "Visits follow the course, so that departures may have made this result. " +
        `From values up to time ${short(landmark.landmark)} alone: p ${short(landmark.p)}.`,
    );
  }
  const alike = p < LEVEL ? await seenEquallyTest(study, z, seed, checkOptions(options)) : null;
  const distance = tested ? distanceOf(study.primary.features.rows, z, adjustment) : Number.NaN;
  return {
    ...counts,
    p,
    approximation,
    draws,
    adjusted: UNADJUSTED,
    priorP,
    effect: { auc, distance },
    predictors: comparePredictors(study.cohort, study.primary.placements, { events: z }, seed, adjustment),
    differenceMap: null,
    contrast: null,
    landmark,
    seenEqually: alike,
    warnings,
    representations,
  };
}

const UNTESTED: LabelTest = { p: Number.NaN, approximation: Number.NaN, draws: 0 };
const NO_ESTIMATE: Estimate = { value: Number.NaN, lower: Number.NaN, upper: Number.NaN };

/** The map of a tested outcome and the shares it comes to, if it can be drawn. */
export function mapOf({ mapFeatures, primary, adjustment }: PreparedStudy, labels: Uint8Array, seed: number) {
  if (mapFeatures === null) return { differenceMap: null, contrast: null };
  const covariates = adjustment.columns.map(({ values }) => values);
  const map = differenceMap(mapFeatures, primary.placements.mapDimension, labels, { seed, covariates });
  return {
    differenceMap: map,
    contrast: outcomeContrast(mapFeatures, primary.placements, labels, map, covariates, seed),
  };
}

/** The AUC of features less what covariates explain of them, so that it does not tell a case by its age. */
function adjustedAuc(features: Float64Array, z: Float64Array, adjustment: Adjustment, seed: number): Estimate {
  const [rows, labels, covariates] = sortedRows(features, z, adjustment);
  return pairAuc(withoutCovariates(rows, labels.length, covariates), labels, seed);
}

/** (T − tr V)/|a|⁴: T over |a|⁴ is the squared distance, tr V what chance adds to it. */
function distanceOf(features: Float64Array, z: Float64Array, adjustment: Adjustment): number {
  const { statistic, variance, numFeatures, residual } = scoreOf(...sortedRows(features, z, adjustment));
  const norm2 = residual.reduce((s, a) => s + a * a, 0);
  return (statistic - trace(variance, numFeatures)) / (norm2 * norm2);
}

/** The published test, or why it is not defined. */
function published({ location, mapDimension: q }: Placements, z: Float64Array): PublishedTest | string {
  const places = (label: number) =>
    takeRows(
      location,
      q,
      Array.from(z.keys()).filter((i) => z[i] === label),
    );
  try {
    const test = kdeTest(places(CASE), places(CONTROL), q);
    return { statistic: test.statistic, z: test.z, p: test.pValue, adjusted: UNADJUSTED };
  } catch (error) {
    if (error instanceof DtmError) return error.message;
    throw error;
  }
}

/** The test beside number and times of visits: what visits alone have made is not found again. */
async function seenEquallyTest(
  { primary, adjustment }: PreparedStudy,
  z: Float64Array,
  seed: number,
  options: TestOptions,
): Promise<LabelTest | null> {
  const beside = seenEqually(adjustment, primary.placements);
  if (beside.columns.length === adjustment.columns.length) return null;
  try {
    return await testLabel(primary.features.rows, z, beside, seed, options);
  } catch (error) {
    if (error instanceof DtmError && error.code === "determined-label") return UNTESTED;
    throw error;
  }
}

/** Everybody with values up to a common time alone: what happens later, departures included, cannot enter. */
async function landmarkTest(
  { model, cohort, primary, adjustment }: PreparedStudy,
  z: Float64Array,
  seed: number,
  options: TestOptions,
): Promise<LandmarkTest> {
  const { offsets, times } = visitTimes(cohort);
  const last = (label: number) =>
    Float64Array.from(z.keys())
      .filter((i) => z[i] === label)
      .map((i) => times[offsets[i + 1] - 1])
      .sort();
  const [a, b] = [last(CASE), last(CONTROL)];
  const smaller = a.length <= b.length ? a : b;
  const landmarks = LEFT.map((share) => smaller[Math.ceil(share * smaller.length) - 1]);
  const tests = [...new Set(landmarks)].map((landmark) => {
    checkSignal(options);
    return { landmark, features: featuresUntil(model, cohort, landmark, primary.features.kernel).rows };
  });
  const first = await testLabel(tests[0].features, z, adjustment, seed, options);
  const curve = tests.map(({ landmark, features }) => ({
    landmark,
    approximation: approximateP(scoreOf(...sortedRows(features, z, adjustment))),
  }));
  return { ...first, landmark: landmarks[0], curve };
}

const short = (x: number) => String(Number(x.toPrecision(2)));

function checkSignal({ signal }: TestOptions): void {
  if (signal?.aborted) throw new DtmError("cancelled", "associate: cancelled.");
}
