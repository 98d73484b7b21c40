/**
 * What a model reads values below or above a limit under (noise/limits.ts): what it learned where its own cohort had such, else the mean
 * and covariance of coefficients over all its places.
 */
import type { LimitPrior } from "../noise/limits.ts";
import { noiseLevel, noiseSpread } from "../noise/noise.ts";
import { multiplyTransposed } from "../numeric/matrix.ts";
import { semidefiniteRoot } from "../numeric/symmetric-eigen.ts";
import { viewMarker } from "./fit.ts";
import { linearParameters } from "./linear/scores.ts";
import { splitRows } from "./linear/stack.ts";
import { modelMixture, type ScoredModel, usesOwnNodes } from "./model.ts";

/** Nodes of maps that have none of their own are wider apart than those that places are read from. */
const STEP = 0.25;

/** What values of marker k are read under. */
export function limitPriorOf(model: ScoredModel, k: number): LimitPrior {
  const { noise, mean, basis } = model.markers[k];
  if (noise.limits !== undefined) return noise.limits;
  const d = basis.numBasis;
  const [variance, spread] = [noiseLevel(noise), noiseSpread(noise)];
  const { shift, covariance } = coefficientMoments(model, k, d);
  const own = mean.coefficients.map((v, a) => v + shift[a]);
  return { mean: own, factor: semidefiniteRoot(covariance, d), variance, spread };
}

/** Mean [d], about that of the model, and covariance [d,d] of the coefficients of marker k of anybody. */
export function coefficientMoments(model: ScoredModel, k: number, d: number) {
  if (model.kind === "lmm" || model.kind === "fpca") {
    const { factor, rank } = linearParameters(model);
    const own = splitRows(model.markers, factor)[k];
    return { shift: new Float64Array(d), covariance: multiplyTransposed(own, own, d, rank, d) };
  }
  const isFine = model.kind === "classes" || (model.kind === "dtm" && usesOwnNodes(model));
  const { numNodes, logWeights, means, factors } = modelMixture(viewMarker(model, k), isFine ? {} : { step: STEP });
  const shift = new Float64Array(d);
  for (let e = 0; e < numNodes * d; e++) shift[e % d] += Math.exp(logWeights[Math.floor(e / d)]) * means[e];
  const covariance = new Float64Array(d * d);
  for (let g = 0; g < numNodes; g++) {
    const L = factors.subarray(g * d * d, (g + 1) * d * d);
    const inside = multiplyTransposed(L, L, d, d, d);
    for (let e = 0; e < d * d; e++) {
      const [a, b] = [Math.floor(e / d), e % d];
      const between = (means[g * d + a] - shift[a]) * (means[g * d + b] - shift[b]);
      covariance[e] += Math.exp(logWeights[g]) * (inside[e] + between);
    }
  }
  return { shift, covariance };
}
