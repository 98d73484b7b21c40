/**
 * The steps of the fit on a fixture's problem, with responsibilities kept for everybody: only here, because the fixtures
 * list them.
 */
import {
  blockResponsibilities,
  expectationWorkspace,
  packBlock,
} from "../../packages/core/src/models/dtm/expectation-step.ts";
import type { IndividualModel } from "../../packages/core/src/models/dtm/individual-statistics.ts";
import type { KernelSolution } from "../../packages/core/src/models/dtm/kernel-step.ts";
import {
  maximizationSums,
  maximizationWorkspace,
  meanShift,
  updatedNoiseVariance,
} from "../../packages/core/src/models/dtm/maximization-step.ts";
import { fillNodeTable, nodeTable } from "../../packages/core/src/models/dtm/node-table.ts";
import { cholesky, solveCholeskyInPlace } from "../../packages/core/src/numeric/cholesky.ts";
import { addBlockOuter, blockDotTable, ROW_BLOCK } from "../../packages/core/src/numeric/row-blocks.ts";
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
  const table = nodeTable(layout, Float64Array.from(problem.fixture.logw));
  const { mean, covariance, divergence } = solution.posterior;
  fillNodeTable(layout, solution.kernel, mean, covariance, kernel.workspace, table);
  const ws = expectationWorkspace(layout.numBasis, n);
  const responsibilities = new Float64Array(m * n);
  const contributions = new Float64Array(m);
  const moments = new Float64Array(m * stride);
  for (let first = 0; first < m; first += ROW_BLOCK) {
    const size = Math.min(ROW_BLOCK, m - first);
    packBlock(statistics, null, first, size, model, ws);
    blockResponsibilities(table, ws);
    blockDotTable(ws.responsibilities, table.rows, 0, stride, n, ws.moments, 0, stride);
    responsibilities.set(ws.responsibilities.subarray(0, size * n), first * n);
    contributions.set(ws.contributions.subarray(0, size), first);
    moments.set(ws.moments.subarray(0, size * stride), first * stride);
  }
  const bound = contributions.reduce((s, v) => s + v, 0) - divergence;
  return { responsibilities, contributions, moments, bound };
}

/** Node sums of given responsibilities [m,Γ] into the problem. */
export function fillNodeSums(problem: GridProblem, model: IndividualModel, r: Float64Array): void {
  const { statistics, stride, kernel } = problem;
  const n = kernel.layout.numNodes;
  const m = statistics.numIndividuals;
  const ws = expectationWorkspace(kernel.layout.numBasis, n);
  kernel.nodeSums.fill(0);
  for (let first = 0; first < m; first += ROW_BLOCK) {
    const size = Math.min(ROW_BLOCK, m - first);
    packBlock(statistics, null, first, size, model, ws);
    ws.responsibilities.fill(0);
    ws.responsibilities.set(r.subarray(first * n, (first + size) * n));
    addBlockOuter(ws.packed, 0, stride, stride, ws.responsibilities, n, kernel.nodeSums);
  }
}

/** The maximisation step: EM for mean and noise, E ee' for the residual. */
export function maximization(problem: GridProblem, model: IndividualModel, step: Expectation) {
  const { statistics, fixture } = problem;
  const ws = maximizationWorkspace(fixture.d);
  const sums = maximizationSums(statistics, null, statistics.numIndividuals, model, step.moments, ws);
  const shift = meanShift(sums, fixture.mean, fixture.d);
  const noiseVariance = updatedNoiseVariance(sums, shift);
  const mean = model.mean.map((v, k) => v + shift[k]);
  return { mean, noiseVariance, sums, ws };
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
