/**
 * Delimited text as rows: the one module that knows papaparse, which reads what has quotes. Text comes in pieces of any length; whole lines are
 * parsed a slice at a time, so that neither the text nor its rows are ever held as a whole. Rows are handed over one by
 * one, each with the physical line (1-based) on which it starts. Quoted fields may hold line breaks; lines may end with LF,
 * CRLF, CR or a mixture.
 */

import Papa from "papaparse";
import type { ErrorCode } from "../errors.ts";
import { type Finding, refusalAt } from "./complaints.ts";
import { createDecoder } from "./decode.ts";
import { guessDelimiter, readPreamble, unifyLineEnds } from "./preamble.ts";
import type { Delimiter, RowParser, RowSink, TableEnd, TableFormat, TableOptions } from "./table.ts";

const DELIMITER_WORDS: Record<Delimiter, string> = {
  ",": "commas",
  "\t": "tabs",
  ";": "semicolons",
  "|": "vertical bars",
};

/** Tables as text: any file that is not recognised as something else. */
export const DELIMITED_TEXT: TableFormat = {
  name: "columns separated by commas, tabs, semicolons or vertical bars, as UTF-8 text",
  extensions: [".csv", ".tsv", ".txt"],
  recognise: () => true,
  rows: (head, sink, options) => {
    // As Latin-1, so that bytes can be looked at as text is.
    refuseOthers(String.fromCharCode(...head.subarray(0, START)), options.file);
    const decoder = createDecoder(head, options.file, options.encoding);
    const parser = parseText(sink, options);
    return {
      push: (bytes) => parser.push(decoder.push(bytes)),
      end: () => {
        parser.push(decoder.end());
        return { ...parser.end(), notes: decoder.notes(), encoding: decoder.encoding() };
      },
    };
  },
};

/** Characters at the start of a file that tell what it is. */
const START = 300;

const WORKBOOK = "Open it in the spreadsheet and export as CSV.";
const EXPORT = `Export the table; what is read: ${DELIMITED_TEXT.name}, plain or gzip.`;

