/**
 * Small cells of a page that may be shared: which counts are held back, in one place. A count from 1 to L − 1 (L = 11) is
 * sensitive and written "<11". Beside others of a known total it could be worked out by subtraction, so more are held
 * back until nothing can: with hidden counts x_j in [l_j, u_j] as their marks say, and R their known sum, a reader knows
 *   max(l_i, R − Σ_{j≠i} u_j) ≤ x_i ≤ min(u_i, R − Σ_{j≠i} l_j),
 * and other counts are hidden with them so that this is no more than the mark [l_i, u_i] says for every sensitive one: of
 * all sets that do, one of the fewest counts, and of those the one with the smallest sum (least is lost).
 * Where all are hidden and it still is more, marks are dropped ("withheld": 0 to R).
 * Counts that nest or follow each other (numbers at risk, sizes of branches) are rounded to fives instead: differences
 * of neighbours, often small, then say nothing exact.
 */
import { cell, fixed, isSmall, NONE, percent, whole, wilson } from "./numbers.ts";

/** Written for a count held back without a bound. */
export const WITHHELD = "withheld";
/** Numbers that nest are rounded to multiples of this. */
export const ROUNDED_TO = 5;

/** A count among others of a known total. */
export interface Cell {
  readonly value: number;
  /** What its mark says if it is sensitive. */
  readonly sensitive: readonly [number, number] | null;
  /** What its mark says if it is hidden for the sake of others; null if it cannot be, since it stands elsewhere. */
  readonly cover: readonly [number, number] | null;
}

export type Mark = "shown" | "sensitive" | "cover" | "withheld";

/** How each of the parts of a known total is shown. */
export function markCells(cells: readonly Cell[]): Mark[] {
  const marks = cells.map(({ sensitive }): Mark => (sensitive === null ? "shown" : "sensitive"));
  if (!marks.includes("sensitive")) return marks;
  if (safe(cells, marks)) return marks;
  const covers = cells.flatMap(({ value, cover }, k) =>
    marks[k] === "shown" && cover !== null && value > 0 ? [k] : [],
  );
  const cover = leastCover(cells, marks, covers);
  if (cover !== undefined) return withCover(marks, cover);
  const hidden = withCover(marks, covers);
  // A sensitive count alone is its own total, which is small and held back where it stands.
  if (hidden.filter((mark) => mark !== "shown").length < 2) return hidden;
  return hidden.map((mark) => (mark === "shown" ? mark : "withheld"));
}

/** Candidates up to which every set is tried; of more, sets of up to two, then the smallest counts one after another. */
const EXACT_COVERS = 12;

/** The set of candidates that makes the marks safe at the least loss: fewest counts, then smallest sum; none if none does. */
function leastCover(cells: readonly Cell[], marks: readonly Mark[], covers: readonly number[]): number[] | undefined {
  const sorted = [...covers].sort((a, b) => cells[a].value - cells[b].value || a - b);
  const lossOf = (set: readonly number[]) => set.reduce((sum, k) => sum + cells[k].value, 0);
  const largest = sorted.length <= EXACT_COVERS ? sorted.length : 2;
  for (let size = 1; size <= Math.min(largest, sorted.length); size++) {
    const found = subsets(sorted, size).filter((set) => safe(cells, withCover(marks, set)));
    if (found.length > 0) return found.reduce((best, set) => (lossOf(set) < lossOf(best) ? set : best));
  }
  for (let size = largest + 1; size <= sorted.length; size++) {
    const set = sorted.slice(0, size);
    if (safe(cells, withCover(marks, set))) return set;
  }
  return undefined;
}

function subsets(items: readonly number[], size: number): number[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, k) => subsets(items.slice(k + 1), size - 1).map((rest) => [item, ...rest]));
}

function withCover(marks: readonly Mark[], cover: readonly number[]): Mark[] {
  return marks.map((mark, k) => (cover.includes(k) ? "cover" : mark));
}

/** Whether the marks and the sum of what they hide say no more of any sensitive count than its own mark. */
function safe(cells: readonly Cell[], marks: readonly Mark[]): boolean {
  let [sum, low, high] = [0, 0, 0];
  const hidden = cells.flatMap(({ value, sensitive, cover }, k) => {
    if (marks[k] === "shown") return [];
    const [l, u] = (marks[k] === "sensitive" ? sensitive : cover) ?? [0, Number.POSITIVE_INFINITY];
    sum += value;
    low += l;
    high += u;
    return [{ l, u, sensitive: marks[k] === "sensitive" }];
  });
  return hidden.every(({ l, u, sensitive }) => {
    if (!sensitive) return true;
    // A bound of infinity among the others leaves infinity.
    return sum - (high - u) <= l && sum - (low - l) >= u;
  });
}

