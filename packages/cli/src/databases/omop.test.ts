/** OMOP: the excerpt of a sample, and tables made with one trap each. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ReadCohort } from "@trajectory-maps/core/ingest";
import { afterAll, describe, expect, it } from "vitest";
import type { Context, Options } from "../commands/command.ts";
import { omopSubjects } from "../commands/omop.ts";
import { readVisits } from "../commands/visits.ts";
import { visitsPath } from "../commands/visits-source.ts";
import { main } from "../main.ts";

const SAMPLE = fileURLToPath(new URL("../../../../examples/omop", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dtm-omop-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The cohort of a question, and all that was said. */
async function ask(options: Options): Promise<ReadCohort & { readonly said: string }> {
  const said: string[] = [];
  const talk = { say: (text: string) => said.push(text), warn: (text: string) => said.push(text) };
  const read = await readVisits(visitsPath(undefined, options), options, { talk } as unknown as Context);
  return { ...read, said: said.join("\n") };
}

/** A folder of tables; rows of measurements are person, concept, day, value, operator, unit. */
function tables(name: string, measurements: readonly string[]): string {
  const path = join(folder, name);
  mkdirSync(path);
  const columns =
    "person_id,measurement_concept_id,measurement_date,value_as_number,operator_concept_id,unit_concept_id";
  const files = {
    // Names of files may be in capitals; the time is never read.
    "MEASUREMENT.csv": [`${columns},measurement_time`, ...measurements.map((row) => `${row},2020-01-01`)],
    "person.csv": [
      "person_id,gender_concept_id,year_of_birth,month_of_birth,day_of_birth",
      "1,8507,1950,3,1",
      "2,8532,1960,5,",
      "3,0,1970,,",
    ],
    "observation_period.csv": [
      "person_id,observation_period_start_date,observation_period_end_date",
      "1,1990-01-01,2021-01-01",
      "1,1980-01-01,1985-01-01",
      "2,2000-01-01,2022-01-01",
    ],
    // One row per person is the rule, and not always kept.
    "death.csv": ["person_id,death_date", "1,2020-07-01", "1,2020-09-01"],
    "condition_occurrence.csv": [
      "person_id,condition_concept_id,condition_start_date",
      "1,77,2019-01-01",
      "2,77,2020-06-01",
      "2,77,2020-03-01",
      "2,78,2020-03-01",
    ],
  };
  for (const [file, lines] of Object.entries(files)) writeFileSync(join(path, file), `${lines.join("\n")}\n`);
  return path;
}

describe("the sample", () => {
  it("is read by one question: 241 rows of two concepts, one an exact repeat", async () => {
    const { cohort, numRows, said } = await ask({ omop: SAMPLE, measurement: "3051825,3016723" });
    expect(numRows).toBe(241);
    expect(cohort.ids).toHaveLength(10);
    expect(cohort.markers[0]).toMatchObject({ marker: { name: "concept 3051825", timeUnit: "years" } });
    expect(cohort.markers[0]?.values).toHaveLength(240);
    expect(said).toMatch(/concept 3051825: 229; concept 3016723: 12/);
  });

  it("has observation periods that begin long before the first value", async () => {
    const first = await ask({ omop: SAMPLE, measurement: "3051825" });
    const period = await ask({ omop: SAMPLE, measurement: "3051825", index: "observation_period" });
    const start = (read: ReadCohort) => Math.min(...(read.cohort.markers[0]?.times ?? []));
    expect(start(first)).toBe(0);
    expect(start(period)).toBeGreaterThan(1);
  });

  it("is fitted by one command, with outcomes for the next one", async () => {
    const run = join(folder, "run");
    const question = ["--omop", SAMPLE, "--measurement", "3051825,3016723", "--outcome", "death,condition:320128"];
    expect(await main(["fit", ...question, "--model", "lmm", "-o", run, "--quiet"])).toBe(0);
    const [header, ...rows] = readFileSync(join(run, "omop-subjects.csv"), "utf8").trim().split("\n");
    expect(header).toBe("id,sex,age,death,death_time,condition_320128,condition_320128_time");
    expect(rows).toHaveLength(10);
  });
});

