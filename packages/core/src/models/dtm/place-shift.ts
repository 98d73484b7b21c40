/**
 * Covariates that shift places (docs/math/covariates.md §2): the prior of the place of individual i is
 *   π_g(z_i) ∝ π_g exp(x_g'η_i),   η_i = Φz_i,
 * the lattice version of x_i ~ N(Φz_i, I). With x̄_i, V_i mean and covariance of the place given the values, and x⁰_i, V⁰_i under
 * π(z_i) (nearly Φz_i and I, but for the rim of the lattice),
 *   score  Σ_i (x̄_i − x⁰_i) ⊗ z_i,   complete information  I^c = Σ_i V⁰_i ⊗ z_iz_i',   observed  I^o = Σ_i (V⁰_i − V_i) ⊗ z_iz_i'.
 * I^c is the curvature for fixed responsibilities, in which an EM step is exact; I^o that of the bound, and of standard errors.
 * Φ [q,P] is flat by axis, then covariate, and so are score and information.
 */
import { nodeWeights } from "./expectation-step.ts";
import type { MapNodes } from "./nodes.ts";
import { nodePowers } from "./starting-places.ts";

/** Mean and covariance of places of m individuals. */
export interface PlaceMoments {
  readonly means: Float64Array; // [m,q]
  readonly covariances: Float64Array; // [m,q,q]
}

/** Priors of m individuals: what a pass reads of them, and their moments. */
export interface PlacePriors extends PlaceMoments {
  readonly terms: Float64Array; // η [m,q]
  readonly logNormalizers: Float64Array; // [m]
}

/** The priors of individuals with covariates z [m,P] under Φ [q,P]. */
export function placePriors(nodes: MapNodes, shift: Float64Array, covariates: Float64Array): PlacePriors {
  const { mapDimension: q, numNodes: n, logWeights } = nodes;
  const P = shift.length / q;
  const m = covariates.length / P;
  const powers = nodePowers(nodes);
  const width = powers.length / n;
  const coordinates = powers.subarray(0, q * n);
  const r = new Float64Array(n);
  const moments = new Float64Array(m * width);
  const terms = new Float64Array(m * q);
  const logNormalizers = new Float64Array(m);
  for (let i = 0; i < m; i++) {
    for (let a = 0; a < q; a++) {
      for (let c = 0; c < P; c++) terms[i * q + a] += shift[a * P + c] * covariates[i * P + c];
    }
    logNormalizers[i] = nodeWeights(terms.subarray(i * q, (i + 1) * q), coordinates, logWeights, r);
    for (let t = 0; t < width; t++) {
      let s = 0;
      for (let g = 0; g < n; g++) s += r[g] * powers[t * n + g];
      moments[i * width + t] = s;
    }
  }
  return { terms, logNormalizers, ...momentsOfPowers(moments, q) };
}

/** Means and covariances from moments of powers [m,T] as `nodePowers` orders them: x, then x_ax_b, a ≤ b. */
export function momentsOfPowers(moments: Float64Array, q: number): PlaceMoments {
  const width = q + (q * (q + 1)) / 2;
  const m = moments.length / width;
  const means = new Float64Array(m * q);
  const covariances = new Float64Array(m * q * q);
  for (let i = 0; i < m; i++) {
    const own = moments.subarray(i * width, (i + 1) * width);
    means.set(own.subarray(0, q), i * q);
    for (let a = 0, t = q; a < q; a++) {
      for (let b = a; b < q; b++, t++) {
        const v = own[t] - own[a] * own[b];
        covariances[(i * q + a) * q + b] = v;
        covariances[(i * q + b) * q + a] = v;
      }
    }
  }
  return { means, covariances };
}

/** (x̄_i − x⁰_i) ⊗ z_i of each individual, [m,qP]. */
export function shiftScores(
  prior: Pick<PlaceMoments, "means">,
  posterior: Pick<PlaceMoments, "means">,
  covariates: Float64Array,
  q: number,
): Float64Array {
  const m = prior.means.length / q;
  const P = covariates.length / m;
  return Float64Array.from({ length: m * q * P }, (_, e) => {
    const i = Math.floor(e / (q * P));
    const a = Math.floor(e / P) % q;
    return (posterior.means[i * q + a] - prior.means[i * q + a]) * covariates[i * P + (e % P)];
  });
}

/** Σ_i S_i ⊗ z_iz_i' for symmetric S [m,q,q], [qP,qP]. */
export function shiftInformation(covariances: Float64Array, covariates: Float64Array, q: number): Float64Array {
  const m = covariances.length / (q * q);
  const P = covariates.length / m;
  const n = q * P;
  const sum = new Float64Array(n * n);
  for (let i = 0; i < m; i++) {
    const S = covariances.subarray(i * q * q, (i + 1) * q * q);
    const z = covariates.subarray(i * P, (i + 1) * P);
    for (let a = 0; a < q; a++) {
      for (let b = 0; b < q; b++) {
        for (let c = 0; c < P; c++) {
          for (let d = 0; d < P; d++) sum[(a * P + c) * n + b * P + d] += S[a * q + b] * z[c] * z[d];
        }
      }
    }
  }
  return sum;
}
