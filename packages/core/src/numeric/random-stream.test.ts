import { describe, expect, it } from "vitest";
import { drawBelow, drawSubsetInPlace, openStream } from "./random-stream.ts";

describe("openStream", () => {
  it("gives the same numbers for the same seed and index, and others for any other", () => {
    const draws = (seed: number, index: number) => {
      const stream = openStream(seed, index);
      return Array.from({ length: 8 }, () => stream.next());
    };
    expect(draws(1, 7)).toEqual(draws(1, 7));
    const firsts = new Set<string>();
    for (const seed of [0, 1, 2, 0.5, -1])
      for (let index = 0; index < 200; index++) firsts.add(draws(seed, index).join());
    expect(firsts.size).toBe(1000);
  });

  it("is uniform across streams as well as along one", () => {
    // 30,000 draws into 10 cells: χ² with 9 degrees of freedom is below 27.9 with probability 0.999.
    const chi2 = (draw: (k: number) => number) => {
      const counts = new Float64Array(10);
      for (let k = 0; k < 30_000; k++) counts[draw(k)]++;
      return counts.reduce((s, c) => s + (c - 3000) ** 2 / 3000, 0);
    };
    const stream = openStream(3, 0);
    expect(chi2(() => drawBelow(stream, 10))).toBeLessThan(27.9);
    expect(chi2((k) => drawBelow(openStream(3, k), 10))).toBeLessThan(27.9);
  });
});

describe("drawSubsetInPlace", () => {
  it("draws every subset equally often and touches nothing outside its range", () => {
    const counts = new Map<string, number>();
    for (let b = 0; b < 6000; b++) {
      const items = Int32Array.of(9, 0, 1, 2, 3, 8);
      drawSubsetInPlace(openStream(1, b), items, 1, 5, 2);
      expect([items[0], items[5]]).toEqual([9, 8]);
      expect([...items.subarray(1, 5)].sort()).toEqual([0, 1, 2, 3]);
      const subset = [items[1], items[2]].sort().join();
      counts.set(subset, (counts.get(subset) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    // Each of 6 subsets has 1,000 ± 29; five standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(145);
  });
});
