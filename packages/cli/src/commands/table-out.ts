/** Tables as results: CSV on standard output, or a file of CSV or Parquet. */
import { type CsvCell, toCsv } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { writeTableFile } from "../io/table-file.ts";
import { checkOutputFile } from "../io/write.ts";
import { line } from "../print/words.ts";
import { type CommandResult, FORCE_OPTION, type OptionSpec, type Options, textOption } from "./command.ts";

export interface ResultTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly CsvCell[])[];
}

export const TABLE_OUT_OPTIONS: readonly OptionSpec[] = [
  { flags: "-o, --out <file>", description: "file for the table, .csv or .parquet (default: CSV on standard output)" },
  FORCE_OPTION,
];

/** Refuses, before any work is done, a file that cannot be written. */
export function checkTableOut(options: Options): void {
  const out = textOption(options, "out");
  if (out === undefined) return;
  if (!/\.(csv|parquet)$/i.test(out)) {
    throw new UsageError(`--out: expected a file that ends in .csv or .parquet, received ${out}.`);
  }
  checkOutputFile(out, options.force === true);
}

/** A table in the form that is asked for; one of individuals is private. */
export async function tableResult(
  table: ResultTable,
  json: unknown,
  options: Options,
  holds: "individuals" | "a model" = "individuals",
): Promise<CommandResult> {
  const out = textOption(options, "out");
  if (out === undefined) return { text: toCsv(table.columns, table.rows), json };
  const isPrivate = holds === "individuals";
  await writeTableFile(out, table.columns, table.rows, isPrivate);
  return { text: line("Written", isPrivate ? `${out}   (private)` : out), json };
}
