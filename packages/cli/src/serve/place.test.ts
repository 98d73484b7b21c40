/** What the server says of somebody is what the commands say, to the last digit. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../../test/harness.ts";
import { explain } from "./explain.ts";
import { mapOf } from "./map.ts";
import { loadServed, namedPaths, type ServedModel } from "./models.ts";
import { placeSomebody } from "./place.ts";
import { mapResponse, modelInfo, type PlaceRequest, placeResponse } from "./schemas.ts";

const here = workplace();
afterAll(here.clear);

type Row = Record<string, unknown>;
const LIMIT = 60;

/** Rows of a table of visits by individual, as a request holds them. */
function visitsById(csv: string, marker?: (cells: string[]) => string): Map<string, PlaceRequest["visits"]> {
  const found = new Map<string, PlaceRequest["visits"]>();
  for (const line of csv.trimEnd().split("\n").slice(1)) {
    const cells = line.split(",");
    const [id = "", time = "", value = ""] = marker === undefined ? cells : [cells[0], cells[2], cells[3]];
    const visit = { time: Number(time), value: value.startsWith("<") ? value : Number(value) };
    const named = marker === undefined ? visit : { ...visit, marker: marker(cells) };
    // In any order.
    found.set(id, [named, ...(found.get(id) ?? [])]);
  }
  return found;
}

/** The fields of a record that another one has. */
function like(row: Row, model: Row): Row {
  return Object.fromEntries(Object.keys(model).map((key) => [key, row[key]]));
}

