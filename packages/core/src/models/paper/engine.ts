/**
 * The moving parts that every schedule turns: kernel factor, local solver, data sums and q(u), with buffers allocated
 * once. A pass over individuals costs a few microseconds each on a regular grid of inducing places; the solve for q(u)
 * costs O((dp)³).
 */
import { type BasisStatistics, residualStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { factorKernel } from "../gp/stable-kernel.ts";
import type { ShardRunner } from "../shards.ts";
import { closeTerms, type DataTotals, dataLines, type ElboTerms, requireKernelFactor } from "./elbo.ts";
import type { Engine, EngineOptions } from "./engine-parts.ts";
import {
  createInducingCoefficients,
  createInducingWorkspace,
  solveInducingCoefficients,
} from "./inducing-coefficients.ts";
import { createSums, type DataSums } from "./inducing-posterior.ts";
import { createLocalSolver, type LocalSolver } from "./local/local.ts";
import type { LocalMemory } from "./local/memory.ts";
import { type GlobalParameters, gramTrace, locationKl, logPrior, numLocalParameters } from "./state.ts";

// The engine's parts and passes over individuals stand in files of their own; this is the door to them.
export type { Engine, EngineOptions } from "./engine-parts.ts";
export { loadIndividual, sumObjectives, sumOverAll } from "./passes.ts";

/** An engine for the given parameters; throws if their kernel matrix has no factor. */
export function createEngine(
  statistics: BasisStatistics,
  parameters: GlobalParameters,
  options: EngineOptions,
  shards: ShardRunner | null = null,
): Engine {
  const { numInducing: p, numBasis: d } = parameters;
  const memory: LocalMemory = { current: null };
  const gramTraces = Float64Array.from({ length: statistics.numIndividuals }, (_, i) => gramTrace(statistics, i));
  return {
    statistics,
    options,
    numLocal: numLocalParameters(parameters.mapDimension, options.diagonal),
    gramTraces,
    totalTrace: gramTraces.reduce((a, b) => a + b, 0),
    pooled: poolStatistics(statistics),
    parameters,
    factor: requireKernelFactor(parameters),
    solver: solverFor(parameters, options, memory),
    memory,
    sums: createSums(statistics, p, d),
    posterior: createInducingCoefficients(p, d),
    work: createInducingWorkspace(p, d, options.kernels),
    shards,
    g: new Float64Array(d),
    rho: 0,
  };
}

/** Takes over other parameters of the same shapes; false, and nothing changed, if their kernel matrix has no factor. */
export function setParameters(engine: Engine, parameters: GlobalParameters): boolean {
  const before = engine.parameters;
  if (parameters.kernel !== before.kernel || parameters.inducingLocations !== before.inducingLocations) {
    const { kernel, inducingLocations, numInducing, mapDimension } = parameters;
    const factor = factorKernel(kernel, inducingLocations, numInducing, mapDimension);
    if (factor === null) return false;
    engine.factor = factor;
    engine.solver = solverFor(parameters, engine.options, engine.memory);
  }
  engine.parameters = parameters;
  return true;
}

function solverFor(parameters: GlobalParameters, options: EngineOptions, memory: LocalMemory): LocalSolver {
  const { kernel, inducingLocations, numInducing, mapDimension, numBasis } = parameters;
  const { diagonal, path, kernels } = options;
  const settings = { diagonal, path, kernels, memory };
  return createLocalSolver(kernel, inducingLocations, numInducing, mapDimension, numBasis, settings);
}

/** The optimal q(u) for the given sums (default the engine's), handed to the local solver; false if there is none. */
export function updateInducing(engine: Engine, sums: DataSums = engine.sums): boolean {
  const { statistics, parameters, factor, posterior, work, solver } = engine;
  const { numInducing: p, numBasis: d, noiseVariance } = parameters;
  if (!solveInducingCoefficients(sums, statistics, factor, noiseVariance, p, d, posterior, work)) {
    return false;
  }
  solver.setGlobal(posterior.mean, posterior.blocks, factor.inverse, noiseVariance);
  return true;
}

/** Throws when q(u) could not be solved for. */
export function requireUpdate(solved: boolean): void {
  if (!solved) {
    throw new DtmError(
      "not-positive-definite",
      "Expected a positive definite precision of the inducing values, received one that is not. Raise the jitter or use fewer inducing places.",
    );
  }
}

/** The lines of the bound at θ for the engine's q(u) and sums; the sums must be those of θ. */
export function termsOfSums(engine: Engine, theta: Float64Array): ElboTerms {
  const { statistics, parameters, factor, posterior, sums, options, numLocal: P } = engine;
  const { numInducing: p, numBasis: d, mapDimension: q, noiseVariance, kernel } = parameters;
  let kl = 0;
  for (let i = 0; i < statistics.numIndividuals; i++) kl += locationKl(theta, i * P, q, options.diagonal);
  const data = dataTotals(engine, theta);
  const lines = dataLines(data, sums, statistics, posterior, factor, noiseVariance, p, d);
  const prior = logPrior(options.priors, noiseVariance, kernel, options.sharedLengthscale);
  return closeTerms({ ...lines, locationKl: kl }, posterior.kl, prior);
}

/** N, Σ ρ_i and Σ Tr(G_i) ψ0 at θ under the engine's parameters. */
export function dataTotals(engine: Engine, theta: Float64Array): DataTotals {
  const { statistics, pooled, parameters, g } = engine;
  return {
    numObservations: statistics.numObservations,
    sumSquares: residualStatistics(pooled, 0, parameters.meanCoefficients, g),
    variance: totalVariance(engine, theta),
  };
}

/** Σ_i Tr(G_i) ψ0: α Σ Tr G_i for the RBF kernel, α Σ Tr G_i (tr S_i + m_i'm_i) for the linear one. */
function totalVariance(engine: Engine, theta: Float64Array): number {
  const { gramTraces, parameters, options, numLocal: P } = engine;
  const { kernel, mapDimension: q } = parameters;
  if (kernel.kind === "rbf") return kernel.signalVariance * engine.totalTrace;
  let total = 0;
  for (let i = 0; i < gramTraces.length; i++) {
    // KL = ½(tr S + m'm − q) − Σ log T_cc gives the second moment without unpacking S.
    let logT = 0;
    for (let c = 0; c < q; c++) logT += theta[i * P + q + c];
    total += gramTraces[i] * (2 * (locationKl(theta, i * P, q, options.diagonal) + logT) + q);
  }
  return kernel.signalVariance * total;
}

/** Statistics of one individual that has all observations. */
function poolStatistics(statistics: BasisStatistics): BasisStatistics {
  const { numBand, numIndividuals: m } = statistics;
  const d = statistics.basis.numBasis;
  const gram = new Float64Array(numBand);
  const cross = new Float64Array(d);
  for (let i = 0; i < m; i++) {
    for (let e = 0; e < numBand; e++) gram[e] += statistics.gram[i * numBand + e];
    for (let k = 0; k < d; k++) cross[k] += statistics.cross[i * d + k];
  }
  const sumSquares = Float64Array.of(statistics.sumSquares.reduce((a, b) => a + b, 0));
  const counts = Int32Array.of(statistics.numObservations);
  return { ...statistics, numIndividuals: 1, gram, cross, sumSquares, counts };
}
