/**
 * One-dimensional mixtures of normals, the predictive distribution of a value at one time:
 *   F(y) = Σ_k w_k Φ((y − m_k)/s_k).
 * Moments, density and score in closed form; quantiles by Newton steps.
 */
import { dot, joinFloats } from "../../numeric/matrix.ts";
import { LOG_2PI, logSumExp, normalCdf, normalQuantile } from "../../numeric/special.ts";

export interface NormalMixture {
  /** Weights, summing to one, [K]. */
  readonly weights: Float64Array;
  readonly means: Float64Array;
  /** Standard deviations, positive. */
  readonly sds: Float64Array;
}

/** Σ w F of mixtures with weights that sum to one. */
export function blendMixtures(parts: readonly (readonly [number, NormalMixture])[]): NormalMixture {
  const weights = joinFloats(parts.map(([, own]) => own.weights));
  let at = 0;
  for (const [w, own] of parts) for (const end = at + own.weights.length; at < end; at++) weights[at] *= w;
  return {
    weights,
    means: joinFloats(parts.map(([, { means }]) => means)),
    sds: joinFloats(parts.map(([, { sds }]) => sds)),
  };
}

export function mixtureMean({ weights, means }: NormalMixture): number {
  return dot(weights, means);
}

export function mixtureVariance(mixture: NormalMixture): number {
  const { weights, means, sds } = mixture;
  const mean = mixtureMean(mixture);
  let s = 0;
  for (let k = 0; k < weights.length; k++) s += weights[k] * ((means[k] - mean) ** 2 + sds[k] ** 2);
  return s;
}

/** P(Y ≤ y). */
export function mixtureCdf(mixture: NormalMixture, y: number): number {
  const sums = new Float64Array(2);
  normalSums(mixture)(y, sums);
  return sums[0];
}

/** log density at y, by log-sum-exp, so that far tails stay finite. */
export function mixtureLogDensity(mixture: NormalMixture, y: number): number {
  const { weights, means, sds } = mixture;
  const terms = weights.map((w, k) => Math.log(w / sds[k]) - 0.5 * ((y - means[k]) / sds[k]) ** 2);
  return logSumExp(terms) - 0.5 * LOG_2PI;
}

/**
 * Continuous ranked probability score of an observation y (smaller is better), closed form for normal mixtures
 * (Grimit et al. 2006): E|Y − y| − ½ E|Y − Y'|, with A(m, s) = m(2Φ(m/s) − 1) + 2sφ(m/s).
 */
export function mixtureCrps(mixture: NormalMixture, y: number): number {
  const { weights, means, sds } = mixture;
  let first = 0;
  let second = 0;
  for (let k = 0; k < weights.length; k++) {
    first += weights[k] * foldedMean(y - means[k], sds[k]);
    for (let l = 0; l <= k; l++) {
      const pair = foldedMean(means[k] - means[l], Math.hypot(sds[k], sds[l]));
      second += (k === l ? 1 : 2) * weights[k] * weights[l] * pair;
    }
  }
  return first - 0.5 * second;
}

/** E|X| for X ~ N(m, s²). */
function foldedMean(m: number, s: number): number {
  const z = m / s;
  return m * (2 * normalCdf(z) - 1) + 2 * s * Math.exp(-0.5 * z * z - 0.5 * LOG_2PI);
}

/** Writes F(y) and its density f(y) to out[0] and out[1]. */
export type NormalSums = (y: number, out: Float64Array) => void;

/** F and f of a mixture. */
export function normalSums({ weights, means, sds }: NormalMixture): NormalSums {
  return (y, out) => {
    out[0] = 0;
    out[1] = 0;
    for (let k = 0; k < weights.length; k++) {
      const u = (y - means[k]) / sds[k];
      out[0] += weights[k] * normalCdf(u);
      out[1] += (weights[k] / sds[k]) * Math.exp(-0.5 * (u * u + LOG_2PI));
    }
  };
}

