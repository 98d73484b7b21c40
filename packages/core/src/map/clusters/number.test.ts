import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { chooseNumberOfGroups, type NumberOptions } from "./number.ts";

/** As many groups as asked for, by courses, beside what the gap statistic says. */
function choose(points: Float64Array, n: number, q: number, options: NumberOptions = {}, numGroups = 4) {
  const evidence = [2, 3, 4, 5, 6].map((k) => ({
    numGroups: k,
    difference: 3,
    smallest: 25,
    distinct: true,
    ownKinds: 0,
  }));
  const courses = { numGroups, numCut: numGroups, leastDifference: 2, leastSize: 20, leastBranch: 11, evidence };
  return chooseNumberOfGroups(points, n, q, { courses }, options);
}

/** n points around each of the given centres, sd one. */
function around(centers: readonly (readonly number[])[], n: number, seed: number): Float64Array {
  const random = createRandom(seed);
  const points = centers.flatMap((center) =>
    Array.from({ length: n }, () => center.map((c) => c + random.normal())).flat(),
  );
  return Float64Array.from(points);
}

const ring = (k: number, radius: number) =>
  Array.from({ length: k }, (_, g) => [
    radius * Math.cos((2 * Math.PI * g) / k),
    radius * Math.sin((2 * Math.PI * g) / k),
  ]);

describe("chooseNumberOfGroups", () => {
  it("finds two to six clear groups", () => {
    for (const k of [2, 3, 4, 5, 6]) {
      const choice = choose(around(ring(k, 8), 40, k), 40 * k, 2, { numReferences: 20 }, k);
      expect(choice).toMatchObject({ numGroups: k, gapChoice: k, separated: true });
      expect(choice.evidence).toHaveLength(8);
    }
  });

  it("sees through groups around a ring, where rules that look one step ahead stop too early", () => {
    const { gapChoice, evidence } = choose(around(ring(5, 6), 60, 2), 300, 2);
    expect(gapChoice).toBe(5);
    // Tibshirani's rule: the smallest k with Gap(k) ≥ Gap(k+1) − s_{k+1}.
    const ahead = evidence.findIndex((e, j) => e.gap >= evidence[j + 1]?.gap - evidence[j + 1]?.standardError);
    expect(ahead + 1).toBeLessThan(5);
  });

  it("takes the number of distinct courses, and keeps the gap's word about separation", () => {
    const points = around(ring(4, 8), 40, 4);
    const four = choose(points, 160, 2);
    expect(four).toMatchObject({ numGroups: 4, gapChoice: 4, separated: true, courses: { numGroups: 4 } });
    expect(four.sentence).toContain("supports 4 separate clusters.");
    const six = choose(points, 160, 2, {}, 6);
    expect(six).toMatchObject({ numGroups: 6, separated: false });
    expect(six.sentence).toContain("divide them further");
    const cloud = choose(around([[0, 0]], 160, 1), 160, 2);
    expect(cloud).toMatchObject({ gapChoice: 1, separated: false });
    expect(cloud.sentence).toContain("continuum");
    expect(choose(points, 160, 2, {}, 1).sentence).toMatch(/^One group/);
  });

  it("takes the number of Gaussians with the lowest BIC", () => {
    const bic = [1, 2, 3].map((numGroups) => ({ numGroups, logLikelihood: 0, bic: 10 - numGroups }));
    const choice = chooseNumberOfGroups(around(ring(4, 8), 40, 4), 160, 2, { bic, numGroups: 3 });
    expect(choice).toMatchObject({ numGroups: 3, gapChoice: 4, separated: true, bic });
    expect(choice.sentence).toBe(
      "3 Gaussians have the lowest BIC of 1 to 3. The gap statistic supports 4 separate clusters.",
    );
  });

  it("has a gap that is expected minus observed log sum of squares", () => {
    for (const e of choose(around(ring(3, 5), 30, 6), 90, 2).evidence) {
      expect(e.gap).toBe(e.expectedLogWithin - e.logWithin);
      expect(e.standardError).toBeGreaterThan(0);
    }
  });

  it("expects of a uniform box what a uniform box shows", () => {
    const random = createRandom(4);
    const points = Float64Array.from({ length: 1000 }, () => random.uniform());
    const { evidence } = choose(points, 500, 2);
    // One draw from the reference itself: the gap is noise. The principal axes of a square are arbitrary, so its box
    // may be the square turned; hence a factor beyond the standard error.
    for (const e of evidence) expect(Math.abs(e.gap)).toBeLessThan(0.8);
  });

  it("does not depend on unit, place or order of the points, and follows its seed", () => {
    const points = around(ring(4, 5), 30, 3);
    const first = choose(points, 120, 2, { seed: 5 });
    const moved = choose(
      points.map((x) => 1000 * x + 7),
      120,
      2,
      { seed: 5 },
    );
    moved.evidence.forEach((e, k) => {
      expect(e.gap).toBeCloseTo(first.evidence[k].gap, 8);
    });
    const reversed = new Float64Array(240);
    for (let i = 0; i < 120; i++) reversed.set(points.subarray(2 * i, 2 * i + 2), 2 * (119 - i));
    expect(choose(reversed, 120, 2, { seed: 5 })).toEqual(first);
    expect(choose(points, 120, 2, { seed: 6 }).evidence[3].gap).not.toBe(first.evidence[3].gap);
  });

  it("samples large cohorts and answers alike", () => {
    const points = around(ring(4, 7), 1000, 8);
    const options = { maxPoints: 400, numReferences: 20 };
    expect(choose(points, 4000, 2, options)).toMatchObject({ gapChoice: 4, numPointsUsed: 400 });
  });

  it("says one group for equal places, and at most as many as differ", () => {
    expect(choose(new Float64Array(40), 20, 2)).toMatchObject({ gapChoice: 1, evidence: [] });
    const two = Float64Array.from({ length: 20 }, (_, i) => i % 2);
    expect(choose(two, 20, 1).gapChoice).toBeLessThanOrEqual(2);
    expect(choose(Float64Array.of(3), 1, 1).gapChoice).toBe(1);
  });

  it("refuses options out of range", () => {
    const points = around([[0]], 10, 1);
    expect(() => choose(points, 10, 1, { maxGroups: 0 })).toThrow(/maxGroups/);
    expect(() => choose(points, 10, 1, { numReferences: 1.5 })).toThrow(/numReferences/);
  });
});