describe("somebody placed by a run of one marker with limits, groups and a calibration", () => {
  const folder = here.at("run");
  const [header = "", ...lines] = smallCohort(60).visits.trimEnd().split("\n");
  const cut = lines.map((line) => {
    const [id, time, value] = line.split(",");
    return Number(value) >= LIMIT ? line : `${id},${time},<${LIMIT}`;
  });
  const table = `${[header, ...cut].join("\n")}\n`;
  const visits = here.file("visits.csv", table);
  const people = [...visitsById(table)].slice(0, 6);
  let served: ServedModel;
  beforeAll(async () => {
    const columns = ["--id", "patient", "--time", "years", "--value", "fvc", "--time-unit", "years"];
    expect((await run("fit", visits, ...columns, "--restarts", "0", "-o", folder)).code).toBe(0);
    expect((await run("groups", folder, "--groups", "3", "--stability", "0")).code).toBe(0);
    expect((await run("calibrate", folder, "--folds", "2")).code).toBe(0);
    served = await loadServed("run", folder);
  });

  it("is described without a word of anybody", () => {
    expect(modelInfo.parse(served.info)).toEqual(served.info);
    expect(served.info).toMatchObject({ name: "run", dimension: 2, individuals: 60, guarded: true });
    expect(served.info.markers[0]).toMatchObject({ name: "fvc", calibrated: true });
    expect(served.info.groups.map(({ letter }) => letter)).toEqual(["A", "B", "C"]);
  });

  it("takes few visits beside limits where their noise is correlated, since all others wait", () => {
    const [marker] = served.model.markers;
    const noise = { ...marker!.noise, correlation: { range: 1, whiteShare: 0.5 } };
    const model = { ...served.model, markers: [{ ...marker!, noise }] } as ServedModel["model"];
    const visits = Array.from({ length: 101 }, (_, k) => ({
      time: k / 10,
      value: k === 0 ? `<${LIMIT}` : 70 + (k % 3),
    }));
    expect(() => placeSomebody({ ...served, model }, { visits })).toThrow(/at most 100 visits of fvc/);
  });

  for (const interval of ["observation", "curve", "conformal"] as const) {
    it(`has the forecasts of dtm predict --interval ${interval}`, async () => {
      const { out } = await run(
        "predict",
        folder,
        visits,
        "--at",
        "1,4.5,9,30",
        "--interval",
        interval,
        "--json",
        "-q",
      );
      const rows = (JSON.parse(out) as { predictions: Row[] }).predictions;
      for (const [id, own] of people) {
        const found = placeSomebody(served, { visits: own, at: [1, 4.5, 9, 30], interval, rate: true });
        expect(placeResponse.parse(found)).toEqual(found);
        const expected = rows.filter((row) => row.id === id);
        const [forecast] = found.forecasts;
        expect(forecast).toMatchObject({ marker: "fvc", interval, level: 0.9, guarded: true });
        expect(forecast?.rows).toHaveLength(expected.length);
        forecast?.rows.forEach(({ rate, ...row }, j) => {
          expect(row).toEqual(like(expected[j]!, row));
          expect(rate?.sd).toBeGreaterThan(0);
          expect(rate?.lower).toBeLessThan(rate?.upper ?? Number.NaN);
        });
        expect(found.suspects).toHaveLength(Number(expected[0]?.suspects));
        expect(found.warnings.some((words) => words.includes("extrapolated"))).toBe(true);
      }
    });
  }

  it("has the groups and the size of the region of dtm embed", async () => {
    const { out } = await run("embed", folder, visits, "--json", "-q");
    const { groups, placements } = JSON.parse(out) as { groups: Row[]; placements: Row[] };
    expect(groups.map(({ letter }) => letter)).toEqual(["A", "B", "C"]);
    for (const [id, own] of people) {
      const found = placeSomebody(served, { visits: own });
      const row = placements.find((one) => one.id === id)!;
      // Placed one by one and in blocks: the same to rounding.
      for (const { letter, probability } of found.groups)
        expect(row[`probability_${letter}`]).toBeCloseTo(probability, 8);
      const [likely] = [...found.groups].sort((a, b) => b.probability - a.probability);
      expect(row.group).toBe(likely?.letter);
      expect(row.area90).toBeCloseTo(found.place.area90!, 8);
    }
  });

  it("has calibrated bands unless others are asked for", () => {
    const [, own] = people[0]!;
    expect(placeSomebody(served, { visits: own, at: [9] })).toEqual(
      placeSomebody(served, { visits: own, at: [9], interval: "conformal" }),
    );
  });

  it("crosses a threshold as by dtm predict --threshold", async () => {
    const asked = ["--threshold", "65", "--below", "--from", "1", "--seed", "7"];
    const { out } = await run("predict", folder, visits, ...asked, "--json", "-q");
    const { until, crossings } = JSON.parse(out) as { until: number; crossings: Row[] };
    for (const [id, own] of people) {
      const threshold = { value: 65, direction: "below", from: 1 } as const;
      const { crossing } = placeSomebody(served, { visits: own, threshold, seed: 7 });
      const { marker, until: last, ...row } = crossing!;
      expect([marker, last]).toEqual(["fvc", until]);
      expect(row).toEqual(like(crossings.find((one) => one.id === id)!, row));
    }
  });

  it("has the place of dtm embed, its region, and the groups of the run", async () => {
    const { out } = await run("embed", folder, visits, "--json", "-q");
    const { placements } = JSON.parse(out) as { placements: Record<string, number>[] };
    const groups = here
      .text("run", "groups.csv")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));
    let numSame = 0;
    for (const [id, own] of people) {
      const { place, region, groups: told } = placeSomebody(served, { visits: own });
      const expected = placements.find((row) => String(row.id) === id)!;
      // Many are placed by a kernel, one by the conditioner.
      expect(place.location[0]).toBeCloseTo(expected.x1!, 9);
      expect(place.covariance[0]?.[1]).toBeCloseTo(expected.var12!, 9);
      expect(place.area50).toBeCloseTo(expected.area50!, 9);
      expect(place.area90).toBeCloseTo(expected.area90!, 9);
      expect((region?.cells.length ?? 0) * (region?.cell ?? 0) ** 2).toBeCloseTo(expected.area90!, 9);
      expect(told.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 12);
      const best = [...told].sort((a, b) => b.probability - a.probability)[0];
      if (groups.find(([name]) => name === id)?.[1] === best?.letter) numSame++;
    }
    expect(numSame).toBeGreaterThanOrEqual(5);
  });

  it("leaves out exact repeats, as tables do, and tells values that are probably wrong", () => {
    const [, own] = people[0]!;
    const twice = placeSomebody(served, { visits: [...own, ...own] });
    expect(twice.place).toEqual(placeSomebody(served, { visits: own }).place);
    expect(twice.warnings).toContain(`${own.length} visits repeat another exactly and were left out.`);
    const steady = [0, 1, 2, 3, 4].map((time) => ({ time, value: 80 + (time % 2) }));
    const found = placeSomebody(served, { visits: [...steady, { time: 2.5, value: 800 }] });
    expect(found.suspects).toContainEqual(expect.objectContaining({ marker: "fvc", time: 2.5, value: 800 }));
  });

  it("is refused in words that say where", () => {
    const refuse = (request: PlaceRequest) => {
      try {
        placeSomebody(served, request);
      } catch (error) {
        return (error as { problem: unknown }).problem;
      }
      return undefined;
    };
    expect(refuse({ visits: [{ time: 0, value: "about 80" }] })).toMatchObject({
      code: "not-a-number",
      where: "visits[0].value",
      received: '"about 80"',
    });
    expect(refuse({ visits: [{ time: 1e200, value: 80 }] })).toMatchObject({
      code: "not-finite",
      where: "visits[0].time",
    });
    expect(refuse({ visits: [{ time: 0, value: 1, marker: "bili" }] })).toMatchObject({ code: "other-marker" });
    expect(refuse({ visits: [], covariates: { age: 50 } })).toMatchObject({ where: "covariates", received: "age" });
  });

  it("is said in words", () => {
    const [, own] = people[0]!;
    const request = { visits: own, at: [9], threshold: { value: 65 } };
    const words = explain(served, request, placeSomebody(served, request));
    expect(words).toMatch(/^The map "run" knows courses of fvc of 60 individuals\.\nBy \d+ values the place is \(/);
    expect(words).toMatch(/Most probable groups: [ABC] \(/);
    expect(words).toMatch(
      /fvc at time 9 \(years\): [\d.]+, calibrated 90% band of a new measurement [\d.]+ to [\d.]+\./,
    );
    expect(words).toMatch(/fvc goes (above|below) 65 with probability (0\.\d+|[<>] 0\.\d+) until time/);
  });

  it("has a map to draw, which holds nothing of single individuals", () => {
    const map = mapOf(served);
    expect(mapResponse.parse(JSON.parse(JSON.stringify(map)))).toEqual(JSON.parse(JSON.stringify(map)));
    expect(map.lattice?.inside).toHaveLength(21 * 21);
    expect(map.lattice?.values[0]?.median[220]).toHaveLength(21);
    expect(map.groups.map(({ letter }) => letter)).toEqual(["A", "B", "C"]);
    const text = JSON.stringify(map);
    for (const [id] of visitsById(table)) expect(text).not.toContain(`"${id}"`);
  });

  it("is served by a model file alone without guards and groups, and says so", async () => {
    const bare = await loadServed("bare", here.at("run", "model.json"));
    expect(bare.info).toMatchObject({ guarded: false, groups: [] });
    const found = placeSomebody(bare, { visits: people[0]![1], at: [2], interval: "observation" });
    expect(found.groups).toEqual([]);
    expect(found.warnings[0]).toContain("are not held against");
    const asked = ["--at", "2", "--json", "-q"];
    const { predictions } = JSON.parse((await run("predict", here.at("run", "model.json"), visits, ...asked)).out);
    const [row] = found.forecasts[0]!.rows;
    expect(row).toEqual(like((predictions as Row[]).find(({ id }) => id === people[0]![0])!, row!));
  });
});

