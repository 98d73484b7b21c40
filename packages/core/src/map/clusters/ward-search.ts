/**
 * The nearest of many clusters in Ward's distance without looking at all of them: a k-d tree over the slots in which
 * ward-chain.ts keeps its clusters. Centres c_j, rows of C [n,q], sizes s_j; from slot i
 *   d(i,j) = s_i s_j / (s_i + s_j) · ‖c_i − c_j‖².
 * A node knows the box [l,u] around the centres below it and the smallest size s₀ among them. No d below it is less than
 *   b = s_i s₀ / (s_i + s₀) · Σ_c max(l_c − c_ic, 0, c_ic − u_c)²,
 * since the factor grows with s_j; with s₀ = 1 everywhere a large cluster would have to look far beyond its nearest.
 * b is computed by the operations of d in their order, and rounding keeps order, so b ≤ d holds to the last bit and no
 * tie is lost: of equals the previous slot of the chain, else the lowest, as when all are looked at in order.
 *
 * Nodes are numbered as in a heap: 1 at the top, 2k and 2k+1 below k, leaves at the end with a linked list of slots each.
 * A slot that comes in widens the boxes above it; one that leaves does not narrow them, so the tree is built again when
 * half of the clusters are gone. Building takes O(n log n), a change O(log n); a search visits few leaves.
 */

/** Where the slots are; buffers are made once, for the most slots, and the tree is built in them again and again. */
export interface SlotTree {
  readonly q: number;
  numLeaves: number;
  /** Slots when it was built. */
  builtFor: number;
  readonly low: Float64Array; // [2·leaves,q]
  readonly high: Float64Array; // [2·leaves,q]
  readonly leastSize: Float64Array; // [2·leaves] infinite where nobody is
  readonly leastSlot: Int32Array; // [2·leaves]
  readonly axis: Int32Array; // [leaves] which coordinate divides an inner node
  readonly border: Float64Array; // [leaves] and where: up to it to the left
  readonly heads: Int32Array; // [2·leaves] first slot of a leaf, or −1
  readonly after: Int32Array; // [n] next slot in the same leaf, or −1
  readonly before: Int32Array; // [n]
  readonly leafOf: Int32Array; // [n]
  readonly order: Int32Array; // [n] slots while it is built
  readonly open: Int32Array; // [64] nodes still to be looked at
  readonly openBound: Float64Array; // [64]
}

/** Slots per leaf when it is built. */
const PER_LEAF = 4;
const NOBODY = 0x7fffffff;

/** An empty tree with room for n slots in q dimensions. */
export function makeSlotTree(n: number, q: number): SlotTree {
  const leaves = leavesFor(n);
  return {
    q,
    numLeaves: 0,
    builtFor: 0,
    low: new Float64Array(2 * leaves * q),
    high: new Float64Array(2 * leaves * q),
    leastSize: new Float64Array(2 * leaves),
    leastSlot: new Int32Array(2 * leaves),
    axis: new Int32Array(leaves),
    border: new Float64Array(leaves),
    heads: new Int32Array(2 * leaves),
    after: new Int32Array(n),
    before: new Int32Array(n),
    leafOf: new Int32Array(n),
    order: new Int32Array(n),
    open: new Int32Array(64),
    openBound: new Float64Array(64),
  };
}

