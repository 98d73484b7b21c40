/**
 * The bound of the published model and all its gradients written out individual by individual, for any q(u) and any places:
 * slow and obvious, what tests and the oracle compare the product with.
 */
import { type BasisStatistics, residualStatistics } from "../packages/core/src/basis/statistics.ts";
import type { NaturalParameters } from "../packages/core/src/models/gp/solve.ts";
import type { KernelFactor } from "../packages/core/src/models/gp/stable-kernel.ts";
import { closeTerms, dataLines, type ElboTerms, requireKernelFactor } from "../packages/core/src/models/paper/bound.ts";
import { addPriorSlopes, type HyperGradient } from "../packages/core/src/models/paper/gradients.ts";
import {
  createSums,
  type DataSums,
  type InducingCoefficients,
  type InducingPosterior,
  type MapPosterior,
  naturalTarget,
  posteriorOfNatural,
  transformBlocks,
} from "../packages/core/src/models/paper/inducing.ts";
import { addKernelTerms } from "../packages/core/src/models/paper/kernel-gradient.ts";
import {
  createPlace,
  type GlobalParameters,
  gramTrace,
  locationKl,
  logPrior,
  logPriorSlope,
  type MapState,
  numLocalParameters,
  type Place,
  type Priors,
  unpackPlace,
} from "../packages/core/src/models/paper/state.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../packages/core/src/numeric/cholesky.ts";
import { identity, multiplyVector } from "../packages/core/src/numeric/matrix.ts";
import { addPsiGradient, computePsi, createPsi, createPsiGradient, type Psi } from "./psi.ts";

/** Writes w = ∂J_i/∂ψ of one individual: w0, h_i [p] and −½W_i [p,p]; `g` is g_i [d]. */
export function individualWeights(map: MapPosterior, individual: number, g: Float64Array, out: Psi): void {
  const { statistics, posterior, factor } = map;
  const { numInducing: p, numBasis: d, noiseVariance } = map.parameters;
  const { numBand, bandRow, bandColumn, gram } = statistics;
  const traceG = gramTrace(statistics, individual);
  out.psi0 = (-0.5 * traceG) / noiseVariance;
  multiplyVector(posterior.mean, g, p, d, out.psi1);
  for (let j = 0; j < p; j++) out.psi1[j] /= noiseVariance;
  const W = out.psi2;
  for (let e = 0; e < p * p; e++) W[e] = -traceG * factor.inverse[e];
  for (let b = 0; b < numBand; b++) {
    const weight = (bandRow[b] === bandColumn[b] ? 1 : 2) * gram[individual * numBand + b];
    for (let e = 0; e < p * p; e++) W[e] += weight * posterior.blocks[b * p * p + e];
  }
  for (let e = 0; e < p * p; e++) W[e] *= -0.5 / noiseVariance;
}

/** An individual with its psi statistics at θ_i; buffers are overwritten by the next. */
interface PsiVisit {
  readonly i: number;
  readonly rho: number; // ρ_i
  readonly g: Float64Array; // g_i [d]
  readonly place: Place;
  readonly psi: Psi;
}

/** Visits the listed individuals (default all) with their psi statistics at places θ [m,P]. */
export function visitPsi(
  { parameters, statistics }: Omit<MapState, "factor">,
  theta: Float64Array,
  diagonal: boolean,
  visit: (individual: PsiVisit) => void,
  individuals?: ArrayLike<number>,
): void {
  const { numInducing: p, mapDimension: q, numBasis: d } = parameters;
  const P = numLocalParameters(q, diagonal);
  const psi = createPsi(p);
  const place = createPlace(q);
  const g = new Float64Array(d);
  const count = individuals?.length ?? statistics.numIndividuals;
  for (let n = 0; n < count; n++) {
    const i = individuals?.[n] ?? n;
    const rho = residualStatistics(statistics, i, parameters.meanCoefficients, g);
    unpackPlace(theta, i * P, diagonal, place);
    computePsi(parameters, place, psi);
    visit({ i, rho, g, place, psi });
  }
}

/** Lines of one individual; `objective` is J_i. */
export interface IndividualTerms {
  readonly expectedLogLikelihood: number;
  readonly inducingUncertainty: number;
  readonly conditionalVariance: number;
  readonly locationKl: number;
  readonly objective: number;
}

/** 𝒴 and Ω at places θ [m,P], for the listed individuals (default all), by direct summation. */
export function directSums(
  parameters: GlobalParameters,
  statistics: BasisStatistics,
  theta: Float64Array,
  diagonal: boolean,
  individuals?: ArrayLike<number>,
): DataSums {
  const { numInducing: p, numBasis: d } = parameters;
  const sums = createSums(statistics, p, d);
  const add = ({ i, g, psi }: PsiVisit) => addToSums(statistics, i, g, psi, p, d, sums);
  visitPsi({ parameters, statistics }, theta, diagonal, add, individuals);
  return sums;
}

