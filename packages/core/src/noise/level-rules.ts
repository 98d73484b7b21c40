/**
 * Fewer levels in place of all 33 of noise/levels.ts, where sums over levels are the same (docs/math/noise.md §4).
 *
 * A sum over levels h apart in z errs by the Fourier transform of the posterior at 2π/h: by 2 exp(−2π²σ²/h²) where that is Gaussian with
 * sd σ, and by about exp(−π²/(hω)) where few values leave it skewed. So levels between are left out, and the others count for them, where
 * h ≤ σ/0.9 and h ≤ 0.5/ω; the outermost count what is left of all weights, and must be light. Together this is felt by 2e-5 in log p(y) at
 * most. Where nω² is small the values hardly move the prior, and a few points of Gauss serve for all levels: N of them are exact for
 * polynomials of degree 2N − 1 in z, and err by c²ᴺN!/(2N)! for exp(cz), whose posterior has the mean c.
 */
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";
import type { NoiseLevels } from "./levels.ts";

/** Steps between levels, coarse to fine. */
export const STRIDES = [4, 3, 2, 1];
/** The least posterior sd of a step, and the largest step in log λ. */
const LEAST_SD = 0.9;
const LARGEST_STEP = 0.5;

/** Points of Gauss, with the largest nω² and the largest posterior mean of z for which they err by 1e-9 at most. */
export const GAUSS = [
  { points: 4, mostSpread: 0.005, mostMean: 0.15 },
  { points: 6, mostSpread: 0.04, mostMean: 0.4 },
];

/** z of the levels to look at, and the logarithms of what each counts, [K]. */
export interface LevelRule {
  readonly stride: number;
  readonly z: Float64Array;
  readonly logCounts: Float64Array;
}

/** The rule of Gauss with N points for the weights of all levels: eigenvalues of the Jacobi matrix of their orthogonal polynomials. */
export function gaussRule({ z, logWeights }: NoiseLevels, N: number): LevelRule {
  const p = logWeights.map(Math.exp);
  const J = new Float64Array(N * N);
  let [before, own] = [new Float64Array(z.length), new Float64Array(z.length).fill(1)];
  for (let j = 1, size = 0; j < N; j++) {
    // The weights are symmetric about 0, so the diagonal is 0.
    const next = own.map((v, k) => z[k] * v - size * before[k]);
    size = Math.sqrt(next.reduce((total, v, k) => total + p[k] * v * v, 0));
    J[j * N + j - 1] = J[(j - 1) * N + j] = size;
    [before, own] = [own, next.map((v) => v / size)];
  }
  const { values, vectors } = symmetricEigen(J, N);
  return { stride: 1, z: values, logCounts: vectors.subarray(0, N).map((v) => Math.log(v * v)) };
}

/** Every `stride`-th level, the outermost at equal distances from both ends. */
export function levelRule({ z, logWeights }: NoiseLevels, stride: number): LevelRule {
  const most = z.length;
  const first = ((most - 1) % stride) / 2;
  const levels = Array.from({ length: Math.floor((most - 1) / stride) + 1 }, (_, k) => first + k * stride);
  const counts = Float64Array.from(levels, (k) => stride * Math.exp(logWeights[k]));
  if (stride > 1) {
    const between = sum(counts.subarray(1, -1));
    counts[0] = counts[counts.length - 1] = 0.5 * (1 - between);
  }
  return { stride, z: Float64Array.from(levels, (k) => z[k]), logCounts: counts.map(Math.log) };
}

/** The largest step that a posterior sd of z allows, up to `most`. */
export function strideFor({ z, spread }: NoiseLevels, sd: number, most = STRIDES[0]): number {
  const step = z[1] - z[0];
  return STRIDES.find((s) => s <= most && s * step * LEAST_SD <= sd && s * step * spread <= LARGEST_STEP) ?? 1;
}

function sum(values: Float64Array): number {
  return values.reduce((total, v) => total + v, 0);
}
