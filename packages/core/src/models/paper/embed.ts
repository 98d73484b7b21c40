/** Places of new individuals under a fitted model: the local step from several starts, q(u) fixed. */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { noiseLevel } from "../../noise/noise.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { createEngine, type Engine } from "./engine.ts";
import { coefficientsOfInducing, type InducingPosterior } from "./inducing.ts";
import type { DtmPaperModel } from "./model.ts";
import { localStarts, solvePlace } from "./passes.ts";
import { type GlobalParameters, type LocationPosterior, unpackLocations } from "./state.ts";

/** Variational posterior of places, with the bound J_i ≤ log p(y_i) of each individual. */
export interface LocalEmbedding extends LocationPosterior {
  /** J_i, [m]. */
  readonly bound: Float64Array;
}

/** Engines of models, with the kernels they run on, as long as the models are at hand. A cache, nothing more. */
const engines = new WeakMap<DtmPaperModel, { readonly kernels: KernelKind; readonly engine: Engine }>();

/**
 * q(x_i) = N(m_i, S_i) in the fit's frame for every individual of the statistics, taken with the model's basis and centre.
 * Everything that depends on the model alone is made at its first use.
 */
export function embedLocal(
  model: DtmPaperModel,
  statistics: BasisStatistics,
  kernels: KernelKind = "typescript",
): LocalEmbedding {
  const q = model.map.mapDimension;
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
function engineForOne(model: DtmPaperModel, statistics: BasisStatistics, kernels: KernelKind): Engine {
  const { map, diagonalLocations: diagonal } = model;
  const { mapDimension: q, numInducing: p, numBasis: d } = map;
  const parameters: GlobalParameters = {
    kernel: map.kernel,
    inducingLocations: map.inducingLocations,
    numInducing: p,
    mapDimension: q,
    numBasis: d,
    meanCoefficients: model.mean.coefficients,
    noiseVariance: noiseLevel(model.noise),
  };
  const one: BasisStatistics = {
    ...statistics,
    numIndividuals: 1,
    gram: new Float64Array(statistics.numBand),
    cross: new Float64Array(d),
    sumSquares: new Float64Array(1),
    counts: new Int32Array(1),
  };
  const options = { diagonal, priors: {}, sharedLengthscale: true, kernels } as const;
  const engine = createEngine(one, parameters, options);
  // Only A, T and K⁻¹ are read here, so the determinant may be left at 0.
  const posterior: InducingPosterior = { mean: map.inducingMean, covariance: map.inducingCovariance, logDet: 0 };
  const { mean, blocks } = coefficientsOfInducing(engine, posterior);
  engine.solver.setGlobal(mean, blocks, engine.factor.inverse, noiseLevel(model.noise));
  return engine;
}

/** Puts individual i into the engine's only place. */
function copyIndividual(from: BasisStatistics, i: number, { statistics: to }: Engine): void {
  const { numBand } = to;
  const d = to.basis.numBasis;
  for (let e = 0; e < numBand; e++) to.gram[e] = from.gram[i * numBand + e];
  for (let k = 0; k < d; k++) to.cross[k] = from.cross[i * d + k];
  to.sumSquares[0] = from.sumSquares[i];
  to.counts[0] = from.counts[i];
}
