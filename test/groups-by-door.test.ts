/**
 * Groups of new people are one thing, whoever is asked: the explorer's engine, `dtm embed`, `dtm serve` and the page of
 * `dtm calculator` give the same individuals the same group with the same probabilities.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePatientStudy } from "../packages/app/src/patient/patient-study.ts";
import { answerIndividual } from "../packages/app/src/worker/individual.ts";
import { createSession } from "../packages/app/src/worker/session.ts";
import { groupsContract } from "../packages/cli/src/contract-fit.ts";
import { loadServed } from "../packages/cli/src/serve/models.ts";
import { placeSomebody } from "../packages/cli/src/serve/place.ts";
import { run, smallCohort, workplace } from "../packages/cli/test/harness.ts";
import { readPatientModel } from "../packages/core/src/study/patient-model.ts";
import { ROOT } from "./root.ts";

const here = workplace();
afterAll(here.clear);

/** Rounding alone: all doors compute the same integral over the same Gaussians. */
const SAME = 1e-9;

/** People of each cohort who are asked about. */
const ASKED = 60;

interface Visits {
  readonly times: number[];
  readonly values: number[];
}

const COHORTS = [
  {
    name: "bilirubin of primary biliary cholangitis",
    table: readFileSync(join(ROOT, "examples", "pbc", "visits.csv"), "utf8"),
    columns: { id: "id", time: "time", value: "bili" },
    marker: { name: "bilirubin", transform: "log" },
    model: "dtm",
    numGroups: "auto",
  },
  {
    name: "simulated lung function",
    table: smallCohort(150, 5).visits,
    columns: { id: "patient", time: "years", value: "fvc" },
    marker: { name: "fvc", transform: "identity" },
    model: "fpca",
    numGroups: 2,
  },
] as const;

describe.each(COHORTS)("groups of $name", ({ name, table, columns, marker, model, numGroups }) => {
  const folder = here.at(name);
  const people = new Map<string, Visits>();
  /** Probabilities of everybody's groups, [K], by the explorer. */
  const expected = new Map<string, readonly number[]>();
  let letters: readonly string[] = [];
  let numPeople = 0;

  beforeAll(async () => {
    const file = here.file("visits.csv", table);
    const words = Object.entries(columns).flatMap(([option, column]) => [`--${option}`, column]);
    const about = ["--marker", marker.name, "--transform", marker.transform, "--model", model];
    const starts = model === "dtm" ? ["--restarts", "0"] : [];
    const fit = ["fit", file, ...words, ...about, "--noise", "white", ...starts, "-o", folder];
    expect((await run(...fit)).code).toBe(0);
    expect((await run("groups", folder, "--groups", String(numGroups), "--stability", "0")).code).toBe(0);
    // The explorer, as it opens a run.
    const session = createSession();
    const visits = here.text(name, "visits.csv");
    await session.preview(new Blob([visits]), "visits.csv");
    await session.read({ columns: { id: "id", time: "time", value: "value" }, marker });
    await session.openModel(here.text(name, "model.json"));
    const { groups } = await session.groups({ numGroups, seed: 1 });
    letters = groups.map(({ letter }) => letter);
    for (const line of visits.trimEnd().split("\n").slice(1)) {
      const [id = "", time, value] = line.split(",");
      const own = people.get(id) ?? { times: [], values: [] };
      own.times.push(Number(time));
      own.values.push(Number(value));
      people.set(id, own);
    }
    numPeople = people.size;
    for (const id of [...people.keys()].slice(ASKED)) people.delete(id);
    for (const [id, own] of people) {
      const { membership } = await session.individual({ id, visits: [own], at: [1], alone: true });
      expected.set(id, [...membership]);
    }
  });

  /** Largest difference to the explorer, over everybody and every group. */
  const farthest = (found: ReadonlyMap<string, readonly number[]>) =>
    Math.max(
      ...Array.from(found, ([id, shares]) => {
        expect(shares).toHaveLength(letters.length);
        return Math.max(...shares.map((share, g) => Math.abs(share - expected.get(id)![g]!)));
      }),
    );
  const most = (shares: readonly number[]) => letters[shares.indexOf(Math.max(...shares))];

  it("are several, and some people stand between them", () => {
    expect(letters.length).toBeGreaterThan(1);
    const unsure = [...expected.values()].filter((shares) => Math.max(...shares) < 0.6);
    expect(unsure.length).toBeGreaterThan(2);
  });

  it("are by dtm embed what the explorer says", async () => {
    const { code, out } = await run(
      "embed",
      folder,
      join(folder, "visits.csv"),
      "--id",
      "id",
      "--time",
      "time",
      "--value",
      "value",
      "--json",
    );
    expect(code).toBe(0);
    type Row = Readonly<Record<string, number>> & { readonly id: string; readonly group: string };
    const { placements } = JSON.parse(out) as { readonly placements: readonly Row[] };
    expect(placements).toHaveLength(numPeople);
    const asked = placements.filter(({ id }) => people.has(id));
    const shares = asked.map((row): [string, number[]] => [
      row.id,
      letters.map((letter) => row[`probability_${letter}`] ?? Number.NaN),
    ]);
    expect(farthest(new Map(shares))).toBeLessThan(SAME);
    for (const { id, group } of asked) expect(group).toBe(most(expected.get(id)!));
  });

  it("are by dtm serve what the explorer says", async () => {
    const served = await loadServed("run", folder);
    const shares = Array.from(people, ([id, { times, values }]): [string, number[]] => {
      const visits = times.map((time, j) => ({ time, value: values[j]! }));
      const { groups } = placeSomebody(served, { visits });
      expect(groups.map(({ letter }) => letter)).toEqual(letters);
      return [id, groups.map(({ probability }) => probability)];
    });
    expect(farthest(new Map(shares))).toBeLessThan(SAME);
  });

  it("are on the page of dtm calculator what the explorer says", async () => {
    const page = here.at("page.html");
    expect((await run("calculator", folder, "-o", page, "--force")).code).toBe(0);
    const [, json = ""] = /<script type="application\/json" id="model">([^<]*)/.exec(readFileSync(page, "utf8")) ?? [];
    const study = makePatientStudy(readPatientModel(json));
    expect(study.groups.map(({ letter }) => letter)).toEqual(letters);
    const shares = Array.from(people, ([id, own]): [string, number[]] => {
      const asked = { id: "patient", visits: [own], at: [1] };
      return [id, [...answerIndividual(study.model, study.mixture, study.regions, asked).membership]];
    });
    expect(farthest(new Map(shares))).toBeLessThan(SAME);
  });

  it("are in the run for whoever reads groups.json, as Gaussians of the map", () => {
    const { regions } = groupsContract.parse(JSON.parse(here.text(name, "groups.json")));
    expect(regions).toMatchObject({ numGroups: letters.length, dimension: 2 });
    expect(regions?.weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
    expect(regions?.means).toHaveLength(2 * letters.length);
    expect(regions?.covariances).toHaveLength(4 * letters.length);
  });
});
