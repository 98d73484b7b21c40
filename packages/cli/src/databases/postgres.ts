/**
 * Queries of PostgreSQL: the one module that knows the package `postgres`. The session may only read; rows come by a cursor of their own
 * connection, 10,000 at a time. Values come as text where JavaScript would change them: dates (a day may shift), numeric, bigint. Moments
 * with a time zone are those of UTC.
 */
import { decimalText, type TypedRows } from "@trajectory-maps/core/ingest";
import postgres from "postgres";
import { FileError, UsageError } from "../exit-codes.ts";
import { codeOf } from "../io/read.ts";
import { shownAddress } from "./address.ts";

const ROWS_AT_ONCE = 10_000;

/** Moments with a time zone, of which the database keeps the moment and not the zone. */
const WITH_TIME_ZONE = 1184;

/** Numbers of PostgreSQL's types, and how their texts are written in the normal form. */
const TYPES: Readonly<Record<string, { readonly from: number[]; readonly parse: (text: string) => unknown }>> = {
  date: { from: [1082], parse: (text) => text },
  moment: { from: [1114, WITH_TIME_ZONE], parse: momentText },
  numeric: { from: [1700], parse: (text) => (text === "NaN" ? "" : decimalText(text)) },
  bigint: { from: [20], parse: (text) => text },
  boolean: { from: [16], parse: (text) => text === "t" },
  real: { from: [700], parse: (text) => (text === "NaN" ? "" : text) },
};

/** 2020-01-31 10:15:00+00 as 2020-01-31T10:15:00; midnight as the day alone. */
function momentText(text: string): string {
  const [day = "", time = ""] = text.replace(/[+-]\d{2}(?::?\d{2})?$/, "").split(" ");
  return time === "00:00:00" || time === "" ? day : `${day}T${time}`;
}

type Sql = ReturnType<typeof postgres>;

/** Opens a session that may only read. */
function openPostgres(address: string, settings: Readonly<Record<string, string>> = {}): Sql {
  const types = Object.entries(TYPES).map(([name, { from, parse }]) => [
    name,
    { to: from[0] ?? 0, from, parse, serialize: String },
  ]);
  return postgres(address, {
    max: 1,
    connect_timeout: 20,
    onnotice: () => {},
    types: Object.fromEntries(types) as Record<string, postgres.PostgresType>,
    connection: {
      application_name: "dtm",
      default_transaction_read_only: true,
      TimeZone: "UTC",
      DateStyle: "ISO",
      ...settings,
    },
  });
}

/** The answer to one select. */
export async function queryPostgres(
  address: string,
  query: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<TypedRows> {
  let sql: Sql;
  try {
    sql = openPostgres(address, settings);
  } catch {
    // What the package says may hold the whole address.
    throw new UsageError("--database: expected postgres://user@host:port/name, received another address.");
  }
  const close = async () => sql.end({ timeout: 5 });
  try {
    const { columns } = await sql.unsafe(query).describe();
    if (columns.length === 0) throw new UsageError("--sql: expected a select, received another statement.");
    const cursor = sql.unsafe(query).values().cursor(ROWS_AT_ONCE);
    async function* batches() {
      try {
        for await (const rows of cursor) yield rows as readonly (readonly unknown[])[];
      } catch (error) {
        throw failure(error, address);
      }
    }
    const inUtc = columns.filter(({ type }) => type === WITH_TIME_ZONE).map(({ name }) => name);
    return { columns: columns.map(({ name }) => name), inUtc, batches: batches(), close };
  } catch (error) {
    await close();
    throw failure(error, address);
  }
}

function failure(error: unknown, address: string): Error {
  if (error instanceof UsageError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  // Codes of five characters are those of the server; class 28 and 3D are about who may open what.
  if (/^[0-9A-Z]{5}$/.test(code) && !/^(28|3D)/.test(code)) {
    return new UsageError(`The query failed: ${message.replace(/\.$/, "")}. Mend --sql.`);
  }
  const said = /^[0-9A-Z]{5}$/.test(code) ? message : code || "no connection";
  return new FileError(
    `${shownAddress(address)} cannot be read: ${said}. Check the address, the name and the password.`,
  );
}
