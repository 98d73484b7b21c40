/**
 * Do the groups come back? A partition made again from resampled data is held against the first one by the adjusted
 * Rand index (Hubert & Arabie 1985): with n_ab individuals in group a of one and b of the other partition,
 *   ARI = ( Σ C(n_ab,2) − E ) / ( ½[Σ C(n_a,2) + Σ C(n_b,2)] − E ),   E = Σ C(n_a,2) · Σ C(n_b,2) / C(n,2),
 * 1 for equal partitions, 0 on average for unrelated ones. A group's own stability is the share of its pairs of members
 * that stay together. Labels below 0 say "not in this resample"; such individuals are left out of that comparison.
 * (docs/math/groups.md §3)
 */
import { checkOption, DtmError } from "../../errors.ts";

/** From this adjusted Rand index on groups are called stable, or hold; below the other unstable, and fairly stable between them. */
export const STABLE_FROM = 0.8;
export const UNSTABLE_BELOW = 0.6;
/** Fewer refits than these are told to be few. */
const FEW_REFITS = 10;

export type StabilityWord = "stable" | "fairly stable" | "unstable";

/** Of an adjusted Rand index, or of a share of pairs kept, to two digits as it is told. */
export function stabilityWord(index: number): StabilityWord {
  const told = Math.round(100 * index) / 100;
  return told >= STABLE_FROM ? "stable" : told >= UNSTABLE_BELOW ? "fairly stable" : "unstable";
}

/** "20 refits", "only 2 refits". */
export function refitsText({ length }: { readonly length: number }): string {
  return `${length < FEW_REFITS ? "only " : ""}${length} ${length === 1 ? "refit" : "refits"}`;
}

/** "fairly stable: adjusted Rand index 0.65 over only 2 refits". */
export function stabilityText({
  meanAdjustedRand: index,
  adjustedRand,
}: Pick<Stability, "meanAdjustedRand" | "adjustedRand">): string {
  return `${stabilityWord(index)}: adjusted Rand index ${index.toFixed(2)} over ${refitsText(adjustedRand)}`;
}

export interface GroupStability {
  readonly group: number;
  /** Share of pairs of members that stay together, over all resamples; NaN if no pair was ever compared. */
  readonly pairsKept: number;
  /** By the same thresholds, of that share. */
  readonly verdict: StabilityWord;
}

export interface Stability {
  readonly verdict: StabilityWord;
  /** Mean of `adjustedRand`. */
  readonly meanAdjustedRand: number;
  /** One index per resample. */
  readonly adjustedRand: readonly number[];
  readonly groups: readonly GroupStability[];
}

/** The adjusted Rand index of two labelings of the same individuals; those labelled below 0 in either are left out. */
export function adjustedRandIndex(first: ArrayLike<number>, second: ArrayLike<number>): number {
  const table = crossTabulate(first, second);
  const index = pairsOf(table.cells.values());
  const a = pairsOf(table.rows.values());
  const b = pairsOf(table.columns.values());
  const all = (table.total * (table.total - 1)) / 2;
  // Two partitions that are both one group, or both all singles, agree though the formula is 0/0.
  if (all === 0) return table.total === 0 ? Number.NaN : 1;
  const expected = (a / all) * b;
  const highest = 0.5 * (a + b);
  return highest === expected ? 1 : (index - expected) / (highest - expected);
}

/** Stability of a labeling against labelings of resamples. */
export function stabilityOf(reference: ArrayLike<number>, resamples: readonly ArrayLike<number>[]): Stability {
  checkOption(resamples.length > 0, "stabilityOf: resamples", "at least one labeling", 0, "Ask for more resamples.");
  const adjustedRand = resamples.map((labels) => adjustedRandIndex(reference, labels));
  const meanAdjustedRand = adjustedRand.reduce((sum, x) => sum + x, 0) / adjustedRand.length;
  const present = new Set(Array.from(reference).filter((g) => g >= 0));
  const kept = new Map<number, number>();
  const compared = new Map<number, number>();
  for (const labels of resamples) {
    const table = crossTabulate(reference, labels);
    for (const [group, n] of table.rows) add(compared, group, (n * (n - 1)) / 2);
    for (const [key, n] of table.cells) add(kept, table.rowOf(key), (n * (n - 1)) / 2);
  }
  const groups = [...present]
    .sort((a, b) => a - b)
    .map((group) => {
      const pairsKept = (kept.get(group) ?? 0) / (compared.get(group) ?? 0);
      return { group, pairsKept, verdict: stabilityWord(pairsKept) };
    });
  return { verdict: stabilityWord(meanAdjustedRand), meanAdjustedRand, adjustedRand, groups };
}

/** The seed of resample b: far from those of neighbouring base seeds, so that runs do not share resamples. */
export function resampleSeed(seed: number, b: number): number {
  return seed * 1_000_003 + b;
}

/** Counts of pairs of labels with their margins. */
function crossTabulate(first: ArrayLike<number>, second: ArrayLike<number>) {
  if (first.length !== second.length) {
    throw new DtmError(
      "shape",
      `adjustedRandIndex: expected labels of the same individuals, received ${first.length} and ${second.length}.`,
    );
  }
  let width = 1;
  for (let i = 0; i < second.length; i++) width = Math.max(width, second[i] + 1);
  const cells = new Map<number, number>();
  const rows = new Map<number, number>();
  const columns = new Map<number, number>();
  let total = 0;
  for (let i = 0; i < first.length; i++) {
    if (first[i] < 0 || second[i] < 0) continue;
    add(cells, first[i] * width + second[i], 1);
    add(rows, first[i], 1);
    add(columns, second[i], 1);
    total++;
  }
  return { cells, rows, columns, total, rowOf: (key: number) => Math.floor(key / width) };
}

function add(counts: Map<number, number>, key: number, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

function pairsOf(counts: Iterable<number>): number {
  let pairs = 0;
  for (const n of counts) pairs += (n * (n - 1)) / 2;
  return pairs;
}
