/** Numbers and lists as a reader likes them. */
import { whole } from "@trajectory-maps/report";

export { percent, whole } from "@trajectory-maps/report";

/** A number with about three digits that matter: 0.0312, 1.93, 14.1, 1,718. */
export function brief(x: number): string {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1000) return (x < 0 ? "-" : "") + whole(size);
  if (size < 1e-3) return x.toExponential(1);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(size)));
  return x
    .toFixed(decimals)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

/** "1 individual", "312 individuals". */
export function count(n: number, singular: string, plural = `${singular}s`): string {
  return `${whole(n)} ${n === 1 ? singular : plural}`;
}

/** Lines of at most `width` characters, broken at spaces, later lines indented. */
export function wrap(text: string, width: number, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width - indent.length) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join(`\n${indent}`);
}
