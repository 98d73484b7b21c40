/**
 * The weak prior of the noise (docs/math/linear.md §8): a few pseudo-observations of the size that the noise seems to have
 * before any model, the variance of values about individuals' own straight lines. Lines need no values again: the basis holds
 * them, Σ_k b_k(t) = 1 and Σ_k ξ_k b_k(t) = t with ξ_k the mean of knots k+1 … k+degree. Times count from the middle of the domain:
 * Σ (t − t̄)² is a difference of squares, of which times far from 0 would leave no digits.
 */
import type { NoisePrior } from "../noise/noise.ts";
import { dot, multiplyVector } from "../numeric/matrix.ts";
import { basisDomain, grevilleAbscissae } from "./bspline.ts";
import { type BasisStatistics, type Scatter, unpackGram } from "./statistics.ts";

/** ν: the fewest that keep cohorts of ten individuals sane. */
const NUM_OBSERVATIONS = 10;

/** ν pseudo-observations of values like these; their mean square is at least `lowest`. */
export function weakNoisePrior(statistics: BasisStatistics, lowest: number): NoisePrior {
  return { count: NUM_OBSERVATIONS, level: Math.max(varianceAboutLines(statistics), lowest) };
}

/** Σ RSS_i / Σ (n_i − 2) over individuals with three values or more; about their own means where nobody has three. */
export function varianceAboutLines(statistics: BasisStatistics): number {
  const { aboutLines, aboutMeans } = statistics.whole?.scatter ?? scatterAbout(statistics);
  const { squares, freedom } = aboutLines.freedom > 0 ? aboutLines : aboutMeans;
  return squares / freedom;
}

/** The scatter of the individuals at hand. */
export function scatterAbout(statistics: BasisStatistics): Scatter {
  const { basis, counts, cross, sumSquares, numIndividuals: m } = statistics;
  const d = basis.numBasis;
  const [from, to] = basisDomain(basis);
  const xi = grevilleAbscissae(basis).map((t) => t - (from + to) / 2);
  const G = new Float64Array(d * d);
  const aboutMeans = { squares: 0, freedom: 0 };
  const aboutLines = { squares: 0, freedom: 0 };
  for (let i = 0; i < m; i++) {
    const count = counts[i];
    if (count < 1) continue;
    unpackGram(statistics, i, G);
    // 1'G1 = 1'R⁻¹1, which is the number of values where they are neither correlated nor weighted.
    const ones = G.reduce((sum, v) => sum + v, 0);
    const n = Math.abs(ones - count) <= 1e-8 * count ? count : ones;
    const c = cross.subarray(i * d, (i + 1) * d);
    const total = c.reduce((sum, v) => sum + v, 0);
    const squares = Math.max(sumSquares[i] - (total * total) / n, 0);
    aboutMeans.squares += squares;
    aboutMeans.freedom += count - 1;
    const timed = multiplyVector(G, xi, d, d); // B't
    const middle = timed.reduce((sum, v) => sum + v, 0) / n;
    const spread = dot(xi, timed) - n * middle * middle; // Σ (t − t̄)²
    if (count < 3 || !(spread > 1e-12 * dot(xi, timed))) continue;
    const slope = (dot(xi, c) - middle * total) / spread;
    aboutLines.squares += Math.max(squares - slope * slope * spread, 0);
    aboutLines.freedom += count - 2;
  }
  return { aboutLines, aboutMeans };
}
