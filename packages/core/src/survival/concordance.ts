/**
 * Harrell's concordance: over pairs in which it is known who had the event first (the earlier time is an event; at
 * equal times an event comes before a censoring), the share in which the earlier one had the higher risk, ties of risk
 * counting half:  C = (c + ½ t) / (c + d + t).
 * Its standard error is the infinitesimal jackknife of R's survival: with c_i, d_i, t_i the pairs that hold i, N the
 * number of pairs and D = (c − d)/N = 2C − 1,
 *   se² = ¼ Σ_i [ (c_i − d_i)/N − D (c_i + d_i + t_i)/N ]².
 * Two sweeps over time with a Fenwick tree over the ranks of risk: O(n log n).   (docs/math/survival.md §4)
 */
import { DtmError } from "../errors.ts";
import { checkFollowUp, type FollowUp, tiesOf } from "./follow-up.ts";

export interface Concordance {
  readonly concordance: number;
  readonly standardError: number;
  /** Pairs by agreement. */
  readonly concordant: number;
  readonly discordant: number;
  readonly tiedRisk: number;
}

/** Pairs that hold an individual, by agreement, [n] each. */
export interface PairCounts {
  readonly agree: Float64Array;
  readonly disagree: Float64Array;
  readonly tied: Float64Array;
}

/** Concordance of risk scores (higher means earlier event) with follow-up; NaN if no pair can be compared. */
export function concordance(followUp: FollowUp, risk: ArrayLike<number>): Concordance {
  const { agree, disagree, tied } = pairCounts(followUp, risk);
  // Every pair is held by two.
  const [c, d, t] = [agree, disagree, tied].map((held) => 0.5 * sum(held));
  const pairs = c + d + t;
  const D = (c - d) / pairs;
  // Equal terms in any order of rows: sum them by size.
  const squares = agree.map((a, i) => ((a - disagree[i] - D * (a + disagree[i] + tied[i])) / pairs) ** 2).sort();
  return {
    concordance: 0.5 * (D + 1),
    standardError: 0.5 * Math.sqrt(sum(squares)),
    concordant: c,
    discordant: d,
    tiedRisk: t,
  };
}

/**
 * C over pairs within folds 0, 1, … (risks of two folds come from two regressions and do not compare), each individual's influence
 * on it, ψ_i = (c_i + ½t_i − C n_i)/n [n], with standard error √Σψ², and the number of pairs n.
 */
export function concordanceWithin({ times, events }: FollowUp, risk: ArrayLike<number>, folds: ArrayLike<number>) {
  const wins = new Float64Array(times.length);
  const held = new Float64Array(times.length);
  const everyone = Array.from(times, (_, i) => i);
  for (const fold of new Set(Array.from(folds))) {
    const judged = everyone.filter((i) => folds[i] === fold);
    const of = (x: ArrayLike<number>) => judged.map((i) => x[i]);
    const { agree, disagree, tied } = pairCounts({ times: of(times), events: of(events) }, of(risk));
    for (const [k, i] of judged.entries()) {
      wins[i] = agree[k] + 0.5 * tied[k];
      held[i] = agree[k] + disagree[k] + tied[k];
    }
  }
  // Every pair is held by two.
  const pairs = 0.5 * sum(held);
  const value = (0.5 * sum(wins)) / pairs;
  return { value, influence: wins.map((w, i) => (w - value * held[i]) / pairs), pairs };
}

/** The pairs that each individual is in. */
function pairCounts(followUp: FollowUp, risk: ArrayLike<number>): PairCounts {
  const { times, events } = followUp;
  const n = times.length;
  checkFollowUp(followUp, "concordance");
  for (let i = 0; i < n; i++) {
    if (risk.length !== n || !Number.isFinite(risk[i])) {
      throw new DtmError(
        "shape",
        `concordance: expected ${n} finite risks, received ${risk.length}, ${risk[i]} at ${i}.`,
      );
    }
  }
  const ranks = denseRanks(risk);
  // By time; at equal times events first, since those censored then outlived them.
  const order = Int32Array.from({ length: n }, (_, i) => i).sort(
    (a, b) => times[a] - times[b] || events[b] - events[a],
  );
  const agree = new Float64Array(n);
  const disagree = new Float64Array(n);
  const tied = new Float64Array(n);
  const numRanks = ranks.reduce((a, b) => Math.max(a, b), 0) + 1;

  const blocks = tiesOf(order, followUp, true);
  const counts = new Float64Array(numRanks + 1);
  let counted = 0;
  /** Adds to i the pairs with all counted so far: those of lower, equal and higher risk. */
  const compare = (i: number, lower: Float64Array, higher: Float64Array) => {
    const below = countBelow(counts, ranks[i]);
    const equal = countBelow(counts, ranks[i] + 1) - below;
    lower[i] += below;
    tied[i] += equal;
    higher[i] += counted - below - equal;
  };
  const count = (block: Int32Array) => {
    for (const i of block) addRank(counts, ranks[i]);
    counted += block.length;
  };
  // Backwards: each event against all who outlived it.
  for (const block of [...blocks].reverse()) {
    if (events[block[0]] === 1) for (const i of block) compare(i, agree, disagree);
    count(block);
  }
  // Forwards: each individual against all events that it outlived.
  counts.fill(0);
  counted = 0;
  for (const block of blocks) {
    for (const i of block) compare(i, disagree, agree);
    if (events[block[0]] === 1) count(block);
  }
  return { agree, disagree, tied };
}

/** Adds a rank to counts kept for prefix sums in O(log n) (Fenwick 1994). */
function addRank(counts: Float64Array, rank: number): void {
  for (let j = rank + 1; j < counts.length; j += j & -j) counts[j]++;
}

/** How many ranks below this one were added. */
function countBelow(counts: Float64Array, rank: number): number {
  let s = 0;
  for (let j = rank; j > 0; j -= j & -j) s += counts[j];
  return s;
}

/** 0 for the smallest value, 1 for the next, …; equal values share a rank. */
function denseRanks(values: ArrayLike<number>): Int32Array {
  const sorted = Float64Array.from(values).sort();
  const rankOf = new Map<number, number>();
  for (const v of sorted) if (!rankOf.has(v)) rankOf.set(v, rankOf.size);
  return Int32Array.from(values, (v) => rankOf.get(v)!);
}

function sum(x: Float64Array): number {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += x[i];
  return s;
}
