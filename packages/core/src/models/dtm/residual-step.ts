/**
 * The direct step for the size τ of the residual effect, Σ_e = τ Σ_ref (docs/math/dtm.md §8). For fixed moments it
 * raises
 *   Q(τ) = Σ_i [c_i(τ) + g̃_i(τ)'f̄_i − ½⟨G̃_i(τ), R̄_i⟩]
 * by one safeguarded parabola step in x = log τ: Q at x, a = max(x−h, −12) and b = min(x+h, log cap), and at the vertex
 * through the three (within 3h and the box); the best point wins, so Q never falls. Then h follows the move.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { dot } from "../../numeric/matrix.ts";
import { type IndividualModel, individualStatistics, packedStride } from "./individual-statistics.ts";

export const LOWEST_LOG_TAU = -12;
/** log of the largest τ tried when there is no cap. */
const HIGHEST_LOG_TAU = Math.log(1e9);

/** What a step found. */
export interface ResidualStep {
  readonly tau: number;
  /** h for the next step. */
  readonly trialDistance: number;
  /** Q at the chosen τ. */
  readonly value: number;
  /** Points tried, log τ, and Q there. */
  readonly tried: readonly number[];
  readonly values: readonly number[];
}

/** Q for a model, from moments [m,K]. */
export function residualObjective(statistics: BasisStatistics, model: IndividualModel, moments: Float64Array): number {
  const stride = packedStride(statistics.basis.numBasis);
  let total = 0;
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const { row, constant } = individualStatistics(statistics, i, model);
    total += constant + dot(row, moments.subarray(i * stride, (i + 1) * stride));
  }
  return total;
}

/** One step from `tau` with trial distance h; `objective` is Q. */
export function residualStep(
  objective: (tau: number) => number,
  tau: number,
  trialDistance: number,
  cap: number,
): ResidualStep {
  const h = trialDistance;
  const low = LOWEST_LOG_TAU;
  const high = Math.min(Math.log(cap), HIGHEST_LOG_TAU);
  const x = Math.log(tau);
  const a = Math.max(x - h, low);
  const b = Math.min(x + h, high);
  const tried = [x, a, b];
  const atX = objective(tau);
  const values = tried.map((v) => (v === x ? atX : objective(Math.exp(v))));
  if (b > x + 1e-12 && a < x - 1e-12) {
    const [fx, fa, fb] = values;
    const denominator = (x - a) * (fx - fb) - (x - b) * (fx - fa);
    if (Math.abs(denominator) > 1e-300) {
      const vertex = x - (0.5 * ((x - a) ** 2 * (fx - fb) - (x - b) ** 2 * (fx - fa))) / denominator;
      const clipped = Math.min(Math.max(vertex, low, x - 3 * h), high, x + 3 * h);
      tried.push(clipped);
      values.push(objective(Math.exp(clipped)));
    }
  }
  let best = 0;
  for (let k = 1; k < tried.length; k++) if (values[k] > values[best]) best = k;
  const move = Math.abs(tried[best] - x);
  const next = tried[best] !== x ? Math.min(Math.max(move, 0.02), 1) : Math.max(h / 2, 0.01);
  const chosen = best === 0 ? tau : Math.min(Math.exp(tried[best]), cap);
  return { tau: chosen, trialDistance: next, value: values[best], tried, values };
}
