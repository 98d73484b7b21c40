/**
 * The two-sample kernel density test of Duong, Goud & Schauer (2012), as in R's ks::kde.test: do places x₁ [n₁,d] and
 * x₂ [n₂,d] come from one density?
 *   ψ₁ = mean φ_{H₁}(x₁ᵢ − x₁ⱼ),  ψ₂ = mean φ_{H₂}(x₂ᵢ − x₂ⱼ),  ψ₁₂ = mean φ_{H₁}(x₁ᵢ − x₂ⱼ),  ψ₂₁ = mean φ_{H₂}(x₂ᵢ − x₁ⱼ),
 * diagonals included;  T = ψ₁ + ψ₂ − ψ₁₂ − ψ₂₁;  z = (T − μ)/√V;  p = 1 − Φ(z), one-sided.
 * The gradient inside V is exact here; ks ≥ 1.11 interpolates it on a grid. z is far from standard normal for places on
 * a map, and posterior means crowd where visits are few: it stands beside the test on whole posteriors (docs/math/association.md §9)
 */
import { checkOption, DtmError } from "../errors.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../numeric/cholesky.ts";
import { bilinear, multiplyVector, squaredDistance } from "../numeric/matrix.ts";
import { LOG_2PI, normalCdf } from "../numeric/special.ts";
import { type BandwidthRule, selectBandwidth } from "./bandwidth.ts";
import { gridPairSums } from "./gauss-grid.ts";
import { describeSample, type Sample, whitenRows } from "./sample.ts";

export interface KdeTestOptions {
  /** How bandwidths are chosen, or the two matrices H₁, H₂ [d,d]. Default "ks". */
  readonly bandwidth?: BandwidthRule | readonly [Float64Array, Float64Array];
}

/** What one sample brings to the null variance. */
export interface DensitySlope {
  /** Normal-scale bandwidth R [d,d] of the derivative. */
  readonly bandwidth: Float64Array;
  /** g [d]: gradient of the density estimate at the sample mean. */
  readonly gradient: Float64Array;
  /** v = g'Sg. */
  readonly variance: number;
}

export interface KdeTest {
  /** T. */
  readonly statistic: number;
  readonly nullMean: number;
  readonly nullVariance: number;
  readonly z: number;
  readonly pValue: number;
  readonly psi1: number;
  readonly psi2: number;
  readonly psi12: number;
  readonly psi21: number;
  /** H₁, H₂ [d,d]; [h²] in one dimension. */
  readonly bandwidth1: Float64Array;
  readonly bandwidth2: Float64Array;
  readonly slope1: DensitySlope;
  readonly slope2: DensitySlope;
}

/** Tests two samples of places x1 [n₁,d], x2 [n₂,d]; refuses samples without a density and a null variance of zero. */
export function kdeTest(x1: Float64Array, x2: Float64Array, dimension: number, options: KdeTestOptions = {}): KdeTest {
  const { bandwidth = "ks" } = options;
  checkOption(dimension >= 1 && Number.isInteger(dimension), "kdeTest", "a dimension of 1 or more", dimension, "");
  const first = describeSample(x1, dimension, "kdeTest, first sample");
  const second = describeSample(x2, dimension, "kdeTest, second sample");
  const [H1, H2] =
    typeof bandwidth === "string"
      ? [selectBandwidth(first, bandwidth).matrix, selectBandwidth(second, bandwidth).matrix]
      : bandwidth;
  const kernel1 = kernelOf(H1, dimension, "H₁");
  const kernel2 = kernelOf(H2, dimension, "H₂");
  const [psi1, psi12] = kernelAverages(first, second, kernel1);
  const [psi2, psi21] = kernelAverages(second, first, kernel2);
  const slope1 = densitySlope(first);
  const slope2 = densitySlope(second);
  const n1 = first.n;
  const n2 = second.n;
  const statistic = psi1 + psi2 - psi12 - psi21;
  const nullMean = kernel1.peak / n1 + kernel2.peak / n2;
  const nullVariance = ((3 * (n1 * slope1.variance + n2 * slope2.variance)) / (n1 + n2)) * (1 / n1 + 1 / n2);
  if (!(nullVariance > 0)) {
    throw new DtmError(
      "zero-variance",
      "kdeTest: expected densities that slope at their means, received two symmetric samples, for which the published " +
        "variance is zero; read the test on whole posteriors.",
    );
  }
  const z = (statistic - nullMean) / Math.sqrt(nullVariance);
  // 1 − Φ(z) as ½ erfc(z/√2), which keeps its digits in the upper tail.
  const pValue = normalCdf(-z);
  return {
    statistic,
    nullMean,
    nullVariance,
    z,
    pValue,
    psi1,
    psi2,
    psi12,
    psi21,
    bandwidth1: H1,
    bandwidth2: H2,
    slope1,
    slope2,
  };
}

