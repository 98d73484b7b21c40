import { describe, expect, it } from "vitest";
import { embed } from "../models/embed.ts";
import { fitLmm } from "../models/fit-models.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { groupPlaces } from "./groups.ts";

describe("groupPlaces", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 200, seed: 3 });
  const model = fitLmm(cohort);
  const placements = embed(model, cohort);

  it("puts everybody into a group, letters from the highest last value down", () => {
    const { groups, labels, membership } = groupPlaces(model, placements, { numGroups: 4 });
    expect(groups.map((g) => g.letter)).toEqual(["A", "B", "C", "D"]);
    expect(groups.reduce((s, g) => s + g.numMembers, 0)).toBe(200);
    groups.forEach((group, k) => {
      expect(labels.filter((label) => label === k).length).toBe(group.numMembers);
    });
    for (let i = 0; i < 200; i++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += membership[i * 4 + k];
      expect(sum).toBeCloseTo(1, 9);
    }
    expect(new Set(groups.map((g) => g.name)).size).toBe(4);
  });

  it("does not name a course beyond the time its members are followed", () => {
    // Everybody's follow-up ends at year 3: no name may speak of a later year.
    const short = { ...placements, lastTime: placements.lastTime.map((t) => Math.min(t, 3)) };
    for (const { name } of groupPlaces(model, short, { numGroups: 4 }).groups) {
      for (const [, year] of name.matchAll(/year (\d+)/g)) expect(Number(year)).toBeLessThanOrEqual(3);
    }
  });

  it("chooses a number by its rule and says how", () => {
    const { groups, choice } = groupPlaces(model, placements);
    expect(choice?.numGroups).toBe(groups.length);
    expect(choice?.sentence.length).toBeGreaterThan(20);
  });
});
