/** Places of new individuals under a fitted model: the local step from several starts, q(u) fixed. */

import { type BasisStatistics, statisticsBlock } from "../../basis/statistics.ts";
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

/** Engines of models, with the kernels they run on, as long as the models are at hand. A cache, nothing more. */
const engines = new WeakMap<DtmPaperModel, { readonly kernels: KernelKind; readonly engine: PaperEngine }>();

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
  const engine = known?.kernels === kernels ? known.engine : engineForOne(model, statistics, kernels);
  engines.set(model, { kernels, engine });
  const P = engine.numLocal;
  const starts = localStarts(q, P);
  const theta = new Float64Array(m * P);
  const one = new Float64Array(P);
  const bound = new Float64Array(m);
  const options = { method: "newton", gradientTolerance: 1e-6, maxEvaluations: 200 } as const;
  for (let i = 0; i < m; i++) {
    copyIndividual(statistics, i, engine);
    // The first start stands for the place as it is.
    for (let k = 0; k < P; k++) one[k] = starts[k];
    bound[i] = solvePlace(engine, one, 0, options, starts.subarray(P));
    theta.set(one, i * P);
  }
  return { ...unpackLocations(theta, q, model.diagonalLocations), bound };
}

/** An engine with the model's q(u) and room for the statistics of one individual, which others overwrite. */
function engineForOne(model: DtmPaperModel, statistics: BasisStatistics, kernels: KernelKind): PaperEngine {
  const { diagonalLocations: diagonal } = model;
  const { map, mean, noise } = markerModel(model);
  const noiseVariance = noiseLevel(noise);
  const parameters: GlobalParameters = { ...map, meanCoefficients: mean.coefficients, noiseVariance };
  const one: BasisStatistics = {
    ...statistics,
    numIndividuals: 1,
    gram: new Float64Array(statistics.numBand),
    cross: new Float64Array(map.numBasis),
    sumSquares: new Float64Array(1),
    counts: new Int32Array(1),
  };
  const engine = createEngine(one, parameters, { diagonal, priors: {}, sharedLengthscale: true, kernels });
  // Only A, T and K⁻¹ are read here, so the determinant may be left at 0.
  const posterior = { mean: map.inducingMean, covariance: map.inducingCovariance, logDet: 0 };
  coefficientsOfInducing(engine, posterior, engine.posterior);
  useInducing(engine);
  return engine;
}

/** Puts individual i into the engine's only place. */
function copyIndividual(from: BasisStatistics, i: number, { statistics: to }: PaperEngine): void {
  const one = statisticsBlock(from, { from: i, to: i + 1 });
  to.gram.set(one.gram);
  to.cross.set(one.cross);
  to.sumSquares.set(one.sumSquares);
  to.counts.set(one.counts);
}
