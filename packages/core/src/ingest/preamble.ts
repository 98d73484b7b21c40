/**
 * What stands above the header of delimited text: a line sep=; by which Excel is told the delimiter, and comments, lines that begin with #. A header may
 * begin with # itself: the last such line is one if the next has as many fields and holds a number or a date.
 */
import { showReceived } from "../errors.ts";
import { refusalAt } from "./complaints.ts";
import { readNumber } from "./numbers.ts";
import { DELIMITERS, type Delimiter, type TableOptions } from "./table.ts";
import { readDate } from "./written-dates.ts";

export interface Preamble {
  /** The delimiter that is said. */
  readonly delimiter: Delimiter | undefined;
  /** The text from the header on. */
  readonly header: string;
  /** Lines above it. */
  readonly numLines: number;
  readonly notes: string[];
}

const SEP = /^"?sep=(.)"?[\s,;|]*$/i;

/** Reads what stands above the header of a text; its first piece is enough. */
export function readPreamble(text: string, { delimiter: asked, file }: TableOptions): Preamble {
  const notes: string[] = [];
  let delimiter: Delimiter | undefined;
  let [at, numLines] = [0, 0];
  const pass = (line: Line) => {
    at = line.next;
    numLines++;
  };
  const first = lineAt(text, 0);
  const said = SEP.exec(first.text)?.[1];
  if (said !== undefined) {
    delimiter = DELIMITERS.find((mark) => mark === said);
    if (delimiter === undefined && asked === undefined) {
      const words = [
        "a delimiter among , ; | and tab",
        `"${showReceived(first.text)}"`,
        "Save it with one of these.",
      ] as const;
      throw refusalAt({ line: 1 }, file, "unsupported-format", words);
    }
    pass(first);
    notes.push(`The delimiter is that of the first line, "${showReceived(first.text.trim())}".`);
  }
  const comments: Line[] = [];
  let line = lineAt(text, at);
  while (line.text.startsWith("#") || (comments.length > 0 && line.text.trim() === "" && line.next < text.length)) {
    comments.push(line);
    line = lineAt(text, line.next);
  }
  const isHeader = comments.length > 0 && isNamed(comments.at(-1)!.text, line.text, asked ?? delimiter);
  const passed = isHeader ? comments.slice(0, -1) : comments;
  passed.forEach(pass);
  if (passed.length > 0) {
    const [lines, are] = passed.length === 1 ? ["1 line", "is"] : [`${passed.length} lines`, "are"];
    notes.push(`${lines} above the header, the first "${showReceived(passed[0].text.trim())}", ${are} passed over.`);
  }
  // "# id" names the column id; "#" alone is a name of its own.
  const mark = isHeader ? (/^#\s*(?=[\p{L}"])/u.exec(text.slice(at))?.[0].length ?? 0) : 0;
  if (mark > 0) notes.push("The # before the first name is dropped.");
  return { delimiter, header: text.slice(at + mark), numLines, notes };
}

interface Line {
  readonly text: string;
  /** Where the next line begins. */
  readonly next: number;
}

function lineAt(text: string, at: number): Line {
  const end = /\r\n?|\n/g;
  end.lastIndex = at;
  const found = end.exec(text);
  if (found === null) return { text: text.slice(at), next: text.length };
  return { text: text.slice(at, found.index), next: found.index + found[0].length };
}

/** Whether a line with # names the columns of the line behind it. */
function isNamed(line: string, behind: string, said: Delimiter | undefined): boolean {
  const delimiter = said ?? guessDelimiter(behind);
  const cells = behind.split(delimiter).map((cell) => cell.trim());
  const isData = cells.some((cell) => !Number.isNaN(readNumber(cell, ".")) || readDate(cell) !== undefined);
  return cells.length > 1 && line.split(delimiter).length === cells.length && isData;
}

/** The delimiter seen most often, outside quotes, in the first line that is not blank; a comma if there is none. */
export function guessDelimiter(text: string): Delimiter {
  const line = unifyLineEnds(text.slice(0, 1 << 20))
    .split("\n")
    .find((candidate) => candidate.trim() !== "");
  const bare = (line ?? "").replace(/"[^"]*"/g, "");
  let best: Delimiter = ",";
  let most = 0;
  for (const delimiter of DELIMITERS) {
    const count = bare.split(delimiter).length - 1;
    if (count > most) {
      best = delimiter;
      most = count;
    }
  }
  return best;
}

/** Refuses a table whose columns are not told apart by any delimiter, but by spaces, or are all in quotes together. */
export function refuseUndelimited(text: string, file: string | undefined, line: number): void {
  const [header, row] = unifyLineEnds(text.slice(0, 1 << 20))
    .split("\n")
    .filter((candidate) => candidate.trim() !== "")
    .slice(0, 2);
  // Names over several lines stand in quotes that end further down.
  if (header === undefined || row === undefined || header.split('"').length % 2 === 0) return;
  const isDelimited = (candidate: string) => DELIMITERS.some((mark) => candidate.includes(mark));
  const expected = "columns separated by commas, tabs, semicolons or vertical bars";
  const refuse = (received: string, remedy: string) => {
    throw refusalAt({ line }, file, "unsupported-format", [expected, received, remedy]);
  };
  if (/^"[^"]+"$/.test(header.trim()) && isDelimited(header) && isDelimited(row)) {
    refuse("lines that stand in quotes as a whole", "Take the quotes around each line away.");
  }
  const [names, cells] = [header, row].map((candidate) => candidate.match(/"[^"]*"|\S+/g)?.length ?? 0);
  // R's write.table names no column of row names.
  const isTable = names > 2 && (cells === names || cells === names + 1) && /\d/.test(row);
  if (isTable && !isDelimited(header.replace(/"[^"]*"/g, ""))) {
    refuse("columns separated by spaces", "Save it with commas; in R, write.csv(x, row.names = FALSE).");
  }
}

/** LF at every line end; a break inside quotes stays one break, so lines can be counted. */
export function unifyLineEnds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}
