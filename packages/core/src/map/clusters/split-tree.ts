/**
 * The same criterion as Ward's from above: all points are one cluster, and the split that lowers the sum of squares within
 * clusters most is made next. A cluster A falls into B and C, each point with the nearer centre (2-means), by Lloyd's steps from
 * several cuts through the middle; the best is kept. With h²/2 the fall of the sum of squares the tree reads as Ward's does.
 *
 * Ward's merges are greedy from below, where everything is nearly tied: places that move by 0.003 sd turn its first cuts into
 * others (adjusted Rand index 0.5 and 0.6 on two of nine cohorts, docs/studies/settled.md). The first splits from above rest on everybody, and stay. Within
 * small branches, below the thirty that are drawn, the tree is Ward's.   (docs/math/groups.md §1)
 */
import { takeRows } from "../../numeric/matrix.ts";
import { NUM_LEAVES } from "./tree-top.ts";
import { canonicalOrder, checkPoints, numberTree, type WardTree, wardTree } from "./ward.ts";

/** A cluster and its best split. */
interface Branch {
  readonly members: Int32Array;
  /** Fall of the sum of squares; 0 where nothing can be split. */
  readonly gain: number;
  readonly parts: readonly [Int32Array, Int32Array];
  /** Made by the split, once there was one. */
  children: readonly [Branch, Branch] | null;
}

/** Offsets of the first cuts from the middle, in standard deviations along a direction. */
const FIRST_CUTS = [-0.7, 0, 0.7];
const MAX_STEPS = 100;
/** Branches of more are split until there are none: Ward's tree takes the square of their size. */
const LARGEST_LEAF = 1000;

/** The tree of points X [n,q] by splits from above; does not depend on the order of the points but for their numbers. */
export function splitTree(points: Float64Array, numPoints: number, dimension: number): WardTree {
  checkPoints(points, numPoints, dimension, "splitTree");
  const [n, q] = [numPoints, dimension];
  const directions = directionsOf(q);
  const branchOf = (members: Int32Array): Branch => ({
    members,
    ...bestSplit(points, q, members, directions),
    children: null,
  });
  const leaves = [branchOf(canonicalOrder(points, n, q))];
  const splits: Branch[] = [];
  for (;;) {
    const open = leaves.length < NUM_LEAVES ? leaves : leaves.filter(({ members }) => members.length > LARGEST_LEAF);
    const next = open.reduce<Branch | null>((best, branch) => (branch.gain > (best?.gain ?? 0) ? branch : best), null);
    if (next === null) break;
    next.children = [branchOf(next.parts[0]), branchOf(next.parts[1])];
    leaves.splice(leaves.indexOf(next), 1, ...next.children);
    splits.push(next);
  }
  const pairs: number[] = [];
  const heights: number[] = [];
  const nodes = new Map<Branch, number>();
  for (const leaf of leaves) {
    const { members } = leaf;
    const first = n + heights.length - members.length;
    const inner = wardTree(takeRows(points, q, members), members.length, q);
    for (const node of inner.merges) pairs.push(node < members.length ? members[node] : first + node);
    for (const height of inner.heights) heights.push(height);
    nodes.set(leaf, members.length === 1 ? members[0] : n + heights.length - 1);
  }
  // Splits in their order are merges backwards; a later split that gains more than an earlier one stands as high as it.
  let lowest = heights.reduce((most, height) => Math.max(most, height), 0);
  for (const branch of splits.reverse()) {
    const [a, b] = branch.children!;
    lowest = Math.max(lowest, Math.sqrt(2 * branch.gain));
    pairs.push(nodes.get(a)!, nodes.get(b)!);
    heights.push(lowest);
    nodes.set(branch, n + heights.length - 1);
  }
  return numberTree(
    Int32Array.from(pairs),
    Float64Array.from(heights),
    Int32Array.from({ length: n }, (_, i) => i),
  );
}

/** One of each pair ±v of the vectors with entries −1, 0, 1. */
function directionsOf(q: number): Float64Array[] {
  const all = Array.from({ length: 3 ** q }, (_, code) =>
    Float64Array.from({ length: q }, (_, c) => (Math.floor(code / 3 ** c) % 3) - 1),
  );
  return all.slice((all.length + 1) / 2);
}

/** The split into two with the least sum of squares that is found. */
function bestSplit(
  points: Float64Array,
  q: number,
  members: Int32Array,
  directions: readonly Float64Array[],
): Pick<Branch, "gain" | "parts"> {
  const n = members.length;
  const middle = new Float64Array(q);
  for (const i of members) for (let c = 0; c < q; c++) middle[c] += points[i * q + c] / n;
  const normal = new Float64Array(q);
  let gain = 0;
  let best: { readonly normal: Float64Array; readonly at: number } | null = null;
  for (const direction of directions) {
    let square = 0;
    for (const i of members) square += along(points, i, q, direction, middle) ** 2;
    const sd = Math.sqrt(square / n);
    for (const cut of FIRST_CUTS) {
      normal.set(direction);
      let at = cut * sd;
      let [before, found] = [-1, 0];
      for (let step = 0; step < MAX_STEPS && found > before; step++) {
        // Sum of the points beyond the cut, from the middle: the centres are s/k and −s/(n − k), and the gain |s|² n/(k(n − k)).
        const sum = new Float64Array(q);
        let k = 0;
        for (const i of members) {
          if (along(points, i, q, normal, middle) <= at) continue;
          k++;
          for (let c = 0; c < q; c++) sum[c] += points[i * q + c] - middle[c];
        }
        if (k === 0 || k === n) break;
        const length = sum.reduce((total, s) => total + s * s, 0);
        before = found;
        found = (length * n) / (k * (n - k));
        if (found > gain * (1 + 1e-12)) [gain, best] = [found, { normal: normal.slice(), at }];
        normal.set(sum);
        at = 0.5 * length * (1 / k - 1 / (n - k));
      }
    }
  }
  const beyond = (i: number) => best !== null && along(points, i, q, best.normal, middle) > best.at;
  return { gain, parts: [members.filter((i) => !beyond(i)), members.filter(beyond)] };
}

/** normal'(x_i − middle). */
function along(points: Float64Array, i: number, q: number, normal: Float64Array, middle: Float64Array): number {
  let sum = 0;
  for (let c = 0; c < q; c++) sum += normal[c] * (points[i * q + c] - middle[c]);
  return sum;
}
