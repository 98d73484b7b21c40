/**
 * The energy kernel −|x − y| in the plane for millions of labellings. Each individual is spread over the 3 × 3 nearest
 * nodes of a lattice with the weights of quadratic interpolation, which keep total, mean and second moments, so that only
 * pairs within a step of each other notice. Over the nodes,
 *   |u| = (π/2) · average over directions θ of |u'θ|,   Σ_ab h_a h_b |p_a − p_b| = 2 Σ_k (p_{k+1} − p_k) N_k (N − N_k),
 * nodes in the order of their projection p, N_k the sum of h up to node k, N of all. A labelling costs 9 additions for each
 * of the marked and one pass over the nodes per direction. What an individual so spread has with itself, −Σ w_a w_b |a − b|
 * instead of 0, is put right by `diagonal`.                                        (docs/math/association.md §4)
 */
import { firstTap, gridLayout } from "./grid-layout.ts";

const TAPS = 3;
/** Step of the lattice in standard deviations of the places. */
const STEP = 0.15;
/** Directions, a multiple of four. */
const NUM_SLICES = 16;

/** Plain data. */
export interface EnergyLattice {
  readonly n: number;
  readonly numNodes: number;
  /** First node of each run of three, [n,3]. */
  readonly offsets: Int32Array;
  /** Weights of the runs, then of the nodes of a run, [n,6]. */
  readonly weights: Float64Array;
  /** Nodes in the order of their projection, four directions side by side, [numSlices/4,numNodes,4]. */
  readonly order: Uint16Array | Int32Array;
  /** Distance to the next node in that order, in its share of the average; 0 for the last; as `order`. */
  readonly gaps: Float32Array;
  /** What is missing on the diagonal of K, [n]. */
  readonly diagonal: Float64Array;
}

/** Lays out places x [n,2] whose coordinates have the standard deviation `spread`. */
export function energyLattice(x: Float64Array, n: number, spread: number): EnergyLattice {
  const step = STEP * spread;
  const { offsets, numCells: numNodes } = gridLayout(x, n, 2, { step, taps: TAPS, compact: "always" });
  const weights = new Float64Array(n * 2 * TAPS);
  const nodes = new Float64Array(numNodes * 2);
  for (let i = 0; i < n; i++) {
    const [first, second] = [firstTap(x[i * 2], step, TAPS), firstTap(x[i * 2 + 1], step, TAPS)];
    interpolate(x[i * 2] / step - first, weights, i * 2 * TAPS);
    interpolate(x[i * 2 + 1] / step - second, weights, i * 2 * TAPS + TAPS);
    for (let r = 0; r < TAPS; r++) {
      for (let t = 0; t < TAPS; t++) {
        nodes[(offsets[i * TAPS + r] + t) * 2] = (first + r) * step;
        nodes[(offsets[i * TAPS + r] + t) * 2 + 1] = (second + t) * step;
      }
    }
  }
  const diagonal = Float64Array.from({ length: n }, (_, i) => ownDistance(weights, i * 2 * TAPS) * step);
  return { n, numNodes, offsets, weights, ...slices(nodes, numNodes), diagonal };
}

/** h = Σ of the weights of members[0..count), [numNodes]. */
export function spreadMembers(lattice: EnergyLattice, members: Int32Array, count: number, h: Float64Array): void {
  const { offsets, weights } = lattice;
  h.fill(0);
  for (let k = 0; k < count; k = (k + 1) | 0) {
    const i = members[k];
    const w = Math.imul(i, 6);
    const o = Math.imul(i, 3);
    const w0 = weights[(w + 3) | 0];
    const w1 = weights[(w + 4) | 0];
    const w2 = weights[(w + 5) | 0];
    for (let r = 0; r < 3; r = (r + 1) | 0) {
      const a = weights[(w + r) | 0];
      const node = offsets[(o + r) | 0];
      h[node] += a * w0;
      h[(node + 1) | 0] += a * w1;
      h[(node + 2) | 0] += a * w2;
    }
  }
}

