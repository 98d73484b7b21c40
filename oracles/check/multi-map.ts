import type { BasisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { mapShare } from "../../packages/core/src/models/dtm/finish.ts";
import { conditionalResidual, individualStatistics } from "../../packages/core/src/models/dtm/individual-statistics.ts";
import { type KernelSolution, solveAt } from "../../packages/core/src/models/dtm/kernel-step.ts";
import { unpackMoments } from "../../packages/core/src/models/dtm/maximization-step.ts";
import { EFFECT_FORMS, type EffectForm, effectColumns } from "../../packages/core/src/models/mean.ts";
import { trace, transpose } from "../../packages/core/src/numeric/matrix.ts";
import { type Check, compare, flatten } from "./checker.ts";
import { FIRST_DISTANCE, type MultiMapFixture, problemOf } from "./multi-fixture.ts";
import { checkPrediction } from "./multi-predict.ts";
import {
  effectInformation,
  effectStep,
  expectation,
  fillNodeSums,
  individualsAt,
  type MultiExpectation,
  type MultiProblem,
  type MultiState,
  maximization,
  solveMaps,
} from "./multi-problem.ts";
import { checkShift } from "./multi-shift.ts";

export function checkMultiMap(fixture: MultiMapFixture, statistics: readonly BasisStatistics[]): Check[] {
  return [...checkSeparate(fixture, statistics), ...checkShift(fixture, statistics)];
}

/** The form whose columns fit the number of coefficients. */
function formOf(fixture: MultiMapFixture, statistics: readonly BasisStatistics[]): EffectForm {
  const h = (fixture.sep.start.coef[0].length - 1) / fixture.z[0].length;
  const found = EFFECT_FORMS.find((form) => effectColumns(form, statistics[0].basis).h === h);
  if (found === undefined) throw new Error(`expected 1, 2 or d columns for each covariate, received ${h}`);
  return found;
}

function checkSeparate(fixture: MultiMapFixture, statistics: readonly BasisStatistics[]): Check[] {
  const { sep } = fixture;
  const logPrior = flatten(fixture.log_prior);
  const form = formOf(fixture, statistics);
  const problem = { ...problemOf(fixture, statistics, fixture.mlmm.Sigma), form, logPrior: () => logPrior };
  const start: MultiState = {
    coefficients: sep.start.coef.map((own) => Float64Array.from(own)),
    s2: sep.start.s2,
    tau: sep.start.tau,
    distance: sep.start.tau.map(() => FIRST_DISTANCE),
  };
  const r0 = flatten(sep.start.responsibilities);
  fillNodeSums(problem, start, r0);
  const first = problem.kernels.map((kernel, k) => solveAt(kernel, problem.alpha[k], problem.ell[k], true));
  const solved = solveMaps(problem, start, r0);
  const step = expectation(problem, solved.state, solved.solutions);
  const information = effectInformation(problem, solved.state, step);
  const moved = effectStep(problem, solved.state, solved.solutions, step);
  const learned = maximization(problem, moved.state, moved.step);
  return [
    compare("sep.start.alpha", problem.alpha, sep.start.alpha),
    ...problem.references.map((own, k) => compare(`sep.Sref.${k}`, own, sep.Sref[k])),
    ...checkAbsorbed(problem, start, sep.absorbed),
    ...first.flatMap(({ kernel, posterior }, k) => [
      compare(`sep.kernel.${k}.a`, kernel.features, sep.kernel[k].a),
      compare(`sep.kernel.${k}.kt`, kernel.restVariance, sep.kernel[k].kt),
      compare(`sep.u.${k}.phi`, posterior.phi, sep.u[k].phi),
      compare(`sep.u.${k}.dphi_dlogalpha`, posterior.gradient[0], sep.u[k].dphi_dlogalpha),
      compare(`sep.u.${k}.dphi_dlogell`, posterior.gradient[1], sep.u[k].dphi_dlogell),
      compare(`sep.u.${k}.logdet`, posterior.logDeterminant, sep.u[k].logdet),
      compare(`sep.u.${k}.c`, posterior.linear, sep.u[k].c),
    ]),
    ...solved.solutions.flatMap(({ posterior }, k) => [
      compare(`sep.u.${k}.mean_move`, posterior.meanShift[0], sep.u[k].mean_move),
      compare(`sep.u.${k}.nu`, posterior.mean, sep.u[k].nu),
      compare(`sep.u.${k}.trace_Xi`, trace(posterior.covariance, posterior.mean.length), sep.u[k].trace_Xi),
      compare(`sep.u.${k}.kl`, posterior.divergence, sep.u[k].kl),
    ]),
    ...checkExpectation(problem, step, sep.estep),
    compare("sep.effects.columns", columnOffsets(start), sep.effects.columns),
    compare("sep.effects.scores", information.scores, sep.effects.scores),
    compare("sep.effects.complete", information.complete, sep.effects.complete),
    compare("sep.effects.observed", information.observed, sep.effects.observed),
    compare("sep.effects.after_step.coef", asListed(moved.state), sep.effects.after_step.coef),
    compare("sep.effects.after_step.bound", moved.bound, sep.effects.after_step.bound),
    // A difference of two bounds has their precision.
    compare(
      "sep.effects.after_step.gain",
      [moved.bound - step.bound, step.bound],
      [sep.effects.after_step.gain, sep.estep.bound],
    ),
    compare("sep.mstep.s2", learned.s2, sep.mstep.s2),
    compare("sep.mstep.tau", learned.tau, sep.mstep.tau),
    compare("sep.mstep.h", learned.distance, sep.mstep.h),
    ...checkSweeps(fixture, problem, learned, moved.step),
  ];
}

function columnOffsets({ coefficients }: MultiState): number[] {
  let end = 0;
  return [0, ...coefficients.map(({ length }) => (end += length))];
}

function asListed({ coefficients }: MultiState): number[][] {
  return coefficients.map((own) => Array.from(own));
}

function checkAbsorbed(
  problem: MultiProblem,
  state: MultiState,
  expected: MultiMapFixture["sep"]["absorbed"],
): Check[] {
  const { statistics, models } = individualsAt(problem, state);
  return statistics.flatMap((own, k) => {
    const d = own.basis.numBasis;
    const [G, g, c, C]: number[][] = [[], [], [], []];
    for (let i = 0; i < own.numIndividuals; i++) {
      const found = individualStatistics(own, i, models[k]);
      g.push(...found.row.subarray(0, d));
      G.push(...unpackGram(found.row, d));
      c.push(found.constant);
      C.push(...conditionalResidual(found).C);
    }
    return [
      compare(`sep.absorbed.${k}.G`, G, expected[k].G),
      compare(`sep.absorbed.${k}.g`, g, expected[k].g),
      compare(`sep.absorbed.${k}.c`, c, expected[k].c),
      compare(`sep.absorbed.${k}.C`, C, expected[k].C),
    ];
  });
}

/** G̃ [d,d] of a packed row. */
function unpackGram(row: Float64Array, d: number): Float64Array {
  const G = new Float64Array(d * d);
  for (let k = 0, e = d; k < d; k++) for (let l = k; l < d; l++, e++) G[k * d + l] = G[l * d + k] = row[e];
  return G;
}

function checkExpectation(
  { kernels }: MultiProblem,
  step: MultiExpectation,
  expected: MultiMapFixture["sep"]["estep"],
): Check[] {
  return [
    compare("sep.estep.bound", step.bound, expected.bound),
    compare("sep.estep.responsibilities", step.responsibilities, expected.responsibilities),
    ...step.tables.flatMap((rows, k) => {
      const { numBasis: d, numNodes: n } = kernels[k].layout;
      const stride = rows.length / n;
      const columns = transpose(rows, stride, n);
      const R = Array.from({ length: n }, (_, g) =>
        Array.from(unpackMoments(columns.slice(g * stride, (g + 1) * stride), d).R),
      );
      return [
        compare(`sep.estep.f.${k}`, transpose(rows.subarray(0, d * n), d, n), expected.f[k]),
        compare(`sep.estep.R.${k}`, R, expected.R[k]),
      ];
    }),
  ];
}

/** Three sweeps with α and ℓ kept, a last expectation step, and predictions by what they end at. */
function checkSweeps(
  fixture: MultiMapFixture,
  problem: MultiProblem,
  from: MultiState,
  { responsibilities }: MultiExpectation,
): Check[] {
  const { after } = fixture.sep;
  let state = from;
  let r = responsibilities;
  let solutions: readonly KernelSolution[] = [];
  const bounds = after.bounds.map(() => {
    const solved = solveMaps(problem, state, r);
    solutions = solved.solutions;
    const moved = effectStep(problem, solved.state, solutions, expectation(problem, solved.state, solutions));
    r = moved.step.responsibilities;
    state = maximization(problem, moved.state, moved.step);
    return moved.bound;
  });
  const last = expectation(problem, state, solutions);
  const share = problem.kernels.map((kernel, k) => {
    const residualCovariance = problem.references[k].map((v) => state.tau[k] * v);
    const { averageGram } = problem.statistics[k];
    return mapShare(
      { table: last.tables[k], problem: kernel },
      problem.logPrior(0),
      { residualCovariance },
      averageGram,
    );
  });
  return [
    compare("sep.after.bounds", bounds, after.bounds),
    compare("sep.after.s2", state.s2, after.s2),
    compare("sep.after.tau", state.tau, after.tau),
    compare("sep.after.coef", asListed(state), after.coef),
    compare("sep.after.last_bound", last.bound, after.last_bound),
    compare("sep.after.share", share, after.share),
    ...checkPrediction(fixture, problem, state, solutions),
  ];
}
