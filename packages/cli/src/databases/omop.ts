/**
 * OMOP CDM 5.3 and 5.4: measurements as visits, deaths and conditions as outcomes, from PostgreSQL, a DuckDB file or a folder of tables as CSV or
 * Parquet. The queries are text (packages/cli/sql), one for both databases; each has a session of its own.
 */
import { cellText, type TypedRows } from "@trajectory-maps/core/ingest";
import { UsageError } from "../exit-codes.ts";
import { isFolder, ownSql, tableFiles } from "../io/read.ts";
import { isPostgres } from "./address.ts";

/** What is asked of a database. */
export interface OmopQuestion {
  /** postgres://..., a DuckDB file, or a folder. */
  readonly address: string;
  readonly schema?: string;
  /** Measurement concepts. */
  readonly concepts: readonly number[];
  readonly index: OmopIndex;
}

/** The day that time is counted from. */
export interface OmopIndex {
  readonly kind: "first" | "observation_period" | "condition" | "birth";
  /** Condition concepts. */
  readonly concepts: readonly number[];
}

/** Rows of a query as cells in the normal form. */
type Cells = readonly string[];

/** Tables that are read of a folder. */
const TABLES = ["measurement", "person", "observation_period", "condition_occurrence", "death", "concept"];

/** How often each concept, unit and operator occurs. */
export interface OmopCount {
  readonly concept: number;
  readonly unit: number;
  readonly operator: number;
  readonly rows: number;
  readonly values: number;
}

export async function countMeasurements(question: OmopQuestion): Promise<OmopCount[]> {
  const rows = await allCells(await ask(question, fill(ownSql("omop-counts"), question)));
  return rows.map((cells) => {
    const [concept = 0, unit = 0, operator = 0, all = 0, values = 0] = cells.map(Number);
    return { concept, unit, operator, rows: all, values };
  });
}

/** Names of concepts, where the database has them. */
export async function conceptNames(question: OmopQuestion, concepts: readonly number[]): Promise<Map<number, string>> {
  const query = `select cast(concept_id as bigint) as id, concept_name as name from concept where cast(concept_id as bigint) in (${list(concepts)})`;
  const rows = await ask(question, query).then(allCells, () => []);
  return new Map(rows.map(([id = "", name = ""]) => [Number(id), name]));
}

/** Rows of measurements: person, day, index day, value, operator. */
export function askMeasurements(question: OmopQuestion, units: readonly number[]): Promise<TypedRows> {
  return ask(question, fill(ownSql("omop-visits"), question, { units: list(units) }));
}

/** Rows of individuals: person, index day, gender, days of birth, last observation and death, concept and day of a condition. */
export async function askSubjects(
  question: OmopQuestion,
  units: readonly number[],
  outcomes: readonly number[],
): Promise<readonly Cells[]> {
  const birth = ownSql("omop-index-birth");
  return allCells(
    await ask(
      question,
      fill(ownSql("omop-subjects"), question, { units: list(units), birth, outcomes: list(outcomes) }),
    ),
  );
}

/** A query with its blanks filled. */
function fill(text: string, { concepts, index }: OmopQuestion, blanks: Readonly<Record<string, string>> = {}): string {
  const all: Readonly<Record<string, string>> = {
    concepts: list(concepts),
    index_concepts: list(index.concepts),
    ...blanks,
  };
  const withIndex = text.replace("{index}", ownSql(`omop-index-${index.kind}`)).replace("{birth}", blanks.birth ?? "");
  return withIndex.replaceAll(/\{(\w+)\}/g, (blank, name: string) => all[name] ?? blank);
}

/** Whole numbers with commas; no concept has the number −1, and an empty list is no SQL. */
function list(numbers: readonly number[]): string {
  return numbers.length === 0 ? "-1" : numbers.join(", ");
}

async function ask({ address, schema }: OmopQuestion, query: string): Promise<TypedRows> {
  if (isPostgres(address)) {
    const { queryPostgres } = await import("./postgres.ts");
    return queryPostgres(address, query, schema === undefined ? {} : { search_path: schema });
  }
  const { queryDuckdb } = await import("./duckdb.ts");
  if (!isFolder(address)) {
    return queryDuckdb(address, query, schema === undefined ? [] : [`set schema = ${quoted(schema)}`]);
  }
  const views = tableFiles(address, TABLES).map(({ table, path }) => {
    const reader = /\.parquet$/i.test(path) ? "read_parquet" : "read_csv";
    // Types are those of the queries: what looks like a number in the first rows need not be one. Several tables are read at once, each
    // with a buffer of its own.
    const asText = reader === "read_csv" ? ", all_varchar = true, header = true, buffer_size = 4194304" : "";
    return `create view ${table} as select * from ${reader}(${quoted(path)}${asText})`;
  });
  if (views.length === 0) {
    throw new UsageError(
      `--omop: expected tables such as measurement.csv or measurement.parquet in ${address}, received none.`,
    );
  }
  return queryDuckdb(undefined, query, views);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

async function allCells({ batches, close }: TypedRows): Promise<Cells[]> {
  const rows: Cells[] = [];
  try {
    for await (const batch of batches) for (const row of batch) rows.push(cellsOf(row));
  } finally {
    await close?.();
  }
  return rows;
}

/** Values of a row in the normal form, whatever the database. */
export function cellsOf(row: readonly unknown[]): Cells {
  return row.map((value) => cellText(value) ?? "");
}
