import { describe, expect, it } from "vitest";
import { fitDtm, fitLmm } from "../models/fit-models.ts";
import { embed } from "../models/place.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { mixtureMembership } from "./clusters/gaussian-mixture.ts";
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
    for (const { summary } of groupPlaces(model, short, { numGroups: 4 }).groups) {
      for (const [, year] of summary.matchAll(/year (\d+)/g)) expect(Number(year)).toBeLessThanOrEqual(3);
    }
  });

  it("says until when half of each group, and eleven, are followed, and quotes no later time", () => {
    const { groups, labels } = groupPlaces(model, placements, { numGroups: 3 });
    groups.forEach(({ summary, from, until, followed, course, numMembers }, k) => {
      const last = placements.lastTime.filter((_, i) => labels[i] === k);
      const enough = Math.max(Math.ceil(numMembers / 2), Math.min(11, numMembers));
      expect(from).toBeLessThan(until);
      // Until a time of the course, not later than the last visit of the last member who counts.
      expect(last.filter((t) => t >= until).length).toBeGreaterThanOrEqual(enough);
      expect(last.filter((t) => t >= until + course.times[1] - course.times[0]).length).toBeLessThan(enough);
      expect(course.times).toContain(until);
      expect(followed[0]).toBe(numMembers);
      course.times.forEach((t, j) => {
        expect(followed[j]).toBe(last.filter((end) => end >= t - 1e-9).length);
      });
      for (const [, year] of summary.matchAll(/year ([\d.]+)/g)) expect(Number(year)).toBeLessThanOrEqual(until);
    });
  });

  it("shows the parts of a group that a deeper cut finds, none of them small", () => {
    const { groups, clustered, labels } = groupPlaces(model, placements, { numGroups: 1 });
    expect(groups.some(({ parts }) => parts.length > 1)).toBe(true);
    groups.forEach(({ parts, course }, k) => {
      const members = clustered.filter((i) => labels[i] === k).length;
      expect(parts.reduce((sum, part) => sum + part.numMembers, 0)).toBeLessThanOrEqual(members);
      for (const part of parts) {
        expect(part.numMembers).toBeGreaterThanOrEqual(11);
        expect(part.median).toHaveLength(course.times.length);
      }
    });
    expect(groupPlaces(model, placements, { method: "mixture", numGroups: 2 }).groups[0].parts).toEqual([]);
  });

  it("chooses a number by its rule and says how", () => {
    const { groups, choice } = groupPlaces(model, placements);
    expect(choice?.numGroups).toBe(groups.length);
    expect(choice?.courses?.evidence[choice.courses.numCut - 2].distinct).toBe(true);
    expect(choice?.sentence).toMatch(/sd of the noise, in level at some time or in change/);
  });

  it("clusters those seen four times or more, and says where the tree was cut", () => {
    const { clustered, treeTop } = groupPlaces(model, placements, { numGroups: 4 });
    expect(clustered.every((i) => placements.numObservations[i] >= 4)).toBe(true);
    expect(treeTop.leaves.reduce((s, leaf) => s + leaf.size, 0)).toBe(clustered.length);
    expect(new Set(treeTop.leaves.map(({ group }) => group))).toEqual(new Set([0, 1, 2, 3]));
  });

  it("makes groups of Gaussians with shares for everybody, as many as BIC says", () => {
    const found = groupPlaces(model, placements, { method: "mixture" });
    const { groups, labels, membership, choice, certainty } = found;
    const K = groups.length;
    const bic = choice!.bic!;
    expect(Math.min(...bic.map((e) => e.bic))).toBe(bic[K - 1].bic);
    expect(certainty).toBeGreaterThan(0);
    expect(certainty).toBeLessThanOrEqual(1);
    for (let i = 0; i < 200; i++) {
      const shares = membership.subarray(i * K, (i + 1) * K);
      expect(shares.reduce((s, v) => s + v, 0)).toBeCloseTo(1, 9);
      expect(shares[labels[i]]).toBe(Math.max(...shares));
    }
    expect(groupPlaces(model, placements, { method: "mixture", numGroups: 3 }).groups).toHaveLength(3);
  });

  it("puts everybody into their most probable group, clustered or not, and new places by the same Gaussians", () => {
    for (const method of ["bisect", "ward", "mixture"] as const) {
      const { labels, membership, regions, groups } = groupPlaces(model, placements, { method, numGroups: 5 });
      const K = groups.length;
      for (let i = 0; i < 200; i++) {
        const shares = membership.subarray(i * K, (i + 1) * K);
        expect(shares[labels[i]]).toBe(Math.max(...shares));
      }
      const anew = mixtureMembership(regions, placements.location, placements.covariance);
      anew.forEach((share, e) => {
        expect(share).toBeCloseTo(membership[e], 12);
      });
    }
  });

  it("makes no group of a branch that is the most probable one of fewer than eleven", () => {
    const { cohort: sparse } = simulateCohort("pfvc", { numIndividuals: 500, seed: 1 });
    const map = fitDtm(sparse, { restarts: 0, tolerance: 0.1 });
    const { groups, labels, clustered, choice } = groupPlaces(map, embed(map, sparse));
    const { numCut, numGroups } = choice!.courses!;
    expect([numGroups, numCut]).toEqual([groups.length, 5]);
    for (const [g] of groups.entries()) {
      expect(clustered.filter((i) => labels[i] === g).length).toBeGreaterThanOrEqual(11);
    }
  });

  it("keeps a group that is most probable for nobody with those it was cut from", () => {
    const { groups } = groupPlaces(model, placements, { numGroups: 40, minObservations: 1 });
    expect(groups).toHaveLength(40);
    expect(groups.every(({ numMembers }) => numMembers > 0)).toBe(true);
  });

  it("makes the same groups whether their number is found or asked for", () => {
    const found = groupPlaces(model, placements);
    expect(groupPlaces(model, placements, { numGroups: found.groups.length }).labels).toEqual(found.labels);
  });

  it("refuses a method it does not know, and more groups than individuals", () => {
    expect(() => groupPlaces(model, placements, { method: "kmeans" as "ward" })).toThrow(
      /bisect, ward, mixture.*kmeans/,
    );
    expect(() => groupPlaces(model, placements, { numGroups: 500 })).toThrow(/groups, received 500/);
  });
});
