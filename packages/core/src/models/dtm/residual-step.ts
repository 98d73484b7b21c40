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

/** log τ at the three points that a step from `tau` begins with: x, a and b. */
function trialPoints(tau: number, h: number, cap: number): [number, number, number] {
  const x = Math.log(tau);
  const high = Math.min(Math.log(cap), HIGHEST_LOG_TAU);
  return [x, Math.max(x - h, LOWEST_LOG_TAU), Math.min(x + h, high)];
}

/** The τ at which Q must be known for `stepBetween`. */
export function trialTaus(tau: number, trialDistance: number, cap: number): number[] {
  return trialPoints(tau, trialDistance, cap).map((v, k) => (k === 0 ? tau : Math.exp(v)));
}

/** The step where Q is known at `trialTaus` alone: between them it is the parabola through the three. */
export function stepBetween(values: ArrayLike<number>, tau: number, trialDistance: number, cap: number): ResidualStep {
  const points = trialPoints(tau, trialDistance, cap);
  const parabola = (v: number) =>
    points.reduce((sum, p, k) => {
      const [r, s] = [points[(k + 1) % 3], points[(k + 2) % 3]];
      return sum + (values[k] * (v - r) * (v - s)) / ((p - r) * (p - s));
    }, 0);
  const objective = (at: number): number => {
    const known = trialTaus(tau, trialDistance, cap).indexOf(at);
    return known < 0 ? parabola(Math.log(at)) : values[known];
  };
  return residualStep(objective, tau, trialDistance, cap);
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
  const [x, a, b] = trialPoints(tau, h, cap);
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
