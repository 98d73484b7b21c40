/** Tables in and out of the command line, whatever their format. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { readSubjectsFile } from "@trajectory-maps/core/ingest";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { madeWorkbook } from "../../../test/made-workbook.ts";
import { readBlocks } from "./io/read.ts";
import { main } from "./main.ts";

const folder = mkdtempSync(join(tmpdir(), "dtm-formats-"));
const at = (name: string) => join(folder, name);
const ROWS = Array.from({ length: 180 }, (_, k) => [
  `p${k % 30}`,
  Math.floor(k / 30) + (k % 5) / 8,
  50 + (k % 11) - k / 40,
]);
const CSV = ["id,time,value", ...ROWS.map((row) => row.join(","))].join("\n");

let out = "";
beforeEach(() => {
  out = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

beforeAll(async () => {
  writeFileSync(at("visits.csv"), CSV);
  writeFileSync(at("visits.ndjson"), ROWS.map(([id, time, value]) => JSON.stringify({ id, time, value })).join("\n"));
  const subjects = {
    name: "Subjects",
    rows: [["id", "age"], ...ROWS.slice(0, 30).map(([id], k) => [id ?? "", 40 + k])],
  };
  const visits = { name: "Visits", rows: [["id", "time", "value"], ...ROWS] };
  writeFileSync(at("study.xlsx"), madeWorkbook([subjects, visits]));
  vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  expect(await main(["fit", at("visits.csv"), "--model", "lmm", "--quiet", "-o", at("run")])).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function inspected(...args: string[]): Promise<unknown> {
  out = "";
  expect(await main(["inspect", ...args, "--json", "--quiet"])).toBe(0);
  return JSON.parse(out);
}

describe("tables", () => {
  it("are read alike as CSV, JSON and a sheet of a workbook", async () => {
    const csv = await inspected(at("visits.csv"));
    expect(await inspected(at("visits.ndjson"))).toEqual(csv);
    expect(await inspected(at("study.xlsx"), "--sheet", "Visits")).toEqual(csv);
    expect(await inspected(at("study.xlsx"), "--sheet", "2")).toEqual(csv);
  });

  it("of individuals stand in a sheet of their own: study.xlsx#Subjects", async () => {
    const args = [
      at("study.xlsx"),
      "--sheet",
      "Visits",
      "--subjects",
      `${at("study.xlsx")}#Subjects`,
      "--covariates",
      "age",
    ];
    expect(await main(["fit", ...args, "--dry-run", "--quiet", "-o", at("described")])).toBe(0);
  });

  it("are written as Parquet or CSV, private, with the same numbers, and never over others", async () => {
    expect(await main(["embed", at("run"), at("visits.csv"), "--quiet"])).toBe(0);
    const printed = out;
    for (const name of ["places.parquet", "places.csv"]) {
      expect(await main(["embed", at("run"), at("visits.csv"), "--quiet", "-o", at(name)])).toBe(0);
      expect(statSync(at(name)).mode & 0o777).toBe(0o600);
      const { table } = await readSubjectsFile(readBlocks(at(name)));
      const lines = table.ids.map((_, row) => table.columns.map(({ cells }) => cells[row]).join(","));
      expect([table.columns.map(({ name: column }) => column).join(","), ...lines, ""].join("\n")).toBe(printed);
      expect(await main(["embed", at("run"), at("visits.csv"), "--quiet", "-o", at(name)])).toBe(2);
    }
    expect(await main(["embed", at("run"), at("visits.csv"), "--quiet", "-o", at("places.xlsx")])).toBe(2);
  });

  it("of predictions come back with their columns", async () => {
    const args = ["predict", at("run"), at("visits.csv"), "--at", "0:5:1", "--quiet", "-o", at("courses.parquet")];
    expect(await main(args)).toBe(0);
    const { table } = await readSubjectsFile(readBlocks(at("courses.parquet")));
    expect(table.ids).toHaveLength(180);
    expect(table.columns.map(({ name }) => name)).toEqual(expect.arrayContaining(["time", "mean", "lower", "upper"]));
  });
});
