import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as z from "zod";
import { run, smallCohort, workplace } from "../../test/harness.ts";
import { powerContract } from "../contract-power.ts";

const here = workplace();
afterAll(here.clear);
const RUN = here.at("run");
const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];
const quick = ["--model", RUN, "--map", "known", "--replicates", "10"];
let visits: string;

beforeAll(async () => {
  visits = here.file("visits.csv", smallCohort(30).visits);
  const fit = ["fit", visits, ...columns, "--time-unit", "years", "--noise", "white", "--restarts", "0"];
  expect((await run(...fit, "-o", RUN, "-q")).code).toBe(0);
});

async function powerOf(...argv: string[]): Promise<z.infer<typeof powerContract>> {
  const { code, out, talk } = await run("power", ...argv, ...quick, "--json", "-q");
  expect([code, talk]).toEqual([0, ""]);
  return powerContract.parse(JSON.parse(out));
}

describe("dtm power", () => {
  it("reads nothing but times of a table, whose values may be missing, and draws another number from them", async () => {
    const rows = here.text("visits.csv").trimEnd().split("\n");
    const at = rows[0]!.split(",").indexOf("fvc");
    const empty = rows.map((row, r) =>
      row
        .split(",")
        .map((cell, k) => (r > 0 && k === at ? "" : cell))
        .join(","),
    );
    const same = await powerOf(visits, ...columns.slice(0, 4));
    const without = await powerOf(here.file("empty.csv", `${empty.join("\n")}\n`), ...columns.slice(0, 4));
    expect(without).toEqual(same);
    expect(same.numIndividuals).toBe(30);
    expect((await powerOf(visits, ...columns.slice(0, 4), "--individuals", "40")).numIndividuals).toBe(40);
  });

  it("takes a design from YAML, JSON or flags alike, flags first", async () => {
    const flags = ["--individuals", "20", "--visits", "0,1,2", "--missing", "0.2", "--dropout", "0.1"];
    const yaml = here.file("design.yaml", "individuals: 20\nvisits: [0, 1, 2]\nmissing: 0.2\ndropout: 0.1\n");
    const json = here.file("design.json", '{"individuals": 90, "visits": [0, 1, 2], "missing": 0.2, "dropout": 0.1}');
    const own = await powerOf(...flags);
    expect(await powerOf(yaml)).toEqual(own);
    expect(await powerOf(json, "--individuals", "20")).toEqual(own);
  });

  it("writes figure and page, and says model, errors and assumptions", async () => {
    const argv = ["power", "--individuals", "30", "--visits", "0:3:1", ...quick, "-q", "-o"];
    const { code, out } = await run(...argv, here.at("power.html"));
    expect(code).toBe(0);
    expect(out).toMatch(/direction best resolved \(\d+%\) +\d/);
    const words = out.replace(/\s+/g, " ");
    for (const said of [
      "This assumes that the map describes the people",
      "fitted to fvc of 30 individuals",
      "upper bound",
    ]) {
      expect(words).toContain(said);
    }
    expect(here.text("power.html")).toMatch(/Monte Carlo interval[\s\S]*<svg[\s\S]*How wide forecasts would be/);
    expect((await run(...argv, here.at("power.svg"))).code).toBe(0);
    expect(here.text("power.svg")).toContain("odds ratio");
  });

  it.each([
    ["no design", [], /--individuals 300 --visits/],
    ["times the model does not know", ["--individuals", "50", "--visits", "0,24,48"], /expected most visits between/],
    ["a schedule beside a table", ["visits.csv", "--missing", "0.1"], /--missing: expected for a schedule/],
    ["a figure of another kind", ["--individuals", "50", "--visits", "0,1", "-o", "power.png"], /\.svg or \.html/],
  ])("refuses %s", async (_, argv, words) => {
    const { code, talk } = await run("power", ...argv.map((arg) => (arg === "visits.csv" ? visits : arg)), ...quick);
    expect(code).not.toBe(0);
    expect(talk).toMatch(words);
  });

  it("tells visits outside the times of the model, and an unknown key of a design", async () => {
    const late = await run("power", "--individuals", "20", "--visits", "0,1,2,99", ...quick);
    expect(late.talk).toMatch(/1 visit of 4 outside the times of the model/);
    const odd = here.file("odd.yaml", "individuals: 50\nvisits: [0, 1]\nmising: 0.2\n");
    expect((await run("power", odd, ...quick)).talk).toMatch(/odd\.yaml: expected individuals, visits/);
  });
});
