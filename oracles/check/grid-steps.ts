/**
 * The steps of the fit on a fixture's problem, with responsibilities kept for everybody: only here, because the fixtures
 * list them.
 */
import { addWeighted, nodeWeights } from "../../packages/core/src/models/dtm/expectation-step.ts";
import {
  type IndividualModel,
  individualStatistics,
} from "../../packages/core/src/models/dtm/individual-statistics.ts";
import type { KernelSolution } from "../../packages/core/src/models/dtm/kernel-step.ts";
import { maximizationSums, meanShift, remainingSquares } from "../../packages/core/src/models/dtm/maximization-step.ts";
import { nodeTable } from "../../packages/core/src/models/dtm/node-table.ts";
import { meanDesign } from "../../packages/core/src/models/mean.ts";
import { cholesky, solveCholeskyInPlace } from "../../packages/core/src/numeric/cholesky.ts";
import { multiplyVector } from "../../packages/core/src/numeric/matrix.ts";
import { flatten } from "./checker.ts";
import type { GridProblem } from "./grid-problem.ts";

/** Responsibilities, contributions, moments and bound of an expectation step, for everybody. */
export interface Expectation {
  readonly responsibilities: Float64Array; // [m,Γ]
  readonly contributions: Float64Array; // [m]
  readonly moments: Float64Array; // [m,K]
  readonly bound: number;
}

/** The expectation step under a solution. */
export function expectation(problem: GridProblem, model: IndividualModel, solution: KernelSolution): Expectation {
  const { statistics, stride, kernel } = problem;
  const { layout } = kernel;
  const m = statistics.numIndividuals;
  const n = layout.numNodes;
  const { mean, covariance, divergence } = solution.posterior;
  const logWeights = Float64Array.from(problem.fixture.logw);
  const table = nodeTable(layout, solution.kernel, mean, covariance, kernel.workspace);
  const responsibilities = new Float64Array(m * n);
  const contributions = new Float64Array(m);
  const moments = new Float64Array(m * stride);
  for (let i = 0; i < m; i++) {
    const { row, constant } = individualStatistics(statistics, i, model);
    const r = responsibilities.subarray(i * n, (i + 1) * n);
    contributions[i] = constant + nodeWeights(row, table, logWeights, r);
    moments.set(multiplyVector(table, r, stride, n), i * stride);
  }
  const bound = contributions.reduce((s, v) => s + v, 0) - divergence;
  return { responsibilities, contributions, moments, bound };
}

/** Node sums of given responsibilities [m,Γ] into the problem. */
export function fillNodeSums(problem: GridProblem, model: IndividualModel, r: Float64Array): void {
  const { statistics, kernel } = problem;
  const n = kernel.layout.numNodes;
  kernel.nodeSums.fill(0);
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const { row } = individualStatistics(statistics, i, model);
    addWeighted(row, r.subarray(i * n, (i + 1) * n), kernel.nodeSums);
  }
}

/** The maximisation step: EM for mean and noise, E ee' for the residual. */
export function maximization(problem: GridProblem, model: IndividualModel, step: Expectation) {
  const { statistics, fixture } = problem;
  const sums = maximizationSums(statistics, model, step.moments);
  const shift = meanShift(meanDesign(fixture.mean, fixture.d), sums);
  const noiseVariance = remainingSquares(sums, shift) / sums.numObservations;
  const mean = model.mean.map((v, k) => v + shift[k]);
  return { mean, noiseVariance, sums };
}

/**
 * Σ_e by EM: τ Σ_ref with τ = Tr[Σ_ref⁻¹ Σ_i E ee']/(md), at most the cap, where the fixture lists a τ; the average of
 * E ee', or its diagonal, where it lists none.
 */
export function expectedResidual(
  problem: GridProblem,
  S: Float64Array,
): { readonly tau: number | null; readonly covariance: Float64Array } {
  const { fixture, statistics } = problem;
  const { d, mstep } = fixture;
  const m = statistics.numIndividuals;
  if (mstep.tau === null) {
    const listed = flatten(mstep.Se ?? []);
    const isDiagonal = listed.every((v, e) => v === 0 || Math.floor(e / d) === e % d);
    const covariance = S.map((v, e) => (isDiagonal && Math.floor(e / d) !== e % d ? 0 : v / m));
    return { tau: null, covariance };
  }
  const Sref = flatten(fixture.Sref);
  const L = cholesky(Sref, d, "reference covariance");
  let trace = 0;
  for (let k = 0; k < d; k++) {
    const column = Float64Array.from({ length: d }, (_, l) => S[l * d + k]);
    solveCholeskyInPlace(L, d, column);
    trace += column[k];
  }
  const tau = Math.min(fixture.cap, trace / (m * d));
  return { tau, covariance: Sref.map((v) => tau * v) };
}
