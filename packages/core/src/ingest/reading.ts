/** What is asked of a reading of visits, and what is gathered on the way: rows of each marker, complaints, counts. */
import { checkMarker, DEFAULT_MARKER, type Marker } from "../cohort/marker.ts";
import { checkNames, checkOption, optionNames } from "../errors.ts";
import type { Role } from "./column-names.ts";
import type { Columns, FoundColumns } from "./columns.ts";
import { type ComplaintBook, createComplaintBook } from "./complaints.ts";
import { createDateColumn, type DateColumn, type DateOptions } from "./date-column.ts";
import { parseOrigin } from "./origin.ts";
import { createUnitReading, type RowUnits, type UnitReading } from "./row-units.ts";
import { createRows, type Rows } from "./rows.ts";
import type { SubjectsTable } from "./subjects-table.ts";
import type { TableOptions, TableRow, TableStart } from "./table.ts";
import { THOUSANDS, type Thousands } from "./thousands.ts";

export interface ReadCohortOptions extends TableOptions, DateOptions {
  /**
   * Names of the columns; those not given are guessed from usual names. As a reading gave them (`ReadCohort.columns`) they also say from when
   * times are counted, so that the next table is read alike.
   */
  readonly columns?: Partial<Pick<Columns, Role | "origin" | "dates">>;
  /**
   * From when times are counted: "first" (visit of the individual), "column:NAME" (of visits or `subjects`), or "date:2010-01-31". Default: first for
   * dates; numbers are taken as they are. "none" refuses dates. Dates are counted in the `timeUnit` of the marker: years (365.25 days) by default,
   * months (30.4375), weeks or days.
   */
  readonly origin?: string;
  /** The table of individuals, where the column of the origin may stand. */
  readonly subjects?: SubjectsTable;
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
  /** Units of the values, and converters to those of the markers. Default: values are taken as they are. */
  readonly units?: RowUnits;
  /** Decimal mark. Default: a point; a comma is also understood where it does not separate columns. */
  readonly decimal?: "." | ",";
  /** The mark that separates thousands, as in 1,234.5. Default: numbers with one are refused. */
  readonly thousands?: Thousands;
  /**
   * Whether the table has one row per individual and a column for each time, such as fvc_0, fvc_6, fvc_12: true for those found by their names, or
   * patterns with commas and a * for the number. Default: a row per visit.
   */
  readonly wide?: true | string;
  /** What to do with rows that hold something unreadable. Default "refuse": the whole input, with every complaint. */
  readonly onBad?: "refuse" | "leave-out";
  /** Keep rows that repeat another exactly (id, time and value). Default: they are left out, and that is told. */
  readonly keepRepeats?: boolean;
  /** Physical lines to skip (a second line with units, say). */
  readonly skipLines?: readonly number[];
}

const READ_OPTIONS = optionNames<ReadCohortOptions>({
  ...{ columns: true, origin: true, subjects: true, orGuess: true, marker: true, markers: true, markerColumn: true },
  ...{ mayLack: true, units: true, decimal: true, thousands: true, wide: true, onBad: true, keepRepeats: true },
  ...{ skipLines: true, delimiter: true, sheet: true, file: true, encoding: true },
  ...{ dateOrder: true, yearPivot: true, partialDates: true, swappedDates: true },
});
const COLUMN_NAMES = optionNames<Columns>({
  ...{ id: true, time: true, value: true, marker: true, level: true, origin: true, dates: true },
});

/** One of several markers: its value column, or how it is written in the column of markers, which is its name by default. */
export interface MarkerChoice extends Partial<Marker> {
  readonly column: string;
}

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
  /** Rows without a value of any marker. */
  readonly missing: { count: number; line: number };
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
  numRows: number;
  /** Rows that gave a value of some marker. */
  numTaken: number;
  firstRow: number;
}

export function createReading(options: ReadCohortOptions): Reading {
  checkNames("readCohort", options, READ_OPTIONS);
  checkNames("readCohort: columns", options.columns ?? {}, COLUMN_NAMES);
  const choices = markerChoices(options);
  const rows = createRows();
  const leaveOut = options.onBad === "leave-out";
  const { origin, thousands, decimal } = options;
  if (origin !== undefined && origin !== "none") parseOrigin(origin);
  const marks = thousands === undefined || (THOUSANDS.includes(thousands) && thousands !== decimal);
  checkOption(marks, "readCohort", `thousands among ${THOUSANDS.join(" ")} other than the decimal mark`, thousands, "");
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

export function startTable(reading: Reading, { decimal, groups = false, notes }: TableStart): void {
  const { thousands, decimal: asked } = reading.options;
  // The mark that separates thousands is not the decimal mark.
  const other = thousands === "," ? "." : thousands === "." ? "," : decimal;
  reading.decimal = asked ?? other;
  reading.groups = groups;
  reading.notes = notes;
}
