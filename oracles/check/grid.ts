/**
 * Recomputes the fixtures of the recommended model at given parameters: statistics of individuals, kernel at the nodes,
 * inducing posterior, expectation and maximisation steps, three further sweeps, the kernel optimum and predictions, each
 * array by the functions the fit itself uses.
 */

import { designMatrix } from "../../packages/core/src/basis/bspline.ts";
import { residualStatistics, unpackGram } from "../../packages/core/src/basis/statistics.ts";
import {
  conditionalResidual,
  type IndividualModel,
  individualStatistics,
  residualRoot,
} from "../../packages/core/src/models/dtm/individual-statistics.ts";
import { type KernelSolution, solveAt } from "../../packages/core/src/models/dtm/kernel-step.ts";
import { unpackMoments } from "../../packages/core/src/models/dtm/maximization-step.ts";
import { givenNodes } from "../../packages/core/src/models/dtm/nodes.ts";
import { residualObjective, residualStep } from "../../packages/core/src/models/dtm/residual-step.ts";
import { mapMoments } from "../../packages/core/src/models/gp/sparse-map.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { type Check, compare, flatten } from "./checker.ts";
import { checkPrediction } from "./grid-predict.ts";
import {
  type GridFixture,
  type GridProblem,
  gridProblem,
  individualModel,
  meanAsListed,
  sparseMap,
} from "./grid-problem.ts";
import { type Expectation, expectation, expectedResidual, fillNodeSums, maximization } from "./grid-steps.ts";
import { checkSweeps } from "./grid-sweeps.ts";

/** Checks one grid_*.json (but grid_fit.json). */
export function checkGrid(fixture: GridFixture): Check[] {
  const problem = gridProblem(fixture);
  const { alpha, ell } = fixture;
  const model = individualModel(fixture, fixture.mu, fixture.s2, fixture.Se);
  const r0 = flatten(fixture.r0);
  fillNodeSums(problem, model, r0);
  const solution = solveAt(problem.kernel, alpha, ell, true);
  const first = expectation(problem, model, solution);
  return [
    ...checkData(problem),
    ...checkIndividuals(problem, model),
    ...checkKernel(problem, solution),
    ...checkPosterior(problem, solution),
    ...checkExpectation(problem, solution, first),
    ...checkMaximization(problem, model, first),
    ...checkSweeps(problem, model, first),
    ...checkPrediction(problem),
  ];
}

function checkData({ fixture, statistics, nodes }: GridProblem): Check[] {
  const { d } = fixture;
  const m = statistics.numIndividuals;
  const G = new Float64Array(m * d * d);
  const B1 = new Float64Array(m * d);
  const one = new Float64Array(d * d);
  for (let i = 0; i < m; i++) {
    unpackGram(statistics, i, one);
    G.set(one, i * d * d);
    for (let e = 0; e < d * d; e++) B1[i * d + Math.floor(e / d)] += one[e];
  }
  return [
    compare("B", designMatrix(statistics.basis, fixture.t), fixture.B),
    compare("n", Float64Array.from(statistics.counts), fixture.n),
    compare("G", G, fixture.G),
    compare("B1", B1, fixture.B1),
    compare("logw", givenNodes(nodes, fixture.q).logWeights, fixture.logw),
  ];
}

function checkIndividuals({ fixture, statistics }: GridProblem, model: IndividualModel): Check[] {
  const { d, stats } = fixture;
  const m = statistics.numIndividuals;
  const g = new Float64Array(m * d);
  const gt = new Float64Array(m * d);
  const rho = new Float64Array(m);
  const c = new Float64Array(m);
  const Gt = new Float64Array(m * d * d);
  const C = new Float64Array(m * d * d);
  for (let i = 0; i < m; i++) {
    rho[i] = residualStatistics(statistics, i, model.mean, g, i * d);
    const own = individualStatistics(statistics, i, model);
    c[i] = own.constant;
    gt.set(own.row.subarray(0, d), i * d);
    Gt.set(unpackSymmetric(own.row, d, d), i * d * d);
    if (model.residualRoot !== null) {
      C.set(conditionalResidual(own).C, i * d * d);
    }
  }
  return [
    compare("stats.g", g, stats.g),
    compare("stats.rho", rho, stats.rho),
    compare("stats.Gt", Gt, stats.Gt),
    compare("stats.gt", gt, stats.gt),
    compare("stats.c", c, stats.c),
    ...(stats.C === null ? [] : [compare("stats.C", C, stats.C)]),
  ];
}

function checkKernel({ fixture }: GridProblem, { kernel }: KernelSolution): Check[] {
  return [
    compare("kernel.Lc", kernel.factor, fixture.kernel.Lc),
    compare("kernel.A", kernel.features, fixture.kernel.A),
    compare("kernel.ktilde", kernel.restVariance, fixture.kernel.ktilde),
    compare("kernel.dA_dlogell", kernel.featuresDot ?? [], fixture.kernel.dA_dlogell),
  ];
}

