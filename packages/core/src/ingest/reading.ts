/** What is gathered while visits are read: rows of each marker, complaints, counts. */
import { checkMarker, DEFAULT_MARKER, type Marker } from "../cohort/marker.ts";
import { checkOption } from "../errors.ts";
import type { FoundColumns } from "./columns.ts";
import { type ComplaintBook, createComplaintBook } from "./complaints.ts";
import { createDateColumn, type DateColumn } from "./date-column.ts";
import { parseOrigin } from "./origin.ts";
import { checkReadOptions, type ReadCohortOptions } from "./read-options.ts";
import { createUnitReading, type UnitReading } from "./row-units.ts";
import { createRows, type Rows } from "./rows.ts";
import type { TableRow, TableStart } from "./table.ts";
import type { Thousands } from "./thousands.ts";

/** From when times are counted, as far as the table says it row by row. */
export interface OriginReading {
  /** Position in the table of visits; −1 if it is not there, or no column is asked for. */
  at: number;
  readonly column: DateColumn;
  /** What the cell of each individual was taken as, and its line; NaN if there is none. */
  readonly codes: number[];
  readonly lines: number[];
  /** Individuals with two different ones: how many cells, and the first. */
  readonly contradicted: { count: number; individual: number; line: number };
}

/** Numbers that cannot be read as they are, of one kind, about which one question is asked. */
export interface Question {
  count: number;
  readonly at: number;
  readonly line: number;
  readonly cells: string[];
}

/** What is gathered of one marker. */
export interface SeriesReading {
  readonly marker: Marker;
  readonly rows: Rows;
}

/** Everything gathered while reading. */
export interface Reading {
  readonly options: ReadCohortOptions;
  /** One per marker, [K]; ids are shared. */
  readonly series: readonly SeriesReading[];
  /** Which marker a cell of the column of markers names. */
  readonly levels: ReadonlyMap<string, number>;
  /** Rows of other markers, by what is written there. */
  readonly others: Map<string, number>;
  readonly skip: ReadonlySet<number>;
  /** Faults that make the whole input unreadable. */
  readonly structure: ComplaintBook;
  /** Faults of single rows, which may be left out. */
  readonly cells: ComplaintBook;
  /** Ids with spaces round them: how those were written whose first writing had some, by number. */
  readonly paddedIds: { trimmed: number; written: Map<number, string>; merged: Set<number>; line: number };
  /** The id of the row before, as it was written: rows of one individual often stand together. */
  readonly lastId: { written: string; individual: number };
  /** Values of one row: NaN after a complaint, infinite if missing, [K]. */
  readonly values: Float64Array;
  /** Whether each is a limit, as in a cohort, [K]. */
  readonly sides: Int8Array;
  /** Rows without a value of any marker, and the codes of programs among their cells with how often. */
  readonly missing: { count: number; line: number; readonly codes: Map<string, number> };
  /** Decimal marks seen; those that may as well separate thousands are counted by themselves too. */
  readonly marks: {
    points: number;
    unclearPoints: number;
    pointLine: number;
    pointPosition: number;
    commas: number;
    commaLine: number;
    commaPosition: number;
    unclear: number;
  };
  readonly times: DateColumn;
  readonly origin: OriginReading;
  /** Questions about numbers, by kind. */
  readonly questions: Map<string, Question>;
  readonly leaveOut: boolean;
  readonly thousands: Thousands | undefined;
  /** Where a cell stands in a wide table, of the row that is being read: name and position of its column. */
  placeInWide: ((at: number) => { readonly column: string; readonly columnNumber: number } | undefined) | undefined;
  /** Units of values, where they are read. */
  readonly units: UnitReading | undefined;
  /** The first rows left out. */
  readonly leftOutRows: TableRow[];
  decimal: "." | "," | "either";
  /** Whether a point may separate thousands. */
  groups: boolean;
  /** What was understood without being said, in sentences. */
  notes: readonly string[];
  header: readonly string[];
  found: FoundColumns | undefined;
  /** A column that may name the marker of each row, which nobody asked to read. */
  readonly unread: UnreadMarkers;
  numRows: number;
  /** Rows that gave a value of some marker. */
  numTaken: number;
  /** Lines of the first and the last row. */
  firstRow: number;
  lastRow: number;
}

