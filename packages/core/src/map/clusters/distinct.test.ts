import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { distinctCourses } from "./distinct.ts";
import { wardTree } from "./ward.ts";

const TIMES = [0, 1, 2];

/** n individuals a level, places and courses at that level with a little spread; courses rise by `slope` a step. */
function levels(centers: readonly number[], n: number, slope = 0) {
  const random = createRandom(3);
  const at = centers.flatMap((c) => Array.from({ length: n }, () => c + 0.1 * random.normal()));
  const courses = Float64Array.from(at.flatMap((y) => TIMES.map((t) => y + slope * t)));
  return { tree: wardTree(Float64Array.from(at), at.length, 1), courses };
}

describe("distinctCourses", () => {
  it("counts groups whose courses are two sd of the noise apart", () => {
    const { tree, courses } = levels([0, 3, 6, 9], 30);
    const found = distinctCourses(tree, courses, TIMES, 1);
    expect(found.numGroups).toBe(4);
    expect(found.evidence.map(({ numGroups }) => numGroups)).toEqual([2, 3, 4, 5, 6]);
    // Levels three apart; medians of 30 values with sd 0.1 stray by less than 0.1.
    expect(found.evidence[2].difference).toBeCloseTo(3, 0);
    expect(found.evidence[2]).toMatchObject({ smallest: 30, distinct: true });
    expect(found.evidence[3].distinct).toBe(false);
  });

  it("follows the noise: what is twice as noisy must be twice as far apart", () => {
    const { tree, courses } = levels([0, 3, 6, 9], 30);
    const quiet = distinctCourses(tree, courses, TIMES, 1);
    const loud = distinctCourses(tree, courses, TIMES, 2);
    expect(loud.evidence[2].difference).toBeCloseTo(quiet.evidence[2].difference / 2, 12);
    expect(loud.numGroups).toBeLessThan(4);
    expect(distinctCourses(tree, courses, TIMES, 100).numGroups).toBe(1);
  });

  it("sees courses that part late as well as levels", () => {
    const { tree, courses } = levels([0, 1], 30);
    const parted = courses.map((y, k) => (k % 3 === 2 && k >= 90 ? y + 5 : y));
    expect(distinctCourses(tree, courses, TIMES, 1).numGroups).toBe(1);
    expect(distinctCourses(tree, parted, TIMES, 1).numGroups).toBe(2);
  });

  it("sees courses that cross, though they are never two sd apart", () => {
    const { tree, courses } = levels([0, 0.5], 30);
    // The second group starts 1.2 sd above the first and ends 1.2 below: its change differs by 2.4 sd.
    const crossed = courses.map((y, k) => (k >= 90 ? y - 0.5 + 1.2 * (1 - (k % 3)) : y));
    const found = distinctCourses(tree, crossed, TIMES, 1);
    expect(found.evidence[0].difference).toBeCloseTo(2.4, 0);
    expect(found.numGroups).toBe(2);
    expect(distinctCourses(tree, crossed, TIMES, 1.5).numGroups).toBe(1);
  });

  it("does not count groups too small to be described", () => {
    const { tree, courses } = levels([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50], 4);
    // 48 individuals: at least a tenth, five, must be in each group; the far ones are four.
    const found = distinctCourses(tree, courses, TIMES, 1);
    expect(found.leastSize).toBe(5);
    expect(found.numGroups).toBe(1);
    expect(found.evidence[0]).toMatchObject({ numGroups: 2, smallest: 4, distinct: false });
    expect(found.evidence[0].difference).toBeGreaterThan(2);
  });

  it("asks for 20 members from 200 individuals on, for 3% of many", () => {
    const sizes = [40, 200, 400, 2000].map((n) => {
      const { tree, courses } = levels([0, 9], n / 2);
      return distinctCourses(tree, courses, TIMES, 1).leastSize;
    });
    expect(sizes).toEqual([4, 20, 20, 60]);
  });

  it("refuses noise that is none", () => {
    const { tree, courses } = levels([0, 9], 10);
    expect(() => distinctCourses(tree, courses, TIMES, 0)).toThrow(/noise.*above 0, received 0/);
  });
});
