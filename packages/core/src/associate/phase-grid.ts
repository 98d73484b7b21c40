/**
 * The features of gauss-grid.ts made for millions of passes: five or six taps per axis, rows of unit length, and the
 * place within a step rounded to 1/256 of it, its phase. The weights of all phases fit the nearest cache, and an
 * individual needs a byte per axis and the numbers of its runs. The kernel is wrong by 0.2 % per axis with six taps, by
 * 0.5 % with five (root mean square), by 0.1 % more from the phases.               (docs/math/association.md §4)
 */
import { firstTap, type GridAccuracy, gridLayout } from "./grid-layout.ts";

/** By dimension. In the plane, where nearly all maps are, five taps save a third of the work. */
const ACCURACY: readonly GridAccuracy[] = [
  { step: 0.8, taps: 6, compact: "always" },
  { step: 0.9, taps: 5, compact: "always" },
  { step: 0.8, taps: 6, compact: "always" },
];
const NUM_PHASES = 256;

/** Features of n places; plain data. */
export interface PhaseFeatures {
  readonly n: number;
  readonly q: number;
  readonly taps: number;
  readonly numCells: number;
  /** First cell of each run of taps, [n,taps^(q−1)]. */
  readonly offsets: Int32Array;
  /** Phase of the last axis, then of the others from the last but one to the first, [n,q]. */
  readonly phases: Uint8Array;
  /** Weights of the taps for each phase, [256,taps]. */
  readonly weights: Float64Array;
}

/** Features with φ_i'φ_j ≈ exp(−½|z_i − z_j|²) and φ_i'φ_i = 1, for z [n,q] in bandwidths, q up to 3. */
export function phaseFeatures(z: Float64Array, n: number, q: number): PhaseFeatures {
  const accuracy = ACCURACY[q - 1];
  const { step, taps } = accuracy;
  const { offsets, numCells } = gridLayout(z, n, q, accuracy);
  const phases = new Uint8Array(n * q);
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < q; a++) {
      const at = z[i * q + a];
      const beyond = at / step - firstTap(at, step, taps) - (taps / 2 - 1);
      phases[i * q + (q - 1 - a)] = Math.min(NUM_PHASES - 1, Math.max(0, Math.floor(beyond * NUM_PHASES)));
    }
  }
  return { n, q, taps, numCells, offsets, phases, weights: phaseWeights(step, taps) };
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
  const { q, taps, offsets, phases, weights } = features;
  const rows = taps ** (q - 1);
  const last = phases[i * q] * taps;
  let s = 0;
  for (let r = 0; r < rows; r++) {
    const o = offsets[i * rows + r];
    let product = 0;
    for (let t = 0; t < taps; t++) product += cells[o + t] * weights[last + t];
    s += product * runWeight(features, i, r);
  }
  return s;
}

/**
 * Two dimensions, five taps: the inner loop of nearly all permutations. `| 0` tells the engine that indices are 32-bit integers,
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
    const last = Math.imul(phases[(i << 1) | 0], 5);
    const run = Math.imul(phases[((i << 1) + 1) | 0], 5);
    const first = Math.imul(i, 5);
    const w0 = weights[last];
    const w1 = weights[(last + 1) | 0];
    const w2 = weights[(last + 2) | 0];
    const w3 = weights[(last + 3) | 0];
    const w4 = weights[(last + 4) | 0];
    for (let r = 0; r < 5; r = (r + 1) | 0) {
      const a = weights[(run + r) | 0];
      const o = offsets[(first + r) | 0];
      cells[o] += a * w0;
      cells[(o + 1) | 0] += a * w1;
      cells[(o + 2) | 0] += a * w2;
      cells[(o + 3) | 0] += a * w3;
      cells[(o + 4) | 0] += a * w4;
    }
  }
}

/** Any dimension. */
function addBlocks(features: PhaseFeatures, members: Int32Array, from: number, to: number, cells: Float64Array): void {
  const { q, taps, offsets, phases, weights } = features;
  const rows = taps ** (q - 1);
  for (let k = from; k < to; k++) {
    const i = members[k];
    const last = phases[i * q] * taps;
    for (let r = 0; r < rows; r++) {
      const a = runWeight(features, i, r);
      const o = offsets[i * rows + r];
      for (let t = 0; t < taps; t++) cells[o + t] += a * weights[last + t];
    }
  }
}

/** Product of the weights of the leading axes: the digits of r in base taps, last but one axis fastest. */
function runWeight({ q, taps, phases, weights }: PhaseFeatures, i: number, r: number): number {
  if (q === 1) return 1;
  const near = weights[phases[i * q + 1] * taps + (r % taps)];
  return q === 2 ? near : near * weights[phases[i * q + 2] * taps + Math.floor(r / taps)];
}

/** exp(−u²) at the taps around the middle of each phase, scaled to unit length. */
function phaseWeights(step: number, taps: number): Float64Array {
  const out = new Float64Array(NUM_PHASES * taps);
  for (let p = 0; p < NUM_PHASES; p++) {
    const at = taps / 2 - 1 + (p + 0.5) / NUM_PHASES;
    let s = 0;
    for (let t = 0; t < taps; t++) {
      const w = Math.exp(-(((t - at) * step) ** 2));
      out[p * taps + t] = w;
      s += w * w;
    }
    for (let t = 0; t < taps; t++) out[p * taps + t] /= Math.sqrt(s);
  }
  return out;
}
