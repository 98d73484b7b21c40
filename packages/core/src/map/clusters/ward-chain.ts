/**
 * The nearest-neighbour chain for Ward's distance (Murtagh 1983; Müllner 2011): walk from a cluster to its nearest
 * neighbour until two are each other's nearest, merge them, go on from there. Clusters stand in slots 0..alive−1 with
 * centre and size, and
 *   d(A,B)² / 2 = |A||B| / (|A|+|B|) · ‖a − b‖²
 * is what is compared. While many are alive the nearest is searched in a k-d tree (ward-search.ts), later among all; both
 * find the same slot, ties included, so the merges do not depend on which was used: 100,000 places in a plane take half
 * a second instead of a minute.   (docs/math/groups.md §1)
 */
import {
  addSlot,
  buildSlotTree,
  makeSlotTree,
  removeSlot,
  renameSlot,
  type SlotTree,
  searchNearest,
} from "./ward-search.ts";

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
  /** Null once so few are alive that looking at all is quicker. */
  search: SlotTree | null;
}

/** From this many clusters on searching is quicker than looking at all. */
const WORTH_SEARCHING = 100;

/** The merges of points X [n,q], taken in the given order; while `searchFrom` or more are alive, by searching. */
export function findMerges(
  points: Float64Array,
  from: Int32Array,
  dimension: number,
  searchFrom = WORTH_SEARCHING,
): FoundMerges {
  const n = from.length;
  const found = { pairs: new Int32Array(2 * (n - 1)), heights: new Float64Array(n - 1) };
  runChain(prepare(points, from, dimension, searchFrom), searchFrom, found);
  return found;
}

/** Single points as clusters, centred so that places far from the origin lose no digits. */
function prepare(points: Float64Array, from: Int32Array, q: number, searchFrom: number): Workspace {
  const n = from.length;
  const centers = new Float64Array(n * q);
  for (let i = 0; i < n; i++) for (let c = 0; c < q; c++) centers[i * q + c] = points[from[i] * q + c];
  for (let c = 0; c < q; c++) {
    let mean = 0;
    for (let i = 0; i < n; i++) mean += centers[i * q + c] / n;
    for (let i = 0; i < n; i++) centers[i * q + c] -= mean;
  }
  const sizes = new Float64Array(n).fill(1);
  const search = n >= searchFrom ? makeSlotTree(n, q) : null;
  if (search !== null) buildSlotTree(search, centers, sizes, n);
  return {
    q,
    centers,
    sizes,
    nodes: Int32Array.from({ length: n }, (_, i) => i),
    slotOf: Int32Array.from({ length: 2 * n - 1 }, (_, i) => (i < n ? i : -1)),
    chain: new Int32Array(n),
    chainPosition: new Int32Array(n).fill(-1),
    alive: n,
    search,
  };
}

/** Fills `pairs` and `heights` with the merges in the order in which the chain finds them. */
function runChain(work: Workspace, searchFrom: number, { pairs, heights }: FoundMerges): void {
  const { nodes, slotOf, chain, chainPosition } = work;
  const n = work.alive;
  let length = 0;
  let oldest = 0;
  for (let t = 0; t < n - 1; ) {
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
    pairs[2 * t] = nodes[top];
    pairs[2 * t + 1] = nodes[previous];
    const below = Math.max(heightOf(heights, nodes[top], n), heightOf(heights, nodes[previous], n));
    heights[t] = Math.max(below, Math.sqrt(2 * distance(work, top, previous)));
    mergeSlots(work, Math.min(top, previous), Math.max(top, previous), n + t, searchFrom);
    t++;
  }
}

/** The slot with the smallest |A||B|/(|A|+|B|)·‖a−b‖² to `top`; of equals `previous`, else the first. */
function nearest(work: Workspace, top: number, previous: number): number {
  const known = previous >= 0 ? distance(work, top, previous) : Number.POSITIVE_INFINITY;
  const best =
    work.search === null
      ? nearestOfAll(work, top, previous, known)
      : searchNearest(work.search, work.centers, work.sizes, top, previous, known);
  // Every distance overflowed or was equal to infinity: any neighbour is as good.
  return best >= 0 ? best : top === 0 ? 1 : 0;
}

/** The same by looking at every slot; −1 if no distance is finite. */
function nearestOfAll(work: Workspace, top: number, previous: number, known: number): number {
  const { q, centers, sizes, alive } = work;
  const size = sizes[top];
  let best = previous;
  let least = known;
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
  return best;
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
function mergeSlots(work: Workspace, a: number, b: number, node: number, searchFrom: number): void {
  const { q, centers, sizes, nodes, slotOf, chain, chainPosition, search } = work;
  const last = work.alive - 1;
  if (search !== null) {
    removeSlot(search, sizes, a);
    removeSlot(search, sizes, b);
    if (b !== last) renameSlot(search, last, b);
  }
  const size = sizes[a] + sizes[b];
  for (let c = 0; c < q; c++) {
    centers[a * q + c] = (sizes[a] * centers[a * q + c] + sizes[b] * centers[b * q + c]) / size;
  }
  sizes[a] = size;
  slotOf[nodes[a]] = -1;
  slotOf[nodes[b]] = -1;
  slotOf[node] = a;
  nodes[a] = node;
  work.alive = last;
  if (b !== last) {
    for (let c = 0; c < q; c++) centers[b * q + c] = centers[last * q + c];
    sizes[b] = sizes[last];
    nodes[b] = nodes[last];
    slotOf[nodes[b]] = b;
    chainPosition[b] = chainPosition[last];
    if (chainPosition[b] >= 0) chain[chainPosition[b]] = b;
  }
  if (search === null) return;
  if (last < searchFrom) work.search = null;
  else if (2 * last < search.builtFor) buildSlotTree(search, centers, sizes, last);
  else addSlot(search, centers, sizes, a);
}

function heightOf(heights: Float64Array, node: number, n: number): number {
  return node < n ? 0 : heights[node - n];
}
