import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { splitTree } from "./split-tree.ts";
import { adjustedRandIndex } from "./stability.ts";
import { cutTree, withinSumsOfSquares } from "./ward.ts";

/** Clouds of 40 around the centres, and which each point came from. */
function clouds(centres: readonly (readonly number[])[], sd = 0.2, seed = 1) {
  const random = createRandom(seed);
  const labels = Int32Array.from({ length: 40 * centres.length }, (_, i) => i % centres.length);
  const points = Float64Array.from(Array.from(labels).flatMap((g) => centres[g].map((c) => c + sd * random.normal())));
  return { points, labels, n: labels.length, q: centres[0].length };
}

/** Least sum of squares of two groups, by every line through two points. */
function leastOfTwo(points: Float64Array, n: number): number {
  const within = (side: (i: number) => boolean) => {
    let sum = 0;
    for (const inside of [true, false]) {
      const chosen = Array.from({ length: n }, (_, i) => i).filter((i) => side(i) === inside);
      for (let c = 0; c < 2; c++) {
        const mean = chosen.reduce((s, i) => s + points[2 * i + c], 0) / Math.max(1, chosen.length);
        for (const i of chosen) sum += (points[2 * i + c] - mean) ** 2;
      }
    }
    return sum;
  };
  let least = Number.POSITIVE_INFINITY;
  for (let a = 0; a < n; a++) {
    for (let b = 0; b < a; b++) {
      const [dx, dy] = [points[2 * b] - points[2 * a], points[2 * b + 1] - points[2 * a + 1]];
      for (const slack of [-1e-9, 1e-9]) {
        const side = (i: number) =>
          dx * (points[2 * i + 1] - points[2 * a + 1]) - dy * (points[2 * i] - points[2 * a]) > slack;
        least = Math.min(least, within(side));
      }
    }
  }
  return least;
}

describe("splitTree", () => {
  it("finds clouds in one, two and three dimensions", () => {
    const ring = [0, 1, 2, 3, 4].map((k) => [3 * Math.cos(k * 1.2566), 3 * Math.sin(k * 1.2566)]);
    for (const centres of [
      [[0], [3], [9]],
      ring,
      [
        [0, 0, 0],
        [4, 0, 0],
        [0, 4, 0],
        [0, 0, 4],
      ],
    ]) {
      const { points, labels, n, q } = clouds(centres);
      expect(adjustedRandIndex(cutTree(splitTree(points, n, q), centres.length), labels)).toBe(1);
    }
  });

  it("splits first where the sum of squares falls most", () => {
    for (const seed of [1, 2, 3, 4]) {
      const { points, n, q } = clouds([[0, 0]], 1, seed);
      const [, two] = withinSumsOfSquares(splitTree(points, n, q), 2);
      expect(two).toBeCloseTo(leastOfTwo(points, n), 8);
    }
  });

  it("has heights that never fall, and every point once", () => {
    const { points, n, q } = clouds(
      [
        [0, 0],
        [1, 0.5],
      ],
      1,
    );
    const tree = splitTree(points, n, q);
    for (let t = 1; t < n - 1; t++) expect(tree.heights[t]).toBeGreaterThanOrEqual(tree.heights[t - 1]);
    expect([...tree.leafOrder].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i));
    expect(new Set(tree.merges).size).toBe(2 * (n - 1));
    for (let k = 1; k <= n; k += 7) expect(new Set(cutTree(tree, k)).size).toBe(k);
  });

  it("does not depend on the order of the points, and hardly on small movements", () => {
    const { points, n, q } = clouds([[0, 0]], 1, 7);
    const order = createRandom(3).permutation(n);
    const shuffled = Float64Array.from(Array.from(order).flatMap((i) => [points[2 * i], points[2 * i + 1]]));
    const moved = points.map((x, k) => x + 0.003 * Math.sin(k));
    for (const k of [2, 3, 4, 5, 6]) {
      const labels = cutTree(splitTree(points, n, q), k);
      const again = cutTree(splitTree(shuffled, n, q), k);
      expect(
        adjustedRandIndex(
          order.map((i) => labels[i]),
          again,
        ),
      ).toBe(1);
      expect(adjustedRandIndex(labels, cutTree(splitTree(moved, n, q), k))).toBeGreaterThan(0.9);
    }
  });

  it("takes equal points, one point, and fewer points than branches", () => {
    expect(cutTree(splitTree(new Float64Array(20), 10, 2), 3)).toHaveLength(10);
    expect(splitTree(Float64Array.of(1, 2), 1, 2).numPoints).toBe(1);
    expect(new Set(cutTree(splitTree(Float64Array.of(0, 0, 1, 1, 5, 5), 3, 2), 3)).size).toBe(3);
  });
});
