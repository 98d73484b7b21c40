/**
 * Delimited text as records: the one module that knows papaparse. The text may come in pieces of any length; whole
 * lines are parsed a slice at a time, so that neither the text nor its records are ever held as a whole. Records are
 * handed over one by one, each with the physical line (1-based) on which it starts. Quoted fields may hold line
 * breaks; lines may end with LF, CRLF, CR or a mixture.
 */
import Papa from "papaparse";

export const DELIMITERS = [",", "\t", ";", "|"] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** A fault of quoting: after it, fields and lines cannot be told apart. */
export interface QuoteFault {
  readonly code: "unclosed-quote" | "text-after-quote";
  /** Line on which the record with the fault starts. */
  readonly line: number;
  /** Number of the field with the fault in its record, 1-based. */
  readonly field: number;
}

/** Called for every line that is not blank; return false to stop reading. */
export type OnRecord = (fields: readonly string[], line: number) => boolean;

export interface RecordsSummary {
  /** The first fault of quoting, at which reading stopped. */
  readonly fault?: QuoteFault;
  /** Blank lines between records; those after the last one are not counted. */
  readonly blankLines: number;
}

/** Reads lines in place that hold no quote, as far as it understands them (`PlainReader`). */
export interface InPlaceReader {
  readonly done: number;
  readonly count: number;
  read(text: string, from: number, line: number): void;
}

/** Characters parsed at a time: few enough that records die young, many enough that a call costs nothing. */
const SLICE = 1 << 14;

/**
 * Hands every record of a text, whole or in pieces, to `onRecord`, but for those that `inPlace` reads itself. A byte-order
 * mark is dropped.
 */
export function forEachRecord(
  text: string | Iterable<string>,
  delimiter: Delimiter,
  onRecord: OnRecord,
  inPlace?: InPlaceReader,
): RecordsSummary {
  const reader: Reader = { delimiter, onRecord, inPlace, line: 1, blank: 0, blankLines: 0, size: SLICE, going: true };
  // Text not yet parsed: it begins with a record, and goes on with the next piece.
  let rest = "";
  let first = true;
  for (const piece of typeof text === "string" ? [text] : text) {
    rest += first && piece.startsWith("\ufeff") ? piece.slice(1) : piece;
    first = first && piece === "";
    rest = rest.slice(parseLines(reader, rest, false));
    if (!reader.going) break;
  }
  if (reader.going) parseLines(reader, rest, true);
  return { blankLines: reader.blankLines, ...(reader.fault === undefined ? {} : { fault: reader.fault }) };
}

/** Where reading stands. */
interface Reader {
  readonly delimiter: Delimiter;
  readonly onRecord: OnRecord;
  readonly inPlace: InPlaceReader | undefined;
  /** Physical line of the next record. */
  line: number;
  /** Blank lines since the last record, and between records before it. */
  blank: number;
  blankLines: number;
  /** Characters of the next slice, at least. */
  size: number;
  fault?: QuoteFault;
  going: boolean;
}

/** Parses whole lines of `text`, slice by slice; returns how many characters are done. `last`: nothing follows. */
function parseLines(reader: Reader, text: string, last: boolean): number {
  if (!last && text.length <= reader.size) return 0;
  // A break is looked for where it surely ends a line: a CR at the end of a piece may be half of CRLF.
  const mark = text.includes("\n") ? "\n" : "\r";
  let from = 0;
  while (reader.going && from < text.length) {
    const breakAt = text.indexOf(mark, from + reader.size);
    const atEnd = breakAt < 0 || breakAt + 1 >= text.length;
    if (atEnd && !last) break;
    const to = atEnd ? text.length : breakAt + 1;
    if (parseSlice(reader, unifyLineEnds(text.slice(from, to)), atEnd)) {
      from = to;
      reader.size = SLICE;
    } else {
      // A quoted field goes on in the next slice. Doubling keeps an open quote linear in what follows it.
      reader.size *= 2;
    }
  }
  return from;
}

/** Parses a slice of whole lines; false, with nothing handed over, if a quote is open at its end and more follows. */
function parseSlice(reader: Reader, slice: string, atEnd: boolean): boolean {
  const body = slice.endsWith("\n") ? slice.slice(0, -1) : slice;
  if (reader.inPlace !== undefined && !body.includes('"')) {
    readPlainLines(reader, reader.inPlace, body);
    return true;
  }
  const { data, errors } = Papa.parse<string[]>(body, { delimiter: reader.delimiter, newline: "\n" });
  const quotes = errors.find((error) => error.type === "Quotes");
  if (quotes?.code === "MissingQuotes" && !atEnd) return false;
  const hasQuotes = body.includes('"');
  const faulty = quotes?.row ?? data.length;
  for (let k = 0; k < data.length && reader.going; k++) {
    const fields = data[k];
    const start = reader.line;
    reader.line += 1 + (hasQuotes ? countBreaks(fields) : 0);
    if (k === faulty) {
      const code = quotes?.code === "MissingQuotes" ? "unclosed-quote" : "text-after-quote";
      reader.fault = { code, line: start, field: faultyField(fields) };
      reader.going = false;
    } else handOver(reader, fields, start);
  }
  return true;
}

/** A record or a blank line, on line `start`. */
function handOver(reader: Reader, fields: readonly string[], start: number): void {
  if (fields.length === 1 && fields[0].trim() === "") {
    reader.blank++;
    return;
  }
  reader.blankLines += reader.blank;
  reader.blank = 0;
  reader.going = reader.onRecord(fields, start);
}

/** Lines without a quote: read in place, and one by one where that stops. */
function readPlainLines(reader: Reader, inPlace: InPlaceReader, body: string): void {
  for (let at = 0; at <= body.length && reader.going; ) {
    inPlace.read(body, at, reader.line);
    if (inPlace.count > 0) {
      reader.blankLines += reader.blank;
      reader.blank = 0;
      reader.line += inPlace.count;
      at = inPlace.done;
      if (at >= body.length && !body.endsWith("\n")) return;
    }
    const end = body.indexOf("\n", at);
    const to = end < 0 ? body.length : end;
    handOver(reader, body.slice(at, to).split(reader.delimiter), reader.line++);
    at = to + 1;
  }
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

/** LF at every line end, and no byte-order mark; a break inside quotes stays one break, so lines can be counted. */
function unifyLineEnds(text: string): string {
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  return body.includes("\r") ? body.replace(/\r\n?/g, "\n") : body;
}

function countBreaks(fields: readonly string[]): number {
  let breaks = 0;
  for (const field of fields) {
    for (let at = field.indexOf("\n"); at >= 0; at = field.indexOf("\n", at + 1)) breaks++;
  }
  return breaks;
}

/** A quote that went wrong swallows what follows, so the faulty field is the last of its record, or holds a break. */
function faultyField(fields: readonly string[]): number {
  const swallowing = fields.findIndex((field) => field.includes("\n") || field.includes('"'));
  return (swallowing < 0 ? fields.length - 1 : swallowing) + 1;
}
