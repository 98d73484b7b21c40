/**
 * Every gradient of the bound at any q(u) and any places, in the obvious form (docs/math/dtm-paper.md §5): one pass
 * over individuals that pulls ∂J_i/∂ψ back through psi.ts, then the part that enters through K. O(m p² (d² + q²)).
 */
import { type BasisStatistics, residualStatistics } from "../../basis/statistics.ts";
import { cholesky, invertFromCholesky } from "../../numeric/cholesky.ts";
import { directSums, individualWeights, requireKernelFactor, weightedPsi } from "./elbo.ts";
import type { InducingCoefficients } from "./inducing-coefficients.ts";
import { addKernelMatrixTerms, kernelMatrixGradient } from "./kernel-gradient.ts";
import {
  addPsiGradient,
  computePsi,
  createPsi,
  createPsiGradient,
  createPsiWorkspace,
  type PsiGradient,
} from "./psi.ts";
import {
  covarianceOfFactor,
  factorGradient,
  type GlobalParameters,
  logPriorSlope,
  numLocalParameters,
  type Priors,
  unpackLocation,
} from "./state.ts";

/** Gradients of the bound. Prior terms are included; a shared length-scale has the sum of `logLengthscales`. */
export interface ElboGradient {
  /** ∂/∂β of the mean curve, [d]; the derivative by a scalar mean is its sum. */
  readonly meanCoefficients: Float64Array;
  readonly logNoiseVariance: number;
  readonly logSignalVariance: number;
  /** Per dimension, [q]. */
  readonly logLengthscales: Float64Array;
  /** ∂/∂Z, [p,q]. */
  readonly inducing: Float64Array;
  /** ∂/∂K for fixed q(u), [p,p]. */
  readonly kernelMatrix: Float64Array;
  /** ∂/∂θ_i, [m,P]: place, log diagonal and lower entries of T_i. */
  readonly theta: Float64Array;
  /** ∂/∂S_i as symmetric matrices, [m,q,q]. */
  readonly locationCovariance: Float64Array;
}

/** All gradients; `priors` as in the bound, length-scale prior on a shared length-scale if `sharedLengthscale`. */
export function elboGradient(
  parameters: GlobalParameters,
  statistics: BasisStatistics,
  theta: Float64Array,
  diagonal: boolean,
  posterior: InducingCoefficients,
  priors: Priors = {},
  sharedLengthscale = true,
): ElboGradient {
  const { kernel, inducingLocations: Z, numInducing: p, mapDimension: q, numBasis: d, noiseVariance } = parameters;
  const m = statistics.numIndividuals;
  const P = numLocalParameters(q, diagonal);
  const factor = requireKernelFactor(parameters);
  const sums = directSums(parameters, statistics, theta, diagonal);
  const psi = createPsi(p);
  const weights = createPsi(p);
  const work = createPsiWorkspace(q);
  const [mi, T, S] = [new Float64Array(q), new Float64Array(q * q), new Float64Array(q * q)];
  const g = new Float64Array(d);
  const global = createPsiGradient(p, q);
  const thetaGradient = new Float64Array(m * P);
  const covarianceGradient = new Float64Array(m * q * q);
  const meanGradient = new Float64Array(d);
  const course = new Float64Array(d);
  let data = 0; // Σ of what is proportional to 1/σ²
  for (let i = 0; i < m; i++) {
    const rho = residualStatistics(statistics, i, parameters.meanCoefficients, g);
    unpackLocation(theta, i * P, q, diagonal, mi, T);
    covarianceOfFactor(T, q, S);
    computePsi(kernel, Z, p, q, mi, S, psi, work);
    individualWeights(statistics, i, g, posterior, factor, noiseVariance, p, weights);
    data += weightedPsi(weights, psi) - (0.5 * rho) / noiseVariance;
    // The global derivatives add up over individuals; place and covariance are this individual's own.
    const own = { ...global, location: new Float64Array(q), covariance: new Float64Array(q * q) };
    addPsiGradient(kernel, Z, p, q, mi, S, psi, weights, own, work);
    global.logSignalVariance = own.logSignalVariance;
    addMeanGradient(statistics, i, g, psi.psi1, posterior.mean, noiseVariance, p, d, course, meanGradient);
    // −KL_i: −m_i, −½I in S, and log|T| whose derivative by log T_cc is 1; ½S⁻¹ is formed for the report alone.
    for (let c = 0; c < q; c++) {
      thetaGradient[i * P + c] = own.location[c] - mi[c];
      own.covariance[c * q + c] -= 0.5;
    }
    factorGradient(own.covariance, T, q, diagonal, thetaGradient, i * P + q);
    for (let c = 0; c < q; c++) thetaGradient[i * P + q + c] += 1;
    const Sinv = invertFromCholesky(cholesky(S, q, "covariance of a place"), q);
    for (let e = 0; e < q * q; e++) covarianceGradient[i * q * q + e] = own.covariance[e] + 0.5 * Sinv[e];
  }
  const Gamma = kernelMatrixGradient(sums, statistics, posterior, factor, noiseVariance, p, d);
  addKernelMatrixTerms(kernel, Z, p, q, Gamma, factor.matrix, global);
  addPriorSlopes(parameters, priors, sharedLengthscale, global);
  return {
    meanCoefficients: meanGradient,
    logNoiseVariance: -0.5 * statistics.numObservations - data + logPriorSlope(priors.logNoiseVariance, noiseVariance),
    logSignalVariance: global.logSignalVariance,
    logLengthscales: global.logLengthscales,
    inducing: global.inducing,
    kernelMatrix: Gamma.matrix,
    theta: thetaGradient,
    locationCovariance: covarianceGradient,
  };
}

