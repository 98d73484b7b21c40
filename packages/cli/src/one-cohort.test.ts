/** One cohort through every door of the command line: the visits that a run keeps are the same byte for byte. */
import { mkdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import * as arrow from "apache-arrow";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, describe, expect, it } from "vitest";
import { madeWorkbook } from "../../../test/made-workbook.ts";
import { run, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);

const DAY = 86_400_000;
/** Days since 1970 and values in mg/dL of fifteen individuals, ids as databases number people. */
const ROWS = Array.from({ length: 15 }, (_, i) => i).flatMap((i) =>
  Array.from({ length: 3 + (i % 4) }, (_, j) => ({
    id: 101 + i,
    day: 17_000 + 31 * i + 170 * j + ((i * j) % 9),
    value: Math.round(100 * (0.8 + 0.05 * i + 0.1 * j + 0.03 * ((i + 2 * j) % 5))) / 100,
  })),
);
const iso = (day: number) => new Date(day * DAY).toISOString().slice(0, 10);
const german = (day: number) => iso(day).split("-").reverse().join(".");
const american = (day: number) => iso(day).replace(/(\d+)-(\d+)-(\d+)/, "$2/$3/$1");
const HEADER = ["id", "date", "value"];

function delimited(mark: string, cells: (row: (typeof ROWS)[number]) => readonly (string | number)[], end = "\n") {
  return [HEADER, ...ROWS.map(cells)].map((row) => row.join(mark)).join(end);
}

const TABLES: readonly (readonly [string, string | Uint8Array])[] = [
  ["commas.csv", delimited(",", ({ id, day, value }) => [id, iso(day), value])],
  [
    "semicolons.csv",
    delimited(";", ({ id, day, value }) => [id, german(day), String(value).replace(".", ",")], "\r\n"),
  ],
  ["tabs.tsv", `\ufeff${delimited("\t", ({ id, day, value }) => [id, american(day), value])}`],
  ["bars.txt", delimited("|", ({ id, day, value }) => [`"${id}"`, `${iso(day)}T23:30:00-05:00`, value])],
  ["unicode.txt", Buffer.from(`\ufeff${delimited("\t", ({ id, day, value }) => [id, iso(day), value])}`, "utf16le")],
  ["packed.csv.gz", gzipSync(delimited(",", ({ id, day, value }) => [id, iso(day), value]))],
  ["rows.ndjson", ROWS.map(({ id, day, value }) => JSON.stringify({ id, date: iso(day), value })).join("\n")],
  [
    "book.xlsx",
    // Days of a workbook are counted from 30 December 1899.
    madeWorkbook([
      { name: "Visits", rows: [HEADER, ...ROWS.map(({ id, day, value }) => [id, { serial: day + 25_569 }, value])] },
    ]),
  ],
  [
    "columns.parquet",
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: "id", data: ROWS.map(({ id }) => BigInt(id)), type: "INT64" },
          { name: "date", data: ROWS.map(({ day }) => new Date(day * DAY)), type: "TIMESTAMP" },
          { name: "value", data: ROWS.map(({ value }) => value), type: "DOUBLE" },
        ],
      }),
    ),
  ],
  [
    "columns.arrow",
    arrow.tableToIPC(
      new arrow.Table({
        id: arrow.vectorFromArray(
          ROWS.map(({ id }) => id),
          new arrow.Int32(),
        ),
        date: arrow.vectorFromArray(
          ROWS.map(({ day }) => new Date(day * DAY)),
          new arrow.DateDay(),
        ),
        value: arrow.vectorFromArray(
          ROWS.map(({ value }) => value),
          new arrow.Float64(),
        ),
      }),
      "file",
    ),
  ],
];

const MARKER = ["--marker", "creatinine", "--unit", "mg/dL"];

/** The visits that a run keeps of what it read. */
async function kept(name: string, ...source: string[]): Promise<string> {
  const fitted = await run("fit", ...source, ...MARKER, "--model", "lmm", "--quiet", "-o", here.at(name));
  expect(fitted.talk).not.toContain("error");
  expect(fitted.code).toBe(0);
  return here.text(name, "visits.csv");
}

describe("one cohort", async () => {
  const expected = await kept("run", here.file("visits.csv", TABLES[0]![1]));

  it("has a visit for each row, in years since the first", () => {
    const lines = expected.trim().split("\n");
    expect(lines).toHaveLength(ROWS.length + 1);
    expect(Number(lines[2]!.split(",")[1])).toBe(170 / 365.25);
  });

  it.each(TABLES)("as %s", async (name, bytes) => {
    expect(await kept(`run-${name}`, here.file(name, bytes))).toBe(expected);
  });

  it("as the answer of DuckDB", async () => {
    const query = `select id, date, value from '${here.file("queried.csv", TABLES[0]![1])}'`;
    expect(await kept("run-sql", "--sql", query)).toBe(expected);
  });

  it("as resources of FHIR", async () => {
    const code = { coding: [{ system: "http://loinc.org", code: "2160-0" }] };
    const observations = ROWS.map(({ id, day, value }, k) =>
      JSON.stringify({
        ...{ resourceType: "Observation", id: `o${k}`, status: "final", code },
        ...{ subject: { reference: `Patient/${id}` }, effectiveDateTime: `${iso(day)}T09:00:00+01:00` },
        valueQuantity: { value, unit: "mg/dL", system: "http://unitsofmeasure.org", code: "mg/dL" },
      }),
    );
    const file = here.file("Observation.ndjson", observations.join("\n"));
    expect(await kept("run-fhir", "--fhir", file, "--code", "2160-0")).toBe(expected);
  });

  it("as measurements of OMOP", async () => {
    mkdirSync(here.at("cdm"));
    const columns =
      "measurement_id,person_id,measurement_concept_id,measurement_date,value_as_number,operator_concept_id,unit_concept_id";
    const rows = ROWS.map(({ id, day, value }, k) => [k, id, 3_016_723, iso(day), value, 0, 8840].join(","));
    here.file("cdm/measurement.csv", [columns, ...rows].join("\n"));
    const question = ["--measurement", "3016723", "--index", "first"];
    expect(await kept("run-omop", "--omop", here.at("cdm"), ...question)).toBe(expected);
    // The same tables in a DuckDB file, with types of their own.
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const database = await DuckDBInstance.create(here.at("cdm.duckdb"));
    const connection = await database.connect();
    await connection.run(`create table measurement as select * from '${here.at("cdm", "measurement.csv")}'`);
    connection.closeSync();
    database.closeSync();
    expect(await kept("run-omop-file", "--omop", here.at("cdm.duckdb"), ...question)).toBe(expected);
  });
});
