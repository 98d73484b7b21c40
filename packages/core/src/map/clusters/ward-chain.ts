/**
 * The nearest-neighbour chain for Ward's distance (Murtagh 1983; Müllner 2011): walk from a cluster to its nearest
 * neighbour until two are each other's nearest, merge them, go on from there. Clusters stand in slots 0..alive−1 with
 * centre and size, and
 *   d(A,B)² / 2 = |A||B| / (|A|+|B|) · ‖a − b‖²
 * is what is compared, for all clusters alive: O(n²) time, O(nq) memory. More than 20,000 points are first merged within
 * 20,000 cells, halves by rank along the widest side, a few neighbours in each; from there on the tree is exact for the
 * cells.   (docs/math/groups.md §1)
 */
import { squaredDistance, takeRows } from "../../numeric/matrix.ts";
import { columnMeans } from "../../numeric/moments.ts";

/** The merges as the chain finds them: nodes [n−1,2] (n+t is the cluster made by merge t) and d(A,B) [n−1]. */
export interface FoundMerges {
  readonly pairs: Int32Array;
  readonly heights: Float64Array;
}

/** The clusters still alive, in slots 0..alive−1, and the chain of slots. */
interface Workspace {
  readonly q: number;
  readonly centers: Float64Array; // [n,q]
  readonly sizes: Float64Array; // [n]
  readonly nodes: Int32Array; // [n] node number, in order of making
  readonly slotOf: Int32Array; // [2n−1] slot of a node, −1 once it is merged
  readonly chain: Int32Array; // [n]
  readonly chainPosition: Int32Array; // [n] place of a slot in the chain, or −1
  alive: number;
}

/** Points up to which the tree is exact: about a second of work. */
const MOST_CELLS = 20_000;

/** The merges of points X [n,q], taken in the given order; exact for up to `mostCells` points. */
export function findMerges(
  points: Float64Array,
  from: Int32Array,
  dimension: number,
  mostCells = MOST_CELLS,
): FoundMerges {
  const n = from.length;
  const found = { pairs: new Int32Array(2 * (n - 1)), heights: new Float64Array(n - 1) };
  const work = prepare(points, from, dimension);
  if (n > mostCells) mergeWithinCells(work, Math.ceil(n / mostCells), found);
  runChain(work, found);
  return found;
}

/** Single points as clusters, centred so that places far from the origin lose no digits. */
function prepare(points: Float64Array, from: Int32Array, q: number): Workspace {
  const n = from.length;
  const centers = takeRows(points, q, from);
  const mean = columnMeans(centers, n, q);
  for (let i = 0; i < n * q; i++) centers[i] -= mean[i % q];
  return {
    q,
    centers,
    sizes: new Float64Array(n).fill(1),
    nodes: Int32Array.from({ length: n }, (_, i) => i),
    slotOf: Int32Array.from({ length: 2 * n - 1 }, (_, i) => (i < n ? i : -1)),
    chain: new Int32Array(n),
    chainPosition: new Int32Array(n).fill(-1),
    alive: n,
  };
}

/** Merges the points of each cell one after the other, in cells of at most `size` points. */
function mergeWithinCells(work: Workspace, size: number, found: FoundMerges): void {
  const { q, centers, slotOf } = work;
  const points = Int32Array.from({ length: work.alive }, (_, i) => i);
  const places = centers.slice();
  const cells: Int32Array[] = [];
  const divide = (from: number, to: number): void => {
    const part = points.subarray(from, to);
    if (part.length <= size) {
      cells.push(part);
      return;
    }
    let [axis, width] = [0, -1];
    for (let c = 0; c < q; c++) {
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (const i of part) {
        low = Math.min(low, places[i * q + c]);
        high = Math.max(high, places[i * q + c]);
      }
      if (high - low > width) [axis, width] = [c, high - low];
    }
    part.sort((a, b) => places[a * q + axis] - places[b * q + axis] || a - b);
    const middle = (from + to) >> 1;
    divide(from, middle);
    divide(middle, to);
  };
  divide(0, points.length);
  for (const cell of cells) {
    let node = cell[0];
    for (const point of cell.subarray(1)) node = merge(work, slotOf[node], slotOf[point], found);
  }
}

/** Merges until one cluster is left, in the order in which the chain finds them. */
function runChain(work: Workspace, found: FoundMerges): void {
  const { slotOf, chain, chainPosition } = work;
  let length = 0;
  let oldest = 0;
  while (work.alive > 1) {
    if (length === 0) {
      // The oldest cluster is one of the smallest. A large one among small ones has its nearest far away, behind many.
      while (slotOf[oldest] < 0) oldest++;
      chain[0] = slotOf[oldest];
      chainPosition[chain[0]] = 0;
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
    merge(work, top, previous, found);
  }
}

/** The slot with the smallest |A||B|/(|A|+|B|)·‖a−b‖² to `top`; of equals `previous`, else the first. */
function nearest(work: Workspace, top: number, previous: number): number {
  const { q, centers, sizes, alive } = work;
  const size = sizes[top];
  let best = previous;
  let least = previous >= 0 ? distance(work, top, previous) : Number.POSITIVE_INFINITY;
  for (let j = 0; j < alive; j++) {
    const s = squaredDistance(centers, top, j, q);
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
  return ((sizes[a] * sizes[b]) / (sizes[a] + sizes[b])) * squaredDistance(centers, a, b, q);
}

/** Merges two slots: notes the pair and its height, and returns the number of the new node. */
function merge(work: Workspace, first: number, second: number, { pairs, heights }: FoundMerges): number {
  const { q, centers, sizes, nodes, slotOf, chain, chainPosition } = work;
  const n = nodes.length;
  const t = n - work.alive;
  const below = (slot: number) => (nodes[slot] < n ? 0 : heights[nodes[slot] - n]);
  heights[t] = Math.max(below(first), below(second), Math.sqrt(2 * distance(work, first, second)));
  pairs[2 * t] = nodes[first];
  pairs[2 * t + 1] = nodes[second];
  // The union goes into the lower slot, the last one alive into the other.
  const a = Math.min(first, second);
  const b = Math.max(first, second);
  const size = sizes[a] + sizes[b];
  for (let c = 0; c < q; c++) {
    centers[a * q + c] = (sizes[a] * centers[a * q + c] + sizes[b] * centers[b * q + c]) / size;
  }
  sizes[a] = size;
  slotOf[nodes[a]] = -1;
  slotOf[nodes[b]] = -1;
  slotOf[n + t] = a;
  nodes[a] = n + t;
  const last = --work.alive;
  if (b !== last) {
    for (let c = 0; c < q; c++) centers[b * q + c] = centers[last * q + c];
    sizes[b] = sizes[last];
    nodes[b] = nodes[last];
    slotOf[nodes[b]] = b;
    chainPosition[b] = chainPosition[last];
    if (chainPosition[b] >= 0) chain[chainPosition[b]] = b;
  }
  return n + t;
}