describe("measurements", () => {
  it("become limits by their operator; others than <, <=, =, >=, > are left out and told", async () => {
    const rows = [
      "1,5,2020-01-01,3,4171756,8",
      "1,5,2021-01-01,4,4171755,8",
      "1,5,2022-01-01,5,4172703,8",
      "1,5,2023-01-01,6,99,8",
    ];
    const { cohort, said } = await ask({ omop: tables("operators", rows), measurement: "5" });
    expect([...(cohort.markers[0]?.censored ?? [])]).toEqual([-1, 1, 0]);
    expect(said).toMatch(/1 row with the operator concept 99/);
  });

  it("without a value are left out by the reader; times are whole days in years of 365.25 days", async () => {
    const rows = ["1,5,2020-01-01,3,,8", "1,5,2020-07-01,,0,8", "1,5,2021-01-01,4,0,8"];
    const { cohort, leftOut } = await ask({ omop: tables("missing", rows), measurement: "5" });
    expect([...(cohort.markers[0]?.times ?? [])]).toEqual([0, 366 / 365.25]);
    expect(leftOut).toEqual([{ code: "missing-value", count: 1 }]);
  });

  it("of one day are kept, but for exact repeats", async () => {
    const rows = ["1,5,2020-01-01,3,0,8", "1,5,2020-01-01,4,0,8", "1,5,2020-01-01,4,0,8"];
    const { cohort, said } = await ask({ omop: tables("same-day", rows), measurement: "5" });
    expect([...(cohort.markers[0]?.values ?? [])]).toEqual([3, 4]);
    expect(said).toMatch(/\[duplicate-rows\].*\[same-time\]/s);
  });

  it("in several units are refused until one is chosen; those without a unit are left out beside one", async () => {
    const omop = tables("units", [
      "1,5,2020-01-01,3,0,8",
      "1,5,2021-01-01,300,0,9",
      "1,5,2022-01-01,4,0,0",
      "1,5,2023-01-01,5,0,",
    ]);
    await expect(ask({ omop, measurement: "5" })).rejects.toThrow(
      /unit concepts 8 \(1 row\), 9 \(1 row\).*--unit-concept/,
    );
    const chosen = await ask({ omop, measurement: "5", unitConcept: "8" });
    expect([...(chosen.cohort.markers[0]?.values ?? [])]).toEqual([3]);
    expect(chosen.said).toMatch(/3 rows in other units, or without one, are left out/);
    const both = await ask({ omop, measurement: "5", unitConcept: "8,0" });
    expect([...(both.cohort.markers[0]?.values ?? [])]).toEqual([3, 4, 5]);
    const none = await ask({ omop: tables("no-unit", ["1,5,2020-01-01,3,0,0"]), measurement: "5" });
    expect(none.said).toMatch(/no unit \(unit_concept_id 0\)/);
  });

  it("are counted from a condition or from birth; who has no such day is left out and told", async () => {
    const omop = tables("index", ["1,5,2020-01-01,3,0,8", "2,5,2020-03-02,4,0,8", "3,5,2020-07-01,5,0,8"]);
    const condition = await ask({ omop, measurement: "5", index: "condition:77" });
    expect(condition.cohort.ids).toEqual(["1", "2"]);
    expect([...(condition.cohort.markers[0]?.times ?? [])]).toEqual([365 / 365.25, 1 / 365.25]);
    expect(condition.said).toMatch(/1 individual without the day of --index condition:77 \(1 row\)/);
    const birth = await ask({ omop, measurement: "5", index: "birth" });
    // Without a day the 15th, without a month the 1st of July.
    const days = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 86_400_000 / 365.25;
    expect([...(birth.cohort.markers[0]?.times ?? [])]).toEqual([
      days("1950-03-01", "2020-01-01"),
      days("1960-05-15", "2020-03-02"),
      days("1970-07-01", "2020-07-01"),
    ]);
  });

  it("that are not there, and questions that cannot be, are refused by their flag", async () => {
    const omop = tables("none", ["1,5,2020-01-01,3,0,8"]);
    await expect(ask({ omop, measurement: "6" })).rejects.toThrow(/--measurement: .*6, of which there is no row/);
    await expect(ask({ omop })).rejects.toThrow(/--measurement/);
    await expect(ask({ omop, measurement: "x" })).rejects.toThrow(/--measurement: expected whole numbers/);
    await expect(ask({ omop, measurement: "5", index: "diagnosis" })).rejects.toThrow(/--index/);
    await expect(ask({ omop: folder, measurement: "5" })).rejects.toThrow(/expected tables such as measurement\.csv/);
    await expect(omopSubjects({ omop, measurement: "5", outcome: "stroke" })).rejects.toThrow(/--outcome/);
  });
});

describe("outcomes", () => {
  it("have the years to them or to the end of observation; none for what was there before", async () => {
    const omop = tables("outcomes", ["1,5,2020-01-01,3,0,8", "2,5,2020-01-01,4,0,8"]);
    const { columns, rows } = await omopSubjects({ omop, measurement: "5", outcome: "death,condition:77" });
    expect(columns).toEqual(["id", "sex", "age", "death", "death_time", "condition_77", "condition_77_time"]);
    const years = (days: number) => String(days / 365.25);
    expect(rows[0]).toEqual(["1", "male", years(25508), "1", years(182), "1", ""]);
    expect(rows[1]).toEqual(["2", "female", years(21780), "0", years(731), "1", years(60)]);
  });
});
