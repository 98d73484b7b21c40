/**
 * Noise with serial correlation: an Ornstein–Uhlenbeck process plus a white part (docs/math/noise.md §2). For one individual
 *   R_jk = (1 − κ) exp(−|t_j − t_k|/ρ) + κ δ_jk / W_j,
 * W_j visit weights, 1 unless a visit is doubted. R is never formed: a scalar filter over the visits in order of time whitens
 * all columns of Z [n,c] together, O(n c²),
 *   m = 0, P = 1 − κ;   from visit to visit  φ = exp(−Δt/ρ),  m ← φm,  P ← φ²P + (1 − κ)(1 − φ²);
 *   F = P + κ/W,   e = Z_j − m,   K = P/F,   m ← m + Ke,   P ← P(1 − K),
 *   Z'R⁻¹Z = Σ e'e/F,   log|R| = Σ log F.
 * κ = 1 is white noise: Z'Z and log|R| = 0.
 */

import type { Random } from "../numeric/random.ts";
import type { PrecisionMoments } from "./levels.ts";

export interface SerialCorrelation {
  /** ρ, in units of time. */
  readonly range: number;
  /** κ in (0, 1]: the share of the variance that is white. */
  readonly whiteShare: number;
}

/** Noise without correlation, as the filter takes it. */
export const UNCORRELATED: SerialCorrelation = { range: 1, whiteShare: 1 };

/** The visits of one individual, in order of time. */
export interface VisitRows {
  readonly times: ArrayLike<number>; // [n]
  readonly rows: Float64Array; // Z [n,c]
  /** W, [n]; default 1. */
  readonly weights?: ArrayLike<number>;
}

/** What the filter leaves at each visit, and after the last. */
export interface FilteredVisits {
  readonly innovations: Float64Array; // e [n,c]
  readonly variances: Float64Array; // F [n]
  readonly gains: Float64Array; // K [n]
  /** φ between a visit and the one before, [n]; 0 for the first. */
  readonly carries: Float64Array;
  /** m and P after the last visit. */
  readonly lastMean: Float64Array; // [c]
  readonly lastVariance: number;
}

/** Runs the filter over the visits. */
export function filterVisits({ times, rows: Z, weights }: VisitRows, noise: SerialCorrelation): FilteredVisits {
  const { range: rho, whiteShare: kappa } = noise;
  const n = times.length;
  const c = Z.length / n;
  const innovations = new Float64Array(n * c);
  const [variances, gains, carries] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  const m = new Float64Array(c);
  let P = 1 - kappa;
  for (let j = 0; j < n; j++) {
    if (j > 0) {
      const phi = Math.exp(-(times[j] - times[j - 1]) / rho);
      carries[j] = phi;
      for (let a = 0; a < c; a++) m[a] *= phi;
      P = phi * phi * P + (1 - kappa) * (1 - phi * phi);
    }
    const F = P + kappa / (weights?.[j] ?? 1);
    const K = P / F;
    for (let a = 0; a < c; a++) {
      const e = Z[j * c + a] - m[a];
      innovations[j * c + a] = e;
      m[a] += K * e;
    }
    P *= 1 - K;
    variances[j] = F;
    gains[j] = K;
  }
  return { innovations, variances, gains, carries, lastMean: m, lastVariance: P };
}

/** Z'R⁻¹Z [c,c] and log|R|, or derivatives of both. */
export interface WhitenedProducts {
  readonly products: Float64Array;
  readonly logDet: number;
}

/** The products of filtered visits. */
export function whitenedProducts({ innovations: e, variances, lastMean }: FilteredVisits): WhitenedProducts {
  const c = lastMean.length;
  const products = new Float64Array(c * c);
  let logDet = 0;
  variances.forEach((F, j) => {
    for (let a = 0; a < c; a++) for (let b = 0; b < c; b++) products[a * c + b] += (e[j * c + a] * e[j * c + b]) / F;
    logDet += Math.log(F);
  });
  return { products, logDet };
}

