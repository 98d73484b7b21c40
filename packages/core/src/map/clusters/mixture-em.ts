/**
 * EM for a mixture of Gaussians over places X [n,q] with full covariances. So that no component can close on a few
 * points, each Σ_g has the conjugate prior
 *   log p(Σ) = −½ (ν+q+1) log|Σ| − ½ tr(Λ Σ⁻¹) + const,   ν = q + 2,   Λ = Cov(X) / k^{2/q}
 * (Fraley & Raftery 2007), and EM climbs  log p(X) + Σ_g log p(Σ_g), which may never fall: a fall is an error.
 *   E:  r_ig ∝ π_g N(x_i | μ_g, Σ_g)
 *   M:  n_g = Σ_i r_ig;  π_g = n_g/n;  μ_g = Σ_i r_ig x_i / n_g;  Σ_g = (S_g + Λ) / (n_g + ν + q + 1),
 *       S_g = Σ_i r_ig (x_i−μ_g)(x_i−μ_g)'.
 * O(n k q²) per iteration.   (docs/math/groups.md §4)
 */
import { DtmError } from "../../errors.ts";
import { cholesky, invertLower, logDetFromCholesky, solveLowerInPlace } from "../../numeric/cholesky.ts";
import { takeRows } from "../../numeric/matrix.ts";
import { columnMeans, covarianceOf } from "../../numeric/moments.ts";
import { LOG_2PI, logSumExp } from "../../numeric/special.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import { groupCenters } from "./ward.ts";

/** π, μ and Σ of k groups. */
export interface GaussianMixture {
  readonly numGroups: number;
  readonly dimension: number;
  readonly weights: Float64Array; // π [k]
  readonly means: Float64Array; // μ [k,q]
  readonly covariances: Float64Array; // Σ [k,q,q]
}

/** What EM needs of the data. */
export interface Problem {
  readonly points: Float64Array; // [n,q]
  readonly n: number;
  readonly q: number;
  readonly covariance: Float64Array; // Cov(X) [q,q]
}

/** The places in canonical order, so that the order of the rows does not show in the sums. */
export function problemOf(points: Float64Array, order: Int32Array, q: number): Problem {
  const n = order.length;
  const sorted = takeRows(points, q, order);
  return { points: sorted, n, q, covariance: totalCovariance(sorted, n, q) };
}

/** EM from a partition until the objective stands still. */
export function runEm(problem: Problem, start: Int32Array, k: number, tolerance: number, maxIterations: number) {
  const { points, n, q } = problem;
  const shares = hardMembership(start, k);
  let mixture = mStep(problem, shares, k, groupCenters(points, q, start, k));
  const trace: number[] = [];
  let logLikelihood = 0;
  let converged = false;
  for (let iteration = 0; iteration < maxIterations && !converged; iteration++) {
    logLikelihood = eStep(mixture, points, n, shares);
    const objective = logLikelihood + logPrior(problem, mixture);
    const gain = iteration === 0 ? Number.POSITIVE_INFINITY : objective - trace[iteration - 1];
    if (gain < -1e-9 * (1 + Math.abs(objective))) {
      throw new DtmError(
        "not-monotone",
        `fitGaussianMixture: the objective fell by ${-gain} at iteration ${iteration} with ${k} groups; EM must not. ` +
          "Are the places on a sensible scale?",
      );
    }
    trace.push(objective);
    converged = gain < tolerance * n;
    if (!converged && iteration + 1 < maxIterations) mixture = mStep(problem, shares, k, mixture.means);
  }
  const numParameters = k * (1 + q + (q * (q + 1)) / 2) - 1;
  const bic = -2 * logLikelihood + numParameters * Math.log(n);
  return { mixture, logLikelihood, bic, trace, converged };
}

/** Fills `shares` [n,k] and returns log p(X). */
export function eStep(mixture: GaussianMixture, points: Float64Array, n: number, shares: Float64Array): number {
  const { numGroups: k, dimension: q, weights, means, covariances } = mixture;
  const inverses = new Float64Array(k * q * q); // L_g⁻¹, Σ_g = L_g L_g'
  const constants = new Float64Array(k);
  for (let g = 0; g < k; g++) {
    const L = cholesky(covariances.subarray(g * q * q, (g + 1) * q * q), q, `covariance of group ${g}`);
    invertLower(L, q, inverses.subarray(g * q * q, (g + 1) * q * q));
    constants[g] = Math.log(weights[g]) - 0.5 * (q * LOG_2PI + logDetFromCholesky(L, q));
  }
  const v = new Float64Array(q);
  const logs = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const row = i * k;
    for (let g = 0; g < k; g++) {
      let s = 0;
      for (let c = 0; c < q; c++) {
        v[c] = points[i * q + c] - means[g * q + c];
        const at = (g * q + c) * q;
        let w = 0;
        for (let b = 0; b <= c; b++) w += inverses[at + b] * v[b];
        s += w * w;
      }
      shares[row + g] = constants[g] - 0.5 * s;
    }
    logs[i] = logSumExp(shares, row, row + k);
    for (let g = 0; g < k; g++) shares[row + g] = Math.exp(shares[row + g] - logs[i]);
  }
  return compensatedSum(logs);
}