/** −Σ_ab h_a h_b |a − b| over nodes, with Σ h = total. Four directions at a time, because each is a chain of additions. */
export function nodePairs({ order, gaps, numNodes }: EnergyLattice, h: Float64Array, total: number): number {
  const block = 4 * numNodes;
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  for (let s = 0; s < order.length; s = (s + block) | 0) {
    const end = (s + block) | 0;
    let N0 = 0;
    let N1 = 0;
    let N2 = 0;
    let N3 = 0;
    for (let k = s; k < end; k = (k + 4) | 0) {
      N0 += h[order[k]];
      N1 += h[order[(k + 1) | 0]];
      N2 += h[order[(k + 2) | 0]];
      N3 += h[order[(k + 3) | 0]];
      sum0 += gaps[k] * N0 * (total - N0);
      sum1 += gaps[(k + 1) | 0] * N1 * (total - N1);
      sum2 += gaps[(k + 2) | 0] * N2 * (total - N2);
      sum3 += gaps[(k + 3) | 0] * N3 * (total - N3);
    }
  }
  return -2 * (sum0 + sum1 + sum2 + sum3);
}

/** −Σ_b h_b |x_i − b| for everyone, [n]; nothing is put right for i itself. */
export function distancesFrom(lattice: EnergyLattice, h: Float64Array, total: number): Float64Array {
  const { n, order, gaps, numNodes: M, offsets, weights } = lattice;
  const distances = new Float64Array(M);
  for (let slice = 0; slice < NUM_SLICES; slice++) {
    const at = (k: number) => (Math.floor(slice / 4) * M + k) * 4 + (slice % 4);
    // From the first node all others lie ahead; a step of the walk brings N − N_k nearer and leaves N_k behind.
    let distance = 0;
    for (let k = M - 1, above = 0; k > 0; k--) {
      above += h[order[at(k)]];
      distance += gaps[at(k - 1)] * above;
    }
    for (let k = 0, below = 0; k < M; k++) {
      distances[order[at(k)]] += distance;
      below += h[order[at(k)]];
      distance += gaps[at(k)] * (2 * below - total);
    }
  }
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let r = 0; r < TAPS; r++) {
      for (let t = 0; t < TAPS; t++) {
        out[i] -= weights[i * 6 + r] * weights[i * 6 + TAPS + t] * distances[offsets[i * TAPS + r] + t];
      }
    }
  }
  return out;
}

/** Weights of the taps 0, 1, 2 at a place in ½..1½: the parabola through three nodes. */
function interpolate(at: number, out: Float64Array, from: number): void {
  const f = at - 1;
  out[from] = 0.5 * f * (f - 1);
  out[from + 1] = 1 - f * f;
  out[from + 2] = 0.5 * f * (f + 1);
}

/** Σ_ab w_a w_b |a − b| of one block of 3 × 3 nodes, in steps. */
function ownDistance(weights: Float64Array, from: number): number {
  let s = 0;
  for (let a = 0; a < TAPS * TAPS; a++) {
    for (let b = 0; b < a; b++) {
      const [ar, at, br, bt] = [Math.floor(a / TAPS), a % TAPS, Math.floor(b / TAPS), b % TAPS];
      const w = weights[from + ar] * weights[from + TAPS + at] * weights[from + br] * weights[from + TAPS + bt];
      s += 2 * w * Math.hypot(ar - br, at - bt);
    }
  }
  return s;
}

/** Order and gaps of nodes [M,2] along directions spread evenly over the half circle. */
function slices(nodes: Float64Array, M: number): Pick<EnergyLattice, "order" | "gaps"> {
  const order = M <= 2 ** 16 ? new Uint16Array(NUM_SLICES * M) : new Int32Array(NUM_SLICES * M);
  const gaps = new Float32Array(NUM_SLICES * M);
  const p = new Float64Array(M);
  for (let s = 0; s < NUM_SLICES; s++) {
    const angle = (Math.PI * (s + 0.5)) / NUM_SLICES;
    for (let k = 0; k < M; k++) p[k] = nodes[k * 2] * Math.cos(angle) + nodes[k * 2 + 1] * Math.sin(angle);
    const sorted = Int32Array.from(p.keys()).sort((a, b) => p[a] - p[b] || a - b);
    for (let k = 0; k < M; k++) {
      const at = (Math.floor(s / 4) * M + k) * 4 + (s % 4);
      order[at] = sorted[k];
      gaps[at] = k < M - 1 ? (Math.PI / 2 / NUM_SLICES) * (p[sorted[k + 1]] - p[sorted[k]]) : 0;
    }
  }
  return { order, gaps };
}