/** Parts of a known total as they may be shown; `kept` are those that stand elsewhere and cannot be held back. */
export function cellsOf(counts: ArrayLike<number>, limit: number, kept: readonly number[] = []): string[] {
  const list = Array.from(counts);
  const marks = markCells(
    list.map((value, k) => ({
      value,
      sensitive: isSmall(value, limit) ? [1, limit - 1] : null,
      cover: kept.includes(k) ? null : [limit, Number.POSITIVE_INFINITY],
    })),
  );
  return list.map((n, k) => (marks[k] === "withheld" ? WITHHELD : marks[k] === "cover" ? `≥${limit}` : cell(n, limit)));
}

/** Whether a text of `cellsOf` is the count itself. */
export function isCount(text: string): boolean {
  return /^\d/.test(text);
}

/** A count rounded to fives where small cells are held back; small ones and zero stay. */
export function roughCount(count: number, limit: number): number {
  if (limit <= 1 || count < limit) return count;
  return Math.max(limit, ROUNDED_TO * Math.round(count / ROUNDED_TO));
}

/** "rounded to fives (11 at least)": how `rough` writes counts. */
export function roundedToFives(limit: number): string {
  const least = roughCount(limit, limit);
  return `rounded to fives${least % ROUNDED_TO === 0 ? "" : ` (${least} at least)`}`;
}

/** A count that nests with others, as it may be shown: "<11" or rounded to fives. */
export function rough(count: number, limit: number): string {
  return isSmall(count, limit) ? `<${limit}` : whole(roughCount(count, limit));
}

/** What a count written by `rough` may be. */
export function roughRange(count: number, limit: number): readonly [number, number] {
  if (count === 0) return [0, 0];
  if (isSmall(count, limit)) return [1, limit - 1];
  if (limit <= 1) return [count, count];
  const shown = roughCount(count, limit);
  const half = Math.floor(ROUNDED_TO / 2);
  return [Math.max(limit, shown - half), Math.max(shown, ROUNDED_TO * Math.round(shown / ROUNDED_TO) + half)];
}

/**
 * Sizes of discs of parts of a known total, null for those held back: rounded to fives, all the same, or all held back, the first that leaves every small one
 * what "fewer than" says.
 */
export function discSizes(counts: readonly number[], limit: number): (number | null)[] {
  const few = counts.filter((n) => isSmall(n, limit)).length;
  const rounded = counts.map((n) => (isSmall(n, limit) ? null : roughCount(n, limit)));
  if (few === 0) return rounded;
  const total = counts.reduce((sum, n) => sum + n, 0);
  const isOpen = (range: (n: number) => readonly [number, number]) => {
    const others = counts.filter((n) => !isSmall(n, limit)).map(range);
    const low = total - others.reduce((sum, [, u]) => sum + u, 0) - (few - 1) * (limit - 1);
    const high = total - others.reduce((sum, [l]) => sum + l, 0) - (few - 1);
    return low <= 1 && high >= limit - 1;
  };
  if (isOpen((n) => roughRange(n, limit))) return rounded;
  const same = counts.map((n) => (isSmall(n, limit) ? null : limit));
  return isOpen(() => [limit, Number.POSITIVE_INFINITY]) ? same : counts.map(() => null);
}

/** Values that a small count of a rounded table must leave open at least. */
export const LEFT_OPEN = 3;

/** How a count of a table rounded to fives is written: to fives or as "fewer than", as "the limit or more", or not at all. */
export type RoundedMark = "rounded" | "bounded" | "withheld";

/**
 * How counts of a table rounded to fives may be written: its parts, [rows][columns], add up to known totals, exact ones of each row and the last
 * row that of each column. Beside exact totals rounding may still tell a small count: of 29 with "30" and "<11" it is 1. Where fewer than three values
 * are left for one, the smallest other count of that sum is only bounded, until none is told; where nothing is left to bound, the row is withheld.
 */
