import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { canonicalOrder, wardTree } from "./ward.ts";
import { type FoundMerges, findMerges } from "./ward-chain.ts";

/** Every nearest cluster by searching, or by looking at all. */
function merges(points: Float64Array, q: number, way: "search" | "all"): FoundMerges {
  const n = points.length / q;
  return findMerges(points, canonicalOrder(points, n, q), q, way === "search" ? 2 : Number.POSITIVE_INFINITY);
}

const random = createRandom(3);
const drawn = (length: number, draw: (k: number) => number) => Float64Array.from({ length }, (_, k) => draw(k));

describe("findMerges", () => {
  it("merges by searching exactly as by looking at all, in one to five dimensions, also with ties", () => {
    for (const q of [1, 2, 3, 4, 5]) {
      const clouds = {
        normal: drawn(900 * q, () => random.normal()),
        heavyTailed: drawn(600 * q, () => random.normal() / random.normal()),
        tied: drawn(900 * q, () => random.integer(q === 1 ? 2000 : 9)),
      };
      for (const [name, points] of Object.entries(clouds)) {
        expect(merges(points, q, "search"), `${name}, q = ${q}`).toEqual(merges(points, q, "all"));
      }
    }
  });

  it("does so for lines, lattices, equal places and numbers that over- and underflow", () => {
    const clouds = {
      line: drawn(1000, (k) => (k % 2 === 0 ? 5 : random.normal())),
      lattice: drawn(1250, (k) => (k % 2 === 0 ? (k >> 1) % 25 : Math.floor(k / 50))),
      equal: new Float64Array(800).fill(3),
      twoPlaces: drawn(800, (k) => (k >> 1) % 2),
      outliers: drawn(1000, (k) => (k < 10 ? 1e6 : 0) + random.normal()),
      squaresOverflow: drawn(400, () => 1e160 * random.normal()),
      differencesOverflow: drawn(400, (k) => (k < 200 ? random.normal() : 1.7e308 * (2 * random.uniform() - 1))),
      squaresUnderflow: drawn(400, () => 1e-200 * random.normal()),
      subnormal: drawn(400, () => 5e-324 * random.integer(20)),
    };
    for (const [name, points] of Object.entries(clouds)) {
      expect(merges(points, 2, "search"), name).toEqual(merges(points, 2, "all"));
    }
  });

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

  it("takes a small part of the work that looking at all takes", () => {
    const points = drawn(16000, () => random.normal());
    const work = (way: "search" | "all") => {
      const start = process.cpuUsage();
      merges(points, 2, way);
      return process.cpuUsage(start).user;
    };
    work("search");
    // About a tenth at this size, and less with more.
    expect(work("search") / work("all")).toBeLessThan(0.4);
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
