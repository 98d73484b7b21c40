/** One individual looked at: place with exact regions, course of a marker with two bands, trail, membership. */
import {
  type Cohort,
  markerModel,
  numIndividuals,
  type Placement,
  type Prediction,
  placeIndividual,
  predict,
  predictCrossing,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { markerCohort, numObservations } from "@trajectory-maps/core/ingest";
import {
  basisDomain,
  type Crossing,
  codingOf,
  type ForecastGuard,
  fallbackWeight,
  followUpSupport,
  forecastGuard,
  guardFor,
  heldTime,
  highestDensityRegion,
  type Interval,
  isCalibratedAt,
  isMapModel,
  modelAt,
  type modelMixture,
  placeSd,
  predictBelow,
  predictChange,
  predictDifference,
  supportedTo,
  viewMarker,
  viewPlacement,
} from "@trajectory-maps/core/models";
import { type GaussianMixture, mixtureMembership } from "@trajectory-maps/core/study";
import type { Fitted, Individual, IndividualAnswer, IndividualQuestion } from "./api.ts";
import { timesOf, type Visits } from "./marker-view.ts";

/** Of the first marker; null of a model of several markers without a map, which needs none. */
type Mixture = ReturnType<typeof modelMixture> | null;

/** A visit at the very time asked about counts, whatever the slider rounded. */
const SAME_TIME = 1e-9;

/** What forecasts of a marker of a map fall back on; null unless the cohort is the one the map was fitted to. */
export function guardOf({ model, placements }: Fitted, cohort: Cohort, k = 0): ForecastGuard | null {
  const { record } = model;
  const own = record.numIndividuals === numIndividuals(cohort) && record.numObservations === numObservations(cohort);
  if (!own || !isMapModel(model)) return null;
  return forecastGuard(viewMarker(model, k), markerCohort(cohort, k), { places: placements });
}

export function answerIndividual(
  model: TrajectoryModel,
  mixture: Mixture,
  regions: GaussianMixture | null,
  question: IndividualQuestion,
  guard: ForecastGuard | null = null,
): IndividualAnswer {
  const { at, threshold, change, marker: k = 0 } = question;
  const used = usedVisits(question, question.knownAt);
  const times = timesOf(used);
  const place = (visits: readonly Visits[]) => placeVisits(model, question, visits, mixture);
  const whole = place(used);
  const [own, placement] = [ownView(model, question, k), viewPlacement(whole, k)];
  const ownGuard = guard === null ? null : guardFor(guard, used[k], codedOf(model, question)?.values);
  const guarded = ownGuard === null ? {} : { guard: ownGuard };
  const q = model.mapDimension;
  const onLattice = isMapModel(model) && q <= 2;
  const region = (level: number) => (onLattice ? highestDensityRegion(model, whole, level) : new Float64Array(0));
  const region50 = region(0.5);
  const cell = onLattice && mixture !== null ? cellSide(mixture.locations, q) : 0;
  const curve = predict(own, placement, at, { interval: "curve", ...guarded });
  const observation = predict(own, placement, at, { interval: "observation", ...guarded });
  const calibrated = () => {
    const { calibration } = own;
    // Calibration is of forecasts from a visit or more.
    if (calibration === undefined || times.length === 0 || !isCalibratedAt(calibration, observation.level)) return null;
    return holding(predict(own, placement, at, { interval: "conformal", ...guarded }), curve);
  };
  /** Probability to be below the threshold at each time, as the curve has it there. */
  const below = (level: number) => {
    const map = predictBelow(own, placement, at, level);
    if (ownGuard === null) return map;
    const { guard: theirs, fallback } = ownGuard;
    const held = at.map((t) => heldTime(theirs, fallback, t));
    const linear = predictBelow(theirs.mixedModel, fallback, held, level);
    return map.map((p, t) => {
      const weight = fallbackWeight(curve.support?.[t] ?? 0);
      return (1 - weight) * p + weight * linear[t];
    });
  };
  return {
    location: whole.location,
    covariance: whole.covariance,
    outsideMass: whole.outsideMass,
    logLikelihood: whole.logLikelihood,
    courseFit: whole.courseFit,
    numUsed: times.length,
    lastUsed: whole.lastTime,
    region50: q === 2 ? region50 : new Float64Array(0),
    region90: q === 2 ? region(0.9) : new Float64Array(0),
    cell: q === 2 ? cell : 0,
    curve,
    ...(guard !== null && { supportedTo: supportedTo(guard.followUp, followUpSupport(guard.followUp, placement)) }),
    observation,
    calibrated: calibrated(),
    crossing: threshold === undefined ? null : crossingOf(own, placement, threshold),
    below: threshold === undefined ? null : below(threshold),
    change: change === undefined ? null : predictChange(own, placement, change[0], change[1]),
    farCovariates: own.farCovariates ?? [],
    suspects: whole.suspects ?? [],
    sd: placeSd((region50.length / q) * cell ** q, whole.covariance, q),
    trail: question.trail ? trailOf(times, (until) => place(usedVisits(question, until)).location) : [],
    membership: regions === null ? new Float64Array(0) : mixtureMembership(regions, whole.location, whole.covariance),
  };
}

type Band = Pick<Prediction, "lower" | "upper">;

/** A band that holds another at every time: a new measurement is nowhere known better than the course. */
function holding({ lower, upper }: Band, inner: Band): { lower: Float64Array; upper: Float64Array } {
  return {
    lower: lower.map((v, t) => Math.min(v, inner.lower[t])),
    upper: upper.map((v, t) => Math.max(v, inner.upper[t])),
  };
}

/** Quantiles at every hundredth: how many have crossed by a time can be read from them. */
const HUNDREDTHS = Array.from({ length: 99 }, (_, k) => (k + 1) / 100);

/** When the curve crosses the threshold; a last visit after the end of the model is looked on from that end. */
function crossingOf(own: TrajectoryModel, placement: Placement, threshold: number): Crossing {
  const [first, last] = basisDomain(markerModel(own).basis);
  const from = Math.min(Math.max(placement.lastTime, first), last);
  return predictCrossing(own, placement, { threshold, from, numDraws: 1000, probabilities: HUNDREDTHS });
}

/** The place after each visit. */
function trailOf(times: readonly number[], placeAt: (until: number) => Float64Array): IndividualAnswer["trail"] {
  return times.map((time) => ({ time, location: placeAt(time) }));
}

/** Curve of the first minus that of the second, of the marker that the first question asks about. */
export function answerDifference(
  model: TrajectoryModel,
  mixture: Mixture,
  first: IndividualQuestion,
  second: IndividualQuestion,
): readonly Interval[] {
  const { marker: k = 0, at } = first;
  const place = (question: IndividualQuestion) =>
    viewPlacement(placeVisits(model, question, usedVisits(question, question.knownAt), mixture), k);
  const [one, other] = [ownView(model, first, k), ownView(model, second, k)];
  return predictDifference(one, place(first), place(second), at, { secondModel: other });
}

/** The visits of each marker that count, by time, [K]. */
function usedVisits({ visits }: Individual, until: number | undefined): Visits[] {
  return visits.map(({ times, values, censored }) => {
    const order = times.map((_, j) => j).sort((a, b) => times[a] - times[b]);
    const used = order.filter((j) => until === undefined || times[j] <= until + SAME_TIME);
    const sides = censored && { censored: used.map((j) => censored[j]) };
    return { times: used.map((j) => times[j]), values: used.map((j) => values[j]), ...sides };
  });
}

/** Coded covariates of an individual; who has none stands for the average. */
function codedOf(model: TrajectoryModel, { covariates }: Individual) {
  const coding = codingOf(model);
  if (coding === undefined) return undefined;
  return { coding, values: covariates ?? new Float64Array(coding.columns.length) };
}

/** The model as it is for an individual, seen through marker k. */
function ownView(model: TrajectoryModel, individual: Individual, k: number): TrajectoryModel {
  const coded = codedOf(model, individual);
  return viewMarker(coded === undefined ? model : modelAt(model, coded.values), k);
}

function placeVisits(
  model: TrajectoryModel,
  individual: Individual,
  visits: readonly Visits[],
  mixture: Mixture,
): Placement {
  const { markers } = model;
  const named = Object.fromEntries(markers.map(({ marker }, k) => [marker.name, visits[k]]));
  const coded = codedOf(model, individual);
  return placeIndividual(
    model,
    { id: individual.id, markers: named },
    { ...(markers.length === 1 && mixture !== null ? { mixture } : {}), ...(coded && { covariates: coded }) },
  );
}

/** Distance of neighbouring nodes of a lattice; nodes of a row stand one after the other. */
function cellSide(locations: Float64Array, q: number): number {
  if (q === 1) return Math.abs(locations[1] - locations[0]);
  for (let g = 1; g < locations.length / 2; g++) {
    if (locations[2 * g] === locations[2 * g - 2]) return Math.abs(locations[2 * g + 1] - locations[2 * g - 1]);
  }
  return 0;
}
