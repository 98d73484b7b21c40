/**
 * Follow-up from a landmark, by the place that visits up to the landmark give: Kaplan–Meier by group, log-rank, Cox on the
 * places, and what they add to last value and visits (docs/math/survival.md §5); whether hazards stay proportional, Cox over draws of
 * the places, and cross-fitted risks (§7 to §10). Where competing events are given the curves by group are Aalen–Johansen's (§6), and
 * whatever speaks of hazards is about the event itself, with competing ones censored. Nothing seen of an individual after the landmark enters its place or decides
 * its group: the study's groups are regions of the map, and individuals join them by the posterior of their place at the
 * landmark. The map and the regions themselves were made from all visits. Adjusted for covariates, the test on whole posteriors,
 * Cox and the base that places are compared with hold them; curves and log-rank do not.
 */
import { type Adjustment, isAdjustable, NO_ADJUSTMENT } from "../associate/adjustment.ts";
import { type EventAssociation, testEvent } from "../associate/event-test.ts";
import type { TestOptions } from "../associate/outcome-test.ts";
import { comparePredictors, type PredictorComparison } from "../associate/predictors.ts";
import { type Cohort, selectIndividuals, selectVisits } from "../cohort/cohort.ts";
import { visitTimes } from "../cohort/several-markers.ts";
import { largestShares, mixtureMembership } from "../map/clusters/gaussian-mixture.ts";
import type { Groups } from "../map/groups.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { embed } from "../models/place.ts";
import type { Placements } from "../models/placement.ts";
import { chisquareUpper } from "../numeric/special.ts";
import { type AalenJohansen, aalenJohansen } from "../survival/aalen-johansen.ts";
import { firstEvents } from "../survival/competing.ts";
import { type ChiSquareTest, type CoxFit, fitCox } from "../survival/cox.ts";
import { type CompetingFollowUp, causeFollowUp, type FollowUp, selectFollowUp } from "../survival/follow-up.ts";
import { type KaplanMeier, kaplanMeierByGroup } from "../survival/kaplan-meier.ts";
import { defaultLandmark, type Landmark, landmarkFollowUp } from "../survival/landmark.ts";
import { type LogRank, logRank } from "../survival/log-rank.ts";
import { type PooledCox, poolCox } from "../survival/pooled-cox.ts";
import { type ProportionalHazards, testProportionalHazards } from "../survival/proportional-hazards.ts";
import { enoughEvents, fixedTimes, type LandmarkRisk, landmarkRisk } from "./landmark-risk.ts";
import { drawPlaces } from "./place-draws.ts";

export interface LandmarkGroup {
  readonly group: number;
  readonly letter: string;
  readonly name: string;
}

export interface LandmarkSurvival {
  readonly event: string;
  readonly landmark: number;
  /** Individuals in the analysis, and those left out with the reason. */
  readonly numIndividuals: number;
  readonly numEvents: number;
  readonly leftOut: Landmark["leftOut"];
  /** Covariates that this is adjusted for, and how many individuals lack one of them and take no part. */
  readonly adjustedFor: readonly string[];
  readonly withoutCovariates: number;
  /** Groups with members at the landmark: number in the study, letter, name. */
  readonly groups: readonly LandmarkGroup[];
  /** Groups of the study that nobody joins at the landmark; they have no curve. */
  readonly emptyGroups: readonly LandmarkGroup[];
  /**
   * Individuals by group at the landmark (rows) and by group from all visits (columns), in the order of the study: how far
   * the two differ. Only those in the analysis are counted.
   */
  readonly crossTable: readonly (readonly number[])[];
  /** One curve per group of `groups`. */
  readonly curves: readonly (KaplanMeier & { readonly group: number })[];
  /**
   * Between the groups of five individuals or more; its distribution does not hold for smaller ones. Null with fewer than two
   * such groups.
   */
  readonly logRank: LogRank | null;
  /** On the axes of the place, and on the covariates behind them (`coxCovariates`) as they are coded. */
  readonly cox: CoxFit;
  readonly coxCovariates: readonly string[];
  /** Do hazards stay proportional? By time as Kaplan–Meier sees it, and by time itself. */
  readonly proportionalHazards: readonly ProportionalHazards[];
  /**
   * The same regression over draws of the places, given the visits alone and given the event too; null
   * with too few events, a hazard ratio without finite estimate, or too many individuals to draw in reasonable time.
   */
  readonly pooledCox: { readonly visits: PooledCox; readonly event: PooledCox } | null;
  /** Times since the landmark at which risks are told. */
  readonly riskTimes: readonly number[];
  /** Cross-fitted risks: concordance and calibration; null with too few events. */
  readonly risk: LandmarkRisk | null;
  /** Where competing events are given: their names and numbers, and the curves of all causes for each group of `groups`. */
  readonly competing: {
    readonly names: readonly string[];
    readonly numEvents: readonly number[];
    readonly curves: readonly (AalenJohansen & { readonly group: number })[];
  } | null;
  /** Likelihood ratio test of the place beside the covariates; without any that of the whole model. */
  readonly placeTest: ChiSquareTest;
  /** How well last value, visits and place up to the landmark tell who has the event first, held out. */
  readonly predictors: PredictorComparison;
  /** Time to the event against whole posteriors, from all values up to each one's end of follow-up. */
  readonly mapTest: EventAssociation;
}

