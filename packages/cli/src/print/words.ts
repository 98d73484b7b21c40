/** Text as a terminal shows it. Numbers are formatted as in the report. */

import { decimalsApart } from "@trajectory-maps/core/study";

export { chance, counted, percent, significant, whole } from "@trajectory-maps/report";

/** The ends of an interval beside a value of no effect, which an end that is not it must not read like. */
export function bounds(lower: number, upper: number, none: number, least = 2): readonly [string, string] {
  const decimals = decimalsApart([lower, upper], none, least);
  const text = (x: number) => x.toFixed(decimals).replace(/^-(0\.0+)$/, "$1");
  return [text(lower), text(upper)];
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

/** What stands before text without a title. */
export const INDENT = " ".repeat(10);
const WIDTH = 80;

/** A title and its text in a terminal of 80 columns. */
export function line(title: string, text: string): string {
  return `${title.padEnd(INDENT.length)}${wrap(text, WIDTH, INDENT)}`;
}
