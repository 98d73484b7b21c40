/** A real PostgreSQL: the same cohort byte for byte as from a file and from DuckDB, and nothing but reading. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { queryPostgres } from "../packages/cli/src/databases/postgres.ts";
import { main } from "../packages/cli/src/main.ts";
import { cellText } from "../packages/core/src/ingest/cell-text.ts";
import { postgresPrograms, startPostgres } from "./postgres-server.ts";
import { ROOT } from "./root.ts";

const programs = postgresPrograms();
if (programs === undefined) process.stderr.write("PostgreSQL is not installed: its tests are passed over.\n");

describe.skipIf(programs === undefined)("PostgreSQL", () => {
  const folder = mkdtempSync(join(tmpdir(), "dtm-sql-"));
  const pbc = join(ROOT, "examples", "pbc", "visits.csv");
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let sql: ReturnType<typeof postgres>;

  beforeAll(async () => {
    vi.spyOn(process.stdout, "write").mockImplementation(() => true);
    server = await startPostgres(programs!);
    sql = postgres(server.address, { max: 1, onnotice: () => {} });
    await load("public", "visits", pbc, (column) => (column === "id" ? "bigint" : "text"));
    await sql.unsafe("create schema cdm");
    for (const table of ["measurement", "person", "observation_period", "death", "condition_occurrence"]) {
      await load("cdm", table, join(ROOT, "examples", "omop", `${table}.csv`), omopType);
    }
  });

  afterAll(async () => {
    vi.restoreAllMocks();
    await sql?.end();
    server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A table with the rows of a file without quotes. */
  async function load(schema: string, table: string, path: string, type: (column: string) => string): Promise<void> {
    const [header = "", ...lines] = readFileSync(path, "utf8").trim().split(/\r?\n/);
    const columns = header.split(",");
    await sql.unsafe(`create table ${schema}.${table} (${columns.map((name) => `${name} ${type(name)}`).join(", ")})`);
    for (let from = 0; from < lines.length; from += 500) {
      const rows = lines.slice(from, from + 500).map((line) => {
        const cells = line.split(",").map((cell) => (cell === "" || cell === "NA" ? "null" : `'${cell}'`));
        return `(${cells.join(", ")})`;
      });
      await sql.unsafe(`insert into ${schema}.${table} values ${rows.join(", ")}`);
    }
  }

  const omopType = (column: string) => {
    if (/_date$/.test(column)) return "date";
    if (/_datetime$/.test(column)) return "timestamp";
    if (/value_as_number|range_/.test(column)) return "numeric";
    return /source_value|_time$|stop_reason/.test(column) ? "text" : "bigint";
  };

  async function fitted(name: string, args: readonly string[]): Promise<Record<"model" | "visits" | "run", string>> {
    const run = join(folder, name);
    expect(await main(["fit", ...args, "--model", "lmm", "--quiet", "--seed", "1", "-o", run])).toBe(0);
    const read = (file: string) => readFileSync(join(run, file), "utf8");
    return { model: read("model.json"), visits: read("visits.csv"), run: read("run.json") };
  }

  it("gives the same cohort, byte for byte, as the file and DuckDB; no password is recorded", async () => {
    const picked = ["--id", "id", "--time", "time", "--value", "bili", "--transform", "log"];
    const file = await fitted("file", [pbc, ...picked]);
    const duck = await fitted("duck", ["--sql", `select id, time, bili from '${pbc}'`, ...picked]);
    const query = "select id, time::float8 as time, bili::numeric as bili from visits";
    const server_ = await fitted("postgres", ["--database", server.address, "--sql", query, ...picked]);
    expect(duck.visits).toBe(file.visits);
    expect(server_.visits).toBe(file.visits);
    expect(server_.run).not.toContain("secret");
    expect(server_.run).toContain("postgres:///postgres");
  });

  it("gives the OMOP sample as DuckDB does", async () => {
    const question = ["--measurement", "3051825,3016723", "--outcome", "death,condition:320128", "--index", "birth"];
    const duck = await fitted("omop-duck", ["--omop", join(ROOT, "examples", "omop"), ...question]);
    const own = await fitted("omop-postgres", ["--omop", server.address, "--schema", "cdm", ...question]);
    expect(own.visits).toBe(duck.visits);
    const subjects = (run: string) => readFileSync(join(folder, run, "omop-subjects.csv"), "utf8");
    expect(subjects("omop-postgres")).toBe(subjects("omop-duck"));
  });

  it("hands over dates, moments, numbers and truth in the normal form", async () => {
    const rows = await queryPostgres(
      server.address,
      `select date '2020-01-31' as day, timestamp '2020-01-31 10:15:00' as moment, timestamptz '2020-01-31 23:30-05' as instant,
        1.50::numeric as price, 0.1::real as single, 9007199254740993::bigint as id, true as alive, null::int as none, 1e-7::float8 as small`,
    );
    const cells: unknown[] = [];
    for await (const batch of rows.batches) for (const row of batch) cells.push(row.map(cellText));
    await rows.close?.();
    expect(rows.inUtc).toEqual(["instant"]);
    const expected = ["2020-01-31", "2020-01-31T10:15:00", "2020-02-01T04:30:00", "1.5", "0.1", "9007199254740993"];
    expect(cells).toEqual([[...expected, "true", "", "1e-7"]]);
  });

  it("only reads, and says what is wrong without the password", async () => {
    await expect(queryPostgres(server.address, "insert into visits select * from visits")).rejects.toThrow(/a select/);
    const deleting = await queryPostgres(server.address, "delete from visits returning id").catch((error) => error);
    const all = async () => {
      for await (const _ of deleting.batches);
    };
    await expect(all()).rejects.toThrow(/read-only transaction/);
    await deleting.close();
    await expect(queryPostgres(server.address, "select nothing")).rejects.toThrow(/column "nothing" does not exist/);
    const elsewhere = server.address.replace(/:\d+\//, ":1/");
    const failed = await queryPostgres(elsewhere, "select 1").catch((error: Error) => error.message);
    expect(failed).toMatch(/cannot be read: ECONNREFUSED/);
    expect(failed).not.toContain("secret");
    expect(await sql`select count(*)::int as n from visits`).not.toEqual([{ n: 0 }]);
  });

  it("streams many rows by a cursor, and stops where the reader stops", async () => {
    const query = "select i as id, 0 as nothing from generate_series(1, 1000000) as i";
    expect(await main(["inspect", "--database", server.address, "--sql", query, "--quiet"])).toBe(3);
    const many = "select i / 10 as id, i % 10 as time, i % 7 as value from generate_series(1, 200000) as i";
    expect(await main(["inspect", "--database", server.address, "--sql", many, "--quiet", "--json"])).toBe(0);
  });
});
