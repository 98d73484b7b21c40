import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { GROUPS_HOLD } from "../../study/sensitivity-result.ts";
import { adjustedRandIndex, stabilityOf, stabilityText, stabilityWord } from "./stability.ts";

/** Slow and obvious: counts all pairs. */
function slowIndex(a: number[], b: number[]): number {
  let both = 0;
  let inA = 0;
  let inB = 0;
  let all = 0;
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < i; j++) {
      all++;
      if (a[i] === a[j]) inA++;
      if (b[i] === b[j]) inB++;
      if (a[i] === a[j] && b[i] === b[j]) both++;
    }
  }
  const expected = (inA * inB) / all;
  return (both - expected) / ((inA + inB) / 2 - expected);
}

describe("adjustedRandIndex", () => {
  it("is one for equal partitions, whatever the names of the groups", () => {
    expect(adjustedRandIndex([0, 0, 1, 1, 2], [5, 5, 0, 0, 3])).toBe(1);
    expect(adjustedRandIndex([0, 0, 0], [1, 1, 1])).toBe(1);
    expect(adjustedRandIndex([0, 1, 2], [2, 0, 1])).toBe(1);
  });

  it("is what counting all pairs gives", () => {
    const random = createRandom(3);
    for (let round = 0; round < 10; round++) {
      const a = Array.from({ length: 50 }, () => random.integer(4));
      const b = a.map((g) => (random.uniform() < 0.3 ? random.integer(5) : g));
      expect(adjustedRandIndex(a, b)).toBeCloseTo(slowIndex(a, b), 12);
      expect(adjustedRandIndex(b, a)).toBeCloseTo(adjustedRandIndex(a, b), 14);
    }
  });

  it("is zero on average for unrelated partitions", () => {
    const random = createRandom(8);
    let mean = 0;
    for (let round = 0; round < 200; round++) {
      const draw = () => Array.from({ length: 80 }, () => random.integer(3));
      mean += adjustedRandIndex(draw(), draw()) / 200;
    }
    expect(Math.abs(mean)).toBeLessThan(0.005);
  });

  it("leaves out individuals without a label, and needs labels of the same individuals", () => {
    expect(adjustedRandIndex([0, 0, 1, 1, 0], [2, 2, 3, 3, -1])).toBe(1);
    expect(adjustedRandIndex([-1, -1], [0, 0])).toBeNaN();
    expect(() => adjustedRandIndex([0, 1], [0])).toThrow(/received 2 and 1/);
  });
});

describe("stabilityOf", () => {
  it("counts the pairs of each group that stay together", () => {
    const reference = [0, 0, 0, 1, 1, 1, 1];
    // Group 0 loses one of three: 1 of 3 pairs stays. Group 1 splits in halves: 2 of 6 pairs stay.
    const { groups } = stabilityOf(reference, [[0, 0, 1, 2, 2, 3, 3]]);
    expect(groups.map((g) => g.pairsKept)).toEqual([1 / 3, 2 / 6]);
    expect(groups.every(({ verdict }) => verdict === "unstable")).toBe(true);
    const twice = stabilityOf(reference, [reference, [0, 0, 1, 2, 2, 3, 3]]);
    expect(twice.groups.map((g) => g.pairsKept)).toEqual([4 / 6, 8 / 12]);
    expect(twice.adjustedRand[0]).toBe(1);
    expect(twice.groups[0].verdict).toBe("fairly stable");
  });

  it("has one set of words: stable from 0.8 on, unstable below 0.6, by the number that is told", () => {
    expect([0.8, 0.796, 0.79, 0.65, 0.595, 0.59, Number.NaN].map(stabilityWord)).toEqual([
      ...["stable", "stable", "fairly stable", "fairly stable", "fairly stable", "unstable", "unstable"],
    ]);
    expect(GROUPS_HOLD).toBe(0.8);
    const told = (count: number) =>
      stabilityText({ meanAdjustedRand: 0.651, adjustedRand: new Array<number>(count).fill(0.651) });
    expect(told(2)).toBe("fairly stable: adjusted Rand index 0.65 over only 2 refits");
    expect(told(1)).toMatch(/only 1 refit$/);
    expect(told(20)).toBe("fairly stable: adjusted Rand index 0.65 over 20 refits");
  });

  it("is unstable where groups do not come back", () => {
    const reference = [0, 0, 0, 1, 1, 1];
    expect(stabilityOf(reference, [reference]).verdict).toBe("stable");
    expect(stabilityOf(reference, [[0, 1, 2, 0, 1, 2]]).verdict).toBe("unstable");
    expect(stabilityOf(reference, [[-1, -1, -1, -1, -1, -1]]).verdict).toBe("unstable");
    expect(() => stabilityOf(reference, [])).toThrow(/at least one labeling/);
  });
});
