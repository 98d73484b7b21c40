/**
 * Delimited text as records: the one module that knows papaparse. Records are handed over one by one, each with the
 * physical line (1-based) on which it starts; nothing is kept. Quoted fields may hold line breaks; lines may end with
 * LF, CRLF, CR or a mixture.
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

/** Hands every record of `text` to `onRecord`. A byte-order mark is dropped. */
export function forEachRecord(text: string, delimiter: Delimiter, onRecord: OnRecord): RecordsSummary {
  const source = unifyLineEnds(text);
  const hasQuotes = source.includes('"');
  let line = 1;
  let blank = 0;
  let blankLines = 0;
  let fault: QuoteFault | undefined;
  Papa.parse<string[]>(source, {
    delimiter,
    newline: "\n",
    step: ({ data: fields, errors }, parser) => {
      const start = line;
      line += 1 + (hasQuotes ? countBreaks(fields) : 0);
      const quotes = errors.find((error) => error.type === "Quotes");
      if (quotes !== undefined) {
        const code = quotes.code === "MissingQuotes" ? "unclosed-quote" : "text-after-quote";
        fault = { code, line: start, field: faultyField(fields) };
        parser.abort();
      } else if (fields.length === 1 && fields[0].trim() === "") {
        blank++;
      } else {
        blankLines += blank;
        blank = 0;
        if (!onRecord(fields, start)) parser.abort();
      }
    },
  });
  return { blankLines, ...(fault === undefined ? {} : { fault }) };
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
