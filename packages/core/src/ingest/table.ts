/**
 * What a reader of files and a reader of rows say to each other. A format (formats.ts) turns bytes into rows; a
 * `TableReader` makes something of the rows: a cohort, a preview, a table of individuals. Both are handed pieces as they
 * come, so that the same code serves a text in memory, a file of the command line and a dropped file in the browser.
 */
import type { Where } from "../errors.ts";
import type { OpenFile } from "./bytes.ts";
import type { Finding } from "./complaints.ts";

export const DELIMITERS = [",", "\t", ";", "|"] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** What is known of a table before its first row. */
export interface TableStart {
  /** Decimal mark of its numbers: a point, or a comma as well where a comma does not separate columns. */
  readonly decimal: "." | "either";
  /** Whether a point may separate thousands: columns are separated by semicolons, as where a comma is the decimal mark. */
  readonly groups?: boolean;
  /** What was understood without being said, in sentences. */
  readonly notes: readonly string[];
  /** Sheets of the workbook that are not empty, and the one that is read. */
  readonly sheets?: Sheets;
}

export interface Sheets {
  readonly names: readonly string[];
  readonly chosen: string;
}

/** What is known of a table after its last row. */
export interface TableEnd {
  /** The fault at which reading stopped, after which rows cannot be told apart. */
  readonly fault?: { readonly finding: Finding; readonly where: Where };
  /** Blank lines between rows; those after the last one are not counted. */
  readonly blankLines: number;
  /** What was understood on the way, such as the encoding, in sentences. */
  readonly notes?: readonly string[];
  /** How letters are encoded, of formats that are text in any encoding. */
  readonly encoding?: string;
}

/** Takes the rows of a table, the header first. */
export interface RowSink {
  start(table: TableStart): void;
  /** A row and the physical line (1-based) on which it starts; returns false to stop reading. */
  row(fields: readonly string[], line: number): boolean;
  /** After the header, the positions of all columns that are looked at; the cells of others may be handed over empty. */
  wanted?(): Iterable<number> | undefined;
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
  /** Sheet of a workbook: its name, or its number from 1. Default: the first that is not empty and not hidden. */
  readonly sheet?: string;
  /** Name of the file, for complaints. */
  readonly file?: string;
  /** How letters are encoded, as browsers name it. Default: UTF-8, or UTF-16 with a mark; Windows-1252 where it can only be that. */
  readonly encoding?: string;
}

/** One kind of file: how it is recognised and how its rows are read. */
export type TableFormat = StreamedFormat | FileFormat;

interface Recognised {
  /** What is read, in words that follow "expected". */
  readonly name: string;
  /** Ends of names that such files usually have. */
  readonly extensions: readonly string[];
  /** Whether a file is one of these, by its first bytes (4 kB or all of it) and, where they say nothing, by its name. */
  recognise(head: Uint8Array, fileName: string): boolean;
}

/** A format whose rows come with the bytes, without waiting. */
export interface StreamedFormat extends Recognised {
  /** Hands the rows of the file that begins with `head` to a sink, as its bytes come; `head` itself comes first. */
  rows(head: Uint8Array, sink: RowSink, options: TableOptions): RowParser<Uint8Array>;
}

/** A format that reads a file by itself: at any place, as a whole, or by a library that is loaded for it. */
export interface FileFormat extends Recognised {
  read(open: OpenFile, sink: RowSink, options: TableOptions): Promise<TableEnd>;
}

/** A row of a table, as it is written. */
export interface TableRow {
  /** Physical line, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}
