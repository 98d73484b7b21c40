/**
 * Gradients of the bound by what individuals share, at any q(u) and any places (docs/math/dtm-paper.md §5); those by the
 * places are the local step's. By μ, log σ², log α and log ℓ they follow from data sums and the curvatures that the local
 * step gives anyway. Psi statistics obey ∂ψ1/∂log ℓ_c = ψ1 + 2ℓ_c² ∂ψ1/∂S_cc and ∂Ψ2/∂log ℓ_c = Ψ2 + ℓ_c² ∂Ψ2/∂S_cc + Ψ2 Δ_c²/(2ℓ_c²),
 * Δ = z_j − z_k. Hence with a = Σh'ψ1, b = −½Σ⟨W,Ψ2⟩, D_i the data part of ∂J_i/∂S and s_i = ∂(h'ψ1)/∂S,
 *   ∂/∂log ℓ_c = a + b + ℓ_c² Σ_i (D_i + s_i)_cc + Σ_jk V_jk Δ_c²/(2ℓ_c²) + ⟨Γ, ∂K⟩,
 *   V = −½ Σ_i W_i∘Ψ2_i = −(Σ_kl T_kl∘Ω_kl − K⁻¹∘Φ)/(2σ²).
 */
import { dot } from "../../numeric/matrix.ts";
import type { DataTotals } from "./bound.ts";
import type { DataSums, MapPosterior } from "./inducing.ts";
import { addKernelTerms } from "./kernel-gradient.ts";
import { type GlobalParameters, logPriorSlope, type PriorOptions } from "./state.ts";

/** Gradients by the hyperparameters. Prior terms are included; a shared length-scale has the sum of `logLengthscales`. */
export interface HyperGradient {
  /** By the level of the mean curve. */
  readonly meanLevel: number;
  readonly logNoiseVariance: number;
  readonly logSignalVariance: number;
  /** Per dimension, [q]. */
  readonly logLengthscales: Float64Array;
}

/**
 * The gradient by the hyperparameters from sums over all individuals (or estimates of them) at q(u), which is held fixed;
 * `slopes` are Σ (D_i + s_i)_cc.
 */
export function gradientOfSums(
  map: MapPosterior,
  sums: DataSums,
  data: DataTotals,
  slopes: Float64Array,
  options: PriorOptions,
): HyperGradient {
  const { parameters, posterior } = map;
  const { kernel, inducingLocations: Z, numInducing: p, mapDimension: q, noiseVariance: s2 } = parameters;
  const V = weightedSums(map, sums);
  const a = dot(posterior.mean, sums.cross) / s2;
  const b = V.reduce((total, v) => total + v, 0);
  const variance = (0.5 * data.variance) / s2;
  const out = {
    logSignalVariance: a + 2 * b - variance,
    logLengthscales: new Float64Array(q),
  };
  if (kernel.kind === "rbf") {
    for (let c = 0; c < q; c++) {
      const square = kernel.lengthscales[c] ** 2;
      out.logLengthscales[c] = a + b + square * slopes[c];
      for (let j = 0; j < p; j++) {
        for (let k = 0; k < p; k++) {
          out.logLengthscales[c] += (0.5 * V[j * p + k] * (Z[j * q + c] - Z[k * q + c]) ** 2) / square;
        }
      }
    }
  }
  addKernelTerms(map, sums, out);
  addPriorSlopes(parameters, options, out);
  // Everything that is proportional to 1/σ².
  const scaled = a + b - variance - (0.5 * data.sumSquares) / s2;
  return {
    meanLevel: (data.residual - dot(posterior.mean, sums.course)) / s2,
    logNoiseVariance: -0.5 * data.numObservations - scaled + logPriorSlope(options.priors.logNoiseVariance, s2),
    logSignalVariance: out.logSignalVariance,
    logLengthscales: out.logLengthscales,
  };
}

/** V from the sums, [p,p]. */
function weightedSums({ statistics, parameters, factor, posterior }: MapPosterior, { gram }: DataSums): Float64Array {
  const { numBand, bandRow, bandColumn } = statistics;
  const { numInducing: p, noiseVariance } = parameters;
  const V = new Float64Array(p * p);
  for (let b = 0; b < numBand; b++) {
    const from = b * p * p;
    const onDiagonal = bandRow[b] === bandColumn[b];
    const weight = (onDiagonal ? -0.5 : -1) / noiseVariance;
    for (let e = 0; e < p * p; e++) {
      V[e] += weight * (posterior.blocks[from + e] - (onDiagonal ? factor.inverse[e] : 0)) * gram[from + e];
    }
  }
  return V;
}

/** Adds the slopes of the priors on log α and log ℓ. */
export function addPriorSlopes(
  { kernel }: GlobalParameters,
  { priors, sharedLengthscale }: PriorOptions,
  out: { logSignalVariance: number; readonly logLengthscales: Float64Array },
): void {
  out.logSignalVariance += logPriorSlope(priors.logSignalVariance, kernel.signalVariance);
  if (kernel.kind !== "rbf") return;
  const q = kernel.lengthscales.length;
  // A shared length-scale has one prior; spread over the dimensions its slope still adds up to one.
  const share = sharedLengthscale ? 1 / q : 1;
  for (let c = 0; c < q; c++) {
    out.logLengthscales[c] += share * logPriorSlope(priors.logLengthscale, kernel.lengthscales[c]);
  }
}
