/**
 * The features of gauss-grid.ts made for millions of passes: six taps per axis at a step of 0.8 bandwidths, rows of unit
 * length, and the place within a step rounded to 1/256 of it, its phase. The weights of all phases fit the nearest
 * cache, and an individual needs a byte per axis and the numbers of its runs. Six taps make the kernel wrong by 0.2 %
 * (root mean square, two dimensions), the phases by 0.1 % more.                    (docs/math/association.md §4)
 */
import { firstTap, type GridAccuracy, gridLayout } from "./grid-layout.ts";

const TAPS = 6;
const STEP = 0.8;
const NUM_PHASES = 256;
const ACCURACY: GridAccuracy = { step: STEP, taps: TAPS, compact: "always" };

/** Features of n places; plain data. */
export interface PhaseFeatures {
  readonly n: number;
  readonly q: number;
  readonly numCells: number;
  /** First cell of each run of six, [n,6^(q−1)]. */
  readonly offsets: Int32Array;
  /** Phase of the last axis, then of the others from the last but one to the first, [n,q]. */
  readonly phases: Uint8Array;
  /** Weights of the six taps for each phase, [256,6]. */
  readonly weights: Float64Array;
}

/** Features with φ_i'φ_j ≈ exp(−½|z_i − z_j|²) and φ_i'φ_i = 1, for z [n,q] in bandwidths, q up to 3. */
export function phaseFeatures(z: Float64Array, n: number, q: number): PhaseFeatures {
  const { offsets, numCells } = gridLayout(z, n, q, ACCURACY);
  const phases = new Uint8Array(n * q);
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < q; a++) {
      const at = z[i * q + a];
      const beyond = at / STEP - firstTap(at, STEP, TAPS) - (TAPS / 2 - 1);
      phases[i * q + (q - 1 - a)] = Math.min(NUM_PHASES - 1, Math.max(0, Math.floor(beyond * NUM_PHASES)));
    }
  }
  return { n, q, numCells, offsets, phases, weights: phaseWeights() };
}

/** cells += Σ φ_i over members[from..to). */
export function addPhaseFeatures(
  features: PhaseFeatures,
  members: Int32Array,
  from: number,
  to: number,
  cells: Float64Array,
): void {
  if (features.q === 2) addPlane(features.offsets, features.phases, features.weights, members, from, to, cells);
  else addBlocks(features, members, from, to, cells);
}

/** φ_i' cells. */
export function phaseProduct(features: PhaseFeatures, i: number, cells: Float64Array): number {
  const { q, offsets, phases, weights } = features;
  const rows = TAPS ** (q - 1);
  const last = phases[i * q] * TAPS;
  let s = 0;
  for (let r = 0; r < rows; r++) {
    const o = offsets[i * rows + r];
    let product = 0;
    for (let t = 0; t < TAPS; t++) product += cells[o + t] * weights[last + t];
    s += product * runWeight(phases, weights, i, q, r);
  }
  return s;
}

/**
 * Two dimensions: the inner loop of nearly all permutations. `| 0` tells the engine that indices are 32-bit integers,
 * which is a fifth faster; the weights of the last axis stay in registers.
 */
function addPlane(
  offsets: Int32Array,
  phases: Uint8Array,
  weights: Float64Array,
  members: Int32Array,
  from: number,
  to: number,
  cells: Float64Array,
): void {
  for (let k = from; k < to; k++) {
    const i = members[k];
    const last = Math.imul(phases[(i << 1) | 0], 6);
    const run = Math.imul(phases[((i << 1) + 1) | 0], 6);
    const first = Math.imul(i, 6);
    const w0 = weights[last];
    const w1 = weights[(last + 1) | 0];
    const w2 = weights[(last + 2) | 0];
    const w3 = weights[(last + 3) | 0];
    const w4 = weights[(last + 4) | 0];
    const w5 = weights[(last + 5) | 0];
    for (let r = 0; r < 6; r = (r + 1) | 0) {
      const a = weights[(run + r) | 0];
      const o = offsets[(first + r) | 0];
      cells[o] += a * w0;
      cells[(o + 1) | 0] += a * w1;
      cells[(o + 2) | 0] += a * w2;
      cells[(o + 3) | 0] += a * w3;
      cells[(o + 4) | 0] += a * w4;
      cells[(o + 5) | 0] += a * w5;
    }
  }
}

/** Any dimension. */
function addBlocks(features: PhaseFeatures, members: Int32Array, from: number, to: number, cells: Float64Array): void {
  const { q, offsets, phases, weights } = features;
  const rows = TAPS ** (q - 1);
  for (let k = from; k < to; k++) {
    const i = members[k];
    const last = phases[i * q] * TAPS;
    for (let r = 0; r < rows; r++) {
      const a = runWeight(phases, weights, i, q, r);
      const o = offsets[i * rows + r];
      for (let t = 0; t < TAPS; t++) cells[o + t] += a * weights[last + t];
    }
  }
}

/** Product of the weights of the leading axes: the digits of r in base 6, last but one axis fastest. */
function runWeight(phases: Uint8Array, weights: Float64Array, i: number, q: number, r: number): number {
  if (q === 1) return 1;
  const near = weights[phases[i * q + 1] * TAPS + (r % TAPS)];
  return q === 2 ? near : near * weights[phases[i * q + 2] * TAPS + Math.floor(r / TAPS)];
}

/** exp(−u²) at the six taps around the middle of each phase, scaled to unit length. */
function phaseWeights(): Float64Array {
  const out = new Float64Array(NUM_PHASES * TAPS);
  for (let p = 0; p < NUM_PHASES; p++) {
    const at = TAPS / 2 - 1 + (p + 0.5) / NUM_PHASES;
    let s = 0;
    for (let t = 0; t < TAPS; t++) {
      const w = Math.exp(-(((t - at) * STEP) ** 2));
      out[p * TAPS + t] = w;
      s += w * w;
    }
    for (let t = 0; t < TAPS; t++) out[p * TAPS + t] /= Math.sqrt(s);
  }
  return out;
}
