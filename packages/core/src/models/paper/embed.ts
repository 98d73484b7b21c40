/** Places of new individuals under a fitted model: the local step from several starts, q(u) fixed. */

import { type BasisStatistics, selectStatistics } from "../../basis/statistics.ts";
import { noiseLevel } from "../../noise/noise.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { markerModel } from "../fit.ts";
import { createEngine, type PaperEngine, useInducing } from "./engine.ts";
import { coefficientsOfInducing } from "./inducing.ts";
import type { DtmPaperModel } from "./model.ts";
import { localStarts, solvePlace } from "./passes.ts";
import { type GlobalParameters, type LocationPosterior, unpackLocations } from "./state.ts";

/** Variational posterior of places, with the bound J_i ≤ log p(y_i) of each individual. */
export interface LocalEmbedding extends LocationPosterior {
  /** J_i, [m]. */
  readonly bound: Float64Array;
}

/** Engines of models, as long as the models are at hand. A cache, nothing more. */
const engines = new WeakMap<DtmPaperModel, PaperEngine>();

/**
 * q(x_i) = N(m_i, S_i) in the fit's frame for every individual of the statistics, taken with the model's basis and centre.
 * Everything that depends on the model alone is made at its first use.
 */
export function embedLocal(
  model: DtmPaperModel,
  statistics: BasisStatistics,
  kernels: KernelKind = "typescript",
): LocalEmbedding {
  const q = markerModel(model).map.mapDimension;
  const m = statistics.numIndividuals;
  const known = engines.get(model);
  const kept = known?.options.kernels === kernels ? known : engineOf(model, statistics, kernels);
  engines.set(model, kept);
  const engine = { ...kept, statistics };
  const P = engine.numLocal;
  const starts = localStarts(q, P);
  const theta = new Float64Array(m * P);
  const bound = new Float64Array(m);
  const options = { method: "newton", gradientTolerance: 1e-6, maxEvaluations: 200 } as const;
  for (let i = 0; i < m; i++) {
    // The first start stands for the place as it is.
    theta.set(starts.subarray(0, P), i * P);
    bound[i] = solvePlace(engine, theta, i, options, starts.subarray(P));
  }
  return { ...unpackLocations(theta, q, model.diagonalLocations), bound };
}

/** An engine with the model's q(u). */
function engineOf(model: DtmPaperModel, statistics: BasisStatistics, kernels: KernelKind): PaperEngine {
  const { diagonalLocations: diagonal } = model;
  const { map, mean, noise } = markerModel(model);
  const parameters: GlobalParameters = {
    ...map,
    meanCoefficients: mean.coefficients,
    noiseVariance: noiseLevel(noise),
  };
  // The statistics of nobody: those of the first individuals would be kept as long as the model.
  const nobody = selectStatistics(statistics, []);
  const engine = createEngine(nobody, parameters, { diagonal, priors: {}, sharedLengthscale: true, kernels });
  // Only A, T and K⁻¹ are read here, so the determinant may be left at 0.
  const posterior = { mean: map.inducingMean, covariance: map.inducingCovariance, logDet: 0 };
  coefficientsOfInducing(engine, posterior, engine.posterior);
  useInducing(engine);
  return engine;
}
