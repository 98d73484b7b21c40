/**
 * The p-value of a score by studentised multipliers: φ*_i = ξ_i e_i with random signs ξ_i = ±1, refitted on the design
 * Q = [C, a/|a|],
 *   S* = Σ a_i φ*_i,   tr V* = Σ w_i |φ*_i − Q_i'c|²,  w_i = a_i²/(1 − h_i),  c = Σ Q_i φ*_i',
 *   p = (1 + #{|S*|²/tr V* ≥ T/tr V}) / (B + 1).
 * Nothing is exchanged between groups, so that each keeps its own covariance; the division by the trace keeps the level
 * with few cases. With c_l = Σ Q_il φ*_i and d_l = Σ w_i Q_il φ*_i,
 *   S* = |a| c_k,   tr V* = Σ w_i|e_i|² − 2 Σ_l c_l·d_l + Σ_{ll'} (Σ_i w_i Q_il Q_il') c_l·c_l'.
 * Draw b takes its signs from its own stream (seed, b): any split of 0..B−1 between threads gives the same counts.
 *                                                                                  (docs/math/association.md §3)
 */
import { checkOption } from "../errors.ts";
import { dot, trace } from "../numeric/matrix.ts";
import { createRandom, openStream } from "../numeric/random.ts";
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";
import type { Score } from "./score-test.ts";

/** B where none is asked for. */
export const DEFAULT_DRAWS = 9999;
/** Above this many individuals S* is drawn from its limit N(0, V) instead. */
const MOST_MULTIPLIERS = 20_000;
/** Ratios closer than this share are ties, which count as reached. */
const TIE = 1e-12;

/**
 * Sums U_g = Σ u_ig ξ_i e_i that c and d are made of. Where individuals fall into few cells of equal design (two groups:
 * two cells) these are sums over cells; else U = (c, d) itself.
 */
interface SumPlan {
  readonly n: number;
  readonly numFeatures: number;
  /** e [n,F]. */
  readonly rows: Float64Array;
  /** u [G,n]. */
  readonly weights: readonly Float64Array[];
}

/** Everything a thread needs; plain data. */
export interface MultiplierPlan extends SumPlan {
  /** c = toC U and d = toD U, [k,G] each. */
  readonly toC: Float64Array;
  readonly toD: Float64Array;
  /** Σ_i w_i Q_i Q_i', [k,k]. */
  readonly square: Float64Array;
  /** Σ w_i|e_i|². */
  readonly base: number;
  /** |a|². */
  readonly norm2: number;
  /** What |S*|²/tr V* must reach. */
  readonly threshold: number;
  readonly seed: number;
}

/** Prepares the draws of a score. */
export function planMultipliers(score: Score, seed = 1): MultiplierPlan {
  const { n, numFeatures, design, residual, root, errors } = score;
  const k = design.length;
  const w = residual.map((a, i) => (a / root[i]) ** 2);
  const square = new Float64Array(k * k);
  for (let l = 0; l < k; l++) {
    for (let j = 0; j < k; j++) for (let i = 0; i < n; i++) square[l * k + j] += w[i] * design[l][i] * design[j][i];
  }
  let base = 0;
  for (let i = 0; i < n; i++) for (let f = 0; f < numFeatures; f++) base += w[i] * errors[i * numFeatures + f] ** 2;
  const cells = cellsOf(design, 2 * k);
  const G = cells?.first.length ?? 2 * k;
  const weights = Array.from({ length: G }, (_, g) =>
    cells !== null
      ? Float64Array.from(cells.of, (cell) => (cell === g ? 1 : 0))
      : g < k
        ? design[g]
        : design[g - k].map((v, i) => w[i] * v),
  );
  const toC = new Float64Array(k * G);
  const toD = new Float64Array(k * G);
  for (let l = 0; l < k; l++) {
    if (cells === null) {
      toC[l * G + l] = 1;
      toD[l * G + k + l] = 1;
    } else {
      cells.first.forEach((i, g) => {
        toC[l * G + g] = design[l][i];
        toD[l * G + g] = w[i] * design[l][i];
      });
    }
  }
  const threshold = (score.statistic / trace(score.variance, numFeatures)) * (1 - TIE);
  const norm2 = dot(residual, residual);
  return { n, numFeatures, rows: errors, weights, toC, toD, square, base, norm2, threshold, seed };
}

/** Individuals with equal rows of the design: cell of each, and one individual of each; null if there are more than `most`. */
function cellsOf(design: readonly Float64Array[], most: number) {
  const first: number[] = [];
  const of = new Int32Array(design[0].length);
  for (let i = 0; i < of.length; i++) {
    const known = first.findIndex((j) => design.every((column) => column[i] === column[j]));
    of[i] = known >= 0 ? known : first.push(i) - 1;
    if (first.length > most) return null;
  }
  return { first, of };
}

/** Signs of eight individuals in a byte: bit j of byte k is that of individual 8k + j, 1 for +. */
export type Signs = (draw: number, bytes: Uint8Array) => void;

/** Signs from the streams of a seed. */
export function randomSigns(seed: number): Signs {
  return (draw, bytes) => {
    const stream = openStream(seed, draw);
    for (let k = 0, bits = 0; k < bytes.length; k++, bits >>>= 8) {
      if (k % 4 === 0) bits = stream.next();
      bytes[k] = bits & 255;
    }
  };
}

