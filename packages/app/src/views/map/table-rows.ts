/** The table twin of the map: one row per individual, ordered and filtered. */
import type { Groups, Placements } from "@trajectory-maps/core";
import type { Outcome } from "@trajectory-maps/core/ingest";

export interface TableRow {
  readonly index: number;
  readonly id: string;
  readonly visits: number;
  readonly first: number;
  readonly last: number;
  readonly group: number;
  readonly probability: number;
  readonly sd: number;
  readonly expected: number;
  /** Names of recorded outcomes. */
  readonly outcomes: string;
}

export type SortKey = Exclude<keyof TableRow, "index">;

/** Rows of everyone. `sd` and `expected` [m] come from the facts of the view. */
export function tableRows(
  placements: Placements,
  groups: Groups | null,
  outcomes: readonly Outcome[],
  sd: ArrayLike<number>,
  expected: ArrayLike<number>,
  nameOf: (outcome: string) => string,
): TableRow[] {
  const K = groups?.groups.length ?? 0;
  const names = outcomes.map((o) => nameOf(o.name));
  return placements.ids.map((id, i) => {
    const group = groups?.labels[i] ?? -1;
    return {
      index: i,
      id,
      visits: placements.numObservations[i],
      first: placements.firstTime[i],
      last: placements.lastTime[i],
      group,
      probability: groups === null ? Number.NaN : groups.membership[i * K + group],
      sd: sd[i],
      expected: expected[i],
      outcomes: names.filter((_, k) => outcomes[k].labels[i] === 1).join(", "),
    };
  });
}

/** Rows whose id, group or outcomes hold every word of the filter. */
export function filterRows(
  rows: readonly TableRow[],
  filter: string,
  groupText: (group: number) => string,
): readonly TableRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = `${row.id} ${groupText(row.group)} ${row.outcomes}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Rows by one column; equal ones stay in the order of the cohort. */
export function sortRows(rows: readonly TableRow[], key: SortKey, falling: boolean): readonly TableRow[] {
  const sign = falling ? -1 : 1;
  const compare = (a: TableRow, b: TableRow): number => {
    const [u, v] = [a[key], b[key]];
    if (typeof u === "string" || typeof v === "string") return sign * compareText(String(u), String(v));
    // Rows without a number come last in both orders.
    if (Number.isNaN(u) || Number.isNaN(v)) return Number(Number.isNaN(u)) - Number(Number.isNaN(v));
    return sign * (u - v);
  };
  return [...rows].sort((a, b) => compare(a, b) || a.index - b.index);
}

const COLLATOR = new Intl.Collator("en", { numeric: true });
function compareText(a: string, b: string): number {
  return COLLATOR.compare(a, b);
}
