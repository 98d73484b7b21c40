/**
 * Queries by DuckDB, over files or a database file: the one module that knows it. It is an optional dependency, loaded here. Extensions are
 * never fetched, so that nothing leaves the machine; memory is limited to 200 MB (the process may take more), and rows come as they are found:
 * reading needs no order.
 */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DuckDBConnection, DuckDBResult, DuckDBValue } from "@duckdb/node-api";
import { decimalText, singleText, type TypedRows } from "@trajectory-maps/core/ingest";
import { FileError, UsageError } from "../exit-codes.ts";

type Duckdb = typeof import("@duckdb/node-api");

const SETTINGS = {
  memory_limit: "200MB",
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  preserve_insertion_order: "false",
};

/** An open database; `file` undefined for one in memory, which still reads files that a query names. */
export interface OpenDuckdb {
  readonly connection: DuckDBConnection;
  close(): void;
}

async function openDuckdb(file: string | undefined): Promise<OpenDuckdb> {
  const { DuckDBInstance } = await loadDuckdb();
  // Made only if a query needs it, and removed with the database.
  const temporary = { temp_directory: join(tmpdir(), `dtm-duckdb-${randomUUID().slice(0, 8)}`) };
  const access: Record<string, string> = file === undefined ? {} : { access_mode: "READ_ONLY" };
  try {
    const instance = await DuckDBInstance.create(file ?? ":memory:", { ...SETTINGS, ...temporary, ...access });
    const connection = await instance.connect();
    return {
      connection,
      close: () => {
        connection.closeSync();
        instance.closeSync();
      },
    };
  } catch (error) {
    throw new FileError(`${file ?? "DuckDB"} cannot be opened: ${firstLine(error)}.`);
  }
}

/** The optional package, loaded where it is needed: it is large. */
export async function loadDuckdb(): Promise<Duckdb> {
  try {
    return await import("@duckdb/node-api");
  } catch {
    throw new UsageError(
      "--sql: expected DuckDB, which is not installed. Add it: npm install @duckdb/node-api (70 MB), or name a PostgreSQL database (--database).",
    );
  }
}

/** The answer to one select, after statements of our own. */
export async function queryDuckdb(
  file: string | undefined,
  query: string,
  before: readonly string[] = [],
): Promise<TypedRows> {
  const database = await openDuckdb(file);
  try {
    for (const statement of before) await database.connection.run(statement);
    return await answer(database, query);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Rows of a query of an open database, which is closed with them. */
export async function answer({ connection, close }: OpenDuckdb, query: string): Promise<TypedRows> {
  const { StatementType } = await loadDuckdb();
  const failed = (error: unknown): never => {
    throw error instanceof UsageError ? error : new UsageError(`The query failed: ${firstLine(error)}. Mend --sql.`);
  };
  const result = await select(connection, query, StatementType.SELECT).catch(failed);
  const columns = result.columnNames();
  const types = result.columnTypes().map(String);
  async function* batches() {
    try {
      for await (const rows of result.yieldRows()) {
        yield rows.map((row) => row.map((value, k) => plainValue(value, types[k] ?? "")));
      }
    } catch (error) {
      failed(error);
    }
  }
  const inUtc = columns.filter((_, k) => types[k]?.startsWith("TIMESTAMP WITH TIME ZONE") ?? false);
  return { columns, inUtc, batches: batches(), close: async () => close() };
}

/** Streams the one statement of a query, if it only reads. */
async function select(connection: DuckDBConnection, query: string, kind: number): Promise<DuckDBResult> {
  const statements = await connection.extractStatements(query);
  if (statements.count !== 1) {
    throw new UsageError(`--sql: expected one select, received ${statements.count} statements. Keep one.`);
  }
  const statement = await statements.prepare(0);
  if (statement.statementType !== kind) throw new UsageError("--sql: expected a select, received another statement.");
  return statement.stream();
}

/** How many of a part of a moment make a millisecond. */
const PARTS = { millis: 1n, micros: 1_000n, nanos: 1_000_000n };

/** A value in a form that `cellText` writes: dates, times of day and decimals of DuckDB are its own. */
function plainValue(value: DuckDBValue, type: string): unknown {
  if (type === "FLOAT") return singleText(value);
  if (typeof value !== "object" || value === null) return value;
  if (type === "DATE" && "days" in value) return dateOf(Number(value.days) * 86_400_000, value);
  if (type.startsWith("TIMESTAMP")) return dateOf(millisecondsOf(value), value);
  // Times of day, and numbers and ids of more digits than a double has.
  return /^(TIME|DECIMAL|HUGEINT|UHUGEINT|UUID)/.test(type) ? decimalText(String(value)) : value;
}

function millisecondsOf(value: object): number {
  if ("seconds" in value) return Number(value.seconds) * 1000;
  for (const [part, count] of Object.entries(PARTS)) {
    if (part in value) return Number((value as Record<string, bigint>)[part]! / count);
  }
  return Number.NaN;
}

/** Infinity and days beyond the calendar stay text, to be refused as written. */
function dateOf(milliseconds: number, value: object): Date | string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? String(value) : date;
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split("\n")[0] ?? "").replace(/\.$/, "");
}
