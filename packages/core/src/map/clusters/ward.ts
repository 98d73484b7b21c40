/**
 * Ward's hierarchical clustering of points x_1..x_n in R^q, rows of X [n,q]. Two clusters A and B with centres a, b lie
 *   d(A,B) = √( 2|A||B| / (|A|+|B|) ) · ‖a − b‖
 * apart; the closest two are merged until one is left. d is the plain distance of two single points, and d²/2 is what a
 * merge adds to the sum of squares within clusters. This is R's hclust(dist(X), "ward.D2").
 *
 * Found by the nearest-neighbour chain (ward-chain.ts). Ward's distance is reducible (a merge brings nothing nearer), so
 * it makes the same tree as always merging the closest two. Distances come from centres and sizes, never from a matrix:
 * O(nq) memory.   (docs/math/groups.md §1)
 */
import { checkOption, DtmError } from "../../errors.ts";
import { findMerges } from "./ward-chain.ts";

/** A tree of merges, lowest first. Nodes 0..n−1 are the points, node n+t is the cluster made by merge t. */
export interface WardTree {
  readonly numPoints: number;
  /** The two nodes of each merge, smaller number first, [n−1,2]. */
  readonly merges: Int32Array;
  /** d(A,B) of each merge, never falling, [n−1]. */
  readonly heights: Float64Array;
  /** The points from left to right in a drawing without crossings, [n]. */
  readonly leafOrder: Int32Array;
}

/** The Ward tree of points X [n,q]; does not depend on the order of the points but for their numbers. */
export function wardTree(points: Float64Array, numPoints: number, dimension: number): WardTree {
  checkPoints(points, numPoints, dimension, "wardTree");
  const n = numPoints;
  const from = canonicalOrder(points, n, dimension);
  const { pairs, heights } = findMerges(points, from, dimension);
  return numberTree(pairs, heights, from);
}

/** Group of each point when the tree is cut into k groups, numbered 0.. in order of first appearance, [n]. */
export function cutTree(tree: WardTree, numGroups: number): Int32Array {
  const n = tree.numPoints;
  checkOption(
    Number.isInteger(numGroups) && numGroups >= 1 && numGroups <= n,
    "cutTree: numGroups",
    `a whole number from 1 to the ${n} points`,
    numGroups,
    "Ask for fewer groups.",
  );
  // Each node passes its top on to its two children, last merge first.
  const top = new Int32Array(2 * n - 1).fill(-1);
  for (let t = n - 2; t >= 0; t--) {
    const own = top[n + t] >= 0 ? top[n + t] : t >= n - numGroups ? -1 : n + t;
    top[tree.merges[2 * t]] = own;
    top[tree.merges[2 * t + 1]] = own;
  }
  const labels = new Int32Array(n);
  const seen = new Map<number, number>();
  for (let i = 0; i < n; i++) {
    const node = top[i] >= 0 ? top[i] : i;
    if (!seen.has(node)) seen.set(node, seen.size);
    labels[i] = seen.get(node)!;
  }
  return labels;
}

/** Sum of squared distances to the group's centre after cutting into 1..maxGroups groups: ½ Σ h² below the cut, [K]. */
export function withinSumsOfSquares(tree: WardTree, maxGroups: number): Float64Array {
  const n = tree.numPoints;
  const within = new Float64Array(Math.min(maxGroups, n));
  let sum = 0;
  for (let t = 0; t < n - 1; t++) {
    sum += 0.5 * tree.heights[t] * tree.heights[t];
    const groups = n - 1 - t;
    if (groups <= within.length) within[groups - 1] = sum;
  }
  return within;
}

/** Mean place of each group, [k,q]; labels are 0..k−1, a point labelled below 0 belongs to none. */
export function groupCenters(
  points: Float64Array,
  dimension: number,
  labels: ArrayLike<number>,
  numGroups: number,
): Float64Array {
  const q = dimension;
  const centers = new Float64Array(numGroups * q);
  const sizes = new Float64Array(numGroups);
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] < 0) continue;
    sizes[labels[i]]++;
    for (let c = 0; c < q; c++) centers[labels[i] * q + c] += points[i * q + c];
  }
  for (let g = 0; g < numGroups; g++) for (let c = 0; c < q; c++) centers[g * q + c] /= sizes[g];
  return centers;
}

/** Throws unless X is a non-empty [n,q] array of finite numbers. */
export function checkPoints(points: Float64Array, n: number, q: number, where: string): void {
  if (n < 1 || q < 1 || points.length !== n * q) {
    throw new DtmError(
      "shape",
      `${where}: expected points [n,q] with n and q at least 1, received ${points.length} numbers for n = ${n}, q = ${q}.`,
    );
  }
  for (let k = 0; k < n * q; k++) {
    if (!Number.isFinite(points[k])) {
      throw new DtmError(
        "not-finite",
        `${where}: expected finite coordinates, received ${points[k]} for point ${Math.floor(k / q)}. Leave it out.`,
      );
    }
  }
}

/** Rows of X sorted by first, second, … coordinate: an order that the order of the rows does not change, [n]. */
export function canonicalOrder(points: Float64Array, n: number, q: number): Int32Array {
  return Int32Array.from({ length: n }, (_, i) => i).sort((a, b) => {
    for (let c = 0; c < q; c++) {
      const difference = points[a * q + c] - points[b * q + c];
      if (difference !== 0) return difference;
    }
    return 0;
  });
}

/** Sorts the merges by height, gives points their own numbers back and finds the order of the leaves. */
export function numberTree(pairs: Int32Array, found: Float64Array, from: Int32Array): WardTree {
  const n = from.length;
  // A stable sort keeps a cluster after its parts where heights are equal.
  const order = Int32Array.from({ length: n - 1 }, (_, t) => t).sort((a, b) => found[a] - found[b] || a - b);
  const number = new Int32Array(2 * n - 1);
  number.set(from);
  order.forEach((t, place) => {
    number[n + t] = n + place;
  });
  const merges = new Int32Array(2 * (n - 1));
  const heights = new Float64Array(n - 1);
  order.forEach((t, place) => {
    const a = number[pairs[2 * t]];
    const b = number[pairs[2 * t + 1]];
    merges[2 * place] = Math.min(a, b);
    merges[2 * place + 1] = Math.max(a, b);
    heights[place] = found[t];
  });
  return { numPoints: n, merges, heights, leafOrder: leafOrder(merges, n) };
}

/** Leaves from left to right, the first node of a merge to the left. */
function leafOrder(merges: Int32Array, n: number): Int32Array {
  const leaves = new Int32Array(n);
  const open = [2 * n - 2];
  let filled = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node < n) leaves[filled++] = node;
    else open.push(merges[2 * (node - n) + 1], merges[2 * (node - n)]);
  }
  return leaves;
}