/** ∂/∂β of one individual: σ⁻²(g_i − G_i A'ψ1), added to out [d]; `course` is scratch [d]. */
function addMeanGradient(
  statistics: BasisStatistics,
  individual: number,
  g: Float64Array,
  psi1: Float64Array,
  A: Float64Array,
  noiseVariance: number,
  p: number,
  d: number,
  course: Float64Array,
  out: Float64Array,
): void {
  course.fill(0);
  for (let j = 0; j < p; j++) for (let k = 0; k < d; k++) course[k] += A[j * d + k] * psi1[j];
  addCourseGradient(statistics, individual, g, course, 1 / noiseVariance, out);
}

/** Adds weight · (g_i − G_i w) to out [d], for the expected coefficients w = A'ψ1 [d]. */
export function addCourseGradient(
  statistics: BasisStatistics,
  individual: number,
  g: Float64Array,
  w: Float64Array,
  weight: number,
  out: Float64Array,
): void {
  const { numBand, bandRow, bandColumn, gram } = statistics;
  for (let k = 0; k < w.length; k++) out[k] += weight * g[k];
  for (let b = 0; b < numBand; b++) {
    const k = bandRow[b];
    const l = bandColumn[b];
    const G = weight * gram[individual * numBand + b];
    out[k] -= G * w[l];
    if (k !== l) out[l] -= G * w[k];
  }
}

/** Adds the slopes of the priors on log α and log ℓ. */
function addPriorSlopes(parameters: GlobalParameters, priors: Priors, shared: boolean, out: PsiGradient): void {
  const { kernel, mapDimension: q } = parameters;
  out.logSignalVariance += logPriorSlope(priors.logSignalVariance, kernel.signalVariance);
  if (kernel.kind !== "rbf") return;
  // A shared length-scale has one prior; spread over the dimensions its slope still adds up to one.
  const share = shared ? 1 / q : 1;
  for (let c = 0; c < q; c++) {
    out.logLengthscales[c] += share * logPriorSlope(priors.logLengthscale, kernel.lengthscales[c]);
  }
}
