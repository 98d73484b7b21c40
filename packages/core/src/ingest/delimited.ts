/**
 * Delimited text as rows. Text comes in pieces of any length; whole lines are parsed a slice at a time, so that neither the text nor its rows are
 * ever held as a whole. Rows are handed over one by one, each with the physical line (1-based) on which it starts. Quoted fields (quoted-rows.ts)
 * may hold line breaks; lines may end with LF, CRLF, CR or a mixture. A file may be of any length; a line, a field and the number of columns have
 * limits, so that what is no table, or has lost a quote, is told before it fills the memory.
 */

import { type ErrorCode, showReceived } from "../errors.ts";
import { type Finding, refusalAt } from "./complaints.ts";
import { createDecoder } from "./decode.ts";
import { guessDelimiter, readPreamble, refuseUndelimited, unifyLineEnds } from "./preamble.ts";
import { type QuotedRows, quotedRows } from "./quoted-rows.ts";
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
/** Characters of the longest row, with the lines inside its quotes, and of the longest field. */
export const MOST_ROW = 1 << 24;
export const MOST_FIELD = 1 << 22;
/** Columns of the widest table. */
export const MOST_COLUMNS = 100_000;

/** A reader of the rows of delimited text, which comes in pieces; a byte-order mark is dropped. */
export function parseText(sink: RowSink, options: TableOptions): RowParser<string> {
  let state: Parsing | undefined;
  // Text not yet parsed: it begins with a row, and goes on with the next piece.
  let rest = "";
  // Blank lines that were dropped before the first row.
  let dropped = 0;
  let isBlank = true;
  const blankDropped = (text: string): string => {
    if (text.length < HEAD || text.startsWith("\ufeff")) return text;
    const from = text.search(/\S/);
    // What is on the line of the first letter stays, and so does half a line end.
    const end = text.lastIndexOf("\n", from < 0 ? text.length - 2 : from) + 1;
    const blank = unifyLineEnds(text.slice(0, end));
    for (let k = 0; k < blank.length; k++) if (blank.charCodeAt(k) === 0x0a) dropped++;
    return text.slice(end);
  };
  const begin = (): Parsing => {
    const marked = rest.startsWith("\ufeff");
    if (marked) rest = rest.slice(1);
    refuseOthers(rest.slice(0, START), options.file);
    const { delimiter: said, header, numLines, notes } = readPreamble(rest, options);
    rest = header;
    if (options.delimiter === undefined && said === undefined)
      refuseUndelimited(rest, options.file, 1 + dropped + numLines);
    const delimiter = options.delimiter ?? said ?? guessDelimiter(rest);
    if (said === undefined && options.delimiter === undefined && delimiter !== ",") {
      notes.push(`Columns are separated by ${DELIMITER_WORDS[delimiter]}.`);
    }
    if (marked) notes.push("A byte-order mark was dropped.");
    sink.start({ decimal: delimiter === "," ? "." : "either", groups: delimiter === ";", notes });
    return { delimiter, sink, line: 1 + dropped + numLines, blank: dropped, blankLines: 0, size: SLICE, going: true };
  };
  return {
    push: (text) => {
      // Lines above everything else that are blank are only counted: there may be very many.
      rest = isBlank ? blankDropped(rest + text) : rest + text;
      isBlank &&= text.trim() === "";
      // A line without end is only gathered: looking through all of it for each piece would take the square of its length.
      const isGathered = rest.length < HEAD ? state === undefined : !/[\r\n]/.test(text);
      if (isGathered && rest.length <= MOST_ROW) return true;
      state ??= begin();
      isBlank = false;
      rest = rest.slice(parseLines(state, rest, false));
      if (state.going && rest.length > 2 * MOST_ROW) tooLong(state, rest);
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
    } else if (to - from > MOST_ROW) {
      // A quote that is open for so long was never meant as one.
      parseSlice(state, unifyLineEnds(text.slice(from, to)), true);
      state.going = false;
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
    for (const line of body.split("\n")) {
      if (!state.going) break;
      if (line === "") passBlank(state);
      else if (!isTooLarge(state, line)) takeRow(state, line.split(state.delimiter), 1);
    }
    return true;
  }
  const { rows, fault } = quotedRows(body, state.delimiter);
  if (fault?.kind === "unclosed" && !atEnd) return false;
  for (let k = 0; k < rows.length && state.going; k++) {
    const fields = rows[k];
    if (fault !== undefined && k === rows.length - 1) {
      state.fault = quoteFault(fault, state.line);
      state.going = false;
    } else if (body.length <= MOST_COLUMNS || !hasTooLarge(state, fields))
      takeRow(state, fields, 1 + countBreaks(fields));
  }
  return true;
}

/** Whether a line without quotes is longer than a row may be, has a field too long, or too many; it is not split before that is known. */
function isTooLarge(state: Parsing, line: string): boolean {
  if (line.length <= MOST_COLUMNS) return false;
  if (line.length > MOST_ROW) {
    tooLong(state, line);
    return true;
  }
  let count = 1;
  let longest = 0;
  for (let from = 0; from <= line.length; count++) {
    const found = line.indexOf(state.delimiter, from);
    const end = found < 0 ? line.length : found;
    longest = Math.max(longest, end - from);
    from = end + 1;
  }
  return refuseSizes(state, count - 1, longest);
}

function hasTooLarge(state: Parsing, fields: readonly string[]): boolean {
  return refuseSizes(
    state,
    fields.length,
    fields.reduce((most, field) => Math.max(most, field.length), 0),
  );
}

function refuseSizes(state: Parsing, numFields: number, longest: number): boolean {
  if (numFields > MOST_COLUMNS) {
    const remedy = "Leave out the columns that are not needed; visits are rows, not columns.";
    stopAt(state, ["too-many-columns", [`at most ${MOST_COLUMNS} columns`, String(numFields), remedy]]);
  } else if (longest > MOST_FIELD) {
    const remedy = "Check whether quotes are closed, or leave out the column that holds so long a text.";
    stopAt(state, ["field-too-long", [`fields of at most ${MOST_FIELD} characters`, String(longest), remedy]]);
  }
  return !state.going;
}

/** Stops at a row without end; lines before it may stand in the same text. */
function tooLong(state: Parsing, given: string): void {
  const before = given.lastIndexOf("\n") + 1;
  state.line += countBreaks([given.slice(0, before)]);
  const text = given.slice(before);
  const remedy = "This is no table as text, or its line ends were lost: export it again.";
  const received = `${text.length} or more, beginning with "${showReceived(text.slice(0, 100))}"`;
  stopAt(state, ["line-too-long", [`lines of at most ${MOST_ROW} characters`, received, remedy]]);
}

function stopAt(state: Parsing, finding: Finding): void {
  state.fault = { finding, where: { line: state.line } };
  state.going = false;
}

function passBlank(state: Parsing): void {
  state.line++;
  state.blank++;
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
function quoteFault({ kind, field }: NonNullable<QuotedRows["fault"]>, line: number): TableEnd["fault"] {
  const where = { line, columnNumber: field };
  const remedy = 'Close the quote; inside a quoted cell, write a quote as "".';
  const finding: Finding =
    kind === "unclosed"
      ? ["unclosed-quote", ["a closing quote", `the end of the file, or ${MOST_ROW} characters, without one`, remedy]]
      : ["text-after-quote", ["a delimiter or line end after the closing quote", "more text", remedy]];
  return { finding, where };
}
