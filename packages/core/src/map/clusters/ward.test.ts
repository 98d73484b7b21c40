import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { cutTree, groupCenters, type WardTree, wardTree, withinSumsOfSquares } from "./ward.ts";

function normals(n: number, q: number, seed: number): Float64Array {
  const random = createRandom(seed);
  return Float64Array.from({ length: n * q }, () => random.normal());
}

/** Sum of squared distances to the mean of each group, by definition. */
function directWithin(points: Float64Array, q: number, labels: ArrayLike<number>, k: number): number {
  const centers = groupCenters(points, q, labels, k);
  let sum = 0;
  for (let i = 0; i < labels.length; i++) {
    for (let c = 0; c < q; c++) sum += (points[i * q + c] - centers[labels[i] * q + c]) ** 2;
  }
  return sum;
}

/** Slow and obvious: merges the two sets whose union adds least to the sum of squares, over all pairs, every time. */
function slowHeights(points: Float64Array, n: number, q: number): number[] {
  let sets = Array.from({ length: n }, (_, i) => [i]);
  const squares = (set: number[]) => {
    const part = Float64Array.from(set.flatMap((i) => Array.from(points.subarray(i * q, (i + 1) * q))));
    return directWithin(part, q, new Int32Array(set.length), 1);
  };
  const heights: number[] = [];
  while (sets.length > 1) {
    let best = { increase: Number.POSITIVE_INFINITY, a: 0, b: 0 };
    for (let a = 0; a < sets.length; a++) {
      for (let b = a + 1; b < sets.length; b++) {
        const increase = squares([...sets[a], ...sets[b]]) - squares(sets[a]) - squares(sets[b]);
        if (increase < best.increase) best = { increase, a, b };
      }
    }
    const union = [...sets[best.a], ...sets[best.b]];
    sets = [...sets.filter((_, s) => s !== best.a && s !== best.b), union];
    heights.push(Math.sqrt(2 * best.increase));
  }
  return heights;
}

/** Every node but the last is merged once, and never before it is made. */
function expectTree(tree: WardTree): void {
  const n = tree.numPoints;
  const used = new Set<number>();
  for (let t = 0; t < n - 1; t++) {
    for (const node of [tree.merges[2 * t], tree.merges[2 * t + 1]]) {
      expect(node).toBeLessThan(n + t);
      expect(used.has(node)).toBe(false);
      used.add(node);
    }
    if (t > 0) expect(tree.heights[t]).toBeGreaterThanOrEqual(tree.heights[t - 1]);
  }
  expect(used.size).toBe(2 * n - 2);
  expect(Array.from(tree.leafOrder).sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i));
}

describe("wardTree", () => {
  it("merges as the definition does, in one to four dimensions", () => {
    for (const q of [1, 2, 3, 4]) {
      const points = normals(25, q, 40 + q);
      const tree = wardTree(points, 25, q);
      expectTree(tree);
      const slow = slowHeights(points, 25, q);
      for (let t = 0; t < slow.length; t++) expect(tree.heights[t]).toBeCloseTo(slow[t], 10);
    }
  });

  it("makes the same tree whatever the order of the points, also with ties", () => {
    const random = createRandom(7);
    const clouds = [normals(60, 2, 3), Float64Array.from({ length: 120 }, () => random.integer(4))];
    for (const points of clouds) {
      const shuffle = random.permutation(60);
      const shuffled = new Float64Array(120);
      shuffle.forEach((row, i) => {
        shuffled.set(points.subarray(2 * row, 2 * row + 2), 2 * i);
      });
      const [a, b] = [wardTree(points, 60, 2), wardTree(shuffled, 60, 2)];
      expect(b.heights).toEqual(a.heights);
      for (const k of [2, 3, 5, 9]) {
        const [la, lb] = [cutTree(a, k), cutTree(b, k)];
        const partner = new Map<number, number>();
        shuffle.forEach((row, i) => {
          if (!partner.has(lb[i])) partner.set(lb[i], la[row]);
          expect(partner.get(lb[i])).toBe(la[row]);
        });
      }
    }
  });

  it("keeps a valid tree on a lattice, on equal points and on one or two points", () => {
    const lattice = Float64Array.from({ length: 800 }, (_, i) => (i % 2 === 0 ? (i >> 1) % 20 : Math.floor(i / 40)));
    expectTree(wardTree(lattice, 400, 2));
    const equal = wardTree(new Float64Array(30).fill(2.5), 15, 2);
    expectTree(equal);
    expect(equal.heights.every((h) => h === 0)).toBe(true);
    expect(wardTree(new Float64Array([1, 2]), 1, 2).leafOrder).toEqual(Int32Array.of(0));
    expect(wardTree(new Float64Array([0, 0, 3, 4]), 2, 2).heights).toEqual(Float64Array.of(5));
  });

  it("does not mind where the origin is", () => {
    const points = normals(200, 2, 11);
    const far = points.map((x) => x + 1e6);
    const [a, b] = [wardTree(points, 200, 2), wardTree(far, 200, 2)];
    // Coordinates near 1e6 carry 1e-10 of rounding themselves.
    for (let t = 0; t < 199; t++) expect(b.heights[t]).toBeCloseTo(a.heights[t], 8);
  });

  it("refuses points that are not finite or not [n,q]", () => {
    expect(() => wardTree(Float64Array.of(0, Number.NaN), 2, 1)).toThrow(/finite coordinates.*point 1/);
    expect(() => wardTree(Float64Array.of(0, 1, 2), 2, 2)).toThrow(/points \[n,q\]/);
    expect(() => wardTree(new Float64Array(0), 0, 2)).toThrow(/at least 1/);
  });
});

describe("cutTree", () => {
  const points = normals(40, 2, 9);
  const tree = wardTree(points, 40, 2);

  it("gives k nested groups, numbered in order of appearance", () => {
    for (let k = 1; k <= 40; k++) {
      const labels = cutTree(tree, k);
      expect(new Set(labels).size).toBe(k);
      let next = 0;
      for (const label of labels) {
        expect(label).toBeLessThanOrEqual(next);
        if (label === next) next++;
      }
      if (k === 1) continue;
      const coarser = cutTree(tree, k - 1);
      const pairs = new Set(Array.from(labels, (label, i) => `${label} ${coarser[i]}`));
      expect(pairs.size).toBe(k);
    }
  });

  it("has the sum of squares that the heights say", () => {
    const within = withinSumsOfSquares(tree, 40);
    for (let k = 1; k <= 40; k++) expect(within[k - 1]).toBeCloseTo(directWithin(points, 2, cutTree(tree, k), k), 10);
    expect(withinSumsOfSquares(tree, 5)).toEqual(within.slice(0, 5));
  });

  it("refuses no groups, and more groups than points", () => {
    expect(() => cutTree(tree, 0)).toThrow(/from 1 to the 40 points/);
    expect(() => cutTree(tree, 41)).toThrow(/received 41/);
  });
});

describe("groupCenters", () => {
  it("averages members and leaves out those without a group", () => {
    const centers = groupCenters(Float64Array.of(0, 0, 2, 4, 9, 9, 5, 5), 2, [0, 0, -1, 1], 2);
    expect(centers).toEqual(Float64Array.of(1, 2, 5, 5));
  });
});