describe("somebody placed by a run of two markers with covariates", () => {
  const folder = here.at("two");
  let served: ServedModel;
  beforeAll(async () => {
    const recipe = ["--num-markers", "2", "--covariates", "places", "--individuals", "60", "--seed", "4"];
    await run("simulate", "markers", ...recipe, "-o", here.at("drawn"));
    const markers = ["--marker-column", "marker", "--markers", "marker 1,marker 2"];
    const covariates = ["--subjects", here.at("drawn", "subjects.csv"), "--covariates", "c1:category,c4:level"];
    const { code } = await run(
      "fit",
      here.at("drawn", "visits.csv"),
      ...markers,
      ...covariates,
      "--restarts",
      "0",
      "-o",
      folder,
    );
    expect(code).toBe(0);
    served = await loadServed("two", folder);
  });

  it("has the forecasts of dtm predict", async () => {
    const [visits, subjects] = [here.at("drawn", "visits.csv"), here.at("drawn", "subjects.csv")];
    const { out } = await run("predict", folder, visits, "--subjects", subjects, "--at", "0.2,0.9", "--json", "-q");
    const rows = (JSON.parse(out) as { predictions: Row[] }).predictions;
    const [head = [], ...individuals] = here
      .text("drawn", "subjects.csv")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));
    const byId = visitsById(here.text("drawn", "visits.csv"), ([, marker = ""]) => marker);
    for (const cells of individuals.slice(0, 5)) {
      const at = (name: string) => cells[head.indexOf(name)] ?? "";
      const covariates = { c1: at("c1"), c4: Number(at("c4")) };
      const found = placeSomebody(served, { visits: byId.get(at("id")) ?? [], covariates, at: [0.2, 0.9] });
      expect(found.forecasts.map(({ marker }) => marker)).toEqual(["marker 1", "marker 2"]);
      for (const { marker, rows: own } of found.forecasts) {
        const expected = rows.filter((row) => row.id === at("id") && row.marker === marker);
        for (const [j, row] of own.entries()) expect(row).toEqual(like(expected[j]!, row));
      }
    }
  });

  it("needs the covariates and the name of the marker", () => {
    expect(() => placeSomebody(served, { visits: [] })).toThrow(/a value of c1/);
    const covariates = { c1: "1", c4: 0 };
    expect(() => placeSomebody(served, { visits: [{ time: 0, value: 1 }], covariates })).toThrow(
      /visits\[0\]: expected a marker, received none. Say which: marker 1, marker 2./,
    );
    expect(placeSomebody(served, { visits: [], covariates: { c1: "1", c4: 1e9 } }).warnings[0]).toContain("(c4)");
    expect(served.info.covariates.map(({ name }) => name)).toEqual(["c1", "c4"]);
  });
});

describe("names of models", () => {
  it("are those of folders and files, or given", () => {
    expect([...namedPaths(["a/run/", "other.json", "liver=pbc/model.json"])]).toEqual([
      ["run", "a/run/"],
      ["other", "other.json"],
      ["liver", "pbc/model.json"],
    ]);
    expect(() => namedPaths(["a/run", "b/run"])).toThrow(/"run" twice. Give names: NAME=b\/run/);
    expect(() => namedPaths(["a b.json"])).toThrow(/received "a b"/);
  });
});