/** What people bring that is no delimited text: how it begins, its name, what helps. */
const OTHERS: readonly (readonly [begins: RegExp, received: string, remedy: string, code: ErrorCode])[] = [
  [/^PK[^ -~]{2}/, "what looks like a workbook", WORKBOOK, "not-text"],
  [/^\u00d0\u00cf[^ -~]\u00e0/, "what looks like an old workbook", WORKBOOK, "not-text"],
  [/^PAR1/, "what looks like Parquet", EXPORT, "unsupported-format"],
  [/^\s*<(?:!doctype|html)/i, "what looks like a web page", "Was a login page saved in place of the file?", "not-text"],
  [/^(?:\u00ef\u00bb\u00bf)?\s*(?:\{\s*"|\[\s*[{[\]])/, "what looks like JSON", EXPORT, "unsupported-format"],
];

function refuseOthers(start: string, file: string | undefined): void {
  for (const [begins, received, remedy, code] of OTHERS) {
    if (begins.test(start)) throw refusalAt({ line: 1 }, file, code, ["a table as text (CSV)", received, remedy]);
  }
}

/** Characters parsed at a time: few enough that rows die young, many enough that a call costs nothing. */
const SLICE = 1 << 14;
/** Characters looked at for the delimiter before the first row is read. */
const HEAD = 1 << 16;

/** A reader of the rows of delimited text, which comes in pieces; a byte-order mark is dropped. */
export function parseText(sink: RowSink, options: TableOptions): RowParser<string> {
  let state: Parsing | undefined;
  // Text not yet parsed: it begins with a row, and goes on with the next piece.
  let rest = "";
  const begin = (): Parsing => {
    const marked = rest.startsWith("\ufeff");
    if (marked) rest = rest.slice(1);
    refuseOthers(rest.slice(0, START), options.file);
    const { delimiter: said, header, numLines, notes } = readPreamble(rest, options);
    rest = header;
    const delimiter = options.delimiter ?? said ?? guessDelimiter(rest);
    if (said === undefined && options.delimiter === undefined && delimiter !== ",") {
      notes.push(`Columns are separated by ${DELIMITER_WORDS[delimiter]}.`);
    }
    if (marked) notes.push("A byte-order mark was dropped.");
    sink.start({ decimal: delimiter === "," ? "." : "either", groups: delimiter === ";", notes });
    return { delimiter, sink, line: 1 + numLines, blank: 0, blankLines: 0, size: SLICE, going: true };
  };
  return {
    push: (text) => {
      rest += text;
      // A line without end is only gathered: looking through all of it for each piece would take the square of its length.
      if (rest.length < HEAD ? state === undefined : !/[\r\n]/.test(text)) return true;
      state ??= begin();
      rest = rest.slice(parseLines(state, rest, false));
      return state.going;
    },
    end: () => {
      state ??= begin();
      if (state.going) parseLines(state, rest, true);
      return { blankLines: state.blankLines, ...(state.fault === undefined ? {} : { fault: state.fault }) };
    },
  };
}

/** Where parsing stands. */
interface Parsing {
  readonly delimiter: Delimiter;
  readonly sink: RowSink;
  /** Physical line of the next row. */
  line: number;
  /** Blank lines since the last row, and between rows before it. */
  blank: number;
  blankLines: number;
  /** Characters of the next slice, at least. */
  size: number;
  fault?: TableEnd["fault"];
  going: boolean;
}

/** Parses whole lines of `text`, slice by slice; returns how many characters are done. `last`: nothing follows. */
function parseLines(state: Parsing, text: string, last: boolean): number {
  if (!last && text.length <= state.size) return 0;
  // A break is looked for where it surely ends a line: a CR at the end of a piece may be half of CRLF.
  const mark = text.includes("\n") ? "\n" : "\r";
  let from = 0;
  while (state.going && from < text.length) {
    const breakAt = text.indexOf(mark, from + state.size);
    const atEnd = breakAt < 0 || breakAt + 1 >= text.length;
    if (atEnd && !last) break;
    const to = atEnd ? text.length : breakAt + 1;
    if (parseSlice(state, unifyLineEnds(text.slice(from, to)), atEnd)) {
      from = to;
      state.size = SLICE;
    } else {
      // A quoted field goes on in the next slice. Doubling keeps an open quote linear in what follows it.
      state.size *= 2;
    }
  }
  return from;
}

/** Parses a slice of whole lines; false, with nothing handed over, if a quote is open at its end and more follows. */
function parseSlice(state: Parsing, slice: string, atEnd: boolean): boolean {
  const body = slice.endsWith("\n") ? slice.slice(0, -1) : slice;
  if (!body.includes('"')) {
    // Row by row: whole parsed slices live long enough to be moved to where only a search of all memory finds them dead.
    for (const line of body.split("\n")) if (state.going) takeRow(state, line.split(state.delimiter), 1);
    return true;
  }
  const { data, errors } = Papa.parse<string[]>(body, { delimiter: state.delimiter, newline: "\n" });
  const quotes = errors.find((error) => error.type === "Quotes");
  if (quotes?.code === "MissingQuotes" && !atEnd) return false;
  const faulty = quotes?.row ?? data.length;
  for (let k = 0; k < data.length && state.going; k++) {
    const fields = data[k];
    if (k === faulty) {
      state.fault = quoteFault(quotes?.code === "MissingQuotes", state.line, fields);
      state.going = false;
    } else takeRow(state, fields, 1 + countBreaks(fields));
  }
  return true;
}

/** Hands over a row of so many physical lines, or counts it as blank. */
function takeRow(state: Parsing, fields: readonly string[], numLines: number): void {
  const start = state.line;
  state.line += numLines;
  if (fields.length === 1 && fields[0].trim() === "") {
    state.blank++;
    return;
  }
  state.blankLines += state.blank;
  state.blank = 0;
  state.going = state.sink.row(fields, start);
}

function countBreaks(fields: readonly string[]): number {
  let breaks = 0;
  for (const field of fields) {
    for (let at = field.indexOf("\n"); at >= 0; at = field.indexOf("\n", at + 1)) breaks++;
  }
  return breaks;
}

/** The fault of a row whose quote is not closed, or has text after it. */
function quoteFault(unclosed: boolean, line: number, fields: readonly string[]): TableEnd["fault"] {
  // A quote that went wrong swallows what follows, so the faulty field is the last of its row, or holds a break.
  const swallowing = fields.findIndex((field) => field.includes("\n") || field.includes('"'));
  const where = { line, columnNumber: swallowing < 0 ? fields.length : swallowing + 1 };
  const remedy = 'Close the quote; inside a quoted cell, write a quote as "".';
  const finding: Finding = unclosed
    ? ["unclosed-quote", ["a closing quote", "the end of the file", remedy]]
    : ["text-after-quote", ["a delimiter or line end after the closing quote", "more text", remedy]];
  return { finding, where };
}