/**
 * Rows U of R⁻¹Z [n,c] and the diagonal D of R⁻¹ [n], backwards from the last visit with r = 0, N = 0:
 *   U_j = e_j/F_j − φ_{j+1}K_j r,   D_j = 1/F_j + (φ_{j+1}K_j)² N,   q = φ_{j+1}(1 − K_j),   r ← e_j/F_j + q r,   N ← 1/F_j + q² N.
 */
export function inverseRows(filtered: FilteredVisits): {
  readonly rows: Float64Array;
  readonly diagonal: Float64Array;
} {
  const { innovations: e, variances, gains, carries, lastMean } = filtered;
  const n = variances.length;
  const c = lastMean.length;
  const rows = new Float64Array(n * c);
  const diagonal = new Float64Array(n);
  const r = new Float64Array(c);
  let N = 0;
  for (let j = n - 1; j >= 0; j--) {
    const F = variances[j];
    const phi = carries[j + 1] ?? 0;
    const [back, q] = [phi * gains[j], phi * (1 - gains[j])];
    for (let a = 0; a < c; a++) {
      const own = e[j * c + a] / F;
      rows[j * c + a] = own - back * r[a];
      r[a] = own + q * r[a];
    }
    diagonal[j] = 1 / F + back * back * N;
    N = 1 / F + q * q * N;
  }
  return { rows, diagonal };
}

/**
 * Derivatives of the products by log ρ and logit κ, in forward mode beside the filter (a dot is the derivative; φ̇ = φΔt/ρ or
 * 0, κ̇ = 0 or κ(1 − κ)):
 *   ṁ ← φ̇m + φṁ,   Ṗ ← 2φφ̇P + φ²Ṗ − κ̇(1 − φ²) − 2(1 − κ)φφ̇   (old m, P),
 *   Ḟ = Ṗ + κ̇/W,   ė = −ṁ,   K̇ = (Ṗ − KḞ)/F,
 *   Ṡ += (ė'e + e'ė)/F − e'e Ḟ/F²,   log|R|˙ += Ḟ/F,   ṁ ← ṁ + K̇e + Kė,   Ṗ ← Ṗ(1 − K) − PK̇.
 */
export function whitenedSlopes(visits: VisitRows, noise: SerialCorrelation): readonly WhitenedProducts[] {
  const { range: rho, whiteShare: kappa } = noise;
  const slope = (byRange: boolean): WhitenedProducts => {
    const { times, rows: Z, weights } = visits;
    const n = times.length;
    const c = Z.length / n;
    const kappaDot = byRange ? 0 : kappa * (1 - kappa);
    const products = new Float64Array(c * c);
    const [m, mDot, e] = [new Float64Array(c), new Float64Array(c), new Float64Array(c)];
    let logDet = 0;
    let P = 1 - kappa;
    let PDot = -kappaDot;
    for (let j = 0; j < n; j++) {
      if (j > 0) {
        const gap = times[j] - times[j - 1];
        const phi = Math.exp(-gap / rho);
        const phiDot = byRange ? (phi * gap) / rho : 0;
        for (let a = 0; a < c; a++) {
          mDot[a] = phiDot * m[a] + phi * mDot[a];
          m[a] *= phi;
        }
        const carried = 2 * phi * phiDot;
        PDot = carried * P + phi * phi * PDot - kappaDot * (1 - phi * phi) - (1 - kappa) * carried;
        P = phi * phi * P + (1 - kappa) * (1 - phi * phi);
      }
      const w = weights?.[j] ?? 1;
      const F = P + kappa / w;
      const FDot = PDot + kappaDot / w;
      const K = P / F;
      const KDot = (PDot - K * FDot) / F;
      for (let a = 0; a < c; a++) e[a] = Z[j * c + a] - m[a];
      for (let a = 0; a < c; a++) {
        for (let b = 0; b < c; b++) {
          products[a * c + b] -= (mDot[a] * e[b] + e[a] * mDot[b]) / F + (e[a] * e[b] * FDot) / (F * F);
        }
      }
      logDet += FDot / F;
      for (let a = 0; a < c; a++) {
        mDot[a] += KDot * e[a] - K * mDot[a];
        m[a] += K * e[a];
      }
      PDot = PDot * (1 - K) - P * KDot;
      P *= 1 - K;
    }
    return { products, logDet };
  };
  return [slope(true), slope(false)];
}

