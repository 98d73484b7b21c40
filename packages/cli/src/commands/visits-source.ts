/** Where visits come from: a file, standard input, resources of FHIR, or the answer to a query. */
import type { TableSource } from "@trajectory-maps/core/ingest";
import { isPostgres } from "../databases/address.ts";
import { UsageError } from "../exit-codes.ts";
import { FROM_OMOP, FROM_QUERY } from "../io/read.ts";
import { readTable } from "../io/table-file.ts";
import { inGroup, type Options, textOption } from "./command.ts";
import { fhirPath } from "./fhir.ts";
import { omopSubjects } from "./omop.ts";

/** Options of visits that come from a query instead of a file. */
export const QUERY_OPTIONS = inGroup("Queries", [
  {
    flags: "--sql <query>",
    description: "visits as the answer to a query, instead of a file: over CSV, Parquet and JSON files, by DuckDB",
  },
  {
    flags: "--database <address>",
    description: "with --sql: a PostgreSQL database (postgres://user@host/name), or a DuckDB file; opened for reading",
  },
]);

/** The path of the visits or of resources of FHIR, or what stands for a query. */
export function visitsPath(given: string | undefined, options: Options): string {
  const fhir = fhirPath(given, options);
  if (fhir !== undefined) {
    const other = ["omop", "sql"].find((name) => options[name] !== undefined);
    if (other === undefined) return fhir;
    throw new UsageError(`--fhir: expected instead of --${other}. Leave one of them out.`);
  }
  if (textOption(options, "omop") !== undefined) {
    if (given === undefined && options.sql === undefined) return FROM_OMOP;
    throw new UsageError(`--omop: expected instead of ${given ?? "--sql"}. Leave one of them out.`);
  }
  const query = textOption(options, "sql");
  if (query === undefined) {
    if (options.database !== undefined)
      throw new UsageError('--database: expected with a query. Add --sql "select ...".');
    if (given !== undefined) return given;
    throw new UsageError(
      'Name the table of visits, such as visits.csv ("-" for standard input), or use --sql, --omop or --fhir.',
    );
  }
  if (isBlank(query)) {
    const example = "--sql \"select * from 'visits.csv'\"";
    throw new UsageError(`--sql: expected a select, received an empty query. Write one: ${example}.`);
  }
  if (given === undefined) return FROM_QUERY;
  throw new UsageError(`--sql: expected instead of a file of visits, received with ${given}. Name files in the query.`);
}

/** Whether a query holds nothing but comments. */
function isBlank(query: string): boolean {
  return query.replace(/--.*|\/\*[\s\S]*?\*\/|;/g, "").trim() === "";
}

/** The table of a path that `visitsPath` gave; of OMOP that of individuals: its visits are read by `omopVisits`. */
export async function visitsSource(path: string, options: Options): Promise<TableSource> {
  if (path === FROM_OMOP) {
    const { columns, rows } = await omopSubjects(options);
    return { columns, batches: inOne(rows) };
  }
  if (path !== FROM_QUERY) return readTable(path);
  const query = textOption(options, "sql") ?? "";
  const address = textOption(options, "database");
  if (address !== undefined && isPostgres(address)) {
    const { queryPostgres } = await import("../databases/postgres.ts");
    return queryPostgres(address, query);
  }
  const { queryDuckdb } = await import("../databases/duckdb.ts");
  return queryDuckdb(address, query);
}

async function* inOne<T>(batch: T): AsyncGenerator<T> {
  yield batch;
}
