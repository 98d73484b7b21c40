import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { chooseNumberOfGroups } from "./number.ts";

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
      const choice = chooseNumberOfGroups(around(ring(k, 8), 40, k), 40 * k, 2, { numReferences: 20 });
      expect(choice).toMatchObject({ numGroups: k, gapChoice: k, separated: true });
      expect(choice.evidence).toHaveLength(8);
    }
  });

  it("sees through groups around a ring, where rules that look one step ahead stop too early", () => {
    const points = around(ring(5, 6), 60, 2);
    expect(chooseNumberOfGroups(points, 300, 2).gapChoice).toBe(5);
    expect(chooseNumberOfGroups(points, 300, 2, { rule: "tibshirani" }).gapChoice).toBeLessThan(5);
  });

  it("calls one cloud a continuum and shows it as regions that explain 70 %, or as one group", () => {
    const points = around([[0, 0]], 400, 1);
    const regions = chooseNumberOfGroups(points, 400, 2);
    expect(regions).toMatchObject({ gapChoice: 1, separated: false });
    expect(regions.evidence[regions.numGroups - 1].explained).toBeGreaterThanOrEqual(0.7);
    expect(regions.evidence[regions.numGroups - 2].explained).toBeLessThan(0.7);
    expect(regions.sentence).toContain("continuum");
    expect(chooseNumberOfGroups(points, 400, 2, { whenContinuous: "single" }).numGroups).toBe(1);
  });

  it("takes the number of distinct courses where it is known, and keeps the gap's word about separation", () => {
    const points = around(ring(4, 8), 40, 4);
    const evidence = [2, 3, 4, 5, 6].map((numGroups) => ({ numGroups, difference: 3, smallest: 25, distinct: true }));
    const courses = { numGroups: 4, leastDifference: 2, leastSize: 20, evidence };
    const four = chooseNumberOfGroups(points, 160, 2, { courses });
    expect(four).toMatchObject({ numGroups: 4, gapChoice: 4, separated: true, courses });
    expect(four.sentence).toContain("supports 4 separate clusters.");
    const six = chooseNumberOfGroups(points, 160, 2, { courses: { ...courses, numGroups: 6 } });
    expect(six).toMatchObject({ numGroups: 6, separated: false });
    expect(six.sentence).toContain("divide them further");
    const cloud = chooseNumberOfGroups(around([[0, 0]], 160, 1), 160, 2, { courses });
    expect(cloud.sentence).toContain("continuum");
    const one = chooseNumberOfGroups(points, 160, 2, { courses: { ...courses, numGroups: 1 } });
    expect(one.sentence).toMatch(/^One group/);
  });

  it("has a gap that is expected minus observed log sum of squares", () => {
    for (const e of chooseNumberOfGroups(around(ring(3, 5), 30, 6), 90, 2).evidence) {
      expect(e.gap).toBe(e.expectedLogWithin - e.logWithin);
      expect(e.standardError).toBeGreaterThan(0);
    }
  });

  it("expects of a uniform box what a uniform box shows", () => {
    const random = createRandom(4);
    const points = Float64Array.from({ length: 1000 }, () => random.uniform());
    const { evidence } = chooseNumberOfGroups(points, 500, 2);
    // One draw from the reference itself: the gap is noise. The principal axes of a square are arbitrary, so its box
    // may be the square turned; hence a factor beyond the standard error.
    for (const e of evidence) expect(Math.abs(e.gap)).toBeLessThan(0.8);
  });

  it("does not depend on unit, place or order of the points, and follows its seed", () => {
    const points = around(ring(4, 5), 30, 3);
    const first = chooseNumberOfGroups(points, 120, 2, { seed: 5 });
    const moved = chooseNumberOfGroups(
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
    expect(chooseNumberOfGroups(reversed, 120, 2, { seed: 5 })).toEqual(first);
    expect(chooseNumberOfGroups(points, 120, 2, { seed: 6 }).evidence[3].gap).not.toBe(first.evidence[3].gap);
  });

  it("samples large cohorts and answers alike", () => {
    const points = around(ring(4, 7), 1000, 8);
    const options = { maxPoints: 400, numReferences: 20 };
    expect(chooseNumberOfGroups(points, 4000, 2, options)).toMatchObject({ numGroups: 4, numPointsUsed: 400 });
  });

  it("says one group for equal places, and at most as many as differ", () => {
    expect(chooseNumberOfGroups(new Float64Array(40), 20, 2)).toMatchObject({ numGroups: 1, evidence: [] });
    const two = Float64Array.from({ length: 20 }, (_, i) => i % 2);
    expect(chooseNumberOfGroups(two, 20, 1).numGroups).toBeLessThanOrEqual(2);
    expect(chooseNumberOfGroups(Float64Array.of(3), 1, 1).numGroups).toBe(1);
  });

  it("refuses options out of range", () => {
    const points = around([[0]], 10, 1);
    expect(() => chooseNumberOfGroups(points, 10, 1, { maxGroups: 0 })).toThrow(/maxGroups/);
    expect(() => chooseNumberOfGroups(points, 10, 1, { explainedShare: 1 })).toThrow(/explainedShare/);
    expect(() => chooseNumberOfGroups(points, 10, 1, { numReferences: 1.5 })).toThrow(/numReferences/);
  });
});