/**
 * Derivatives of log Σ_k p_k exp Q_k (levels.ts) of one individual by log ρ and logit κ, by the EM identity: with rows (b, …, y),
 * residuals y − b'(β + w) and moments M of w,  −½[log|R|˙ + ⟨Ṡ, E uu'⟩]  for u = (−(β + w), 0, …, 1).
 * The definition of the slope that fits take from differences of their objective; a test compares the two.
 */
export function serialSlopes(
  visits: VisitRows,
  noise: SerialCorrelation,
  mean: Float64Array,
  { total, first, second }: PrecisionMoments,
): Float64Array {
  const d = mean.length;
  return Float64Array.from(whitenedSlopes(visits, noise), ({ products, logDet }) => {
    const c = Math.round(Math.sqrt(products.length));
    let sum = total * products[c * c - 1];
    for (let a = 0; a < d; a++) {
      sum -= 2 * (first[a] + mean[a] * total) * products[a * c + c - 1];
      for (let b = 0; b < d; b++) {
        const moment = second[a * d + b] + mean[a] * first[b] + first[a] * mean[b] + mean[a] * mean[b] * total;
        sum += moment * products[a * c + b];
      }
    }
    return -0.5 * (logDet + sum);
  });
}

/** Noise of a new measurement, given that of the visits and, for draws, of the measurements before it in the list. */
export interface GivenNoise {
  /** What its mean takes of the columns of the visits, [c], and then of the measurements before it, [T] or none. */
  readonly mean: Float64Array;
  /** Its variance, white part included; 1 where nothing is known. */
  readonly variance: number;
}

/**
 * The noise of new measurements at any times, given visits with rows Z [n,c]: between visits, before the first or after the last.
 * A measurement with the row 0 among the visits has (R⁻¹Z)_* = −D_* E[· | others] and D_* = 1/Var[· | others] (`inverseRows`).
 * With rows of their own (`newRows` [T,c]) each is given those before it in the list, which stand among the visits with these
 * rows and a column each.
 */
export function givenNoise(
  { times, rows: Z, weights }: VisitRows,
  noise: SerialCorrelation,
  newTimes: ArrayLike<number>,
  newRows?: Float64Array,
): GivenNoise[] {
  const [n, T] = [times.length, newTimes.length];
  const known = newRows === undefined ? Z.length / Math.max(n, 1) : newRows.length / T;
  const c = known + (newRows === undefined ? 0 : T);
  return Array.from(newTimes, (at, k) => {
    const before = newRows === undefined ? 0 : k;
    const all = [...Array.from(times), ...Array.from({ length: before }, (_, l) => newTimes[l]), at];
    const order = all.map((_, j) => j).sort((a, b) => all[a] - all[b] || a - b);
    const rows = new Float64Array(all.length * c);
    order.forEach((j, place) => {
      if (j < n) rows.set(Z.subarray(j * known, (j + 1) * known), place * c);
      else if (newRows !== undefined && j < n + before) {
        rows.set(newRows.subarray((j - n) * known, (j - n + 1) * known), place * c);
        rows[place * c + known + j - n] = 1;
      }
    });
    const own = order.indexOf(n + before);
    const sorted = { times: order.map((j) => all[j]), rows, weights: order.map((j) => weights?.[j] ?? 1) };
    const { rows: U, diagonal } = inverseRows(filterVisits(sorted, noise));
    const variance = 1 / diagonal[own];
    return { mean: U.slice(own * c, (own + 1) * c).map((u) => -u * variance), variance };
  });
}

/** Noise of variance 1 at the times, in order, drawn: the process from visit to visit, and the white part. */
export function drawSerial(
  { range: rho, whiteShare: kappa }: SerialCorrelation,
  times: Float64Array,
  random: Random,
): Float64Array {
  let state = Math.sqrt(1 - kappa) * random.normal();
  return times.map((t, j) => {
    if (j > 0) {
      const phi = Math.exp(-(t - times[j - 1]) / rho);
      state = phi * state + Math.sqrt((1 - kappa) * (1 - phi * phi)) * random.normal();
    }
    return state + Math.sqrt(kappa) * random.normal();
  });
}