export interface LandmarkStudy {
  readonly model: TrajectoryModel;
  readonly cohort: Cohort;
  readonly groups: Groups;
  /** Default none. */
  readonly adjustment?: Adjustment;
}

/** An event that ends follow-up before the one studied could come. */
export interface CompetingEvent {
  readonly name: string;
  readonly followUp: FollowUp;
}

export interface LandmarkOptions extends TestOptions {
  /** Default none. */
  readonly competing?: readonly CompetingEvent[];
  /** Times since the landmark at which risks are told. Default: up to three round ones while enough are at risk. */
  readonly riskTimes?: readonly number[];
}

const LEAST_TESTED = 5;
/** Candidate places of each individual, fewer where there are many; above this many individuals places are not drawn. */
const NUM_CANDIDATES = 100;
const LEAST_CANDIDATES = 20;
const ALL_CANDIDATES = 2e5;
const MOST_DRAWN = 20_000;

/**
 * Survival after a landmark; `followUp` follows the cohort's individuals, a time that is not a number is unknown.
 * @throws DtmError "landmark", "shape", "follow-up", "no-information" or "collinear".
 * @example
 * const { curves, logRank } = await landmarkSurvival({ model, cohort, groups }, "death", followUp);
 */
export async function landmarkSurvival(
  { model, cohort, groups, adjustment = NO_ADJUSTMENT }: LandmarkStudy,
  event: string,
  given: FollowUp,
  landmark: number = defaultLandmark(visitTimes(cohort), given.times),
  { competing = [], riskTimes, ...options }: LandmarkOptions = {},
): Promise<LandmarkSurvival> {
  const first = firstEvents([given, ...competing.map((own) => own.followUp)]);
  const known = { times: first.times, events: Float64Array.from(first.causes, (c) => (c > 1 ? 0 : c)) };
  // Those who lack a covariate are unknown to every part of this, and counted apart.
  const hasCovariates = (i: number) => isAdjustable(adjustment, i);
  const followUp = { ...known, times: Array.from(known.times, (t, i) => (hasCovariates(i) ? t : Number.NaN)) };
  const isUnknown = ({ times, events }: FollowUp, i: number) => Number.isNaN(times[i]) || Number.isNaN(events[i]);
  const withoutCovariates = Array.from(known.times, (_, i) => i).filter(
    (i) => !hasCovariates(i) && !isUnknown(known, i),
  ).length;
  const after = landmarkFollowUp(visitTimes(cohort), followUp, landmark);
  const seen = selectIndividuals(cohort, after.individuals);
  const visits = selectVisits(seen, (_, times) => times.filter((t) => t <= landmark).length);
  const early = embed(model, visits);
  const adjusted = adjustmentAmong(adjustment, after.individuals);
  const labels = groupsAtLandmark(groups, early);
  const all = groups.groups.map(({ letter, name }, group) => ({ group, letter, name }));
  const present = all.flatMap(({ group }) => (labels.includes(group) ? [group] : []));
  const compact = labels.map((g) => present.indexOf(g));
  const curves = kaplanMeierByGroup(after, compact, present.length).map((curve, k) => ({
    ...curve,
    group: present[k],
  }));
  const numCauses = 1 + competing.length;
  const causes = { times: after.times, causes: Array.from(after.individuals, (i) => first.causes[i]) };
  const incidence = present.map((group) => {
    const members = Array.from(labels.keys()).filter((k) => labels[k] === group);
    return { ...aalenJohansen(selectFollowUp(causes, members), numCauses), group };
  });
  const told = riskTimes ?? fixedTimes(after);
  const X = covariateRows(early, adjusted);
  const fitted = coxOf(after, X, early.mapDimension, adjusted);
  const sizeOf = (group: number) => labels.filter((g) => g === group).length;
  const tested = present.filter((group) => sizeOf(group) >= LEAST_TESTED);
  const testedLabels = labels.map((g) => tested.indexOf(g));
  return {
    event,
    landmark,
    numIndividuals: after.individuals.length,
    numEvents: after.events.reduce((s, e) => s + e, 0),
    leftOut: { ...after.leftOut, unknown: after.leftOut.unknown - withoutCovariates },
    adjustedFor: adjustment.names,
    withoutCovariates,
    groups: all.filter(({ group }) => present.includes(group)),
    emptyGroups: all.filter(({ group }) => !present.includes(group)),
    crossTable: all.map(({ group: early }) =>
      all.map(
        ({ group: final }) =>
          after.individuals.filter((i, k) => labels[k] === early && groups.labels[i] === final).length,
      ),
    ),
    curves,
    logRank: tested.length > 1 ? logRank(after, testedLabels, tested.length) : null,
    ...fitted,
    proportionalHazards: testProportionalHazards(after, X, X.length / after.times.length).tests,
    pooledCox: fitted.cox.converged
      ? pooledCoxOf(model, visits, early, causes, numCauses, adjusted, options.seed)
      : null,
    riskTimes: told,
    risk: landmarkRisk(causes, numCauses, X, told, options.seed),
    competing:
      competing.length === 0
        ? null
        : {
            names: competing.map(({ name }) => name),
            numEvents: competing.map((_, c) => causes.causes.filter((cause) => cause === c + 2).length),
            curves: incidence,
          },
    predictors: comparePredictors(visits, early, after, options.seed, adjusted),
    mapTest: await testEvent(model, cohort, followUp, options, adjustment),
  };
}

