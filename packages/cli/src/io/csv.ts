/**
 * Tables as CSV text. Cells that a spreadsheet would run as a formula are disarmed; numbers stay bare. Tables that are
 * only read back by this program are written exactly as they are.
 */

export type Cell = string | number;

interface CsvOptions {
  readonly exact?: boolean;
}

/** A table as one text. */
export function toCsv(header: readonly string[], rows: Iterable<readonly Cell[]>, options: CsvOptions = {}): string {
  return [...csvPieces(header, rows, options)].join("");
}

/** Length of a piece, in characters, at which the next one begins. */
const PIECE = 1 << 20;

/** A table in pieces of about a megabyte: a text of all rows may be longer than a text can be. */
export function* csvPieces(
  header: readonly string[],
  rows: Iterable<readonly Cell[]>,
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
export function csvLine(cells: readonly Cell[]): string {
  return lineOf(cells, false);
}

function lineOf(cells: readonly Cell[], exact: boolean): string {
  let line = "";
  for (let k = 0; k < cells.length; k++) line += (k === 0 ? "" : ",") + showCell(cells[k] ?? "", exact);
  return `${line}\n`;
}

function showCell(cell: Cell, exact: boolean): string {
  // String() gives the shortest digits that read back as the same double.
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  const disarmed = !exact && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return disarmed !== cell || /[",\r\n]/.test(cell) ? `"${disarmed.replaceAll('"', '""')}"` : cell;
}
