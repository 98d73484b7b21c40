/** No name of a group contradicts the line beside it, on simulated cohorts and the bundled one. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Cohort } from "../packages/core/src/cohort/cohort.ts";
import { applyTransform, undoTransform } from "../packages/core/src/cohort/marker.ts";
import { readCohort } from "../packages/core/src/ingest/read-cohort.ts";
import { groupPlaces } from "../packages/core/src/map/groups.ts";
import { markerModel } from "../packages/core/src/models/fit.ts";
import { fitDtm } from "../packages/core/src/models/fit-models.ts";
import { fitFpca, fitLmm } from "../packages/core/src/models/linear-models.ts";
import type { TrajectoryModel } from "../packages/core/src/models/model.ts";
import { embed } from "../packages/core/src/models/place.ts";
import { measurementSd } from "../packages/core/src/noise/noise.ts";
import { simulateCohort } from "../packages/core/src/simulate/cohorts.ts";
import { contradictions } from "./name-check.ts";

const MARKERS = [
  { value: "bili", transform: "log" },
  { value: "albumin", transform: "identity" },
  { value: "platelet", transform: "sqrt" },
  { value: "protime", transform: "log" },
] as const;

const pbc = ({ value, transform }: (typeof MARKERS)[number]) =>
  readCohort(readFileSync(new URL("../examples/pbc/visits.csv", import.meta.url), "utf8"), {
    columns: { id: "id", time: "time", value },
    marker: { name: value, unit: "", timeUnit: "years", transform },
    file: "visits.csv",
  }).cohort;

/** Every name of every number of groups, against its line and its members. */
function check(model: TrajectoryModel, cohort: Cohort): number {
  const { marker, noise } = markerModel(model);
  const scale = {
    to: (v: number) => applyTransform(marker.transform, v),
    back: (y: number) => undoTransform(marker.transform, y),
    noise: measurementSd(noise),
  };
  const placements = embed(model, cohort);
  let names = 0;
  for (const numGroups of ["auto", 1, 2, 3, 5, 8] as const) {
    const { groups, labels } = groupPlaces(model, placements, { numGroups });
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
    groups.forEach(({ name, summary, rate, course, numMembers, numSeen }, k) => {
      const line = { name, summary, rate, times: course.times, values: course.median };
      expect(contradictions(line, scale)).toEqual([]);
      // So many are seen as long as the last time that is spoken of, half of the members or more.
      const last = Number(/ (?:by|at) \w+ ([\d.,]+)(?:;.*)?$/.exec(summary)?.[1]?.replace(",", ""));
      const followed = placements.lastTime.filter((t, i) => labels[i] === k && t >= last - 1e-9).length;
      if (!summary.includes("fewer than half")) {
        expect(numSeen).toBe(followed);
        expect(followed).toBeGreaterThanOrEqual(numMembers / 2);
      }
      names++;
    });
  }
  return names;
}

describe("names of groups", () => {
  it.each(["pfvc", "tss"] as const)("say what the lines of simulated %s show", (marker) => {
    for (const seed of [1, 2, 3, 4]) {
      const { cohort } = simulateCohort(marker, { numIndividuals: 300 + 100 * seed, seed });
      expect(check(fitLmm(cohort), cohort)).toBeGreaterThan(19);
      expect(check(fitFpca(cohort), cohort)).toBeGreaterThan(19);
    }
  });

  it.each(MARKERS)("say what the lines of the bundled cohort show: $value", (marker) => {
    const cohort = pbc(marker);
    expect(check(fitFpca(cohort), cohort)).toBeGreaterThan(19);
  });

  it("say what the lines of a map show", () => {
    const { cohort } = simulateCohort("pfvc", { numIndividuals: 600, seed: 5 });
    expect(check(fitDtm(cohort, { restarts: 0 }), cohort)).toBeGreaterThan(19);
    const bilirubin = pbc(MARKERS[0]);
    expect(check(fitDtm(bilirubin, { restarts: 0 }), bilirubin)).toBeGreaterThan(19);
  });
});

describe("the checker of names", () => {
  const years = Array.from({ length: 36 }, (_, j) => j / 10);
  const line = (f: (t: number) => number) => ({ times: years, values: years.map(f) });
  const plain = { to: (v: number) => v, back: (y: number) => y, noise: 3 };
  const log = { to: Math.log, back: Math.exp, noise: 0.3 };

  it("finds what was wrong before", () => {
    const bilirubin = line((t) => 4.65 * (15.2 / 4.65) ** (t / 3.5));
    const says = (rate: string) =>
      contradictions({ name: "steady rise to 15", summary: "4.7 to 15 by year 3.5", rate, ...bilirubin }, log);
    expect(says("+40% a year")).toEqual([]);
    expect(says("+49% a year")).toHaveLength(1);
    const falling = line((t) => 101 - 12.6 * t);
    const falls = (name: string, summary: string) => contradictions({ name, summary, ...falling }, plain);
    const ends = "101 to 57 by year 3.5";
    const turn = "101, 76 at year 2, 57 by year 3.5";
    expect(falls("steady decline to 57", ends)).toEqual([]);
    expect(falls("steady decline to 71", ends)).toHaveLength(1);
    for (const name of ["steady rise", "stable high", "stable near 79", "late decline", "dip and return", "falls"]) {
      expect(falls(name, ends)).not.toEqual([]);
    }
    for (const name of ["dip and recovery", "decline, partly back", "decline, then stable", "late rise"]) {
      expect(falls(name, turn)).not.toEqual([]);
    }
    expect(falls("a steady decline down to 57", ends)).not.toEqual([]);
    const level = { ...line(() => 74), summary: "74 to 74 by year 3.5" };
    expect(contradictions({ name: "stable high", lasts: [60, 74], ...level }, plain)).toEqual([]);
    expect(contradictions({ name: "stable high", lasts: [74, 90, 95], ...level }, plain)).toHaveLength(1);
    expect(contradictions({ name: "stable low", lasts: [60, 65, 74], ...level }, plain)).toHaveLength(1);
    expect(contradictions({ name: "steady rise", rate: "+2.2 a year", ...level }, plain).length).toBeGreaterThan(1);
  });
});
