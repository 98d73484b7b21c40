/** The map as text: how many individuals stand where. */

const MARKS = [" ", "·", "+", "o", "O", "@"];
/** Smallest count that gets each mark. */
const LEVELS = [0, 1, 2, 4, 8, 16];
export const LEGEND = "· 1   + 2-3   o 4-7   O 8-15   @ 16 or more";

/** Rows of text with axis 1 to the right and axis 2 upwards; `locations` [m,q], the first two axes are shown. */
export function textMap(locations: Float64Array, q: number, width = 61, height = 17): string {
  const m = locations.length / q;
  const x = (i: number) => locations[i * q] ?? 0;
  const y = (i: number) => (q > 1 ? (locations[i * q + 1] ?? 0) : 0);
  let reach = 1;
  for (let i = 0; i < m; i++) reach = Math.max(reach, Math.abs(x(i)), Math.abs(y(i)));
  const counts = new Int32Array(width * height);
  const cell = (v: number, size: number) => Math.min(size - 1, Math.floor(((v + reach) / (2 * reach)) * size));
  for (let i = 0; i < m; i++) {
    const at = (height - 1 - cell(y(i), height)) * width + cell(x(i), width);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const lines: string[] = [];
  const edge = reach.toFixed(1);
  for (let r = 0; r < height; r++) {
    const label = r === 0 ? edge : r === height - 1 ? `-${edge}` : r === (height - 1) / 2 ? "0" : "";
    const row = Array.from(counts.subarray(r * width, (r + 1) * width), mark).join("");
    lines.push(`${label.padStart(6)} |${row.trimEnd()}`);
  }
  lines.push(`${" ".repeat(7)}+${"-".repeat(width)}`);
  const middle = "0".padStart((width + 1) / 2 - `-${edge}`.length);
  lines.push(`${" ".repeat(8)}-${edge}${middle}${edge.padStart((width - 1) / 2)}`);
  return lines.join("\n");
}

function mark(count: number): string {
  let level = 0;
  while (level + 1 < LEVELS.length && count >= (LEVELS[level + 1] ?? 0)) level++;
  return MARKS[level] ?? "";
}
