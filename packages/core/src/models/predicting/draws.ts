/** Draws of a placed individual's curve, for what has no closed form (docs/math/prediction.md §3 to §5). */

import { cholesky } from "../../numeric/cholesky.ts";
import { trace } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { type ModelBase, markerModel } from "../fit.ts";
import { functionalMean, INDEPENDENT } from "../mixture/curve-distribution.ts";
import type { Placement } from "../placement.ts";
import { type Measurements, measurementsAt } from "./measurements.ts";

/**
 * Calls `use` with the coefficients β + w [d] of one curve after the other, the array being used again, and the noise of
 * measurements about it: a component by its weight, then w ~ N(m, LL') there.
 */
export function drawCoefficients(
  model: ModelBase,
  { posterior }: Placement,
  { numDraws, seed }: { readonly numDraws: number; readonly seed: number },
  use: (coefficients: Float64Array, draw: number, noise: () => number) => void,
): void {
  const beta = markerModel(model).mean.coefficients;
  const d = beta.length;
  const { shares, noiseVariances, means: m, covariances } = posterior;
  const random = createRandom(seed);
  const component = random.categoricalOf(shares);
  const factors = new Map<number, Float64Array>();
  const coefficients = new Float64Array(d);
  for (let s = 0; s < numDraws; s++) {
    const k = component();
    const L = factors.get(k) ?? factorOf(covariances.slice(k * d * d, (k + 1) * d * d), d);
    factors.set(k, L);
    const z = Float64Array.from(beta, () => random.normal());
    for (let a = 0; a < d; a++) {
      let w = m[k * d + a];
      for (let b = 0; b <= a; b++) w += L[a * d + b] * z[b];
      coefficients[a] = w + beta[a];
    }
    use(coefficients, s, () => Math.sqrt(noiseVariances[k]) * random.normal());
  }
}

/** L of S [d,d] = LL', with a little on the diagonal of a singular one. */
function factorOf(S: Float64Array, d: number): Float64Array {
  const little = 1e-12 * trace(S, d) + Number.MIN_VALUE;
  for (let a = 0; a < d; a++) S[a * d + a] += little;
  return cholesky(S, d, "posterior covariance of the coefficients");
}

/** Draws of rows·(β + w), rows [T,d], on the scale of the model, [S,T]. */
export function drawFunctionals(
  model: ModelBase,
  placement: Placement,
  rows: Float64Array,
  options: { readonly numDraws: number; readonly seed: number },
): Float64Array {
  return drawRows(model, placement, { rows }, options, false);
}

/** Draws of the curve at the times, or of new measurements, on the scale of the model, [S,T]. */
export function drawValues(
  model: ModelBase,
  placement: Placement,
  times: ArrayLike<number>,
  options: { readonly numDraws: number; readonly seed: number },
  measured: boolean,
): Float64Array {
  const own = measurementsAt(markerModel(model), placement, times, measured, true);
  return drawRows(model, placement, own, options, measured);
}

/** Where measurements correlate, each takes its share of those drawn before it (measurements.ts). */
function drawRows(
  model: ModelBase,
  placement: Placement,
  { rows, given, carried }: Measurements,
  options: { readonly numDraws: number; readonly seed: number },
  measured: boolean,
): Float64Array {
  const { basis, center } = markerModel(model);
  const d = basis.numBasis;
  const T = rows.length / d;
  const out = new Float64Array(options.numDraws * T);
  drawCoefficients(model, placement, options, (w, s, noise) => {
    for (let t = 0; t < T; t++) {
      const { shift, variance } = given?.[t] ?? INDEPENDENT;
      let y = (measured ? Math.sqrt(variance) * noise() + shift : 0) + functionalMean(rows, t * d, w, 0, d);
      if (carried !== undefined) for (let l = 0; l < t; l++) y += carried[t * T + l] * (out[s * T + l] - center);
      out[s * T + t] = y;
    }
  });
  return out;
}