/** Builds the tree over slots 0..alive−1: halves by rank along the widest side, until leaves are small. */
export function buildSlotTree(tree: SlotTree, centers: Float64Array, sizes: Float64Array, alive: number): void {
  const { q, order, low, high, axis, border, heads, leastSize, leastSlot } = tree;
  const leaves = leavesFor(alive);
  tree.numLeaves = leaves;
  tree.builtFor = alive;
  for (let j = 0; j < alive; j++) order[j] = j;
  for (let width = 1; width <= leaves; width *= 2) {
    for (let k = 0; k < width; k++) {
      const node = width + k;
      const from = Math.floor((k * alive) / width);
      const to = Math.floor(((k + 1) * alive) / width);
      encloseRange(tree, node, centers, from, to);
      if (width === leaves) {
        heads[node] = -1;
        leastSize[node] = Number.POSITIVE_INFINITY;
        leastSlot[node] = NOBODY;
        for (let p = from; p < to; p++) link(tree, order[p], node, sizes[order[p]]);
        continue;
      }
      let widest = 0;
      for (let c = 1; c < q; c++) {
        if (high[node * q + c] - low[node * q + c] > high[node * q + widest] - low[node * q + widest]) widest = c;
      }
      const middle = Math.floor(((2 * k + 1) * alive) / (2 * width));
      selectRank(order, centers, q, widest, from, to - 1, middle - 1);
      axis[node] = widest;
      border[node] = centers[order[middle - 1] * q + widest];
    }
  }
  for (let node = leaves - 1; node >= 1; node--) summarize(tree, node);
}

/** Puts a slot into the leaf where its centre belongs. */
export function addSlot(tree: SlotTree, centers: Float64Array, sizes: Float64Array, slot: number): void {
  const { q, numLeaves, low, high, axis, border, leastSize, leastSlot } = tree;
  for (let node = 1; ; ) {
    for (let c = 0; c < q; c++) {
      const x = centers[slot * q + c];
      if (x < low[node * q + c]) low[node * q + c] = x;
      if (x > high[node * q + c]) high[node * q + c] = x;
    }
    if (node >= numLeaves) {
      link(tree, slot, node, sizes[slot]);
      return;
    }
    if (sizes[slot] < leastSize[node]) leastSize[node] = sizes[slot];
    if (slot < leastSlot[node]) leastSlot[node] = slot;
    node = 2 * node + (centers[slot * q + axis[node]] > border[node] ? 1 : 0);
  }
}

/** Takes a slot out. */
export function removeSlot(tree: SlotTree, sizes: Float64Array, slot: number): void {
  const { heads, after, before, leafOf, leastSize, leastSlot } = tree;
  const leaf = leafOf[slot];
  const next = after[slot];
  if (before[slot] >= 0) after[before[slot]] = next;
  else heads[leaf] = next;
  if (next >= 0) before[next] = before[slot];
  let [size, first] = [Number.POSITIVE_INFINITY, NOBODY];
  for (let j = heads[leaf]; j >= 0; j = after[j]) {
    if (sizes[j] < size) size = sizes[j];
    if (j < first) first = j;
  }
  leastSize[leaf] = size;
  leastSlot[leaf] = first;
  for (let node = leaf >> 1; node >= 1; node >>= 1) if (!summarize(tree, node)) return;
}

/** Gives a slot a lower number that nobody has; its centre and size stay what they are. */
export function renameSlot({ heads, after, before, leafOf, leastSlot }: SlotTree, from: number, to: number): void {
  after[to] = after[from];
  before[to] = before[from];
  leafOf[to] = leafOf[from];
  if (before[to] >= 0) after[before[to]] = to;
  else heads[leafOf[to]] = to;
  if (after[to] >= 0) before[after[to]] = to;
  for (let node = leafOf[to]; node >= 1; node >>= 1) if (to < leastSlot[node]) leastSlot[node] = to;
}

