/** Tables for the terminal: no frames, numbers to the right. */
import Table from "cli-table3";

const NO_FRAME = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** The first column is text, the others are aligned to the right unless listed in `textColumns`. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns: readonly number[] = [],
): string {
  const out = new Table({
    head: [...header],
    chars: NO_FRAME,
    colAligns: header.map((_, k) => (k === 0 || textColumns.includes(k) ? "left" : "right")),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0, compact: true },
  });
  out.push(...rows.map((row) => [...row]));
  return out
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}
