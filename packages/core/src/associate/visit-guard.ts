/**
 * The visit-count guard. Individuals with few visits are placed near the middle of the map, whatever their course, so
 * that an outcome that goes with the number of visits looks related to places. Labels are therefore shuffled only among
 * individuals seen about as often and about as long: strata of visit count (1, 2, 3, 4–5, 6–8, 9 or more) times tertiles
 * of the last visit's time.                                                        (docs/math/association.md §5)
 */
import { visitClass } from "../cohort/visit-classes.ts";
import { DtmError } from "../errors.ts";

/** Strata below this size are merged with a neighbour. */
const LEAST_SIZE = 10;

/**
 * Stratum of each of n individuals, [n]. A class of visit counts with fewer than ten is merged with the smaller of the
 * classes next to it, until none is left; within each class the same is done with the tertiles. Cut points are the
 * tertiles of all n times; equal times stay together.
 */
export function visitStrata(visitCounts: ArrayLike<number>, lastTimes: ArrayLike<number>): Int32Array {
  const n = visitCounts.length;
  if (lastTimes.length !== n) {
    throw new DtmError(
      "shape",
      `visitStrata: expected a last time for each of ${n} counts, received ${lastTimes.length}.`,
    );
  }
  for (let i = 0; i < n; i++) checkIndividual(visitCounts[i], lastTimes[i], i);
  const everyone = Array.from({ length: n }, (_, i) => i);
  const tertile = tertiles(lastTimes);
  const strata = new Int32Array(n);
  let count = 0;
  for (const visits of mergedGroups(everyone, (i) => visitClass(visitCounts[i]))) {
    for (const members of mergedGroups(visits, (i) => tertile[i])) {
      for (const i of members) strata[i] = count;
      count++;
    }
  }
  return strata;
}

/** When an outcome goes with visits: what the warning `follows-visit-count` is made of. */
export interface VisitDependence {
  /** p-value with labels shuffled among all. */
  readonly naiveP: number;
  /** p-value with labels shuffled within strata. */
  readonly guardedP: number;
  /** AUC of the number of visits for the outcome. */
  readonly visitAuc: number;
}

/** Level of the disagreement of guarded and naive p-values. */
const LEVEL = 0.05;
/** An AUC this far from one half says that the number of visits alone nearly tells the outcome. */
const STRONG_VISIT_AUC = 0.3;

/** The sentence of the warning `follows-visit-count`, or undefined if there is no reason for it. */
export function visitCountMessage({ naiveP, guardedP, visitAuc }: VisitDependence): string | undefined {
  const disagree = naiveP < LEVEL && guardedP >= LEVEL;
  const strong = Math.abs(visitAuc - 0.5) >= STRONG_VISIT_AUC;
  if (!disagree && !strong) return undefined;
  const auc = visitAuc.toFixed(2);
  return disagree
    ? `Places differ (p ${naiveP.toPrecision(2)}), but not among individuals seen about as often and as long ` +
        `(p ${guardedP.toPrecision(2)}): visit counts alone would make such a difference (AUC of the count ${auc}).`
    : `The number of visits alone nearly tells this outcome (AUC ${auc}); read the guarded p-value, and with caution.`;
}

/** Outcomes that no course can explain: labels [n] to be tested beside the real ones. */
export interface NegativeControl {
  readonly name: "visit parity" | "random labels" | "visit count";
  readonly labels: Uint8Array;
}

/**
 * Negative controls: whether the number of visits is odd, and labels drawn at random (`coins` uniform in [0,1), [n]).
 * Beside them stands the number of visits above its median: its naive p-value shows how far places follow visits.
 */
export function negativeControls(visitCounts: ArrayLike<number>, coins: ArrayLike<number>): readonly NegativeControl[] {
  const counts = Float64Array.from(visitCounts);
  const sorted = counts.slice().sort();
  const median = sorted[(sorted.length - 1) >> 1];
  // Where most have the largest number of visits, the others are set against them.
  const isHigh = sorted[sorted.length - 1] > median ? (c: number) => c > median : (c: number) => c >= median;
  const controls: readonly NegativeControl[] = [
    { name: "visit count", labels: Uint8Array.from(counts, (c) => (isHigh(c) ? 1 : 0)) },
    { name: "visit parity", labels: Uint8Array.from(counts, (c) => c % 2) },
    { name: "random labels", labels: Uint8Array.from(coins, (u) => (u < 0.5 ? 1 : 0)) },
  ];
  // With one number of visits for all there is nothing to split by.
  return controls.filter(({ labels }) => labels.includes(0) && labels.includes(1));
}

function checkIndividual(visits: number, time: number, i: number): void {
  if (!Number.isInteger(visits) || visits < 1) {
    throw new DtmError(
      "shape",
      `visitStrata: expected a visit count of 1 or more, received ${visits} for individual ${i}.`,
    );
  }
  if (!Number.isFinite(time)) {
    throw new DtmError("not-finite", `visitStrata: expected a finite last time, received ${time} for individual ${i}.`);
  }
}

/** 0, 1 or 2 for each time: up to the first tertile, up to the second, above. */
function tertiles(times: ArrayLike<number>): Int32Array {
  const sorted = Float64Array.from(times).sort();
  const cut = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  const [low, high] = [cut(1 / 3), cut(2 / 3)];
  return Int32Array.from(times, (t) => (t <= low ? 0 : t <= high ? 1 : 2));
}

/**
 * Members with one key together, in order of the keys; the smallest group, while it is too small, is merged with the
 * smaller of its neighbours (the earlier one if equal).
 */
function mergedGroups(members: readonly number[], key: (i: number) => number): number[][] {
  const byKey = new Map<number, number[]>();
  for (const i of members) {
    const group = byKey.get(key(i));
    if (group === undefined) byKey.set(key(i), [i]);
    else group.push(i);
  }
  const groups = [...byKey.entries()].sort(([a], [b]) => a - b).map(([, group]) => group);
  while (groups.length > 1) {
    const sizes = groups.map(({ length }) => length);
    const small = sizes.indexOf(Math.min(...sizes));
    if (sizes[small] >= LEAST_SIZE) break;
    const [before, after] = [
      sizes[small - 1] ?? Number.POSITIVE_INFINITY,
      sizes[small + 1] ?? Number.POSITIVE_INFINITY,
    ];
    const at = before <= after ? small - 1 : small;
    groups.splice(at, 2, [...groups[at], ...groups[at + 1]]);
  }
  return groups;
}
