/** What is asked of a reading of visits, and what is gathered on the way: rows of each marker, complaints, counts. */
import { checkMarker, DEFAULT_MARKER, type Marker } from "../cohort/marker.ts";
import { checkOption } from "../errors.ts";
import type { Columns, FoundColumns, Role } from "./columns.ts";
import { type ComplaintBook, createComplaintBook } from "./complaints.ts";
import { createRows, type Rows } from "./rows.ts";
import type { TableOptions, TableRow, TableStart } from "./table.ts";

export interface ReadCohortOptions extends TableOptions {
  /** Names of the columns; those not given are guessed from usual names. */
  readonly columns?: Partial<Pick<Columns, Role>>;
  /** Whether all columns are guessed if those named are not there. Default: the table is refused. */
  readonly orGuess?: boolean;
  /** Name, units, transform and limits of the marker; its name defaults to that of the value column. */
  readonly marker?: Partial<Marker>;
  /** Several markers, in this order: a value column each, or with `markerColumn` all in one. Instead of `marker`. */
  readonly markers?: readonly MarkerChoice[];
  /** The column that names the marker of each row, for tables with one value column. */
  readonly markerColumn?: string;
  /** Whether the columns of some of the markers may be lacking. Default: the table is refused. */
  readonly mayLack?: boolean;
  /** Decimal mark. Default: a point; a comma is also understood where it does not separate columns. */
  readonly decimal?: "." | ",";
  /** What to do with rows that hold something unreadable. Default "refuse": the whole input, with every complaint. */
  readonly onBad?: "refuse" | "leave-out";
  /** Keep rows that repeat another exactly (id, time and value). Default: they are left out, and that is told. */
  readonly keepRepeats?: boolean;
  /** Physical lines to skip (a second line with units, say). */
  readonly skipLines?: readonly number[];
}

/** One of several markers: its value column, or how it is written in the column of markers, which is its name by default. */
export interface MarkerChoice extends Partial<Marker> {
  readonly column: string;
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
  /** Rows without a value of any marker. */
  readonly missing: { count: number; line: number };
  /** Decimal marks seen; commas that may as well separate thousands are counted by themselves too. */
  readonly marks: { points: number; commas: number; commaLine: number; commaPosition: number; unclear: number };
  readonly times: { numbers: number; numberLine: number; dates: number; dateLine: number; date: string };
  /** The first rows left out. */
  readonly leftOutRows: TableRow[];
  decimal: "." | "," | "either";
  /** What was understood without being said, in sentences. */
  notes: readonly string[];
  header: readonly string[];
  found: FoundColumns | undefined;
  numRows: number;
  /** Rows that gave a value of some marker. */
  numTaken: number;
  firstRow: number;
}

export function createReading(options: ReadCohortOptions): Reading {
  const choices = markerChoices(options);
  const rows = createRows();
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
    missing: { count: 0, line: 0 },
    marks: { points: 0, commas: 0, commaLine: 0, commaPosition: -1, unclear: 0 },
    times: { numbers: 0, numberLine: 0, dates: 0, dateLine: 0, date: "" },
    leftOutRows: [],
    decimal: ".",
    notes: [],
    header: [],
    found: undefined,
    numRows: 0,
    numTaken: 0,
    firstRow: 0,
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

export function startTable(reading: Reading, { decimal, notes }: TableStart): void {
  reading.decimal = reading.options.decimal ?? decimal;
  reading.notes = notes;
}
