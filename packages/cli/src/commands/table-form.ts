/** How a table is written and from when its times are counted: options that every command with visits takes. */
import {
  DATE_ORDERS,
  type DateOrder,
  type Delimiter,
  type ReadCohortOptions,
  THOUSANDS,
  type Thousands,
} from "@trajectory-maps/core/ingest";
import { UsageError } from "../exit-codes.ts";
import { inGroup, type Options, textOption } from "./command.ts";
import { wholeNumber } from "./numbers.ts";

const DELIMITER_NAMES: Readonly<Record<string, Delimiter>> = { comma: ",", tab: "\t", semicolon: ";", bar: "|" };

/** Options of marks, letters, dates and the layout of a table. */
export const FORM_OPTIONS = inGroup("Reading the table", [
  {
    flags: "--delimiter <name>",
    description: "column separator (guessed)",
    choices: Object.keys(DELIMITER_NAMES),
  },
  { flags: "--decimal <mark>", description: "decimal mark", choices: [".", ","] },
  { flags: "--sheet <name>", description: "sheet of a workbook, by name or number (default: the first not empty)" },
  {
    flags: "--origin <rule>",
    description:
      "from when times are counted: first (visit of each individual; the default for dates), column:NAME (of visits or --subjects, such as onset), or date:2010-01-31",
  },
  {
    flags: "--date-order <order>",
    description: "order of day, month and year where dates do not show it; ymd also reads 20200131",
    choices: DATE_ORDERS,
  },
  {
    flags: "--swapped-dates",
    description: "a spreadsheet swapped day and month of dates such as 2020-05-03: swap them back",
  },
  {
    flags: "--year-pivot <number>",
    description: "last two-digit year that is of 2000 and on, such as 30 (default: such years are refused)",
  },
  {
    flags: "--partial-dates <rule>",
    description: "months and years without a day: at their middle (default: refused)",
    choices: ["middle"],
  },
  {
    flags: "--wide [patterns]",
    description:
      'one row per individual with a column for each time (fvc_0, fvc_6): those found by their names, or "fvc_*,dlco_*"; stands behind the table',
  },
  { flags: "--thousands <mark>", description: "mark between thousands, as in 1,234.5", choices: THOUSANDS },
  {
    flags: "--encoding <name>",
    description: "how letters are encoded, such as utf-8, windows-1252 or iso-8859-2 (recognised)",
  },
]);

/** How a table is written and its times are counted, as far as options say it. */
export function formOf(options: Options): Omit<ReadCohortOptions, "columns" | "marker" | "markers"> {
  const pivot = textOption(options, "yearPivot");
  const wide = wideOf(options);
  return {
    ...delimiterOf(options),
    ...decimalOf(options),
    ...encodingOf(options),
    ...given("sheet", textOption(options, "sheet")),
    ...given("origin", textOption(options, "origin")),
    ...given("dateOrder", textOption(options, "dateOrder") as DateOrder | undefined),
    ...given("partialDates", textOption(options, "partialDates") as "middle" | undefined),
    ...given("swappedDates", options.swappedDates === true ? (true as const) : undefined),
    ...given("thousands", textOption(options, "thousands") as Thousands | undefined),
    ...given("yearPivot", pivot === undefined ? undefined : wholeNumber("--year-pivot", pivot, 0)),
    ...given("wide", wide),
  };
}

/** A part of options, nothing where it is not given. */
function given<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [key in Name]?: Value };
}

/** The delimiter asked for, if any. */
export function delimiterOf(options: Options): { delimiter?: Delimiter } {
  const delimiter = DELIMITER_NAMES[textOption(options, "delimiter") ?? ""];
  return delimiter === undefined ? {} : { delimiter };
}

export function decimalOf(options: Options): { decimal?: "." | "," } {
  const decimal = textOption(options, "decimal");
  return decimal === "." || decimal === "," ? { decimal } : {};
}

export function encodingOf(options: Options): { encoding?: string } {
  const encoding = textOption(options, "encoding");
  return encoding === undefined ? {} : { encoding };
}

function wideOf({ wide }: Options): true | string | undefined {
  if (wide === undefined || wide === false) return undefined;
  if (wide === true || wide === "true" || wide === "1") return true;
  const patterns = String(wide);
  if (patterns.split(",").every((pattern) => pattern.includes("*"))) return patterns;
  throw new UsageError(
    `--wide: expected nothing behind it, or patterns such as "fvc_*,dlco_*", received "${patterns}". Write --wide last.`,
  );
}
