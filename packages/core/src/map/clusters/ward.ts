/**
 * Ward's hierarchical clustering of points x_1..x_n in R^q, rows of X [n,q]. Two clusters A and B with centres a, b lie
 *   d(A,B) = √( 2|A||B| / (|A|+|B|) ) · ‖a − b‖
 * apart; the closest two are merged until one is left. d is the plain distance of two single points, and d²/2 is what a
 * merge adds to the sum of squares within clusters. This is R's hclust(dist(X), "ward.D2").
 *
 * Found by the nearest-neighbour chain (Murtagh 1983; Müllner 2011): walk from a cluster to its nearest neighbour until
 * two are each other's nearest, merge them, go on from there. Ward's distance is reducible (a merge brings nothing
 * nearer), so this makes the same tree as always merging the closest two. Distances come from centres and sizes, never
 * from a matrix: O(n²q) time, O(nq) memory.   (docs/math/groups.md §1)
 */
import { checkOption, DtmError } from "../../errors.ts";

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

/** The clusters still alive, in slots 0..alive−1, and the chain of slots. */
interface Workspace {
  readonly q: number;
  readonly centers: Float64Array; // [n,q]
  readonly sizes: Float64Array; // [n]
  readonly nodes: Int32Array; // [n] node number, in order of making
  readonly chain: Int32Array; // [n]
  readonly chainPosition: Int32Array; // [n] place of a slot in the chain, or −1
  alive: number;
}

/** The Ward tree of points X [n,q]; does not depend on the order of the points but for their numbers. */
export function wardTree(points: Float64Array, numPoints: number, dimension: number): WardTree {
  checkPoints(points, numPoints, dimension, "wardTree");
  const n = numPoints;
  const from = canonicalOrder(points, n, dimension);
  const pairs = new Int32Array(2 * (n - 1));
  const heights = new Float64Array(n - 1);
  runChain(prepare(points, from, dimension), pairs, heights);
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

/** Single points as clusters, in canonical order, centred so that places far from the origin lose no digits. */
function prepare(points: Float64Array, from: Int32Array, q: number): Workspace {
  const n = from.length;
  const centers = new Float64Array(n * q);
  for (let i = 0; i < n; i++) for (let c = 0; c < q; c++) centers[i * q + c] = points[from[i] * q + c];
  for (let c = 0; c < q; c++) {
    let mean = 0;
    for (let i = 0; i < n; i++) mean += centers[i * q + c] / n;
    for (let i = 0; i < n; i++) centers[i * q + c] -= mean;
  }
  return {
    q,
    centers,
    sizes: new Float64Array(n).fill(1),
    nodes: Int32Array.from({ length: n }, (_, i) => i),
    chain: new Int32Array(n),
    chainPosition: new Int32Array(n).fill(-1),
    alive: n,
  };
}

/** Fills `pairs` [n−1,2] and `heights` [n−1] with the merges in the order in which the chain finds them. */
function runChain(work: Workspace, pairs: Int32Array, heights: Float64Array): void {
  const { nodes, chain, chainPosition } = work;
  const n = work.alive;
  let length = 0;
  for (let t = 0; t < n - 1; ) {
    if (length === 0) {
      chain[0] = 0;
      chainPosition[0] = 0;
      length = 1;
    }
    const top = chain[length - 1];
    const previous = length > 1 ? chain[length - 2] : -1;
    const next = nearest(work, top, previous);
    if (next !== previous) {
      const seen = chainPosition[next];
      if (seen < 0) {
        chainPosition[next] = length;
        chain[length++] = next;
      } else {
        // Only rounding among equal distances leads back into the chain; walk on from there.
        while (length > seen + 1) chainPosition[chain[--length]] = -1;
      }
      continue;
    }
    // Top and previous are each other's nearest.
    length -= 2;
    chainPosition[top] = -1;
    chainPosition[previous] = -1;
    pairs[2 * t] = nodes[top];
    pairs[2 * t + 1] = nodes[previous];
    const below = Math.max(heightOf(heights, nodes[top], n), heightOf(heights, nodes[previous], n));
    heights[t] = Math.max(below, Math.sqrt(2 * distance(work, top, previous)));
    mergeSlots(work, Math.min(top, previous), Math.max(top, previous), n + t);
    t++;
  }
}

/** The slot with the smallest |A||B|/(|A|+|B|)·‖a−b‖² to `top`; of equals `previous`, else the first. */
function nearest(work: Workspace, top: number, previous: number): number {
  const { q, centers, sizes, alive } = work;
  const size = sizes[top];
  let best = previous;
  let least = previous >= 0 ? distance(work, top, previous) : Number.POSITIVE_INFINITY;
  const x = centers[top * q];
  const y = q > 1 ? centers[top * q + 1] : 0;
  for (let j = 0; j < alive; j++) {
    const row = j * q;
    const dx = x - centers[row];
    let s = dx * dx;
    if (q > 1) {
      const dy = y - centers[row + 1];
      s += dy * dy;
      for (let c = 2; c < q; c++) {
        const dc = centers[top * q + c] - centers[row + c];
        s += dc * dc;
      }
    }
    // The factor is at least ½, so most slots are ruled out without the division.
    if (0.5 * s >= least || j === top) continue;
    const d = ((size * sizes[j]) / (size + sizes[j])) * s;
    if (d < least) {
      least = d;
      best = j;
    }
  }
  // Every distance overflowed or was equal to infinity: any neighbour is as good.
  return best >= 0 ? best : top === 0 ? 1 : 0;
}

/** |A||B|/(|A|+|B|)·‖a−b‖² of two slots; the same bits in either order. */
function distance(work: Workspace, a: number, b: number): number {
  const { q, centers, sizes } = work;
  let s = 0;
  for (let c = 0; c < q; c++) {
    const d = centers[a * q + c] - centers[b * q + c];
    s += d * d;
  }
  return ((sizes[a] * sizes[b]) / (sizes[a] + sizes[b])) * s;
}

/** Puts the union of slots a < b into a, and the last slot alive into b. */
function mergeSlots(work: Workspace, a: number, b: number, node: number): void {
  const { q, centers, sizes, nodes, chain, chainPosition } = work;
  const size = sizes[a] + sizes[b];
  for (let c = 0; c < q; c++) {
    centers[a * q + c] = (sizes[a] * centers[a * q + c] + sizes[b] * centers[b * q + c]) / size;
  }
  sizes[a] = size;
  nodes[a] = node;
  const last = --work.alive;
  if (b === last) return;
  for (let c = 0; c < q; c++) centers[b * q + c] = centers[last * q + c];
  sizes[b] = sizes[last];
  nodes[b] = nodes[last];
  chainPosition[b] = chainPosition[last];
  if (chainPosition[b] >= 0) chain[chainPosition[b]] = b;
}

function heightOf(heights: Float64Array, node: number, n: number): number {
  return node < n ? 0 : heights[node - n];
}

/** Sorts the merges by height, gives points their own numbers back and finds the order of the leaves. */
function numberTree(pairs: Int32Array, found: Float64Array, from: Int32Array): WardTree {
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