interface Kernel {
  /** H⁻¹ [d,d] and the inverse root that makes places isotropic: z = L⁻¹x, H = LL'. */
  readonly inverse: Float64Array;
  readonly factor: Float64Array;
  /** φ_H(0). */
  readonly peak: number;
}

function kernelOf(H: Float64Array, d: number, what: string): Kernel {
  const factor = cholesky(H, d, `bandwidth ${what}`);
  const peak = Math.exp(-0.5 * (d * LOG_2PI + logDetFromCholesky(factor, d)));
  return { inverse: invertFromCholesky(factor, d), factor, peak };
}

/** Mean of φ_H over all pairs of `own`, diagonal included, and over all pairs own × other. */
function kernelAverages(own: Sample, other: Sample, kernel: Kernel): readonly [number, number] {
  const { n, d } = own;
  const m = other.n;
  const all = new Float64Array((n + m) * d);
  all.set(whitenRows(own.x, n, d, kernel.factor));
  all.set(whitenRows(other.x, m, d, kernel.factor), n * d);
  const { within, across } = gridPairSums(all, d, n) ?? pairSums(all, d, n);
  return [(kernel.peak * within) / (n * n), (kernel.peak * across) / (n * m)];
}

/** Σ exp(−½|z_i − z_j|²) over i, j < own, and over i < own ≤ j, pair by pair. */
function pairSums(z: Float64Array, d: number, own: number): { readonly within: number; readonly across: number } {
  let [within, across] = [own, 0];
  for (let i = 0; i < own; i++) {
    for (let j = 0; j < i; j++) within += 2 * Math.exp(-0.5 * squaredDistance(z, i, j, d));
    for (let j = own; j < z.length / d; j++) across += Math.exp(-0.5 * squaredDistance(z, i, j, d));
  }
  return { within, across };
}

/** Below this share of what its terms could sum to, the gradient at the mean is rounding error. */
const FLAT = 1e-13;

/** g = −R⁻¹ n⁻¹ Σ φ_R(x̄ − x_i)(x̄ − x_i) with R = [4/(n(d+4))]^{2/(d+6)} S, and v = g'Sg. */
function densitySlope(sample: Sample): DensitySlope {
  const { x, n, d, mean, covariance } = sample;
  const scale = (4 / (n * (d + 4))) ** (2 / (d + 6));
  const bandwidth = covariance.map((s) => s * scale);
  const { inverse, peak } = kernelOf(bandwidth, d, "R");
  const u = new Float64Array(d);
  const sum = new Float64Array(d);
  const size = new Float64Array(d);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < d; k++) u[k] = mean[k] - x[i * d + k];
    const w = (peak / n) * Math.exp(-0.5 * bilinear(u, inverse, u));
    for (let k = 0; k < d; k++) {
      sum[k] -= w * u[k];
      size[k] += w * Math.abs(u[k]);
    }
  }
  for (let k = 0; k < d; k++) if (Math.abs(sum[k]) <= FLAT * size[k]) sum[k] = 0;
  const gradient = multiplyVector(inverse, sum, d, d);
  return { bandwidth, gradient, variance: bilinear(gradient, covariance, gradient) };
}
