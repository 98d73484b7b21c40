/**
 * The moving parts that every schedule turns: kernel factor, local solver, data sums and q(u), with buffers allocated
 * once. A pass over individuals costs a few microseconds each on a regular grid of inducing points; the solve for q(u)
 * costs O((dp)³).
 */
import { type BasisStatistics, residualStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { noiseConstants, whiteNoise } from "../../noise/noise.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { factorKernel, type KernelFactor } from "../gp/stable-kernel.ts";
import type { ShardRunner } from "../shards.ts";
import { closeTerms, type DataTotals, dataLines, type ElboTerms, requireKernelFactor } from "./bound.ts";
import {
  createInducingCoefficients,
  createInducingSolve,
  createSums,
  type DataSums,
  type InducingSolve,
  type MapPosterior,
} from "./inducing.ts";
import { createLocalSolver, type LocalSolver } from "./local.ts";
import {
  type GlobalParameters,
  gramTrace,
  locationKl,
  logPrior,
  numLocalParameters,
  type PriorOptions,
  secondMoment,
} from "./state.ts";

/** What stays the same over a fit. */
export interface EngineOptions extends PriorOptions {
  readonly diagonal: boolean;
  /** Which kernels to run on. Default TypeScript. */
  readonly kernels?: KernelKind;
}

/** The engine; `parameters`, `factor` and the kernel of the solver change together in `setParameters`. */
export interface PaperEngine extends MapPosterior {
  parameters: GlobalParameters;
  factor: KernelFactor;
  readonly options: EngineOptions;
  readonly numLocal: number; // P
  readonly solver: LocalSolver;
  /** Of the last pass over everybody. */
  readonly sums: DataSums;
  readonly solveInducing: InducingSolve;
  /** Threads for the passes of large cohorts; null without. */
  readonly shards: ShardRunner | null;
  /** g_i of the loaded individual, [d]. */
  readonly g: Float64Array;
}

/** An engine for the given parameters; throws if their kernel matrix has no factor. */
export function createEngine(
  statistics: BasisStatistics,
  parameters: GlobalParameters,
  options: EngineOptions,
  shards: ShardRunner | null = null,
): PaperEngine {
  const { numInducing: p, numBasis: d, mapDimension: q } = parameters;
  const { diagonal, kernels = "typescript" } = options;
  const solver = createLocalSolver(statistics, p, q, diagonal, kernels);
  solver.setKernel(parameters.kernel, parameters.inducingLocations);
  return {
    statistics,
    options,
    numLocal: numLocalParameters(q, diagonal),
    parameters,
    factor: requireKernelFactor(parameters),
    solver,
    sums: createSums(statistics, p, d),
    posterior: createInducingCoefficients(statistics, p, d),
    solveInducing: createInducingSolve(statistics, p, d, kernels),
    shards,
    g: new Float64Array(d),
  };
}

/** Takes over other parameters of the same shapes; false, and nothing changed, if their kernel matrix has no factor. */
export function setParameters(engine: PaperEngine, parameters: GlobalParameters): boolean {
  const before = engine.parameters;
  if (parameters.kernel !== before.kernel || parameters.inducingLocations !== before.inducingLocations) {
    const { kernel, inducingLocations: Z, numInducing, mapDimension } = parameters;
    const factor = factorKernel(kernel, Z, numInducing, mapDimension);
    if (factor === null) return false;
    engine.factor = factor;
    engine.solver.setKernel(kernel, Z);
  }
  engine.parameters = parameters;
  return true;
}

/** The optimal q(u) for the given sums (default the engine's), handed to the local solver; false if there is none. */
export function updateInducing(engine: PaperEngine, sums: DataSums = engine.sums): boolean {
  if (!engine.solveInducing(engine, sums, engine.posterior)) return false;
  useInducing(engine);
  return true;
}

/** ℒ at places whose objectives add up to `objectives`, under the engine's q(u). */
export function boundOf({ posterior, parameters, options }: PaperEngine, objectives: number): number {
  return objectives - posterior.kl + logPrior(parameters, options);
}

/** Hands the engine's q(u) to the local solver. */
export function useInducing({ solver, posterior, factor, parameters }: PaperEngine): void {
  solver.setGlobal(posterior.mean, posterior.blocks, factor.inverse, parameters.noiseVariance);
}

/** Throws when q(u) could not be solved for. */
export function requireUpdate(solved: boolean): void {
  if (!solved) {
    throw new DtmError(
      "not-positive-definite",
      "Expected a positive definite precision of the inducing values, received one that is not. Raise the jitter or use fewer inducing points.",
    );
  }
}

/** Loads individual i into the local solver: g_i, and c_i, the part of J_i that does not depend on the place. */
export function loadIndividual({ statistics, parameters, solver, g }: PaperEngine, i: number): void {
  const { kernel, noiseVariance: s2 } = parameters;
  const rho = residualStatistics(statistics, i, parameters.meanCoefficients, g);
  // E k(x,x) depends on the place for the linear kernel; there the solver adds its part.
  const variance = kernel.kind === "rbf" ? kernel.signalVariance * gramTrace(statistics, i) : 0;
  const constant = noiseConstants(whiteNoise(s2), statistics)(i) - (0.5 * (rho + variance)) / s2;
  solver.setIndividual(statistics, i, g, constant);
}

/** The lines of the bound at θ for the engine's q(u) and sums; the sums must be those of θ. */
export function termsOfSums(engine: PaperEngine, theta: Float64Array): ElboTerms {
  const { parameters, posterior, sums, options, numLocal: P } = engine;
  let kl = 0;
  for (let at = 0; at < theta.length; at += P) kl += locationKl(theta, at, parameters.mapDimension, options.diagonal);
  const lines = dataLines(engine, dataTotals(engine, theta), sums);
  return closeTerms({ ...lines, locationKl: kl }, posterior.kl, logPrior(parameters, options));
}

/** N, Σ ρ_i, Σ Tr(G_i) ψ0 and Σ 1'g_i at θ of the listed individuals (default all), times the weight. */
export function dataTotals(
  { statistics, parameters, options, numLocal: P }: PaperEngine,
  theta: Float64Array,
  individuals: ArrayLike<number> | null = null,
  weight = 1,
): DataTotals {
  const { kernel, mapDimension: q, numBasis: d, meanCoefficients } = parameters;
  const g = new Float64Array(d);
  const total = { numObservations: 0, sumSquares: 0, variance: 0, residual: 0 };
  const count = individuals?.length ?? statistics.numIndividuals;
  for (let n = 0; n < count; n++) {
    const i = individuals?.[n] ?? n;
    total.numObservations += weight * statistics.counts[i];
    total.sumSquares += weight * residualStatistics(statistics, i, meanCoefficients, g);
    for (let k = 0; k < d; k++) total.residual += weight * g[k];
    const moment = kernel.kind === "rbf" ? 1 : secondMoment(theta, i * P, q, options.diagonal);
    total.variance += weight * gramTrace(statistics, i) * kernel.signalVariance * moment;
  }
  return total;
}
