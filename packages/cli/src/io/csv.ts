/**
 * Tables as CSV text. Cells that a spreadsheet would run as a formula are disarmed; numbers stay bare. Tables that are
 * only read back by this program are written exactly as they are.
 */

export type Cell = string | number;

export function toCsv(
  header: readonly string[],
  rows: Iterable<readonly Cell[]>,
  { exact = false }: { readonly exact?: boolean } = {},
): string {
  const show = (cell: Cell) => showCell(cell, exact);
  const lines = [header.map(show).join(",")];
  for (const row of rows) lines.push(row.map(show).join(","));
  return `${lines.join("\n")}\n`;
}

function showCell(cell: Cell, exact: boolean): string {
  // String() gives the shortest digits that read back as the same double.
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  const disarmed = !exact && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return disarmed !== cell || /[",\r\n]/.test(cell) ? `"${disarmed.replaceAll('"', '""')}"` : cell;
}
