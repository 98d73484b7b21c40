/** Facts about individuals and selections of them, from placements and expected courses. Nothing here draws. */
import type { Placements } from "@trajectory-maps/core";
import type { Outcome } from "@trajectory-maps/core/ingest";
import { followedTo, type Rate, rate, rateAmong } from "@trajectory-maps/core/study";

export type { Rate } from "@trajectory-maps/core/study";

const MISSING = 255;

/** Rate of an outcome among the individuals for which `among` holds. */
export function rateOf({ labels }: Outcome, among: (i: number) => boolean): Rate {
  return rateAmong(
    labels,
    Array.from(labels.keys()).filter((i) => among(i)),
  );
}

/** Rates of an outcome in each of K groups. */
export function ratesByGroup(outcome: Outcome, labels: ArrayLike<number>, numGroups: number): Rate[] {
  const cases = new Array<number>(numGroups).fill(0);
  const known = new Array<number>(numGroups).fill(0);
  for (let i = 0; i < labels.length; i++) {
    if (outcome.labels[i] === MISSING || labels[i] < 0) continue;
    known[labels[i]]++;
    cases[labels[i]] += outcome.labels[i];
  }
  return cases.map((k, g) => rate(k, known[g]));
}

/** Last time to which enough of the members are still followed. */
export function followedUntil(lastTimes: Float64Array, members: ArrayLike<number>): number {
  return followedTo(Float64Array.from(members, (i) => lastTimes[i]));
}

/** How many of the members are followed at each time. */
export function followedAt(lastTimes: Float64Array, members: ArrayLike<number>, times: readonly number[]): number[] {
  return times.map((t) => {
    let n = 0;
    for (let k = 0; k < members.length; k++) if (lastTimes[members[k]] >= t - 1e-9) n++;
    return n;
  });
}

/** Positions of the members of each group, in the order of the cohort. */
export function membersByGroup(labels: ArrayLike<number>, numGroups: number): number[][] {
  const members: number[][] = Array.from({ length: numGroups }, () => []);
  for (let i = 0; i < labels.length; i++) members[labels[i]]?.push(i);
  return members;
}

/** About `count` of the members, evenly through their order. */
export function sampleOf(members: readonly number[], count: number): number[] {
  if (members.length <= count) return [...members];
  return Array.from({ length: count }, (_, k) => members[Math.floor(((k + 0.5) * members.length) / count)]);
}

/** Classes of visit counts: 1, 2–3, 4–7, 8 and more. */
export function visitClass(n: number): 0 | 1 | 2 | 3 {
  return n <= 1 ? 0 : n <= 3 ? 1 : n <= 7 ? 2 : 3;
}

/** For any individual, the share of the cohort with about as many visits that fits better per visit. Made once for a map. */
export function fitRanks({
  numObservations,
  logLikelihood,
}: Pick<Placements, "numObservations" | "logLikelihood">): (logLikelihood: number, numVisits: number) => number {
  const perVisit: number[][] = [[], [], [], []];
  logLikelihood.forEach((value, i) => {
    perVisit[visitClass(numObservations[i])].push(value / numObservations[i]);
  });
  const classes = perVisit.map((values) => Float64Array.from(values).sort());
  return (own, numVisits) => {
    const like = classes[visitClass(numVisits)];
    if (numVisits === 0 || like.length === 0) return 0;
    let [low, high] = [0, like.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (like[middle] > own / numVisits) high = middle;
      else low = middle + 1;
    }
    return (like.length - low) / like.length;
  };
}

/** Median of numbers. */
export function medianOf(values: ArrayLike<number>): number {
  const sorted = new Float64Array(values).sort();
  const half = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}