/**
 * The parameters that maximise the expected objective for given shares [n,k]. One pass over the places sums r, r d and
 * r d d' with d = x − `about`_g; near the mean of the group, so that the correction S = Σ r d d' − n_g δ δ' is small.
 */
export function mStep(
  { points, n, q, covariance }: Problem,
  shares: Float64Array,
  k: number,
  about: Float64Array, // [k,q]
): GaussianMixture {
  const sizes = new Float64Array(k);
  const means = new Float64Array(k * q);
  const covariances = new Float64Array(k * q * q);
  const d = new Float64Array(q);
  for (let i = 0; i < n; i++) {
    for (let g = 0; g < k; g++) {
      const r = shares[i * k + g];
      if (r === 0) continue;
      sizes[g] += r;
      for (let a = 0; a < q; a++) {
        d[a] = points[i * q + a] - about[g * q + a];
        const rd = r * d[a];
        means[g * q + a] += rd;
        const at = (g * q + a) * q;
        for (let b = 0; b <= a; b++) covariances[at + b] += rd * d[b];
      }
    }
  }
  const { lambda, nu } = priorOf(q, k);
  const total = compensatedSum(sizes);
  for (let g = 0; g < k; g++) {
    const ng = sizes[g];
    const delta = means.subarray(g * q, (g + 1) * q);
    for (let a = 0; a < q; a++) delta[a] /= ng;
    const S = covariances.subarray(g * q * q, (g + 1) * q * q);
    for (let a = 0; a < q; a++) {
      for (let b = 0; b <= a; b++) {
        const scatter = S[a * q + b] - ng * delta[a] * delta[b];
        S[a * q + b] = (scatter + lambda * covariance[a * q + b]) / (ng + nu + q + 1);
        S[b * q + a] = S[a * q + b];
      }
    }
    for (let a = 0; a < q; a++) delta[a] += about[g * q + a];
  }
  return { numGroups: k, dimension: q, weights: sizes.map((ng) => ng / total), means, covariances };
}

/** Σ_g log p(Σ_g) but for its constant. */
function logPrior({ q, covariance }: Problem, { numGroups: k, covariances }: GaussianMixture): number {
  const { lambda, nu } = priorOf(q, k);
  const A = cholesky(covariance, q);
  const column = new Float64Array(q);
  let sum = 0;
  for (let g = 0; g < k; g++) {
    const L = cholesky(covariances.subarray(g * q * q, (g + 1) * q * q), q);
    // tr(A A' Σ⁻¹) is the squared length of L⁻¹ A.
    let trace = 0;
    for (let c = 0; c < q; c++) {
      for (let r = 0; r < q; r++) column[r] = A[r * q + c];
      solveLowerInPlace(L, q, column);
      for (let r = 0; r < q; r++) trace += lambda * column[r] * column[r];
    }
    sum -= 0.5 * ((nu + q + 1) * logDetFromCholesky(L, q) + trace);
  }
  return sum;
}

/** Λ as a multiple of Cov(X), and ν. */
function priorOf(q: number, k: number): { lambda: number; nu: number } {
  return { lambda: k ** (-2 / q), nu: q + 2 };
}

/** Cov(X) [q,q], with a floor of 1e-9 of its mean variance so that places on a line have one too. */
function totalCovariance(points: Float64Array, n: number, q: number): Float64Array {
  const C = covarianceOf(points, n, q, columnMeans(points, n, q), n);
  let average = 0;
  for (let c = 0; c < q; c++) average += C[c * q + c] / q;
  const floor = average > 0 ? 1e-9 * average : 1;
  for (let c = 0; c < q; c++) C[c * q + c] += floor;
  return C;
}

/** Shares of 1 for the given labels, [n,k]; a label below 0 has none. */
export function hardMembership(labels: ArrayLike<number>, k: number): Float64Array {
  const shares = new Float64Array(labels.length * k);
  for (let i = 0; i < labels.length; i++) if (labels[i] >= 0) shares[i * k + labels[i]] = 1;
  return shares;
}
