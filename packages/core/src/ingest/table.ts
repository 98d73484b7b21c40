/**
 * What a reader of files and a reader of rows say to each other. A format (formats.ts) turns bytes into rows; a
 * `TableReader` makes something of the rows: a cohort, a preview, a table of individuals. Both are handed pieces as they
 * come, so that the same code serves a text in memory, a file of the command line and a dropped file in the browser.
 */
import type { Where } from "../errors.ts";
import type { Finding } from "./complaints.ts";

export const DELIMITERS = [",", "\t", ";", "|"] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** What is known of a table before its first row. */
export interface TableStart {
  /** Decimal mark of its numbers: a point, or a comma as well where a comma does not separate columns. */
  readonly decimal: "." | "either";
  /** What was understood without being said, in sentences. */
  readonly notes: readonly string[];
}

/** What is known of a table after its last row. */
export interface TableEnd {
  /** The fault at which reading stopped, after which rows cannot be told apart. */
  readonly fault?: { readonly finding: Finding; readonly where: Where };
  /** Blank lines between rows; those after the last one are not counted. */
  readonly blankLines: number;
}

/** Takes the rows of a table, the header first. */
export interface RowSink {
  start(table: TableStart): void;
  /** A row and the physical line (1-based) on which it starts; returns false to stop reading. */
  row(fields: readonly string[], line: number): boolean;
}

/** Makes something of the rows of a table. */
export interface TableReader<T> extends RowSink {
  finish(end: TableEnd): T;
}

/** Takes a file in pieces and hands its rows to a sink. */
export interface RowParser<Piece> {
  /** Returns false once no more pieces are wanted. */
  push(piece: Piece): boolean;
  end(): TableEnd;
}

export interface TableOptions {
  /** Default: the one seen most often in the first line. */
  readonly delimiter?: Delimiter;
  /** Name of the file, for complaints. */
  readonly file?: string;
}

/** One kind of file: how it is recognised and how its rows are streamed. */
export interface TableFormat {
  /** What is read, in words that follow "expected". */
  readonly name: string;
  /** Ends of names that such files usually have. */
  readonly extensions: readonly string[];
  /** Whether a file is one of these, by its first bytes (4 kB or all of it) and, where they say nothing, by its name. */
  recognise(head: Uint8Array, fileName: string): boolean;
  /** Hands the rows of the file that begins with `head` to a sink, as its bytes come; `head` itself comes first. */
  rows(head: Uint8Array, sink: RowSink, options: TableOptions): RowParser<Uint8Array>;
}

/** A row of a table, as it is written. */
export interface TableRow {
  /** Physical line, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}
