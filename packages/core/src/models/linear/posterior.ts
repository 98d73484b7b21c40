/**
 * Posterior of the individual effects of a linear model given its parameters (docs/math/linear.md §1):
 *   v_i | y_i ~ N(v̂_i, σ² A_i⁻¹),   w_i = L v_i;   where noise has levels, mean and covariance over them.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { noiseLevel, noiseSpread } from "../../noise/noise.ts";
import { identity, multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import { openLinearKernels } from "../../wasm/linear.ts";
import { effectsReader, type IndividualEffects } from "./effects.ts";
import { stackLevels } from "./joint-levels.ts";
import { notPositive } from "./low-rank.ts";
import { type LinearParameters, numCoefficients } from "./stack.ts";

/** Gaussian posteriors of vectors of length k, one per individual. */
export interface EffectPosterior {
  /** [m,k] */
  readonly mean: Float64Array;
  /** [m,k,k] */
  readonly covariance: Float64Array;
}

/** v ↦ M v + shift, k numbers of the r effects. */
export interface LinearMap {
  readonly matrix: Float64Array; // M [k,r]
  readonly shift: Float64Array; // [k]
}

/** Posterior of v_i (for FPCA the place), or of M v_i + shift: [m,k] and [m,k,k]. */
export function effectPosterior(
  markers: readonly BasisStatistics[],
  parameters: LinearParameters,
  through: LinearMap = { matrix: identity(parameters.rank), shift: new Float64Array(parameters.rank) },
  kernels: KernelChoice = "auto",
): EffectPosterior {
  const { matrix: M, shift } = through;
  // P is Cov v / σ² of the stack, whose noise is that of the first marker.
  const sigma2 = noiseLevel(parameters.noises[0]);
  const m = markers[0].numIndividuals;
  const r = parameters.rank;
  const k = shift.length;
  const Mt = transpose(M, k, r);
  const mean = new Float64Array(m * k);
  const covariance = new Float64Array(m * k * k);
  const [x, MP, V] = [new Float64Array(k), new Float64Array(k * r), new Float64Array(k * k)];
  forEachPosterior(markers, parameters, kernels, (i, { v, P }) => {
    multiplyVector(M, v, k, r, x);
    multiply(multiply(M, P, k, r, r, MP), Mt, k, r, k, V);
    for (let a = 0; a < k; a++) mean[i * k + a] = shift[a] + x[a];
    for (let a = 0; a < k * k; a++) covariance[i * k * k + a] = sigma2 * V[a];
  });
  return { mean, covariance };
}

/** Posterior of the coefficients w_i = L v_i: N(Lv̂_i, σ² L A_i⁻¹ L'); [m,d] and [m,d,d]. The definition, for tests and oracles. */
export function coefficientPosterior(
  markers: readonly BasisStatistics[],
  parameters: LinearParameters,
): EffectPosterior {
  const shift = new Float64Array(numCoefficients(markers));
  return effectPosterior(markers, parameters, { matrix: parameters.factor, shift });
}

/** Posterior means ŵ_i = Lv̂_i of the coefficients, [m,d]. */
export function coefficientMeans(markers: readonly BasisStatistics[], parameters: LinearParameters): Float64Array {
  const d = numCoefficients(markers);
  const mean = new Float64Array(markers[0].numIndividuals * d);
  forEachPosterior(markers, parameters, "auto", (i, { v }) => {
    multiplyVector(parameters.factor, v, d, parameters.rank, mean.subarray(i * d));
  });
  return mean;
}

function forEachPosterior(
  markers: readonly BasisStatistics[],
  parameters: LinearParameters,
  kernels: KernelChoice,
  visit: (i: number, posterior: Pick<IndividualEffects, "v" | "P">) => void,
): void {
  const { statistics, parameters: stacked } = stackLevels(markers, parameters);
  if (noiseSpread(stacked.noise) > 0 && chooseKernels(kernels) === "wasm-simd") {
    const r = stacked.rank;
    const sigma2 = noiseLevel(stacked.noise);
    const P = new Float64Array(r * r);
    const { place } = openLinearKernels(statistics.basis.numBasis, statistics.numBand, r);
    place(statistics, stacked, (i, moments) => {
      const v = moments.subarray(0, r);
      if (Number.isNaN(v[0])) throw notPositive(parameters.noises);
      for (let a = 0, e = r; a < r; a++) {
        for (let c = 0; c <= a; c++, e++) {
          P[a * r + c] = (moments[e] - v[a] * v[c]) / sigma2;
          P[c * r + a] = P[a * r + c];
        }
      }
      visit(i, { v, P });
    });
    return;
  }
  const effectsOf = effectsReader(statistics, stacked);
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const effects = effectsOf(i);
    if (Number.isNaN(effects.logDensity)) throw notPositive(parameters.noises);
    visit(i, effects);
  }
}