/** F and f of v A + w B. */
export function blendSums(v: number, a: NormalSums, w: number, b: NormalSums): NormalSums {
  const other = new Float64Array(2);
  return (y, out) => {
    a(y, out);
    b(y, other);
    for (let k = 0; k < 2; k++) out[k] = v * out[k] + w * other[k];
  };
}

/** Quantiles are solved for to this share of the spread. */
const ACCURACY = 1e-11;

/** The y with F(y) = p, to 1e-11 of the mixture's spread. */
export function mixtureQuantile(mixture: NormalMixture, p: number): number {
  return quantileSolver(mixture).quantile(p);
}

/** Mean and standard deviation of a mixture, and the y with F(y) = p, looked for from `score` deviations off the mean. */
export interface QuantileSolver {
  readonly mean: number;
  readonly spread: number;
  quantile(p: number, score?: number): number;
}

/**
 * Quantiles of one mixture by Newton steps, from where a normal distribution has them unless a score is given, between bounds
 * that begin with Cantelli's: mean − spread √((1−p)/p) and mean + spread √(p/(1−p)). A step δ leaves an error of ½|f'/f|δ², and
 * |f'/f| is at most 8 over the smallest deviation, since further out nothing is left of a component.
 */
export function quantileSolver(mixture: NormalMixture, sums: NormalSums = normalSums(mixture)): QuantileSolver {
  const { weights, sds } = mixture;
  const mean = mixtureMean(mixture);
  const spread = Math.sqrt(mixtureVariance(mixture));
  let smallest = spread;
  for (let k = 0; k < weights.length; k++) if (weights[k] > 0 && sds[k] < smallest) smallest = sds[k];
  const tolerance = ACCURACY * spread;
  const lastStep = Math.max(tolerance, Math.min(Math.sqrt(0.25 * tolerance * smallest), 1e-3 * smallest));
  const at = new Float64Array(2);
  const quantile = (p: number, score = normalQuantile(p)): number => {
    // A little room for rounding.
    let low = mean - 1.001 * spread * Math.sqrt((1 - p) / p);
    let high = mean + 1.001 * spread * Math.sqrt(p / (1 - p));
    let y = Math.min(Math.max(mean + score * spread, low), high);
    for (let step = 0; step < 200 && high - low > tolerance; step++) {
      sums(y, at);
      const excess = at[0] - p;
      if (excess > 0) high = y;
      else low = y;
      const newton = excess / at[1];
      if (Math.abs(newton) <= lastStep) return y - newton;
      y = y - newton > low && y - newton < high ? y - newton : 0.5 * (low + high);
    }
    return y;
  };
  return { mean, spread, quantile };
}

/**
 * The mixture with components that nearly coincide made one of their weight, mean and variance: those whose means share a cell of `step`
 * deviations, and whose deviations one of ½ `step` on the log scale. Moments of the whole stay as they are; with steps of 0.2 ends of a band
 * move by less than a thousandth of it, and thousands of components, of nodes and levels of noise, become hundreds.
 */
export function mergeMixture({ weights, means, sds }: NormalMixture, step: number): NormalMixture {
  const cells = new Map<number, { weight: number; first: number; second: number; centre: number }>();
  for (let k = 0; k < weights.length; k++) {
    const deviation = Math.round(Math.log(sds[k]) / (0.5 * step));
    const width = step * Math.exp(0.5 * step * deviation);
    const place = Math.round(means[k] / width);
    const key = deviation * 2 ** 40 + place;
    let cell = cells.get(key);
    if (cell === undefined) {
      cell = { weight: 0, first: 0, second: 0, centre: place * width };
      cells.set(key, cell);
    }
    const off = means[k] - cell.centre;
    cell.weight += weights[k];
    cell.first += weights[k] * off;
    cell.second += weights[k] * (off * off + sds[k] * sds[k]);
  }
  const kept = [...cells.values()].filter(({ weight }) => weight > 0);
  return {
    weights: Float64Array.from(kept, ({ weight }) => weight),
    means: Float64Array.from(kept, ({ weight, first, centre }) => centre + first / weight),
    sds: Float64Array.from(kept, ({ weight, first, second }) => Math.sqrt(second / weight - (first / weight) ** 2)),
  };
}
