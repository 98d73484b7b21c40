import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { canonicalOrder, wardTree, withinSumsOfSquares } from "./ward.ts";
import { findMerges } from "./ward-chain.ts";

const random = createRandom(3);
const drawn = (length: number, draw: (k: number) => number) => Float64Array.from({ length }, (_, k) => draw(k));

describe("findMerges", () => {
  it("merges the closest two of those left each time, as the definition says, also with ties", () => {
    for (const q of [1, 2, 3, 4]) {
      for (const points of [
        drawn(150 * q, () => random.normal()),
        drawn(150 * q, () => random.integer(q === 1 ? 40 : 4)),
      ]) {
        expectClosestMerged(points, 150, q);
      }
    }
  });

  it("makes a tree of equal places and of numbers that over- and underflow", () => {
    const clouds = {
      equal: new Float64Array(800).fill(3),
      twoPlaces: drawn(800, (k) => (k >> 1) % 2),
      squaresOverflow: drawn(400, () => 1e160 * random.normal()),
      differencesOverflow: drawn(400, (k) => (k < 200 ? random.normal() : 1.7e308 * (2 * random.uniform() - 1))),
      squaresUnderflow: drawn(400, () => 1e-200 * random.normal()),
      subnormal: drawn(400, () => 5e-324 * random.integer(20)),
    };
    for (const [name, points] of Object.entries(clouds)) {
      const tree = wardTree(points, points.length / 2, 2);
      expect(new Set(tree.merges).size, name).toBe(points.length - 2);
    }
  });

  it("keeps nearly all of what the exact tree explains when many points are first merged within cells", () => {
    const n = 3000;
    const points = drawn(2 * n, (k) => (k % 3) + random.normal());
    const found = findMerges(points, canonicalOrder(points, n, 2), 2, 600);
    const exact = withinSumsOfSquares(wardTree(points, n, 2), 6);
    // Merging is greedy: from other beginnings a continuum is cut otherwise, a few per cent better or worse.
    const order = Array.from(found.heights).sort((a, b) => a - b);
    for (let k = 1; k <= 6; k++) {
      const within = order.slice(0, n - k).reduce((s, h) => s + 0.5 * h * h, 0);
      expect(Math.abs(within / exact[k - 1] - 1)).toBeLessThan(0.1);
    }
    expect(new Set(found.pairs).size).toBe(2 * n - 2);
  });
});

/** Slow and obvious: members of every cluster, distance of every pair from the means of the members. */
function expectClosestMerged(points: Float64Array, n: number, q: number): void {
  const tree = wardTree(points, n, q);
  const alive = new Map(Array.from({ length: n }, (_, i) => [i, [i]]));
  const distance = (a: readonly number[], b: readonly number[]) => {
    let s = 0;
    for (let c = 0; c < q; c++) {
      const mean = (set: readonly number[]) => set.reduce((sum, i) => sum + points[i * q + c], 0) / set.length;
      s += (mean(a) - mean(b)) ** 2;
    }
    return Math.sqrt(((2 * a.length * b.length) / (a.length + b.length)) * s);
  };
  for (let t = 0; t < n - 1; t++) {
    const [a, b] = [tree.merges[2 * t], tree.merges[2 * t + 1]];
    const own = distance(alive.get(a)!, alive.get(b)!);
    // Means of up to 150 numbers of size 1 to 40 carry about 1e-13 of rounding.
    expect(tree.heights[t]).toBeCloseTo(own, 10);
    // All pairs at every tenth merge are enough to find a wrong one, and quick.
    if (t % 10 === 0) {
      const sets = [...alive.values()];
      for (let i = 0; i < sets.length; i++) {
        for (let j = 0; j < i; j++) if (distance(sets[i], sets[j]) < own - 1e-10) expect.fail(`merge ${t}: ${own}`);
      }
    }
    alive.set(n + t, [...alive.get(a)!, ...alive.get(b)!]);
    alive.delete(a);
    alive.delete(b);
  }
  expect(alive.size).toBe(1);
}
