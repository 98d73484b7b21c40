import { type Groups, makeCohort } from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { checklist } from "./content/checklist.ts";
import { contextOf } from "./content/context.ts";
import { valueTicks } from "./figures/quality.ts";
import { studyGroups, summarizeCohort } from "./summary.ts";

const ids = Array.from({ length: 60 }, (_, i) => `i${i % 20}`);
const times = ids.map((_, i) => Math.floor(i / 20));
const values = ids.map((_, i) => 0.3 * 1.08 ** i);
const cohortOf = (transform: "identity" | "log") => makeCohort({ ids, times, values }, { name: "marker", transform });

describe("the histogram of a summary", () => {
  it("has bins of equal ratio for a log marker, of equal width otherwise, and counts everything", () => {
    const { edges, counts } = summarizeCohort(cohortOf("log")).histogram;
    const ratios = Array.from(edges)
      .slice(1)
      .map((edge, k) => edge / edges[k]);
    for (const ratio of ratios) expect(ratio).toBeCloseTo(ratios[0], 8);
    // Round edges around the extremes, which are measurements of single individuals.
    expect(edges[0]).toBeLessThan(values[0]);
    expect(edges[edges.length - 1]).toBeGreaterThan(values[59]);
    expect(edges).toContain(1);
    expect(counts.length).toBeGreaterThan(14);
    expect(Array.from(counts).reduce((sum, n) => sum + n, 0)).toBe(60);
    // Values that grow by the same ratio fill such bins evenly; equal bins would hold half of them in the first few.
    expect(Math.max(...Array.from(counts))).toBeLessThanOrEqual(5);
    const plain = summarizeCohort(cohortOf("identity")).histogram;
    expect(plain.edges[2] - plain.edges[1]).toBeCloseTo(plain.edges[1] - plain.edges[0], 12);
  });

  it("has round labels that stand apart on the scale it is drawn on", () => {
    expect(valueTicks(0.3, 28, "log")).toEqual([0.5, 1, 2, 5, 10, 20]);
    expect(valueTicks(15, 140, "identity")).toEqual([20, 40, 60, 80, 100, 120, 140]);
    const many = valueTicks(1e-3, 1e4, "log");
    expect(many).toContain(1);
    expect(many.length).toBeLessThan(9);
    expect(valueTicks(0.178, 42, "log")).toEqual([0.2, 0.5, 1, 2, 5, 10, 20]);
    for (const transform of ["sqrt", "logit", "log1p"] as const) {
      const ticks = valueTicks(0.02, 0.97, transform);
      expect(ticks.length).toBeGreaterThan(2);
      expect(ticks.every((v) => v >= 0.02 && v <= 0.97)).toBe(true);
    }
  });
});

describe("groups of a study", () => {
  it("carry how sure membership is into the reporting checklist", () => {
    const course = { times: [0, 1, 2], median: [1, 1, 1], lower: [0, 0, 0], upper: [2, 2, 2] };
    const parts = { from: 0, until: 2, followed: [2, 2, 1], parts: [] };
    const groups = studyGroups({
      method: "ward",
      labels: Int32Array.of(0, 0, 1),
      groups: [
        { letter: "A", name: "stable near 1", course: { group: 0, numMembers: 2, ...course }, ...parts },
        { letter: "B", name: "stable near 2", course: { group: 1, numMembers: 1, ...course }, ...parts },
      ],
      membership: Float64Array.of(0.9, 0.1, 0.7, 0.3, 0.25, 0.75),
      certainty: 0.4321,
      clustered: Int32Array.of(0, 1, 2),
      tree: { heights: [1, 2] },
      treeTop: { leaves: [], merges: [], cut: 1 },
      choice: null,
    } as unknown as Groups);
    expect(groups.groups.map(({ probability }) => probability)).toEqual([0.8, 0.75]);
    const items = checklist(contextOf({ cohort: summarizeCohort(cohortOf("log")), groups }));
    expect(items.find(({ number }) => number === "13")?.answer).toMatch(/entropy 0\.43 .*A 80% and B 75%/);
  });
});

describe("the checklist on time", () => {
  const answers = (own: readonly number[]) => {
    const cohort = summarizeCohort(makeCohort({ ids, times: own, values }, { name: "marker", timeUnit: "years" }));
    return checklist(contextOf({ cohort })).slice(0, 2);
  };

  it("knows waves, and what nobody told it of the origin", () => {
    const [metric, waves] = answers(times);
    expect([metric?.state, metric?.answer]).toEqual([
      "in part",
      expect.stringContaining("from when they were counted"),
    ]);
    expect([waves?.state, waves?.answer]).toEqual(["yes", expect.stringContaining("at three times, the same for all")]);
    const [, spread] = answers(times.map((time, i) => time + i / 100));
    expect(spread?.state).toBe("not applicable");
  });
});