/** What a column that may name markers held in the rows that were taken. */
export interface UnreadMarkers {
  /** Its position; −1 if there is none. */
  at: number;
  /** What it named, in order of appearance, up to a limit. */
  readonly levels: Set<string>;
}

export function createReading(options: ReadCohortOptions): Reading {
  checkReadOptions("readCohort", options);
  const choices = markerChoices(options);
  const rows = createRows();
  const leaveOut = options.onBad === "leave-out";
  const { origin } = options;
  if (origin !== undefined && origin !== "none") parseOrigin(origin);
  return {
    options,
    series: choices.map((marker, k) => ({ marker, rows: k === 0 ? rows : { ...createRows(), ids: rows.ids } })),
    levels: new Map(options.markers?.map(({ column }, k) => [column.trim(), k])),
    others: new Map(),
    skip: new Set(options.skipLines),
    structure: createComplaintBook(options.file),
    cells: createComplaintBook(options.file),
    paddedIds: { trimmed: 0, written: new Map(), merged: new Set(), line: 0 },
    lastId: { written: "", individual: -1 },
    values: new Float64Array(choices.length),
    sides: new Int8Array(choices.length),
    missing: { count: 0, line: 0, codes: new Map() },
    marks: {
      points: 0,
      unclearPoints: 0,
      pointLine: 0,
      pointPosition: -1,
      commas: 0,
      commaLine: 0,
      commaPosition: -1,
      unclear: 0,
    },
    times: createDateColumn(options, leaveOut),
    origin: {
      at: -1,
      column: createDateColumn(options, leaveOut),
      codes: [],
      lines: [],
      contradicted: { count: 0, individual: -1, line: 0 },
    },
    questions: new Map(),
    leaveOut,
    thousands: options.thousands,
    placeInWide: undefined,
    units: createUnitReading(options.units, choices.length),
    leftOutRows: [],
    decimal: ".",
    groups: false,
    notes: [],
    header: [],
    found: undefined,
    unread: { at: -1, levels: new Set() },
    numRows: 0,
    numTaken: 0,
    firstRow: 0,
    lastRow: 0,
  };
}

/** The markers asked for, each checked; one without `markers`. */
function markerChoices({ marker, markers, markerColumn }: ReadCohortOptions): Marker[] {
  const check = (given: Partial<Marker> | undefined) => checkMarker("readCohort", { ...DEFAULT_MARKER, ...given });
  if (markers === undefined) {
    checkOption(markerColumn === undefined, "readCohort", "markers with a markerColumn", "none", "Name the markers.");
    return [check(marker)];
  }
  const columns = markers.map(({ column }) => column.trim());
  const twice = columns.find((column, k) => columns.indexOf(column) < k);
  checkOption(twice === undefined, "readCohort", "every marker once", `"${twice}" twice`, "Name each once.");
  checkOption(markers.length > 0, "readCohort", "at least one marker", "none", "Name the markers.");
  return markers.map(({ column, ...given }) => check({ name: column.trim(), ...given }));
}

export function startTable(reading: Reading, { decimal, groups = false, notes }: TableStart): void {
  const { thousands, decimal: asked } = reading.options;
  // The mark that separates thousands is not the decimal mark.
  const other = thousands === "," ? "." : thousands === "." ? "," : decimal;
  reading.decimal = asked ?? other;
  reading.groups = groups;
  reading.notes = notes;
}

/** Positions of the columns that are looked at, of a table that is read alike. */
export function wantedColumns({ found, origin, units, unread }: Reading): number[] | undefined {
  if (found === undefined) return undefined;
  const { positions, values, marker, dates } = found;
  const others = [marker, dates, origin.at, unread.at, ...(units?.positions ?? [])];
  return [...Object.values(positions), ...values, ...others].filter((at) => at >= 0);
}
