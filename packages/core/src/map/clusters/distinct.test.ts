import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { divideTree } from "./distinct.ts";
import { type WardTree, wardTree } from "./ward.ts";

const TIMES = [0, 1, 2];

/** n individuals a level, places and courses at that level with a little spread; courses rise by `slope` a step. */
function levels(centers: readonly number[], n: number, slope = 0) {
  const random = createRandom(3);
  const at = centers.flatMap((c) => Array.from({ length: n }, () => c + 0.1 * random.normal()));
  const courses = Float64Array.from(at.flatMap((y) => TIMES.map((t) => y + slope * t)));
  return { tree: wardTree(Float64Array.from(at), at.length, 1), courses };
}

/** Everybody followed over all times, by default. */
function divide(tree: WardTree, courses: Float64Array, times: readonly number[], noise: number, numGroups?: number) {
  const n = tree.numPoints;
  const [firstTimes, lastTimes] = [new Float64Array(n), new Float64Array(n).fill(times[times.length - 1])];
  return divideTree({ tree, courses, times, noise, firstTimes, lastTimes }, numGroups ?? "auto");
}

describe("divideTree", () => {
  it("counts groups whose courses are two sd of the noise apart", () => {
    const { tree, courses } = levels([0, 3, 6, 9], 30);
    const found = divide(tree, courses, TIMES, 1);
    expect(found.numGroups).toBe(4);
    expect(found.evidence.map(({ numGroups }) => numGroups)).toEqual([2, 3, 4, 5, 6]);
    // Levels three apart; medians of 30 values with sd 0.1 stray by less than 0.1.
    expect(found.evidence[2].difference).toBeCloseTo(3, 0);
    expect(found.evidence[2]).toMatchObject({ smallest: 30, distinct: true });
    expect(found.evidence[3].distinct).toBe(false);
  });

  it("follows the noise: what is twice as noisy must be twice as far apart", () => {
    const { tree, courses } = levels([0, 3, 6, 9], 30);
    const quiet = divide(tree, courses, TIMES, 1);
    const loud = divide(tree, courses, TIMES, 2);
    expect(loud.evidence[2].difference).toBeCloseTo(quiet.evidence[2].difference / 2, 12);
    expect(loud.numGroups).toBeLessThan(4);
    expect(divide(tree, courses, TIMES, 100).numGroups).toBe(1);
  });

  it("sees courses that part late as well as levels", () => {
    const { tree, courses } = levels([0, 1], 30);
    const parted = courses.map((y, k) => (k % 3 === 2 && k >= 90 ? y + 5 : y));
    expect(divide(tree, courses, TIMES, 1).numGroups).toBe(1);
    expect(divide(tree, parted, TIMES, 1).numGroups).toBe(2);
  });

  it("sees courses that cross, though they are never two sd apart", () => {
    const { tree, courses } = levels([0, 0.5], 30);
    // The second group starts 1.2 sd above the first and ends 1.2 below: its change differs by 2.4 sd.
    const crossed = courses.map((y, k) => (k >= 90 ? y - 0.5 + 1.2 * (1 - (k % 3)) : y));
    const found = divide(tree, crossed, TIMES, 1);
    expect(found.evidence[0].difference).toBeCloseTo(2.4, 0);
    expect(found.numGroups).toBe(2);
    expect(divide(tree, crossed, TIMES, 1.5).numGroups).toBe(1);
  });

  it("does not count groups too small to be described", () => {
    const { tree, courses } = levels([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50], 4);
    // 48 individuals: at least a tenth, five, must be in each group; the far ones are four.
    const found = divide(tree, courses, TIMES, 1);
    expect(found.leastSize).toBe(5);
    expect(found.numGroups).toBe(1);
    expect(found.evidence[0]).toMatchObject({ numGroups: 2, smallest: 4, distinct: false });
    expect(found.evidence[0].difference).toBeGreaterThan(2);
  });

  it("asks for 20 members from 200 individuals on, for 2% of many", () => {
    const sizes = [40, 200, 400, 2000].map((n) => {
      const { tree, courses } = levels([0, 9], n / 2);
      return divide(tree, courses, TIMES, 1).leastSize;
    });
    expect(sizes).toEqual([4, 20, 20, 40]);
  });

  it("refuses noise that is none", () => {
    const { tree, courses } = levels([0, 9], 10);
    expect(() => divide(tree, courses, TIMES, 0)).toThrow(/noise.*above 0, received 0/);
  });

  /** 200 who stay, 200 who fall steadily, 12 of whose nearest neighbours on the map fall late; one dimension. */
  function withLateFall(numLate = 12) {
    const times = Array.from({ length: 21 }, (_, j) => j / 2);
    const random = createRandom(5);
    const kinds = [
      { n: 200, place: 0, f: () => 95 },
      { n: 200, place: 6, f: (t: number) => 85 - 2.5 * t },
      { n: numLate, place: 8, f: (t: number) => 92 - 7 * Math.max(0, t - 5) },
    ];
    const places = kinds.flatMap(({ n, place }) => Array.from({ length: n }, () => place + 0.3 * random.normal()));
    const courses = kinds.flatMap(({ n, f }) =>
      Array.from({ length: n }, () => times.map((t) => f(t) + 0.5 * random.normal())),
    );
    const tree = wardTree(Float64Array.from(places), places.length, 1);
    return { tree, courses: Float64Array.from(courses.flat()), times };
  }

  it("takes a branch with a kind of course of its own out of its group, however small beside it", () => {
    const { tree, courses, times } = withLateFall();
    const found = divide(tree, courses, times, 5);
    // Cut at one height the late fall is too small a group: 12 of 412.
    expect(found.evidence.find(({ numGroups }) => numGroups === 3)).toMatchObject({ distinct: false });
    expect(found).toMatchObject({ numGroups: 3, numCut: 2, leastBranch: 11 });
    expect(found.evidence[0].ownKinds).toBe(1);
    const labels = Array.from(found.labels);
    expect(new Set(labels.slice(400))).toEqual(new Set([2]));
    expect(labels.slice(0, 400)).not.toContain(2);
  });

  it("makes as many groups as asked for, and leaves no kind out where it can", () => {
    const { tree, courses, times } = withLateFall();
    for (const k of [1, 2, 3, 5, 9]) {
      const { labels, numGroups } = divide(tree, courses, times, 5, k);
      expect(numGroups).toBe(k);
      expect(new Set(labels).size).toBe(k);
    }
    const late = Array.from(divide(tree, courses, times, 5, 4).labels).slice(400);
    expect(new Set(late).size).toBe(1);
  });

  it("makes the same groups whether their number is found or asked for", () => {
    const { tree, courses, times } = withLateFall();
    const found = divide(tree, courses, times, 5);
    expect(divide(tree, courses, times, 5, found.numGroups).labels).toEqual(found.labels);
  });

  it("leaves a branch of fewer than eleven, and one whose change is within the noise, where it is", () => {
    const few = withLateFall(9);
    expect(divide(few.tree, few.courses, few.times, 5).numGroups).toBe(2);
    const loud = withLateFall();
    expect(divide(loud.tree, loud.courses, loud.times, 60).numGroups).toBe(1);
  });
});
