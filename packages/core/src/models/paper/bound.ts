/**
 * The evidence lower bound, line by line (docs/math/dtm-paper.md §3), for any q(u) and places, in the obvious form:
 *   ℒ = Σ_i J_i − KL_u + log π,   J_i = base_i + w0 ψ0 + w1'ψ1 + ⟨w2, Ψ2⟩ − KL_i,
 *   base_i = −(n_i/2) log 2πσ² − ρ_i/(2σ²),   w0 = −Tr(G_i)/(2σ²),   w1 = h_i,   w2 = −½W_i.
 * The weights w are ∂J_i/∂ψ, so one set serves the value and, through psi.ts, every gradient.
 */
import { residualStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { multiplyVector } from "../../numeric/matrix.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import { factorKernel, type KernelFactor } from "../gp/stable-kernel.ts";
import type { DataSums, MapPosterior } from "./inducing.ts";
import { computePsi, createPsi, type Psi } from "./psi.ts";
import {
  createPlace,
  type GlobalParameters,
  gramTrace,
  type MapState,
  numLocalParameters,
  type Place,
  unpackPlace,
} from "./state.ts";

/** The lines of the bound; `total` is their sum with both KL terms subtracted. */
export interface ElboTerms {
  readonly expectedLogLikelihood: number;
  /** What the uncertainty of u costs (≤ 0). */
  readonly inducingUncertainty: number;
  /** What the part of f that u does not determine costs (≤ 0). */
  readonly conditionalVariance: number;
  readonly locationKl: number;
  readonly inducingKl: number;
  readonly logPrior: number;
  readonly total: number;
}

/** K's factor; throws if there is none. */
export function requireKernelFactor(parameters: GlobalParameters): KernelFactor {
  const { kernel, inducingLocations, numInducing, mapDimension } = parameters;
  const factor = factorKernel(kernel, inducingLocations, numInducing, mapDimension);
  if (factor === null) {
    throw new DtmError(
      "not-positive-definite",
      `Expected a positive definite kernel matrix of the ${numInducing} inducing places, received one that is not at jitter ${kernel.jitter}. Raise the jitter or use fewer inducing places.`,
    );
  }
  return factor;
}

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
export interface PsiVisit {
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

/** What the data lines read beside the sums. */
export interface DataTotals {
  readonly numObservations: number;
  /** Σ ρ_i. */
  readonly sumSquares: number;
  /** Σ Tr(G_i) ψ0. */
  readonly variance: number;
  /** Σ 1'g_i, for the gradient by the level of the mean. */
  readonly residual: number;
}

/**
 * Lines 1 to 3 from sums, of one individual or of all:
 *   −(N/2) log 2πσ² − [Σρ − 2⟨A, 𝒴⟩ + Σ_kl a_k'Ω_kl a_l]/(2σ²),   −Σ_kl ⟨C_kl, Ω_kl⟩/(2σ²),
 *   −(Σ Tr(G)ψ0 − ⟨K⁻¹, Σ_k Ω_kk⟩)/(2σ²).
 */
export function dataLines(
  { statistics: band, parameters, factor, posterior }: MapPosterior,
  data: Omit<DataTotals, "residual">,
  sums: DataSums,
): { expectedLogLikelihood: number; inducingUncertainty: number; conditionalVariance: number } {
  const { numInducing: p, numBasis: d, noiseVariance } = parameters;
  const { mean: A, covariance: C } = posterior;
  const dp = d * p;
  let fit = data.sumSquares;
  for (let e = 0; e < dp; e++) fit -= 2 * A[e] * sums.cross[e];
  let spread = 0;
  let left = data.variance;
  for (let b = 0; b < band.numBand; b++) {
    const k = band.bandRow[b];
    const l = band.bandColumn[b];
    const times = k === l ? 1 : 2;
    for (let j = 0; j < p; j++) {
      for (let i = 0; i < p; i++) {
        const omega = sums.gram[(b * p + j) * p + i];
        fit += times * A[j * d + k] * omega * A[i * d + l];
        spread += times * C[(k * p + j) * dp + l * p + i] * omega;
        if (k === l) left -= factor.inverse[j * p + i] * omega;
      }
    }
  }
  const half = 0.5 / noiseVariance;
  return {
    expectedLogLikelihood: -0.5 * data.numObservations * (LOG_2PI + Math.log(noiseVariance)) - half * fit,
    inducingUncertainty: -half * spread,
    conditionalVariance: -half * left,
  };
}

/** The lines with the KL terms and the total. */
export function closeTerms(
  lines: Pick<ElboTerms, "expectedLogLikelihood" | "inducingUncertainty" | "conditionalVariance" | "locationKl">,
  inducingKl: number,
  prior: number,
): ElboTerms {
  const data = lines.expectedLogLikelihood + lines.inducingUncertainty + lines.conditionalVariance;
  return { ...lines, inducingKl, logPrior: prior, total: data - lines.locationKl - inducingKl + prior };
}
