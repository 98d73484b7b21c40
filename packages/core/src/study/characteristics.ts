/**
 * Characteristics of a cohort by group and over all: what papers call Table 1. A column of a table of individuals is a number if all
 * its filled cells are and it has more than five values, else a category; a number is skewed if its skewness
 *   g = m3 / m2^{3/2},   m_k = Σ (x_i − x̄)^k / n,
 * over all individuals is above 1 in size. Groups are compared by the standardised mean difference, the largest over pairs a, b:
 *   numbers      |x̄_a − x̄_b| / √((s_a² + s_b²) / 2)                                (Austin, Statistics in Medicine 28, 2009)
 *   categories   √((p_a − p_b)' S⁻¹ (p_a − p_b)),  S = (S_a + S_b) / 2,  S_g = diag(p_g) − p_g p_g'
 * with p_g the shares of all levels but one among those known (Yang and Dalton, SAS Global Forum, paper 335, 2012). S has no inverse
 * only if the groups have no level in common, and the difference is then infinite.
 */
import { compareText } from "../cohort/cohort.ts";
import { cellsOf } from "../covariates/covariates.ts";
import { DtmError, showReceived } from "../errors.ts";
import { namesIndividuals } from "../ingest/id-columns.ts";
import { isMissing, readNumber } from "../ingest/numbers.ts";
import type { SubjectsTable } from "../ingest/subjects-table.ts";
import { choleskyInPlace, solveLowerInPlace } from "../numeric/cholesky.ts";
import { meanAndSd } from "../numeric/moments.ts";
import { sortedQuantile } from "../numeric/select.ts";

/** A number in one group. */
export interface NumberSummary {
  readonly known: number;
  readonly missing: number;
  readonly mean: number;
  readonly sd: number;
  /** [3] */
  readonly quartiles: readonly number[];
}

/** One characteristic; arrays hold one entry per group, then one over all. */
export type Characteristic = {
  readonly name: string;
  /** Standardised mean difference, largest over pairs of groups; NaN if no two groups have values. */
  readonly difference: number;
} & (
  | { readonly kind: "number"; readonly skewed: boolean; readonly summaries: readonly NumberSummary[] }
  | {
      readonly kind: "category";
      readonly levels: readonly string[];
      /** Individuals of each group with each level, [groups+1][levels]. */
      readonly counts: readonly (readonly number[])[];
      readonly missing: readonly number[];
    }
);

/** Numbers with at most so many values are categories. */
export const MOST_NUMBER_LEVELS = 5;
/** Skewness above which a number is described by its median. */
export const SKEWED_ABOVE = 1;
/** Columns of text with more levels are no characteristics, unless asked for. */
const MOST_LEVELS = 12;

/** Columns that describe individuals: not ids or running numbers, not constant, not text with many values. */
export function characteristicColumns(table: SubjectsTable, ids: readonly string[]): string[] {
  const listed = new Set(ids);
  const rows = [...table.ids.keys()].filter((row) => listed.has(table.ids[row]));
  const once = new Set(rows.map((row) => table.ids[row])).size === rows.length;
  if (!once) return [];
  return table.columns.flatMap((column, k) => {
    if (namesIndividuals(table, k) || table.columns.filter(({ name }) => name === column.name).length > 1) return [];
    const cells = rows.map((row) => (column.cells[row] ?? "").trim()).filter((cell) => !isMissing(cell));
    const values = new Set(cells);
    if (values.size < 2) return [];
    const numbers = cells.map((cell) => readNumber(cell, table.decimal ?? "."));
    if (numbers.some(Number.isNaN)) return values.size <= MOST_LEVELS ? [column.name] : [];
    return [column.name];
  });
}

/** Whether a column repeats the ids of the table, row by row. */
function isIdColumn({ ids, columns }: SubjectsTable, k: number): boolean {
  return ids.every((id, row) => (columns[k].cells[row] ?? "").trim() === id);
}

/**
 * Characteristics of the individuals `ids` [m] by `labels` [m] of groups 0 … numGroups − 1 (below 0: none), column by column.
 * @throws DtmError "option" for the column of ids; "missing-column", "duplicate-column" or "varying-covariate" as `cellsOf`.
 */
export function characteristicsOf(
  table: SubjectsTable,
  columns: readonly string[],
  ids: readonly string[],
  labels: ArrayLike<number>,
  numGroups: number,
): Characteristic[] {
  const id = columns.find((name) => table.columns.some((column, k) => column.name === name && isIdColumn(table, k)));
  if (id !== undefined) {
    throw new DtmError(
      "option",
      `characteristicsOf: expected columns that describe individuals, received "${showReceived(id)}", the ids. Leave it out.`,
    );
  }
  const cells = cellsOf(
    table,
    columns.map((name) => ({ name })),
    ids,
  );
  return columns.map((name) => {
    const texts = cells.get(name)!.map((cell) => (cell === undefined || isMissing(cell.text) ? null : cell.text));
    const numbers = texts.map((text) => (text === null ? Number.NaN : readNumber(text, table.decimal ?? ".")));
    const areNumbers = texts.every((text, i) => text === null || !Number.isNaN(numbers[i]));
    const isNumber = areNumbers && new Set(texts).size > MOST_NUMBER_LEVELS + (texts.includes(null) ? 1 : 0);
    return isNumber
      ? numberCharacteristic(name, numbers, labels, numGroups)
      : categoryCharacteristic(name, texts, labels, numGroups);
  });
}