/** Number of draws from..to−1 whose ratio reaches the observed one. */
export function countExceedances(
  plan: MultiplierPlan,
  from: number,
  to: number,
  signs: Signs = randomSigns(plan.seed),
): number {
  const { numFeatures: F, weights, toC, toD, square, base, norm2, threshold } = plan;
  const G = weights.length;
  const k = Math.round(Math.sqrt(square.length));
  const c = new Float64Array(k * F);
  const d = new Float64Array(k * F);
  let count = 0;
  eachSignedSum(plan, signs, from, to, (sums, at) => {
    c.fill(0);
    d.fill(0);
    for (let l = 0; l < k; l++) {
      for (let g = 0; g < G; g++) {
        const [p, r] = [toC[l * G + g], toD[l * G + g]];
        if (p === 0 && r === 0) continue;
        for (let f = 0; f < F; f++) {
          const u = sums[at + g * F + f];
          c[l * F + f] += p * u;
          d[l * F + f] += r * u;
        }
      }
    }
    let spread = base;
    for (let l = 0; l < k; l++) {
      for (let f = 0; f < F; f++) spread -= 2 * c[l * F + f] * d[l * F + f];
      for (let j = 0; j < k; j++) {
        let s = 0;
        for (let f = 0; f < F; f++) s += c[l * F + f] * c[j * F + f];
        spread += square[l * k + j] * s;
      }
    }
    let T = 0;
    for (let f = (k - 1) * F; f < k * F; f++) T += c[f] * c[f];
    if (norm2 * T >= threshold * spread) count++;
  });
  return count;
}

/** Draws taken together, so that their sums stay in the cache. */
const CHUNK = 1024;

/**
 * Visits U [G,F] of draws from..to−1 at an offset of a buffer that is used again. Eight individuals have 256 signed sums:
 * they are tabled once for a chunk of draws, and each draw then adds one row of the table instead of eight individuals.
 */
export function eachSignedSum(
  { n, numFeatures: F, rows, weights }: SumPlan,
  signs: Signs,
  from: number,
  to: number,
  visit: (sums: Float64Array, at: number, draw: number) => void,
): void {
  const G = weights.length;
  const numBytes = Math.ceil(n / 8);
  const bytes = Array.from({ length: Math.min(CHUNK, to - from) }, () => new Uint8Array(numBytes));
  const sums = new Float64Array(bytes.length * G * F);
  const table = new Float64Array(256 * F);
  for (let first = from; first < to; first += CHUNK) {
    const size = Math.min(CHUNK, to - first);
    for (let b = 0; b < size; b++) signs(first + b, bytes[b]);
    sums.fill(0);
    for (let k = 0; k < numBytes; k++) {
      for (let g = 0; g < G; g++) {
        if (!tableSums(rows, weights[g], 8 * k, Math.min(8 * k + 8, n), F, table)) continue;
        for (let b = 0; b < size; b++) {
          const row = bytes[b][k] * F;
          const at = (b * G + g) * F;
          for (let f = 0; f < F; f++) sums[at + f] += table[row + f];
        }
      }
    }
    for (let b = 0; b < size; b++) visit(sums, b * G * F, first + b);
  }
}

/** Σ ± u_i e_i over individuals from..to−1 for every pattern of signs, [256,F]; false if all u_i are 0. */
function tableSums(
  rows: Float64Array,
  u: Float64Array,
  from: number,
  to: number,
  F: number,
  table: Float64Array,
): boolean {
  let any = false;
  for (let i = from; i < to; i++) any ||= u[i] !== 0;
  if (!any) return false;
  for (let f = 0; f < F; f++) {
    let s = 0;
    for (let i = from; i < to; i++) s -= u[i] * rows[i * F + f];
    table[f] = s;
  }
  for (let j = 0; j < 8; j++) {
    const i = from + j;
    const weight = i < to ? 2 * u[i] : 0;
    for (let pattern = 1 << j; pattern < 2 << j; pattern++) {
      const before = (pattern - (1 << j)) * F;
      for (let f = 0; f < F; f++) table[pattern * F + f] = table[before + f] + (i < to ? weight * rows[i * F + f] : 0);
    }
  }
  return true;
}

/** Runs a range of draws; a pool of threads can stand in. */
export type ExceedanceCounter = (plan: MultiplierPlan, from: number, to: number) => number | Promise<number>;

export interface MultiplierOptions {
  /** B. Default 9,999. */
  readonly draws?: number;
  /** Default `countExceedances`. */
  readonly count?: ExceedanceCounter;
  /** Into how many ranges the draws are cut and handed out at once. Default 1. */
  readonly shards?: number;
}

/** p from B draws; 1 where all posteriors are equal. */
export async function multiplierP(score: Score, seed: number, options: MultiplierOptions = {}): Promise<number> {
  const { draws = DEFAULT_DRAWS, count = countExceedances, shards = 1 } = options;
  checkOption(Number.isInteger(draws) && draws >= 1, "draws", "a whole number from 1", draws, "Take 9,999.");
  if (!(trace(score.variance, score.numFeatures) > 0)) return 1;
  if (score.n > MOST_MULTIPLIERS) return (1 + countLimit(score, draws, seed)) / (1 + draws);
  const plan = planMultipliers(score, seed);
  const size = Math.ceil(draws / shards);
  const ranges = Array.from({ length: shards }, (_, s) => [s * size, Math.min((s + 1) * size, draws)]);
  const counts = await Promise.all(ranges.filter(([a, b]) => a < b).map(([a, b]) => count(plan, a, b)));
  return (1 + counts.reduce((s, v) => s + v, 0)) / (1 + draws);
}

/** Draws of Σ λ_j z_j² that reach T, λ the eigenvalues of V. */
function countLimit({ variance, numFeatures: F, statistic }: Score, draws: number, seed: number): number {
  const { values } = symmetricEigen(variance, F);
  const random = createRandom(seed);
  let count = 0;
  for (let b = 0; b < draws; b++) {
    let T = 0;
    for (let f = 0; f < F; f++) T += values[f] * random.normal() ** 2;
    if (T >= statistic * (1 - TIE)) count++;
  }
  return count;
}