function checkPosterior({ fixture, kernel }: GridProblem, { posterior }: KernelSolution): Check[] {
  const { d, global } = fixture;
  const n = kernel.layout.numNodes;
  const nodeg = new Float64Array(n * d);
  const nodeG = new Float64Array(n * d * d);
  const column = new Float64Array(kernel.nodeSums.length / n);
  for (let g = 0; g < n; g++) {
    for (let k = 0; k < column.length; k++) column[k] = kernel.nodeSums[k * n + g];
    nodeg.set(column.subarray(0, d), g * d);
    nodeG.set(unpackSymmetric(column, d, d), g * d * d);
  }
  return [
    compare("global.nodeG", nodeG, global.nodeG),
    compare("global.nodeg", nodeg, global.nodeg),
    compare("global.Lambda", posterior.precision, global.Lambda),
    compare("global.c", posterior.linear, global.c),
    compare("global.v", posterior.mean, global.v),
    compare("global.Xi", posterior.covariance, global.Xi),
    compare("global.logdetLambda", posterior.logDeterminant, global.logdetLambda),
    compare("global.phi", posterior.phi, global.phi),
    compare("global.dphi_dlogalpha", posterior.gradient[0], global.dphi_dlogalpha),
    compare("global.dphi_dlogell", posterior.gradient[1], global.dphi_dlogell),
    compare("global.kl", posterior.divergence, global.kl),
  ];
}

function checkExpectation(problem: GridProblem, solution: KernelSolution, step: Expectation): Check[] {
  const { estep } = problem.fixture;
  const moments = mapMoments(sparseMap(problem, solution), problem.nodes, problem.kernel.layout.numNodes);
  return [
    compare("estep.mean", moments.means, estep.mean),
    compare("estep.cov", moments.covariances, estep.cov),
    compare("estep.r", step.responsibilities, estep.r),
    compare("estep.Li", step.contributions, estep.Li),
    compare("estep.F", step.bound, estep.F),
  ];
}

function checkMaximization(problem: GridProblem, model: IndividualModel, step: Expectation): Check[] {
  const { fixture, statistics, stride } = problem;
  const { d, mstep, tau_step: tauStep } = fixture;
  const m = statistics.numIndividuals;
  const fbar = new Float64Array(m * d);
  const Rbar = new Float64Array(m * d * d);
  for (let i = 0; i < m; i++) {
    const { f, R } = unpackMoments(step.moments.subarray(i * stride, (i + 1) * stride), d);
    fbar.set(f, i * d);
    Rbar.set(R, i * d * d);
  }
  const { mean, noiseVariance, sums } = maximization(problem, model, step);
  const checks = [
    compare("mstep.fbar", fbar, mstep.fbar),
    compare("mstep.Rbar", Rbar, mstep.Rbar),
    compare("mstep.mu", meanAsListed(fixture, mean), mstep.mu),
    compare("mstep.s2", noiseVariance, mstep.s2),
  ];
  if (mstep.Se !== null) {
    const { tau, covariance } = expectedResidual(problem, sums.residualMoment);
    checks.push(compare("mstep.Se", covariance, mstep.Se));
    if (tau !== null && mstep.tau !== null) checks.push(compare("mstep.tau", tau, mstep.tau));
  }
  if (tauStep !== undefined) {
    const root = residualRoot(flatten(fixture.Sref), d);
    const objective = (tau: number) =>
      residualObjective(
        statistics,
        { mean, noise: whiteNoise(noiseVariance), residualRoot: root.map((v) => Math.sqrt(tau) * v) },
        step.moments,
      );
    const found = residualStep(objective, tauStep.tau_old, tauStep.h_old, fixture.cap);
    checks.push(
      compare("tau_step.mu", meanAsListed(fixture, mean), tauStep.mu),
      compare("tau_step.s2", noiseVariance, tauStep.s2),
      compare("tau_step.logtau_tried", found.tried.slice(0, tauStep.logtau_tried.length), tauStep.logtau_tried),
      compare("tau_step.Q", found.values.slice(0, tauStep.Q.length), tauStep.Q),
      compare("tau_step.tau_new", found.tau, tauStep.tau_new),
      compare("tau_step.h_new", found.trialDistance, tauStep.h_new),
      compare("tau_step.Q_new", found.value, tauStep.Q_new),
    );
  }
  return checks;
}

/** A packed upper triangle from `offset` as a full symmetric matrix [d,d]. */
function unpackSymmetric(packed: Float64Array, offset: number, d: number): Float64Array {
  const out = new Float64Array(d * d);
  let e = offset;
  for (let k = 0; k < d; k++) {
    for (let l = k; l < d; l++) {
      out[k * d + l] = packed[e];
      out[l * d + k] = packed[e++];
    }
  }
  return out;
}
