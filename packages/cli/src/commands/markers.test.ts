import { fileURLToPath } from "node:url";
import { simulatePlaces } from "@trajectory-maps/core";
import { afterAll, describe, expect, it } from "vitest";
import { run, workplace } from "../../test/harness.ts";
import { simulateContract } from "../contract-individuals.ts";
import { inspectMarkersContract } from "../contract-tables.ts";
import { readVisitsCopy } from "../io/run-folder.ts";
import { markersOf } from "./marker-list.ts";

const VISITS = fileURLToPath(new URL("../../../../examples/pbc/visits.csv", import.meta.url));
const DEFAULT = { unit: "", timeUnit: "", transform: "identity" } as const;
const here = workplace();
afterAll(here.clear);

describe("dtm simulate markers", () => {
  it("writes tables that are read back as several markers and covariates", async () => {
    const folder = here.at("pair");
    const { code, out } = await run(
      ...["simulate", "markers", "--relation", "one-axis", "--num-markers", "2", "--individuals", "60"],
      ...["--covariates", "places", "-o", folder],
    );
    expect(code).toBe(0);
    expect(out).toContain("of marker 1, marker 2");
    expect(here.text("pair", "subjects.csv").split("\n")[0]).toBe("id,c1,c2,c3,c4,c5,x1,x2");
    const markers = ["marker 1", "marker 2"].map((name) => ({ ...DEFAULT, name }));
    const read = await readVisitsCopy(here.at("pair", "visits.csv"), markers);
    const drawn = simulatePlaces({ relation: "one-axis", numMarkers: 2, numIndividuals: 60, covariates: "places" });
    expect(read.cohort).toEqual(drawn.cohort);
    const printed = await run("simulate", "markers", "--individuals", "5", "--json");
    expect(simulateContract.parse(JSON.parse(printed.out)).markers).toHaveLength(2);
    const wrong = await run("simulate", "pfvc", "--relation", "unrelated");
    expect([wrong.code, wrong.talk]).toEqual([
      2,
      expect.stringContaining("--relation: expected with dtm simulate markers"),
    ]);
  });
});

describe("--markers", () => {
  it("lists columns with transforms and units", () => {
    expect(markersOf({ markers: "bili:log[mg/dl], albumin ,pro time:log,x[a, b]" })).toEqual([
      { column: "bili", transform: "log", unit: "mg/dl" },
      { column: "albumin", transform: "identity" },
      { column: "pro time", transform: "log" },
      { column: "x", transform: "identity", unit: "a, b" },
    ]);
    expect(markersOf({ markers: '"a, b":log[x],"c:d","say ""e""":sqrt' })).toEqual([
      { column: "a, b", transform: "log", unit: "x" },
      { column: "c:d", transform: "identity" },
      { column: 'say "e"', transform: "sqrt" },
    ]);
    expect(() => markersOf({ markers: "c:d" })).toThrow(
      /received "d" in "c:d". Put a name that holds .* in double quotes/,
    );
    expect(markersOf({})).toBeUndefined();
    expect(() => markersOf({ markers: "bili:ln" })).toThrow(/identity, log, log1p.*received "ln" in "bili:ln"/);
    expect(() => markersOf({ markers: ",", value: "x" })).toThrow(/--value/);
    expect(() => markersOf({ markerColumn: "test" })).toThrow(/expected with --markers/);
  });

  it("makes inspect tell of each marker who has it", async () => {
    const asked = ["inspect", VISITS, "--markers", "bili:log[mg/dl],albumin,chol", "--time-unit", "years"];
    const { code, out } = await run(...asked);
    expect(code).toBe(0);
    expect(out).toContain("312 individuals, 5,014 observations of 3 markers");
    expect(out).toMatch(/chol +identity +304 +8 +1,124/);
    const printed = await run(...asked, "--json");
    const json = inspectMarkersContract.parse(JSON.parse(printed.out));
    expect(json.lacking).toEqual([0, 0, 8]);
    expect(json.measured.slice(0, 3)).toEqual([312, 312, 304]);
    expect(json.markers.map(({ observations }) => observations)).toEqual([1945, 1945, 1124]);
    expect(json.markers[0]?.marker).toMatchObject({ name: "bili", unit: "mg/dl", timeUnit: "years", transform: "log" });
  });

  it("reads the same from a table with one value column", async () => {
    const long = ["id,time,test,result"];
    for (let k = 0; k < 60; k++) {
      long.push(`p${k % 25},${k},bili,${1 + (k % 7)}`);
      long.push(`p${k % 25},${k},albumin,${3 + ((3 * k) % 5)}`);
      long.push(`p${k % 25},${k},platelets,200`);
    }
    const path = here.file("long.csv", `${long.join("\n")}\n`);
    const { code, out } = await run(
      "inspect",
      path,
      "--marker-column",
      "test",
      "--markers",
      "albumin,bili:log",
      "--json",
    );
    expect(code).toBe(0);
    const json = inspectMarkersContract.parse(JSON.parse(out));
    expect(json.markers.map(({ marker }) => marker.name)).toEqual(["albumin", "bili"]);
    expect(json.rowsLeftOut).toBe(60);
    const constant = await run("inspect", path, "--marker-column", "test", "--markers", "albumin,platelets");
    expect([constant.code, constant.talk]).toEqual([3, expect.stringContaining("values of platelets that differ")]);
  });

  it("is refused beside options of one marker, and for a column that is not there", async () => {
    const mixed = await run("inspect", VISITS, "--markers", "bili,albumin", "--unit", "mg/dl");
    expect([mixed.code, mixed.talk]).toEqual([2, expect.stringContaining("bili:log[mg/dl]")]);
    const absent = await run("inspect", VISITS, "--markers", "bili,ferritin");
    expect([absent.code, absent.talk]).toEqual([3, expect.stringContaining('a column "ferritin"')]);
  });
});
