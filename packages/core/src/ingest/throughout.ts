/**
 * Complaints about columns that are bad throughout, each as one: a unit in every cell, or ids that stand once above their rows, is one mistake, which a
 * list of lines would hide. The advice about a line of units is given where that line alone is bad.
 */
import type { Complaint } from "../errors.ts";
import type { ComplaintBook } from "./complaints.ts";

/** Fewer complaints about a column are listed one by one. */
const FEWEST = 5;
/** Shares of the lines from which a column is bad throughout; merged ids stand in the first of at least two rows. */
const MOST = 0.75;
const MOST_IDS = 0.3;
/** Share of the complaints about a column that are of one kind, and that one remedy answers. */
const ALIKE = 0.9;
/** Cells that are shown. */
const SHOWN = 3;

/** Lines of a table that was read: the first and last below the header, and whether a row gave a value. */
export interface ReadLines {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly isAnyGood: boolean;
}

/** Complaints about cells, those of a column that is bad throughout as one; the first of each kind carries the kind's count. */
export function complaintsOfCells(cells: ComplaintBook, lines: ReadLines): Complaint[] {
  const columns = new Map<string, Complaint[]>();
  for (const { count: _, ...complaint } of advised(cells, lines)) {
    const column = `${complaint.code} ${complaint.where.columnNumber}`;
    const known = columns.get(column);
    if (known === undefined) columns.set(column, [complaint]);
    else known.push(complaint);
  }
  const all = new Map<number | undefined, number>();
  for (const [{ code, where }] of columns.values()) {
    all.set(where.columnNumber, (all.get(where.columnNumber) ?? 0) + cells.numIn(code, where.columnNumber));
  }
  const kinds = new Map<string, { single: Complaint[]; listed: Complaint[]; total: number }>();
  for (const complaints of columns.values()) {
    const [{ code, where }] = complaints;
    const kind = kinds.get(code) ?? { single: [], listed: [], total: 0 };
    kinds.set(code, kind);
    const total = cells.numIn(code, where.columnNumber);
    const isOneKind = total >= ALIKE * all.get(where.columnNumber)!;
    const single = isOneKind ? throughout(complaints, total, lines) : undefined;
    kind.total += single === undefined ? total : 1;
    if (single !== undefined) kind.single.push(single);
    else kind.listed.push(...complaints);
  }
  return [...kinds.values()].flatMap(({ single, listed, total }) =>
    [...single, ...listed].map((c, k) => (k === 0 && listed.length > 0 ? { ...c, count: total } : c)),
  );
}

/** One complaint for all of a column; undefined where lines tell more. */
function throughout(
  complaints: readonly Complaint[],
  total: number,
  { firstRow, lastRow, isAnyGood }: ReadLines,
): Complaint | undefined {
  const [first] = complaints;
  if (total < FEWEST || first.where.columnNumber === undefined) return undefined;
  const most = first.code === "missing-id" ? MOST_IDS : MOST;
  if (isAnyGood && total < most * (lastRow - firstRow + 1)) return undefined;
  const remedies = new Map<string, number>();
  for (const { remedy } of complaints) remedies.set(remedy, (remedies.get(remedy) ?? 0) + 1);
  const [remedy, count] = [...remedies].reduce((most, one) => (one[1] > most[1] ? one : most));
  if (count < ALIKE * complaints.length) return undefined;
  const alike = complaints.filter((one) => one.remedy === remedy);
  const shown = [...new Set(alike.map(({ received }) => received))].slice(0, SHOWN);
  const received = shown.length === 1 ? `${shown[0]}, in ${total} rows` : `${total} cells such as ${shown.join(", ")}`;
  return { ...alike[0], received, remedy: first.code === "missing-id" ? FILL_IDS : remedy };
}

const FILL_IDS =
  "Write the id in every row. If it stands once above the rows of an individual, or its cells are merged, unmerge them and fill it down in the spreadsheet.";

/** Kept complaints about cells, with the advice about a line of units where the first line of a column alone is bad. */
export function advised(cells: ComplaintBook, { firstRow, lastRow }: ReadLines): Complaint[] {
  const complaints = cells.complaints();
  const isOnNext = new Set(
    complaints.filter(({ where }) => where.line === firstRow + 1).map(({ where }) => where.columnNumber),
  );
  const advice = `If this line holds units, skip it (--skip-line ${firstRow}; skipLines).`;
  return complaints.map((one) => {
    const isAlone = one.where.line === firstRow && lastRow > firstRow && !isOnNext.has(one.where.columnNumber);
    return one.code === "not-a-number" && isAlone ? { ...one, remedy: `${one.remedy} ${advice}` } : one;
  });
}