export function coverRounded(
  counts: readonly (readonly number[])[],
  totals: readonly number[],
  limit: number,
): RoundedMark[][] {
  const marks = counts.map((row, r): RoundedMark[] =>
    row.map(() => (isWithheld(totals[r], row.length, limit) ? "withheld" : "rounded")),
  );
  const last = counts.length - 1;
  const range = (r: number, c: number): readonly [number, number] => {
    const n = counts[r][c];
    if (marks[r][c] === "withheld") return [0, totals[r]];
    return marks[r][c] === "bounded" ? [limit, Number.POSITIVE_INFINITY] : roughRange(n, limit);
  };
  type At = readonly [number, number];
  /** Whether a sum of parts told a small one; if so, one cell more is bounded, or a row withheld. */
  const cover = (parts: readonly At[], [low, high]: readonly [number, number], total?: At): boolean => {
    for (const [r, c] of parts) {
      if (!isSmall(counts[r][c], limit) || marks[r][c] === "withheld") continue;
      const others = parts.filter(([a, b]) => a !== r || b !== c).map(([a, b]) => range(a, b));
      const from = Math.max(1, low - others.reduce((sum, [, u]) => sum + u, 0));
      const until = Math.min(limit - 1, high - others.reduce((sum, [l]) => sum + l, 0));
      if (until - from + 1 >= LEFT_OPEN) continue;
      const [smallest] = [...parts, ...(total === undefined ? [] : [total])]
        .filter(([a, b]) => marks[a][b] === "rounded" && counts[a][b] >= limit)
        .sort(([a, b], [x, y]) => counts[a][b] - counts[x][y]);
      if (smallest === undefined) marks[r].fill("withheld");
      else marks[smallest[0]][smallest[1]] = "bounded";
      return true;
    }
    return false;
  };
  const coverRow = (r: number) =>
    cover(
      counts[r].map((_, c) => [r, c]),
      [totals[r], totals[r]],
    );
  const coverColumn = (c: number) =>
    cover(
      counts.slice(0, last).map((_, r) => [r, c]),
      range(last, c),
      [last, c],
    );
  while (counts.some((_, r) => coverRow(r)) || counts[0].some((_, c) => coverColumn(c)));
  return marks;
}

/**
 * Whether rows of this total are withheld whatever their parts, because those that must be tell too much by being so: their parts, of n, would be known
 * to have one of two values, as 10 and 10 of 20, or 1 and 11 of 12. Of a group whose size is held back nothing is told.
 */
function isWithheld(total: number, n: number, limit: number): boolean {
  const most = limit - 1;
  const isFull = (total % most === 0 && total <= n * most) || total === n * most - 1;
  return isSmall(total, limit) || isFull || ((total - n) % most === 0 && total - n < n * most);
}

/** A share of a known total; only a bound where the count, or the rest, is small. */
export function shareText(count: number, total: number, limit: number): string {
  if (total === 0 || isSmall(total, limit)) return NONE;
  if (limit > 1 && count > 0 && count < limit) return `under ${percent(Math.min(1, limit / total))}`;
  if (limit > 1 && count < total && total - count < limit) return `over ${percent(1 - limit / total)}`;
  return percent(count / total);
}

/** A share as text with its interval, empty where only a bound is given. */
export interface ShownShare {
  readonly text: string;
  readonly range: string;
}

/**
 * Shares with an outcome by group, `cases` of `known` each, where all cases together are known: bounds where cases or the
 * others are few, and the fewest further shares withheld where a bound could be sharpened by subtraction.
 */
export function sharesOf(cases: readonly number[], known: readonly number[], limit: number): ShownShare[] {
  const few = (n: number) => limit > 1 && n < limit;
  const marks = markCells(
    cases.map((value, k) => {
      const total = known[k];
      const sensitive: readonly [number, number] | null = few(total)
        ? [0, total]
        : few(value)
          ? [0, limit - 1]
          : few(total - value)
            ? [total - limit + 1, total]
            : null;
      return { value, sensitive, cover: [limit, total - limit] };
    }),
  );
  return cases.map((value, k) => {
    const total = known[k];
    if (total === 0 || isSmall(total, limit)) return { text: NONE, range: "" };
    if (marks[k] === "cover" || marks[k] === "withheld") return { text: WITHHELD, range: "" };
    if (few(value)) return { text: `under ${percent(Math.min(1, limit / total))}`, range: "" };
    if (few(total - value)) return { text: `over ${percent(Math.max(0, 1 - limit / total))}`, range: "" };
    const { lower, upper } = wilson(value, total);
    return { text: percent(value / total), range: `(95% CI ${fixed(100 * lower, 0)} to ${fixed(100 * upper, 0)})` };
  });
}
