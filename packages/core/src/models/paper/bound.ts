/**
 * The evidence lower bound, line by line (docs/math/dtm-paper.md §3), for any q(u) and places:
 *   ℒ = Σ_i J_i − KL_u + log π,   J_i = base_i − Tr(G_i) ψ0/(2σ²) + h_i'ψ1 − ½⟨W_i, Ψ2⟩ − KL_i,
 *   base_i = −(n_i/2) log 2πσ² − ρ_i/(2σ²).
 */
import { DtmError } from "../../errors.ts";
import { noiseConstants, whiteNoise } from "../../noise/noise.ts";
import { factorKernel, type KernelFactor } from "../gp/stable-kernel.ts";
import type { DataSums, MapPosterior } from "./inducing.ts";
import type { GlobalParameters } from "./state.ts";

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
      `Expected a positive definite kernel matrix of the ${numInducing} inducing points, received one that is not at jitter ${kernel.jitter}. Raise the jitter or use fewer inducing points.`,
    );
  }
  return factor;
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
    expectedLogLikelihood:
      noiseConstants(whiteNoise(noiseVariance), { counts: [data.numObservations], logDets: [0] })(0) - half * fit,
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