/** The bound and its lines for any q(u), per individual and in total. */
export function elboTerms(
  parameters: GlobalParameters,
  statistics: BasisStatistics,
  theta: Float64Array,
  diagonal: boolean,
  posterior: InducingCoefficients,
  priors: Priors = {},
  sharedLengthscale = true,
): { readonly terms: ElboTerms; readonly individuals: readonly IndividualTerms[] } {
  const { numInducing: p, mapDimension: q, numBasis: d } = parameters;
  const map = { statistics, parameters, factor: requireKernelFactor(parameters), posterior };
  const P = numLocalParameters(q, diagonal);
  const individuals: IndividualTerms[] = [];
  visitPsi(map, theta, diagonal, ({ i, rho, g, psi }) => {
    const one = createSums(statistics, p, d);
    addToSums(statistics, i, g, psi, p, d, one);
    const variance = gramTrace(statistics, i) * psi.psi0;
    const data = { numObservations: statistics.counts[i], sumSquares: rho, variance };
    const lines = dataLines(map, data, one);
    const kl = locationKl(theta, i * P, q, diagonal);
    const objective = lines.expectedLogLikelihood + lines.inducingUncertainty + lines.conditionalVariance - kl;
    individuals.push({ ...lines, locationKl: kl, objective });
  });
  const total = (line: keyof IndividualTerms) => individuals.reduce((sum, terms) => sum + terms[line], 0);
  const lines = {
    expectedLogLikelihood: total("expectedLogLikelihood"),
    inducingUncertainty: total("inducingUncertainty"),
    conditionalVariance: total("conditionalVariance"),
    locationKl: total("locationKl"),
  };
  return {
    terms: closeTerms(lines, posterior.kl, logPrior(parameters, { priors, sharedLengthscale })),
    individuals,
  };
}

/** ⟨w, ψ⟩ over ψ0, ψ1 and Ψ2. */
function weightedPsi(weights: Psi, psi: Psi): number {
  let s = weights.psi0 * psi.psi0;
  for (let j = 0; j < psi.psi1.length; j++) s += weights.psi1[j] * psi.psi1[j];
  for (let e = 0; e < psi.psi2.length; e++) s += weights.psi2[e] * psi.psi2[e];
  return s;
}

/** cross += ψ1 g', gram_kl += G_kl Ψ2, course += ψ1 (G1)'. */
function addToSums(
  statistics: BasisStatistics,
  individual: number,
  g: Float64Array,
  psi: Psi,
  p: number,
  d: number,
  sums: DataSums,
): void {
  for (let j = 0; j < p; j++) for (let k = 0; k < d; k++) sums.cross[j * d + k] += psi.psi1[j] * g[k];
  for (let b = 0; b < statistics.numBand; b++) {
    const G = statistics.gram[individual * statistics.numBand + b];
    const [k, l] = [statistics.bandRow[b], statistics.bandColumn[b]];
    for (let j = 0; j < p; j++) {
      sums.course[j * d + k] += psi.psi1[j] * G;
      if (k !== l) sums.course[j * d + l] += psi.psi1[j] * G;
    }
    for (let e = 0; e < p * p; e++) sums.gram[b * p * p + e] += G * psi.psi2[e];
  }
}

/** All gradients of the bound. */
export interface ElboGradient extends HyperGradient {
  /** ∂/∂β of the mean curve, [d]. */
  readonly meanCoefficients: Float64Array;
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
  const { numInducing: p, mapDimension: q, numBasis: d, noiseVariance } = parameters;
  const m = statistics.numIndividuals;
  const P = numLocalParameters(q, diagonal);
  const map = { statistics, parameters, factor: requireKernelFactor(parameters), posterior };
  const weights = createPsi(p);
  const global = createPsiGradient(p, q);
  const thetaGradient = new Float64Array(m * P);
  const covarianceGradient = new Float64Array(m * q * q);
  const meanCoefficients = new Float64Array(d);
  let data = 0; // Σ of what is proportional to 1/σ²
  visitPsi(map, theta, diagonal, ({ i, rho, g, place, psi }) => {
    const { m: mean, T, S } = place;
    individualWeights(map, i, g, weights);
    data += weightedPsi(weights, psi) - (0.5 * rho) / noiseVariance;
    // The global derivatives add up over individuals; place and covariance are this individual's own.
    const own = { ...global, location: new Float64Array(q), covariance: new Float64Array(q * q) };
    addPsiGradient(parameters, { place, psi, weights }, own);
    global.logSignalVariance = own.logSignalVariance;
    addMeanGradient(statistics, i, g, psi.psi1, posterior.mean, noiseVariance, meanCoefficients);
    // −KL_i: −m_i, −½I in S, and log|T| whose derivative by log T_cc is 1; ½S⁻¹ is formed for the report alone.
    for (let c = 0; c < q; c++) {
      thetaGradient[i * P + c] = own.location[c] - mean[c];
      own.covariance[c * q + c] -= 0.5;
    }
    factorGradient(own.covariance, T, q, diagonal, thetaGradient, i * P + q);
    for (let c = 0; c < q; c++) thetaGradient[i * P + q + c] += 1;
    const Sinv = invertFromCholesky(cholesky(S, q, "covariance of a place"), q);
    for (let e = 0; e < q * q; e++) covarianceGradient[i * q * q + e] = own.covariance[e] + 0.5 * Sinv[e];
  });
  const sums = directSums(parameters, statistics, theta, diagonal);
  const kernelMatrix = addKernelTerms(map, sums, global);
  addInducingTerms(parameters, map.factor, kernelMatrix, global.inducing);
  addPriorSlopes(parameters, { priors, sharedLengthscale }, global);
  return {
    meanLevel: meanCoefficients.reduce((a, b) => a + b, 0),
    meanCoefficients,
    logNoiseVariance: -0.5 * statistics.numObservations - data + logPriorSlope(priors.logNoiseVariance, noiseVariance),
    logSignalVariance: global.logSignalVariance,
    logLengthscales: global.logLengthscales,
    inducing: global.inducing,
    kernelMatrix,
    theta: thetaGradient,
    locationCovariance: covarianceGradient,
  };
}

