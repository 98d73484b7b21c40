/** One individual looked at: place with exact regions, course with two bands, trail, membership. */
import {
  type Cohort,
  numIndividuals,
  type Placement,
  placeIndividual,
  predict,
  predictCrossing,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { numObservations } from "@trajectory-maps/core/ingest";
import {
  type ForecastGuard,
  fallbackWeight,
  forecastGuard,
  highestDensityRegion,
  type Interval,
  isCalibratedAt,
  isMapModel,
  type modelMixture,
  placeSd,
  predictBelow,
  predictChange,
  predictDifference,
} from "@trajectory-maps/core/models";
import { type mixtureFromLabels, mixtureMembership } from "@trajectory-maps/core/study";
import type { Fitted, IndividualAnswer, IndividualQuestion } from "./api.ts";

type Mixture = ReturnType<typeof modelMixture>;

/** A visit at the very time asked about counts, whatever the slider rounded. */
const SAME_TIME = 1e-9;

/** What forecasts of a map fall back on; null unless the cohort is the one it was fitted to. */
export function guardOf({ model, placements }: Fitted, cohort: Cohort): ForecastGuard | null {
  const { record } = model;
  const own = record.numIndividuals === numIndividuals(cohort) && record.numObservations === numObservations(cohort);
  if (!own || !isMapModel(model)) return null;
  return forecastGuard(model, cohort, { places: placements });
}

export function answerIndividual(
  model: TrajectoryModel,
  mixture: Mixture,
  regions: ReturnType<typeof mixtureFromLabels> | null,
  question: IndividualQuestion,
  guard: ForecastGuard | null = null,
): IndividualAnswer {
  const { times, at, threshold, change } = question;
  const used = usedVisits(question);
  const place = (count: number) => placeVisits(model, question, used.slice(0, count), mixture);
  const placement = place(used.length);
  const fallback = guard === null ? null : placeVisits(guard.mixedModel, question, used);
  const guarded = guard === null || fallback === null ? {} : { guard: { guard, fallback } };
  const q = model.mapDimension;
  const onLattice = isMapModel(model) && q <= 2;
  const region = (level: number) => (onLattice ? highestDensityRegion(model, placement, level) : new Float64Array(0));
  const region50 = region(0.5);
  const cell = onLattice ? cellSide(mixture.locations, q) : 0;
  const last = at[at.length - 1];
  const curve = predict(model, placement, at, { interval: "curve", ...guarded });
  const observation = predict(model, placement, at, { interval: "observation", ...guarded });
  const calibrated = () => {
    const { calibration } = model;
    if (calibration === undefined || !isCalibratedAt(calibration, observation.level)) return null;
    const { lower, upper } = predict(model, placement, at, { interval: "conformal", ...guarded });
    return {
      lower: lower.map((v, k) => Math.min(v, observation.lower[k])),
      upper: upper.map((v, k) => Math.max(v, observation.upper[k])),
    };
  };
  /** Probability to be below the threshold at the last time, as the curve has it there. */
  const below = (level: number) => {
    const own = predictBelow(model, placement, [last], level)[0];
    if (guard === null || fallback === null) return own;
    const weight = fallbackWeight(curve.support?.at(-1) ?? 0);
    return (1 - weight) * own + weight * predictBelow(guard.mixedModel, fallback, [last], level)[0];
  };
  return {
    location: placement.location,
    covariance: placement.covariance,
    outsideMass: placement.outsideMass,
    logLikelihood: placement.logLikelihood,
    numUsed: used.length,
    lastUsed: placement.lastTime,
    region50: q === 2 ? region50 : new Float64Array(0),
    region90: q === 2 ? region(0.9) : new Float64Array(0),
    cell: q === 2 ? cell : 0,
    curve,
    observation,
    calibrated: calibrated(),
    crossing: threshold === undefined ? null : predictCrossing(model, placement, { threshold, numDraws: 1000 }),
    below: threshold === undefined ? null : below(threshold),
    change: change === undefined ? null : predictChange(model, placement, change[0], change[1]),
    sd: placeSd((region50.length / q) * cell ** q, placement.covariance, q),
    trail: question.trail
      ? used.map((j, k) => ({ time: times[j], location: (k + 1 === used.length ? placement : place(k + 1)).location }))
      : [],
    membership:
      regions === null ? new Float64Array(0) : mixtureMembership(regions, placement.location, placement.covariance),
  };
}

/** Curve of the first minus that of the second. */
export function answerDifference(
  model: TrajectoryModel,
  mixture: Mixture,
  first: IndividualQuestion,
  second: IndividualQuestion,
): readonly Interval[] {
  const place = (question: IndividualQuestion) => placeVisits(model, question, usedVisits(question), mixture);
  return predictDifference(model, place(first), place(second), first.at);
}

/** Positions of the visits that count, by time. */
function usedVisits({ times, knownAt }: IndividualQuestion): number[] {
  const order = times.map((_, j) => j).sort((a, b) => times[a] - times[b]);
  return order.filter((j) => knownAt === undefined || times[j] <= knownAt + SAME_TIME);
}

function placeVisits(
  model: TrajectoryModel,
  { id, times, values }: IndividualQuestion,
  used: readonly number[],
  mixture?: Mixture,
): Placement {
  const history = { id, times: used.map((j) => times[j]), values: used.map((j) => values[j]) };
  return placeIndividual(model, history, mixture === undefined ? {} : { mixture });
}

/** Distance of neighbouring nodes of a lattice; nodes of a row stand one after the other. */
function cellSide(locations: Float64Array, q: number): number {
  if (q === 1) return Math.abs(locations[1] - locations[0]);
  for (let g = 1; g < locations.length / 2; g++) {
    if (locations[2 * g] === locations[2 * g - 2]) return Math.abs(locations[2 * g + 1] - locations[2 * g - 1]);
  }
  return 0;
}
