import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cohort, readCohort } from "@trajectory-maps/core";
import { cellText, readCohortFile, type TypedRows } from "@trajectory-maps/core/ingest";
import { afterAll, describe, expect, it } from "vitest";
import { run } from "../../test/harness.ts";
import { commandText } from "../command-line.ts";
import { main } from "../main.ts";
import { shownAddress } from "./address.ts";
import { queryDuckdb } from "./duckdb.ts";

const folder = mkdtempSync(join(tmpdir(), "dtm-duckdb-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const CSV = "id,time,value\na,0,80.25\na,0.5,\na,1.5,77\nb,0.1,0.30000000000000004\nb,2,1e-7\n";
const path = join(folder, "visits.csv");
writeFileSync(path, CSV);

async function allRows({ batches, close }: TypedRows): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for await (const batch of batches) rows.push(...batch.map((row) => [...row]));
  await close?.();
  return rows;
}

async function cohortOf(query: string): Promise<Cohort> {
  return (await readCohortFile(await queryDuckdb(undefined, query))).cohort;
}

describe("DuckDB", () => {
  it("gives the cohort of a file, also from Parquet and JSON, and whatever the types", async () => {
    const { cohort } = readCohort(CSV);
    expect(await cohortOf(`select * from '${path}'`)).toEqual(cohort);
    expect(await cohortOf(`select id, time::decimal(9,4) as time, value from '${path}'`)).toEqual(cohort);
    const numbered = await cohortOf(
      `select rank_of as id, time, value from (select *, dense_rank() over (order by id) as rank_of from '${path}')`,
    );
    expect(numbered.ids).toEqual(["1", "2"]);
  });

  it("hands over dates as days, moments with their time, decimals and 32-bit numbers as they are written", async () => {
    const query = `select date '2020-01-31' as day, timestamp '2020-01-31 10:15:00' as moment, 1.50::decimal(9,2) as price,
      0.1::float as single, 9007199254740993::bigint as id, true as alive, null as none, 170141183460469231731687303715884105727::hugeint as huge`;
    const rows = await queryDuckdb(undefined, query);
    const [cells = []] = await allRows(rows);
    expect(cells.map(cellText)).toEqual([
      "2020-01-31",
      "2020-01-31T10:15:00",
      "1.5",
      "0.1",
      "9007199254740993",
      "true",
      "",
      "170141183460469231731687303715884105727",
    ]);
  });

  it("knows moments of every precision, times of day for what they are, and long ids", async () => {
    const cells = async (select: string) => {
      const rows = await queryDuckdb(undefined, `select ${select}`);
      return { cells: (await allRows(rows)).flatMap((row) => row.map(cellText)), inUtc: rows.inUtc };
    };
    const moment = "'1950-01-31 10:15:00'";
    const every = ["timestamp_s", "timestamp_ms", "timestamp", "timestamp_ns"].map((type) => `${type} ${moment}`);
    expect((await cells(every.join(", "))).cells).toEqual(every.map(() => "1950-01-31T10:15:00"));
    const zoned = await cells("timestamptz '2020-01-31 23:30:00-05' as seen, timestamp '2020-01-31 23:30:00' as noted");
    expect(zoned).toEqual({ cells: ["2020-02-01T04:30:00", "2020-01-31T23:30:00"], inUtc: ["seen"] });
    const id = "6f9619ff-8b86-d011-b42d-00c04fc964ff";
    expect((await cells(`time '10:30:00', '${id}'::uuid, 'infinity'::timestamp, null::time`)).cells).toEqual([
      ...["10:30:00", id, "infinity", ""],
    ]);
  });

  it("refuses lists by their column, and statements that do more than read", async () => {
    const nested = await queryDuckdb(undefined, "select 'a' as id, 0 as time, [1, 2] as value");
    await expect(readCohortFile(nested)).rejects.toMatchObject({ code: "nested-cell" });
    const out = join(folder, "out.csv");
    for (const query of [
      `copy (select 1) to '${out}'`,
      "create table x as select 1",
      "select 1; select 2",
      "attach 'x'",
    ])
      await expect(queryDuckdb(undefined, query)).rejects.toThrow(/expected (a|one) select/);
    expect(existsSync(out)).toBe(false);
  });

  it("fetches no extension, and has a limit of memory", async () => {
    await expect(queryDuckdb(undefined, "select * from 's3://bucket/visits.parquet'")).rejects.toThrow(
      /Missing Extension/,
    );
    const settings = `select current_setting('memory_limit') as a, current_setting('autoinstall_known_extensions') as b,
      current_setting('autoload_known_extensions') as c`;
    expect(await allRows(await queryDuckdb(undefined, settings))).toEqual([["190.7 MiB", false, false]]);
  });

  it("says that a bare alias may be a keyword, as the query's own fault", async () => {
    await expect(queryDuckdb(undefined, "select 1 days")).rejects.toThrow(/^The query failed: .*Mend --sql\.$/);
  });
});

describe("dtm --sql", () => {
  it("fits the same model as from the file, and records the query without folders", async () => {
    const many = Array.from({ length: 240 }, (_, k) => `p${k % 40},${Math.floor(k / 40)},${50 + (k % 7) - k / 30}`);
    const visits = join(folder, "many.csv");
    writeFileSync(visits, ["id,time,value", ...many].join("\n"));
    const common = ["--model", "lmm", "--quiet", "--seed", "3"];
    expect(await main(["fit", visits, ...common, "-o", join(folder, "file")])).toBe(0);
    expect(await main(["fit", "--sql", `select * from '${visits}'`, ...common, "-o", join(folder, "query")])).toBe(0);
    const read = (run: string, name: string) => readFileSync(join(folder, run, name), "utf8");
    expect(read("query", "visits.csv")).toBe(read("file", "visits.csv"));
    const { command, source } = JSON.parse(read("query", "run.json"));
    expect(command).toContain("from '\\''many.csv'\\''");
    expect(source).toBe("the query");
  });

  it.each(["", " \n", "-- select 1", "/* all\n */ ;"])(
    "refuses the empty query %j, and says what to write",
    async (query) => {
      const { code, talk } = await run("inspect", "--sql", query);
      expect([code, talk]).toEqual([
        2,
        expect.stringContaining("--sql: expected a select, received an empty query. Write one"),
      ]);
    },
  );

  it("never tells a password", () => {
    const address = "postgres://me:secret@host.example:5432/clinic?password=secret";
    expect(shownAddress(address)).toBe("postgres:///clinic");
    expect(shownAddress("postgres://me:secret@[bad")).toBe("postgres:");
    for (const words of [["--database", address], [`--database=${address}`]]) {
      const text = commandText(["fit", ...words, "--sql", "select * from '../folder/a.csv'"]);
      expect(text).not.toMatch(/secret|host\.example|folder/);
    }
  });
});