/** A number of each individual, NaN where unknown, by group and over all. */
export function numberCharacteristic(
  name: string,
  x: ArrayLike<number>,
  labels: ArrayLike<number>,
  numGroups: number,
): Characteristic {
  const all = Array.from(x);
  const summaries = [...Array(numGroups).keys(), null].map((group): NumberSummary => {
    const own = all.filter((_, i) => group === null || labels[i] === group);
    const known = Float64Array.from(own.filter((v) => !Number.isNaN(v))).sort();
    return {
      known: known.length,
      missing: own.length - known.length,
      ...momentsOf(known),
      quartiles: [0.25, 0.5, 0.75].map((p) => (known.length === 0 ? Number.NaN : sortedQuantile(known, p))),
    };
  });
  const known = all.filter((v) => !Number.isNaN(v));
  const difference = largestOverPairs(summaries.slice(0, numGroups), (a, b) => {
    if (a.known === 0 || b.known === 0) return Number.NaN;
    const apart = Math.abs(a.mean - b.mean);
    return apart === 0 ? 0 : apart / Math.sqrt((a.sd ** 2 + b.sd ** 2) / 2);
  });
  return { name, kind: "number", skewed: Math.abs(skewness(known)) > SKEWED_ABOVE, summaries, difference };
}

/** Mean and standard deviation of sorted numbers; equal ones have none but 0, whatever rounding says. */
function momentsOf(sorted: Float64Array): { readonly mean: number; readonly sd: number } {
  if (sorted.length === 0) return { mean: Number.NaN, sd: Number.NaN };
  return sorted[0] === sorted[sorted.length - 1] ? { mean: sorted[0], sd: 0 } : meanAndSd(sorted);
}

function categoryCharacteristic(
  name: string,
  texts: readonly (string | null)[],
  labels: ArrayLike<number>,
  numGroups: number,
): Characteristic {
  const levels = [...new Set(texts.filter((text) => text !== null))].sort(compareLevels);
  const members = [...Array(numGroups).keys(), null].map((group) =>
    texts.filter((_, i) => group === null || labels[i] === group),
  );
  const counts = members.map((own) => levels.map((level) => own.filter((text) => text === level).length));
  return {
    name,
    kind: "category",
    levels,
    counts,
    missing: members.map((own) => own.filter((text) => text === null).length),
    difference: largestOverPairs(counts.slice(0, numGroups), categoryDifference),
  };
}

/** Numbers by size, words by the alphabet. */
function compareLevels(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? compareText(a, b) : x - y;
}

/** Mahalanobis distance of two lists of counts of the same levels. */
export function categoryDifference(a: readonly number[], b: readonly number[]): number {
  const used = a.flatMap((_, k) => (a[k] + b[k] > 0 ? [k] : []));
  const share = (counts: readonly number[]) => {
    const total = counts.reduce((sum, n) => sum + n, 0);
    return used.slice(1).map((k) => counts[k] / total);
  };
  const [pa, pb] = [share(a), share(b)];
  if ([...pa, ...pb].some(Number.isNaN) || used.length === 0) return Number.NaN;
  if (!used.some((k) => a[k] > 0 && b[k] > 0)) return Number.POSITIVE_INFINITY;
  const n = pa.length;
  const S = new Float64Array(n * n);
  for (let j = 0; j < n; j++) {
    for (let k = 0; k < n; k++) {
      S[j * n + k] = ((j === k ? pa[j] + pb[j] : 0) - pa[j] * pa[k] - pb[j] * pb[k]) / 2;
    }
  }
  const d = Float64Array.from(pa, (p, k) => p - pb[k]);
  if (!choleskyInPlace(S, n)) return Number.POSITIVE_INFINITY;
  solveLowerInPlace(S, n, d);
  return Math.hypot(...d);
}

function largestOverPairs<T>(groups: readonly T[], difference: (a: T, b: T) => number): number {
  let largest = Number.NaN;
  groups.forEach((a, k) => {
    for (const b of groups.slice(k + 1)) {
      const d = difference(a, b);
      if (!Number.isNaN(d) && !(d <= largest)) largest = d;
    }
  });
  return largest;
}

function skewness(x: readonly number[]): number {
  const n = x.length;
  const mean = x.reduce((sum, v) => sum + v, 0) / n;
  const moment = (k: number) => x.reduce((sum, v) => sum + (v - mean) ** k, 0) / n;
  const spread = moment(2);
  return spread > 0 ? moment(3) / spread ** 1.5 : 0;
}
