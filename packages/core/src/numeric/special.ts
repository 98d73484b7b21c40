/** Distributions and log-domain arithmetic; the one module that touches @stdlib's distributions. */
import gammainc from "@stdlib/math-base-special-gammainc";
import chisquareQuantile_ from "@stdlib/stats-base-dists-chisquare-quantile";
import normalCdf_ from "@stdlib/stats-base-dists-normal-cdf";
import normalQuantile_ from "@stdlib/stats-base-dists-normal-quantile";

export const LOG_2PI = Math.log(2 * Math.PI);

/** Φ(z). */
export function normalCdf(z: number): number {
  return normalCdf_(z, 0, 1);
}

/** log Φ(z), also far below, where Φ is 0 in doubles: there by Laplace's continued fraction of φ/Φ. */
export function logNormalCdf(z: number): number {
  if (z > -8) return Math.log(normalCdf(z));
  let tail = -z;
  for (let k = 40; k > 0; k--) tail = -z + k / tail;
  return -0.5 * (z * z + LOG_2PI) - Math.log(tail);
}

/** Φ⁻¹(p). */
export function normalQuantile(p: number): number {
  return normalQuantile_(p, 0, 1);
}

/** Quantile of χ² with `degrees` degrees of freedom. */
export function chisquareQuantile(p: number, degrees: number): number {
  return chisquareQuantile_(p, degrees);
}

/** Quantile of Student's t: by the expansion in 1/ν (Abramowitz & Stegun 26.7.5) from 30 degrees of freedom on, by halving below. */
export function studentQuantile(p: number, degrees: number): number {
  if (degrees < 30) return halvedQuantile(p, degrees);
  const z = normalQuantile(p);
  const z2 = z * z;
  const g1 = (z * (z2 + 1)) / 4;
  const g2 = (z * ((5 * z2 + 16) * z2 + 3)) / 96;
  const g3 = (z * (((3 * z2 + 19) * z2 + 17) * z2 - 15)) / 384;
  const g4 = (z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945)) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / degrees) / degrees) / degrees) / degrees;
}

/** t with P(|T| > t) = 2 min(p, 1 − p), signed. */
function halvedQuantile(p: number, degrees: number): number {
  const tail = 2 * Math.min(p, 1 - p);
  let [low, high] = [0, 1];
  while (studentTwoSided(high, degrees) > tail) high *= 2;
  for (let k = 0; k < 60; k++) {
    const middle = 0.5 * (low + high);
    if (studentTwoSided(middle, degrees) > tail) low = middle;
    else high = middle;
  }
  return p < 0.5 ? -high : high;
}

/**
 * P(|T| > |t|) for Student's t, the incomplete beta function I_x(ν/2, ½) at x = ν/(ν + t²) by its continued fraction (Abramowitz &
 * Stegun 26.5.8, 26.7.1); for ν = ∞ the normal one.
 */
export function studentTwoSided(t: number, degrees: number): number {
  if (degrees === Number.POSITIVE_INFINITY) return 2 * normalCdf(-Math.abs(t));
  const [a, b, x] = [degrees / 2, 0.5, degrees / (degrees + t * t)];
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b));
  if (x >= 1) return 1;
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

/** The continued fraction of the incomplete beta function, from its end: 1/(1 + d_1/(1 + d_2/(1 + …))). */
function betaFraction(a: number, b: number, x: number): number {
  let fraction = 1;
  for (let m = 200; m >= 1; m--) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    fraction = 1 + even / (1 + odd / fraction);
  }
  return 1 / (1 - ((a + b) * x) / (a + 1) / fraction);
}

/** log Γ(a) for a > 0: Stirling's series from a + 8 on, and the recurrence. */
function logGamma(a: number): number {
  let shift = 0;
  for (; a < 8; a++) shift -= Math.log(a);
  const r = 1 / (a * a);
  const series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188))))) / a;
  return shift + (a - 0.5) * Math.log(a) - a + 0.5 * LOG_2PI + series;
}

/** P(χ² > x) with `degrees` degrees of freedom, accurate far into the tail. */
export function chisquareUpper(x: number, degrees: number): number {
  return gammainc(x / 2, degrees / 2, true, true);
}

/**
 * P(χ² > x) for the noncentral χ²: a Poisson mixture, Σ_j e^{−δ/2} (δ/2)^j/j! P(χ²_{degrees+2j} > x), summed from its
 * heaviest term both ways.
 */
export function noncentralChisquareUpper(x: number, degrees: number, noncentrality: number): number {
  const half = noncentrality / 2;
  const middle = Math.floor(half);
  let peak = Math.exp(-half);
  for (let j = 1; j <= middle; j++) peak *= half / j;
  let sum = 0;
  for (let j = middle, w = peak; j >= 0 && w > 1e-18 * peak; w *= j / half, j--) {
    sum += w * chisquareUpper(x, degrees + 2 * j);
  }
  // Upwards the tails grow while the weights fall: the end is where the weights alone are too small.
  for (let j = middle + 1, w = (peak * half) / j; w > 1e-18 * Math.min(peak, sum); j++, w *= half / j) {
    sum += w * chisquareUpper(x, degrees + 2 * j);
  }
  return sum;
}

/** log Σ exp(x_i) without overflow over x[start, end); −∞ if empty. */
export function logSumExp(x: ArrayLike<number>, start = 0, end: number = x.length): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let i = start; i < end; i++) if (x[i] > max) max = x[i];
  if (max === Number.NEGATIVE_INFINITY) return max;
  let s = 0;
  for (let i = start; i < end; i++) s += Math.exp(x[i] - max);
  return max + Math.log(s);
}
