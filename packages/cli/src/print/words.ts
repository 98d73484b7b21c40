/** Text as a terminal shows it. Numbers are formatted as in the report. */

export { chance, counted, percent, significant, whole } from "@trajectory-maps/report";

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
