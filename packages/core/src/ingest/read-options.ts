/** What is asked of a reading of visits, and what it refuses of that before it looks at the table. */
import type { Marker } from "../cohort/marker.ts";
import { checkForm, checkNames, checkNumbers, checkOption, isNamed, optionNames } from "../errors.ts";
import type { Role } from "./column-names.ts";
import type { Columns } from "./columns.ts";
import type { DateOptions } from "./date-column.ts";
import type { RowUnits } from "./row-units.ts";
import type { SubjectsTable } from "./subjects-table.ts";
import { DELIMITERS, type TableOptions } from "./table.ts";
import { THOUSANDS, type Thousands } from "./thousands.ts";
import { DATE_ORDERS } from "./written-dates.ts";

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

/** One of several markers: its value column, or how it is written in the column of markers, which is its name by default. */
export interface MarkerChoice extends Partial<Marker> {
  readonly column: string;
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

/** Options that are one of a few words, and those that are text of any kind. */
const WORDS = {
  decimal: [".", ","],
  onBad: ["refuse", "leave-out"],
  delimiter: DELIMITERS,
  dateOrder: DATE_ORDERS,
  partialDates: ["middle"],
} as const satisfies { readonly [Name in keyof ReadCohortOptions]: readonly unknown[] };
const TEXTS = ["origin", "markerColumn", "sheet", "file", "encoding"] as const satisfies (keyof ReadCohortOptions)[];

/** Refuses options that reading does not have, and those that are something else than it takes. */
export function checkReadOptions(where: string, options: ReadCohortOptions): void {
  checkNames(where, options, READ_OPTIONS);
  const { columns = {}, marker = {}, markers = [], skipLines = [], thousands, decimal } = options;
  checkNames(`${where}: columns`, columns, COLUMN_NAMES);
  for (const [name, column] of Object.entries(columns)) {
    const isColumn = column === undefined || typeof column === (name === "dates" ? "boolean" : "string");
    checkForm(isColumn, where, `the column of ${name} by its name`, column, "Give the name as the header writes it.");
  }
  for (const [name, words] of Object.entries(WORDS)) {
    const given: unknown = options[name as keyof typeof WORDS];
    const isWord = given === undefined || (words as readonly unknown[]).includes(given);
    const listed = words.map((word) => JSON.stringify(word)).join(" or ");
    checkOption(isWord, where, `${name} ${listed}`, given, "Leave it out for the usual.");
  }
  for (const name of TEXTS) {
    const given: unknown = options[name];
    checkForm(
      given === undefined || typeof given === "string",
      where,
      `${name} as text`,
      given,
      "Leave it out for the usual.",
    );
  }
  checkForm(isNamed(marker), where, "a marker", marker, 'Give { name: "FVC", unit: "%" }.');
  const areMarkers = Array.isArray(markers) && markers.every((own) => typeof own?.column === "string");
  checkForm(areMarkers, where, "markers as a list", markers, 'Give [{ column: "fvc" }, { column: "dlco" }].');
  checkNumbers(where, "skipLines", skipLines);
  const marks = thousands === undefined || (THOUSANDS.includes(thousands) && thousands !== decimal);
  checkOption(marks, where, `thousands among ${THOUSANDS.join(" ")} other than the decimal mark`, thousands, "");
}