/** Places and covariates behind them, [n,p]. */
function covariateRows({ ids, location, mapDimension: q }: Placements, { columns }: Adjustment): Float64Array {
  const p = q + columns.length;
  return Float64Array.from({ length: ids.length * p }, (_, e) => {
    const [i, c] = [Math.floor(e / p), e % p];
    return c < q ? location[i * q + c] : columns[c - q].values[i];
  });
}

/** Cox on places and covariates, and the test of the places: 2(ℓ of all − ℓ of the covariates alone) on q degrees. */
function coxOf(after: FollowUp, rows: Float64Array, q: number, { columns }: Adjustment) {
  const p = q + columns.length;
  const cox = fitCox(after, rows, p);
  const coxCovariates = columns.map(({ name }) => name);
  if (columns.length === 0) return { cox, coxCovariates, placeTest: cox.likelihoodRatio };
  const alone = fitCox(after, Float64Array.from(rows.filter((_, e) => e % p >= q)), columns.length);
  const statistic = Math.max(2 * (cox.logLikelihood.fitted - alone.logLikelihood.fitted), 0);
  return { cox, coxCovariates, placeTest: { statistic, degrees: q, pValue: chisquareUpper(statistic, q) } };
}

/** Cox over draws of the places. */
function pooledCoxOf(
  model: TrajectoryModel,
  visits: Cohort,
  early: Placements,
  causes: CompetingFollowUp,
  numCauses: number,
  { columns }: Adjustment,
  seed = 1,
): LandmarkSurvival["pooledCox"] {
  const { mapDimension: q, ids } = early;
  const n = ids.length;
  if (n > MOST_DRAWN || !enoughEvents(causeFollowUp(causes, 1), q + columns.length)) return null;
  const numCandidates = Math.max(LEAST_CANDIDATES, Math.min(NUM_CANDIDATES, Math.floor(ALL_CANDIDATES / n)));
  const places = drawPlaces(model, visits, early, numCandidates, seed);
  const covariates = Float64Array.from({ length: n * columns.length }, (_, e) => {
    const [i, c] = [Math.floor(e / columns.length), e % columns.length];
    return columns[c].values[i];
  });
  const candidates = { places, numCandidates, mapDimension: q, covariates, numCovariates: columns.length };
  const pooled = (given: PooledCox["given"]) => poolCox(causes, numCauses, candidates, { given, seed });
  return { visits: pooled("visits"), event: pooled("event") };
}

/** The adjustment of some of the individuals. */
function adjustmentAmong(adjustment: Adjustment, chosen: Int32Array): Adjustment {
  const columns = adjustment.columns.map(({ name, values }) => ({
    name,
    values: Float64Array.from(chosen, (i) => values[i]),
  }));
  return { ...adjustment, columns };
}

/** The study's group whose region holds most of each early place. */
function groupsAtLandmark(groups: Groups, early: Placements): Int32Array {
  const K = groups.groups.length;
  if (K === 1) return new Int32Array(early.ids.length);
  const shares = mixtureMembership(groups.regions, early.location, early.covariance);
  return largestShares(shares, K);
}
