/**
 * Tables as CSV text. Cells that a spreadsheet would run as a formula are disarmed; numbers stay bare. Tables that are
 * only read back by this program are written exactly as they are.
 */

/** Empty for null and for what is no number. */
export type CsvCell = string | number | null;

interface CsvOptions {
  readonly exact?: boolean;
}

/** A table as one text. */
export function toCsv(header: readonly string[], rows: Iterable<readonly CsvCell[]>, options: CsvOptions = {}): string {
  return [...csvPieces(header, rows, options)].join("");
}

/** Length of a piece, in characters, at which the next one begins. */
const PIECE = 1 << 20;

/** A table in pieces of about a megabyte: a text of all rows may be longer than a text can be. */
export function* csvPieces(
  header: readonly string[],
  rows: Iterable<readonly CsvCell[]>,
  { exact = false }: CsvOptions = {},
): Generator<string> {
  let piece = lineOf(header, exact);
  for (const row of rows) {
    piece += lineOf(row, exact);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/** One row of a table as text. */
export function csvLine(cells: readonly CsvCell[]): string {
  return lineOf(cells, false);
}

function lineOf(cells: readonly CsvCell[], exact: boolean): string {
  let line = "";
  for (let k = 0; k < cells.length; k++) line += (k === 0 ? "" : ",") + showCell(cells[k], exact);
  return `${line}\n`;
}

function showCell(cell: CsvCell, exact: boolean): string {
  if (cell === null || cell === undefined) return "";
  // String() gives the shortest digits that read back as the same double.
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  const disarmed = !exact && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return disarmed !== cell || /[",\r\n]/.test(cell) ? `"${disarmed.replaceAll('"', '""')}"` : cell;
}