/** The slot with the least d to `top`: of equals `previous` (−1: none), else the lowest; −1 if no d is finite. */
export function searchNearest(
  tree: SlotTree,
  centers: Float64Array,
  sizes: Float64Array,
  top: number,
  previous: number,
  previousDistance: number,
): number {
  const { q, numLeaves, heads, after, leastSlot, open, openBound } = tree;
  const size = sizes[top];
  let best = previous;
  let least = previousDistance;
  let numOpen = 1;
  open[0] = 1;
  openBound[0] = 0;
  while (numOpen > 0) {
    const node = open[--numOpen];
    const b = openBound[numOpen];
    if (b > least || (b === least && (best === previous || leastSlot[node] >= best))) continue;
    if (node < numLeaves) {
      // The nearer child is looked at first, so that the other need not be.
      const left = boundOf(tree, 2 * node, centers, size, top);
      const right = boundOf(tree, 2 * node + 1, centers, size, top);
      const near = left <= right ? 0 : 1;
      open[numOpen] = 2 * node + 1 - near;
      openBound[numOpen++] = near === 0 ? right : left;
      open[numOpen] = 2 * node + near;
      openBound[numOpen++] = near === 0 ? left : right;
      continue;
    }
    for (let j = heads[node]; j >= 0; j = after[j]) {
      let s = 0;
      for (let c = 0; c < q; c++) {
        const x = centers[top * q + c] - centers[j * q + c];
        s += x * x;
      }
      // The factor is at least ½, so many are ruled out without the division.
      if (0.5 * s > least || j === top) continue;
      const d = ((size * sizes[j]) / (size + sizes[j])) * s;
      if (d < least || (d === least && best !== previous && j < best)) {
        least = d;
        best = j;
      }
    }
  }
  return best;
}

/** b of a node, as stated above. */
function boundOf(tree: SlotTree, node: number, centers: Float64Array, size: number, top: number): number {
  const { q, low, high, leastSize } = tree;
  let s = 0;
  for (let c = 0; c < q; c++) {
    const x = centers[top * q + c];
    const below = low[node * q + c] - x;
    const above = x - high[node * q + c];
    if (below > 0) s += below * below;
    else if (above > 0) s += above * above;
  }
  const other = leastSize[node];
  if (other === Number.POSITIVE_INFINITY) return other;
  return ((size * other) / (size + other)) * s;
}

/** Least size and slot of an inner node from the two below; whether they changed. */
function summarize({ leastSize, leastSlot }: SlotTree, node: number): boolean {
  const size = Math.min(leastSize[2 * node], leastSize[2 * node + 1]);
  const first = Math.min(leastSlot[2 * node], leastSlot[2 * node + 1]);
  const changed = size !== leastSize[node] || first !== leastSlot[node];
  leastSize[node] = size;
  leastSlot[node] = first;
  return changed;
}

/** Puts a slot at the front of a leaf's list. */
function link(
  { heads, after, before, leafOf, leastSize, leastSlot }: SlotTree,
  slot: number,
  leaf: number,
  size: number,
) {
  const next = heads[leaf];
  after[slot] = next;
  before[slot] = -1;
  if (next >= 0) before[next] = slot;
  heads[leaf] = slot;
  leafOf[slot] = leaf;
  if (size < leastSize[leaf]) leastSize[leaf] = size;
  if (slot < leastSlot[leaf]) leastSlot[leaf] = slot;
}

/** The box around places from..to−1 of the order. */
function encloseRange(tree: SlotTree, node: number, centers: Float64Array, from: number, to: number): void {
  const { q, order, low, high } = tree;
  for (let c = 0; c < q; c++) {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let p = from; p < to; p++) {
      const x = centers[order[p] * q + c];
      if (x < least) least = x;
      if (x > most) most = x;
    }
    low[node * q + c] = least;
    high[node * q + c] = most;
  }
}

/** Rearranges places left..right of the order so that none before `rank` is larger along the axis, none after smaller. */
function selectRank(
  order: Int32Array,
  centers: Float64Array,
  q: number,
  axis: number,
  left: number,
  right: number,
  rank: number,
): void {
  while (left < right) {
    const pivot = centers[order[(left + right) >> 1] * q + axis];
    let [i, j] = [left, right];
    while (i <= j) {
      while (centers[order[i] * q + axis] < pivot) i++;
      while (centers[order[j] * q + axis] > pivot) j--;
      if (i > j) break;
      const swapped = order[i];
      order[i++] = order[j];
      order[j--] = swapped;
    }
    if (rank <= j) right = j;
    else if (rank >= i) left = i;
    else return;
  }
}

/** Leaves for n slots: a power of two, at most PER_LEAF or so in each. */
function leavesFor(n: number): number {
  let leaves = 1;
  while (2 * PER_LEAF * leaves <= n) leaves *= 2;
  return leaves;
}