/**
 * Adds ⟨Γ, ∂K⟩ by Z to out [p,q]. RBF: ∂K_jk/∂z_jc = −K_jk (z_jc−z_kc)/ℓ_c², k ≠ j; linear: ∂K_jk/∂z_j = α z_k for k ≠ j,
 * 2α z_j for k = j.
 */
function addInducingTerms(
  { kernel, inducingLocations: Z, numInducing: p, mapDimension: q }: GlobalParameters,
  { matrix: K }: KernelFactor,
  Gamma: Float64Array,
  out: Float64Array,
): void {
  for (let j = 0; j < p; j++) {
    for (let k = 0; k < p; k++) {
      for (let c = 0; c < q; c++) {
        const slope =
          kernel.kind === "rbf"
            ? (-K[j * p + k] * (Z[j * q + c] - Z[k * q + c])) / kernel.lengthscales[c] ** 2
            : kernel.signalVariance * Z[k * q + c];
        out[j * q + c] += 2 * Gamma[j * p + k] * slope;
      }
    }
  }
}

/** ∂/∂β of one individual: σ⁻²(g_i − G_i A'ψ1), added to out [d]. */
function addMeanGradient(
  { numBand, bandRow, bandColumn, gram }: BasisStatistics,
  individual: number,
  g: Float64Array,
  psi1: Float64Array,
  A: Float64Array,
  noiseVariance: number,
  out: Float64Array,
): void {
  const d = g.length;
  const course = new Float64Array(d); // A'ψ1
  for (let j = 0; j < psi1.length; j++) for (let k = 0; k < d; k++) course[k] += A[j * d + k] * psi1[j];
  for (let k = 0; k < d; k++) out[k] += g[k] / noiseVariance;
  for (let b = 0; b < numBand; b++) {
    const [k, l] = [bandRow[b], bandColumn[b]];
    const G = gram[individual * numBand + b] / noiseVariance;
    out[k] -= G * course[l];
    if (k !== l) out[l] -= G * course[k];
  }
}

/**
 * Turns N = ∂J/∂S into ∂J/∂(log diag T, lower T), written to out[offset..]:
 *   ∂J/∂log T_cc = 2(NT)_cc T_cc,   ∂J/∂T_cb = 2(NT)_cb.
 */
function factorGradient(
  N: Float64Array,
  T: Float64Array,
  q: number,
  diagonal: boolean,
  out: Float64Array,
  offset: number,
): void {
  let e = offset + q;
  for (let c = 0; c < q; c++) {
    for (let b = 0; b <= c; b++) {
      let s = 0;
      for (let a = b; a < q; a++) s += N[c * q + a] * T[a * q + b];
      if (b === c) out[offset + c] = 2 * s * T[c * q + c];
      else if (!diagonal) out[e++] = 2 * s;
    }
  }
}

/** (m, S) of u = (I ⊗ L_K) v. */
export function unwhiten(posterior: InducingPosterior, factor: KernelFactor, p: number, d: number) {
  return transformBlocks(posterior, factor.cholesky, p, d);
}

/** q(v) of a given q(u) = N(m, S). */
export function whiten(
  mean: Float64Array,
  covariance: Float64Array,
  factor: KernelFactor,
  p: number,
  d: number,
): InducingPosterior {
  const whitened = transformBlocks({ mean, covariance }, factor.inverseCholesky, p, d);
  const L = cholesky(whitened.covariance, d * p, "covariance of the inducing values");
  return { ...whitened, logDet: logDetFromCholesky(L, d * p) };
}

/** (c, Λ) of N(ν, Ξ): the same map as from (c, Λ) to (ν, Ξ). */
export function naturalOfPosterior({ mean, covariance }: InducingPosterior): NaturalParameters {
  const swapped = posteriorOfNatural({ linear: mean, precision: covariance });
  return { linear: swapped.mean, precision: swapped.covariance };
}

/** The optimal q(v) for given sums. */
export function exactInducingPosterior(map: MapState, sums: DataSums): InducingPosterior {
  return posteriorOfNatural(naturalTarget(map, sums));
}

/** The prior of v: N(0, I). */
export function priorInducingPosterior(p: number, d: number): InducingPosterior {
  return { mean: new Float64Array(d * p), covariance: identity(d * p), logDet: 0 };
}
