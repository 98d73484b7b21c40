/** Tables as CSV text. Cells that a spreadsheet would run as a formula are disarmed; numbers stay bare. */

export type Cell = string | number;

export function toCsv(header: readonly string[], rows: Iterable<readonly Cell[]>): string {
  const lines = [header.map(showCell).join(",")];
  for (const row of rows) lines.push(row.map(showCell).join(","));
  return `${lines.join("\n")}\n`;
}

function showCell(cell: Cell): string {
  // String() gives the shortest digits that read back as the same double.
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  const disarmed = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return disarmed !== cell || /[",\r\n]/.test(cell) ? `"${disarmed.replaceAll('"', '""')}"` : cell;
}
