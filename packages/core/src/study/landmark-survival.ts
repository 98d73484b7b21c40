/**
 * Follow-up from a landmark, by the place that visits up to the landmark give: Kaplan–Meier by group, log-rank, Cox on the
 * places, and what they add to last value and visits (docs/math/survival.md §5). Nothing seen of an individual after the landmark enters its place or decides
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
import { largestShares, mixtureFromLabels, mixtureMembership } from "../map/clusters/gaussian-mixture.ts";
import type { Groups } from "../map/groups.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { embed } from "../models/place.ts";
import type { Placements } from "../models/placement.ts";
import { chisquareUpper } from "../numeric/special.ts";
import { type ChiSquareTest, type CoxFit, fitCox } from "../survival/cox.ts";
import type { FollowUp } from "../survival/follow-up.ts";
import { type KaplanMeier, kaplanMeierByGroup } from "../survival/kaplan-meier.ts";
import { defaultLandmark, type Landmark, landmarkFollowUp } from "../survival/landmark.ts";
import { type LogRank, logRank } from "../survival/log-rank.ts";

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
  readonly placements: Placements;
  readonly groups: Groups;
  /** Default none. */
  readonly adjustment?: Adjustment;
}

const LEAST_TESTED = 5;

/**
 * Survival after a landmark; `followUp` follows the cohort's individuals, a time that is not a number is unknown.
 * @throws DtmError "landmark", "shape", "follow-up", "no-information" or "collinear".
 * @example
 * const { curves, logRank } = await landmarkSurvival({ model, cohort, placements, groups }, "death", followUp);
 */
export async function landmarkSurvival(
  { model, cohort, placements, groups, adjustment = NO_ADJUSTMENT }: LandmarkStudy,
  event: string,
  given: FollowUp,
  landmark: number = defaultLandmark(visitTimes(cohort)),
  options: TestOptions = {},
): Promise<LandmarkSurvival> {
  // Those who lack a covariate are unknown to every part of this, and counted apart.
  const hasCovariates = (i: number) => isAdjustable(adjustment, i);
  const followUp = { ...given, times: Array.from(given.times, (t, i) => (hasCovariates(i) ? t : Number.NaN)) };
  const isUnknown = ({ times, events }: FollowUp, i: number) => Number.isNaN(times[i]) || Number.isNaN(events[i]);
  const withoutCovariates = Array.from(given.times, (_, i) => i).filter(
    (i) => !hasCovariates(i) && !isUnknown(given, i),
  ).length;
  const after = landmarkFollowUp(visitTimes(cohort), followUp, landmark);
  const seen = selectIndividuals(cohort, after.individuals);
  const visits = selectVisits(seen, (_, times) => times.filter((t) => t <= landmark).length);
  const early = embed(model, visits);
  const adjusted = adjustmentAmong(adjustment, after.individuals);
  const labels = groupsAtLandmark(placements, groups, early);
  const all = groups.groups.map(({ letter, name }, group) => ({ group, letter, name }));
  const present = all.flatMap(({ group }) => (labels.includes(group) ? [group] : []));
  const compact = labels.map((g) => present.indexOf(g));
  const curves = kaplanMeierByGroup(after, compact, present.length).map((curve, k) => ({
    ...curve,
    group: present[k],
  }));
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
    ...coxOf(after, early, adjusted),
    predictors: comparePredictors(visits, early, after, options.seed, adjusted),
    mapTest: await testEvent(model, cohort, followUp, options, adjustment),
  };
}

/** Cox on places and covariates, and the test of the places: 2(ℓ of all − ℓ of the covariates alone) on q degrees. */
function coxOf(after: FollowUp, { location, mapDimension: q }: Placements, { columns }: Adjustment) {
  const n = after.times.length;
  const p = q + columns.length;
  const rows = Float64Array.from({ length: n * p }, (_, e) => {
    const [i, c] = [Math.floor(e / p), e % p];
    return c < q ? location[i * q + c] : columns[c - q].values[i];
  });
  const cox = fitCox(after, rows, p);
  const coxCovariates = columns.map(({ name }) => name);
  if (columns.length === 0) return { cox, coxCovariates, placeTest: cox.likelihoodRatio };
  const alone = fitCox(after, Float64Array.from(rows.filter((_, e) => e % p >= q)), columns.length);
  const statistic = Math.max(2 * (cox.logLikelihood.fitted - alone.logLikelihood.fitted), 0);
  return { cox, coxCovariates, placeTest: { statistic, degrees: q, pValue: chisquareUpper(statistic, q) } };
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
function groupsAtLandmark(placements: Placements, groups: Groups, early: Placements): Int32Array {
  const K = groups.groups.length;
  if (K === 1) return new Int32Array(early.ids.length);
  const mixture = mixtureFromLabels(placements.location, placements.mapDimension, groups.labels, K);
  const shares = mixtureMembership(mixture, early.location, early.covariance);
  return largestShares(shares, K);
}
