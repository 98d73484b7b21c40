/** Draws of a placed individual's curve, for what has no closed form (docs/math/prediction.md §3 to §5). */

import { createRandom } from "../../numeric/random.ts";
import type { ModelBase } from "../fit.ts";
import { markerModel } from "../fit.ts";
import { coefficientSampler } from "../mixture/place.ts";
import type { Placement } from "../placement.ts";

/** Calls `use` with the coefficients β + w [d] of one curve after the other; the array is used again. */
export function drawCoefficients(
  model: ModelBase,
  { posterior }: Placement,
  { numDraws, seed }: { readonly numDraws: number; readonly seed: number },
  use: (coefficients: Float64Array, draw: number, normal: () => number) => void,
): void {
  const beta = markerModel(model).mean.coefficients;
  const sampler = coefficientSampler(posterior, beta.length);
  const random = createRandom(seed);
  const w = new Float64Array(beta.length);
  for (let s = 0; s < numDraws; s++) {
    sampler.draw(random, w, 0);
    for (let k = 0; k < w.length; k++) w[k] += beta[k];
    use(w, s, () => random.normal());
  }
}

/** Draws of rows·(β + w), rows [T,d], with independent noise per row if wanted, on the scale of the model, [S,T]. */
export function drawFunctionals(
  model: ModelBase,
  placement: Placement,
  rows: Float64Array,
  options: { readonly numDraws: number; readonly seed: number },
  addedVariance: number,
): Float64Array {
  const d = markerModel(model).basis.numBasis;
  const T = rows.length / d;
  const sigma = Math.sqrt(addedVariance);
  const out = new Float64Array(options.numDraws * T);
  drawCoefficients(model, placement, options, (w, s, normal) => {
    for (let t = 0; t < T; t++) {
      let v = sigma > 0 ? sigma * normal() : 0;
      for (let k = 0; k < d; k++) v += rows[t * d + k] * w[k];
      out[s * T + t] = v;
    }
  });
  return out;
}
