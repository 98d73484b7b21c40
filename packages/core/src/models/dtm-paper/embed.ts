/** Places of new individuals under a fitted model: the local step from several starts, q(u) fixed. */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { createEngine } from "./engine.ts";
import { coefficientsOfInducing } from "./inducing-coefficients.ts";
import type { InducingPosterior } from "./inducing-posterior.ts";
import { localStarts, solvePlaces } from "./local-pass.ts";
import type { DtmPaperModel } from "./model.ts";
import { type GlobalParameters, type LocationPosterior, unpackLocations } from "./state.ts";

/** Variational posterior of places, with the bound J_i ≤ log p(y_i) of each individual. */
export interface LocalEmbedding extends LocationPosterior {
  /** J_i, [m]. */
  readonly bound: Float64Array;
}

/** q(x_i) = N(m_i, S_i) in the fit's frame for every individual of the statistics, taken with the model's basis and centre. */
export function embedLocal(model: DtmPaperModel, statistics: BasisStatistics): LocalEmbedding {
  const { map, diagonalLocations: diagonal } = model;
  const { mapDimension: q, numInducing: p, numBasis: d } = map;
  const m = statistics.numIndividuals;
  const parameters: GlobalParameters = {
    kernel: map.kernel,
    inducingLocations: map.inducingLocations,
    numInducing: p,
    mapDimension: q,
    numBasis: d,
    meanCoefficients: model.mean.coefficients,
    noiseVariance: model.noiseVariance,
  };
  const engine = createEngine(statistics, parameters, { diagonal, priors: {}, sharedLengthscale: true, path: "auto" });
  // Only A, T and K⁻¹ are read here, so the determinant may be left at 0.
  const posterior: InducingPosterior = { mean: map.inducingMean, covariance: map.inducingCovariance, logDet: 0 };
  const { mean, blocks } = coefficientsOfInducing(posterior, statistics, engine.factor, p, d);
  engine.solver.setGlobal(mean, blocks, engine.factor.inverse, model.noiseVariance);
  const P = engine.numLocal;
  const starts = localStarts(q, P);
  const theta = new Float64Array(m * P);
  const bound = new Float64Array(m);
  const options = { method: "newton", gradientTolerance: 1e-6, maxEvaluations: 200 } as const;
  for (let i = 0; i < m; i++) {
    // The first start stands for the place as it is.
    theta.set(starts.subarray(0, P), i * P);
    bound[i] = solvePlaces(engine, theta, i, i + 1, options, starts.subarray(P));
  }
  return { ...unpackLocations(theta, m, q, diagonal), bound };
}
