/** One individual looked at: place with exact regions, course with two bands, trail, membership. */
import {
  highestDensityRegion,
  isMapModel,
  type mixtureFromLabels,
  mixtureMembership,
  type modelMixture,
  type Placement,
  placeIndividual,
  predict,
  predictCrossing,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import type { IndividualAnswer, IndividualQuestion } from "./api.ts";

export function answerIndividual(
  model: TrajectoryModel,
  mixture: ReturnType<typeof modelMixture>,
  regions: ReturnType<typeof mixtureFromLabels> | null,
  question: IndividualQuestion,
): IndividualAnswer {
  const { id, times, values, knownAt, at, threshold } = question;
  const order = times.map((_, j) => j).sort((a, b) => times[a] - times[b]);
  const used = order.filter((j) => knownAt === undefined || times[j] <= knownAt + 1e-9);
  const place = (count: number): Placement =>
    placeIndividual(
      model,
      { id, times: used.slice(0, count).map((j) => times[j]), values: used.slice(0, count).map((j) => values[j]) },
      { mixture },
    );
  const placement = place(used.length);
  const flat = isMapModel(model) && model.mapDimension === 2;
  return {
    location: placement.location,
    covariance: placement.covariance,
    outsideMass: placement.outsideMass,
    logLikelihood: placement.logLikelihood,
    numUsed: used.length,
    lastUsed: placement.lastTime,
    region50: flat ? highestDensityRegion(model, placement, 0.5) : new Float64Array(0),
    region90: flat ? highestDensityRegion(model, placement, 0.9) : new Float64Array(0),
    cell: flat ? cellSide(mixture.locations) : 0,
    curve: predict(model, placement, at, { interval: "curve", rate: true, numDraws: 400 }),
    observation: predict(model, placement, at, { interval: "observation" }),
    crossing: threshold === undefined ? null : predictCrossing(model, placement, { threshold, numDraws: 1000 }),
    trail: question.trail
      ? used.map((j, k) => ({ time: times[j], location: (k + 1 === used.length ? placement : place(k + 1)).location }))
      : [],
    membership:
      regions === null ? new Float64Array(0) : mixtureMembership(regions, placement.location, placement.covariance),
  };
}

/** Distance of neighbouring nodes of a lattice in rows. */
function cellSide(locations: Float64Array): number {
  for (let g = 1; g < locations.length / 2; g++) {
    if (locations[2 * g] === locations[2 * g - 2]) return Math.abs(locations[2 * g + 1] - locations[2 * g - 1]);
  }
  return 0;
}
