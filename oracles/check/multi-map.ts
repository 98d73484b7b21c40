/** The map of two_markers.json: blocks `sep` (separate residuals, effects of covariates in the mean) and `shift` (covariates shift places). */

import { designMatrix } from "../../packages/core/src/basis/bspline.ts";
import { type BasisStatistics, basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import type { Cohort } from "../../packages/core/src/cohort/cohort.ts";
import { markerCohort } from "../../packages/core/src/cohort/several-markers.ts";
import { mapShare } from "../../packages/core/src/models/dtm/finish.ts";
import { conditionalResidual, individualStatistics } from "../../packages/core/src/models/dtm/individual-statistics.ts";
import { type KernelSolution, solveAt } from "../../packages/core/src/models/dtm/kernel-step.ts";
import { unpackMoments } from "../../packages/core/src/models/dtm/maximization-step.ts";
import { givenNodes } from "../../packages/core/src/models/dtm/nodes.ts";
import {
  momentsOfPowers,
  placePriors,
  shiftInformation,
  shiftScores,
} from "../../packages/core/src/models/dtm/place-shift.ts";
import { nodePowers } from "../../packages/core/src/models/dtm/starting-places.ts";
import { referenceCovariance } from "../../packages/core/src/models/dtm/state.ts";
import { rbfKernel } from "../../packages/core/src/models/gp/kernel.ts";
import { mapMoments } from "../../packages/core/src/models/gp/sparse-map.ts";
import { EFFECT_FORMS, type EffectForm, effectColumns } from "../../packages/core/src/models/mean.ts";
import { createNodeDensities, jointLogLikelihoods } from "../../packages/core/src/models/mixture/joint.ts";
import { makeMixture } from "../../packages/core/src/models/mixture/mixture.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { multiplyVector, trace, transpose } from "../../packages/core/src/numeric/matrix.ts";
import { logSumExp } from "../../packages/core/src/numeric/special.ts";
import { type Check, compare, fixtureMarkers, flatten, type Nested } from "./checker.ts";
import type { MultiFixture } from "./multi.ts";
import {
  effectInformation,
  effectStep,
  expectation,
  fillNodeSums,
  individualsAt,
  JITTER,
  kernelProblems,
  type MultiExpectation,
  type MultiProblem,
  type MultiState,
  maximization,
  safeguardedStep,
  solveMaps,
} from "./multi-problem.ts";

type Row = readonly number[];

/** The blocks of the file that are checked here. */
export interface MultiMapFixture extends MultiFixture {
  readonly nodes: readonly Row[];
  readonly log_prior: Row;
  readonly inducing: readonly Row[];
  readonly sep: {
    readonly start: {
      readonly tau: Row;
      readonly alpha: Row;
      readonly ell: Row;
      readonly s2: Row;
      readonly coef: readonly Row[];
      readonly responsibilities: Nested;
    };
    readonly Sref: readonly Nested[];
    readonly absorbed: readonly { readonly G: Nested; readonly g: Nested; readonly c: Row; readonly C: Nested }[];
    readonly kernel: readonly { readonly a: Nested; readonly kt: Row }[];
    readonly u: readonly {
      readonly phi: number;
      readonly dphi_dlogalpha: Row;
      readonly dphi_dlogell: Row;
      readonly logdet: number;
      readonly c: Row;
      readonly mean_move: Row;
      readonly nu: Row;
      readonly trace_Xi: number;
      readonly kl: number;
    }[];
    readonly estep: {
      readonly bound: number;
      readonly responsibilities: Nested;
      readonly f: readonly Nested[];
      readonly R: readonly Nested[];
    };
    readonly effects: {
      readonly columns: Row;
      readonly scores: Nested;
      readonly complete: Nested;
      readonly observed: Nested;
      readonly after_step: { readonly coef: Nested; readonly bound: number; readonly gain: number };
    };
    readonly mstep: { readonly s2: Row; readonly tau: Row; readonly h: Row };
    readonly after: {
      readonly bounds: Row;
      readonly s2: Row;
      readonly tau: Row;
      readonly coef: Nested;
      readonly last_bound: number;
      readonly share: Row;
    };
    readonly predict: {
      readonly node_log_density: Nested;
      readonly log_likelihood: Row;
      readonly place_mean: Nested;
      readonly place_variance: Nested;
      readonly forecast1_given_both: Row;
      readonly forecast1_given_own: Row;
      readonly marker2_given_marker1: Row;
      readonly basis_at_3: Nested;
    };
  };
  readonly shift: {
    readonly Phi: readonly Row[];
    readonly s2: Row;
    readonly mean: readonly Row[];
    readonly Sigma: Nested;
    readonly log_prior: Nested;
    readonly bound: number;
    readonly scores: Nested;
    readonly complete: Nested;
    readonly observed: Nested;
    readonly Phi_after: Nested;
    readonly bound_after: number;
  };
}

/** First trial distance of τ; times of a history; relative ridge of node covariances. */
const FIRST_DISTANCE = 0.3;
const HISTORY_END = 2;
const NODE_RIDGE = 1e-10;

export function checkMultiMap(fixture: MultiMapFixture, statistics: readonly BasisStatistics[]): Check[] {
  return [...checkSeparate(fixture, statistics), ...checkShift(fixture, statistics)];
}

function problemOf(
  fixture: MultiMapFixture,
  statistics: readonly BasisStatistics[],
  Sigma: Nested,
): Omit<MultiProblem, "form" | "logPrior"> {
  const q = fixture.nodes[0].length;
  const starts = markerBlocks(flatten(Sigma), statistics);
  return {
    statistics,
    z: flatten(fixture.z),
    kernels: kernelProblems(statistics, flatten(fixture.nodes), flatten(fixture.inducing), q),
    references: starts.map((covariance, k) => {
      const coefficients = new Float64Array(statistics[k].basis.numBasis);
      return referenceCovariance({ mean: { kind: "scalar", coefficients }, noise: whiteNoise(1), covariance });
    }),
    alpha: starts.map((covariance, k) => {
      const d = statistics[k].basis.numBasis;
      return trace(covariance, d) / d;
    }),
    ell: fixture.sep.start.ell,
  };
}

/** Diagonal blocks of Σ, marker by marker. */
function markerBlocks(Sigma: Float64Array, statistics: readonly BasisStatistics[]): Float64Array[] {
  const D = Math.round(Math.sqrt(Sigma.length));
  let from = 0;
  return statistics.map(({ basis: { numBasis: d } }) => {
    const at = from;
    from += d;
    return Float64Array.from({ length: d * d }, (_, e) => Sigma[(at + Math.floor(e / d)) * D + at + (e % d)]);
  });
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

function checkPrediction(
  fixture: MultiMapFixture,
  problem: MultiProblem,
  state: MultiState,
  solutions: readonly KernelSolution[],
): Check[] {
  const { predict } = fixture.sep;
  const q = fixture.nodes[0].length;
  const locations = flatten(fixture.nodes);
  const logWeights = problem.logPrior(0);
  const n = logWeights.length;
  const { models } = individualsAt(problem, state);
  const mixtures = solutions.map(({ kernel, posterior }, k) => {
    const d = problem.statistics[k].basis.numBasis;
    const map = {
      kernel: rbfKernel(q, kernel.signalVariance, kernel.lengthscale, JITTER),
      mapDimension: q,
      numInducing: fixture.inducing.length,
      numBasis: d,
      inducingLocations: flatten(fixture.inducing),
      inducingMean: posterior.mean,
      inducingCovariance: posterior.covariance,
    };
    const { means, covariances } = mapMoments(map, locations, n);
    return makeMixture({
      ...{ numBasis: d, mapDimension: q, locations, logWeights, means, relativeJitter: NODE_RIDGE },
      covariances: covariances.map((v, e) => v + state.tau[k] * problem.references[k][e % (d * d)]),
      meanCoefficients: models[k].mean,
      noise: models[k].noise,
    });
  });
  // Of each marker the values up to `ends`, less the effects.
  const upTo = (...ends: number[]) => {
    const statistics = historyStatistics(fixture, problem.statistics, ends);
    return individualsAt({ ...problem, statistics }, state).statistics;
  };
  const [all, none] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const likelihood = (...ends: number[]) => jointLogLikelihoods(mixtures, upTo(...ends));
  const less = (a: Float64Array, b: Float64Array) => a.map((v, i) => v - b[i]);
  const whole = upTo(all, all);
  const densities = mixtures.map((mixture) => createNodeDensities(mixture));
  const density: number[] = [];
  const placeMean: number[] = [];
  const placeVariance: number[] = [];
  for (let i = 0; i < whole[0].numIndividuals; i++) {
    const own = densities.map((at, k) => at(whole[k], i)).reduce((a, b) => a.map((v, g) => v + b[g]));
    density.push(...own);
    const joint = own.map((v, g) => v + logWeights[g]);
    const total = logSumExp(joint);
    const weights = joint.map((v) => Math.exp(v - total));
    const mean = multiplyVector(transpose(locations, n, q), weights, q, n);
    placeMean.push(...mean);
    for (let a = 0; a < q; a++) {
      placeVariance.push(weights.reduce((sum, w, g) => sum + w * (locations[g * q + a] - mean[a]) ** 2, 0));
    }
  }
  const past = HISTORY_END;
  return [
    compare("sep.predict.node_log_density", density, predict.node_log_density),
    compare("sep.predict.log_likelihood", likelihood(all, all), predict.log_likelihood),
    compare("sep.predict.place_mean", placeMean, predict.place_mean),
    compare("sep.predict.place_variance", placeVariance, predict.place_variance),
    compare(
      "sep.predict.forecast1_given_both",
      less(likelihood(all, past), likelihood(past, past)),
      predict.forecast1_given_both,
    ),
    compare(
      "sep.predict.forecast1_given_own",
      less(likelihood(all, none), likelihood(past, none)),
      predict.forecast1_given_own,
    ),
    compare(
      "sep.predict.marker2_given_marker1",
      less(likelihood(all, all), likelihood(all, none)),
      predict.marker2_given_marker1,
    ),
    compare(
      "sep.predict.basis_at_3",
      designMatrix(problem.statistics[0].basis, Float64Array.of(3)),
      predict.basis_at_3,
    ),
  ];
}

/** Statistics of everybody's values of each marker up to a time. */
function historyStatistics(
  { data }: MultiMapFixture,
  statistics: readonly BasisStatistics[],
  ends: readonly number[],
): BasisStatistics[] {
  const cohort = fixtureMarkers(data);
  return statistics.map(({ basis, center }, k) => {
    const series = cohort.markers[k];
    const offsets = new Int32Array(series.offsets.length);
    const kept: number[] = [];
    for (let i = 0; i < cohort.ids.length; i++) {
      for (let j = series.offsets[i]; j < series.offsets[i + 1]; j++) if (series.times[j] <= ends[k]) kept.push(j);
      offsets[i + 1] = kept.length;
    }
    const taken = (of: Float64Array) => Float64Array.from(kept, (j) => of[j]);
    const own: Cohort["markers"][number] = {
      ...series,
      offsets,
      times: taken(series.times),
      values: taken(series.values),
    };
    return basisStatistics(markerCohort({ ids: cohort.ids, markers: [own] }, 0), basis, { center });
  });
}

function checkShift(fixture: MultiMapFixture, statistics: readonly BasisStatistics[]): Check[] {
  const { shift, sep } = fixture;
  const locations = flatten(fixture.nodes);
  const q = fixture.nodes[0].length;
  const nodes = givenNodes(locations, q);
  const n = nodes.numNodes;
  const z = flatten(fixture.z);
  const common = problemOf(fixture, statistics, shift.Sigma);
  const start: MultiState = {
    coefficients: shift.mean.map((own) => Float64Array.from(own)),
    s2: shift.s2,
    tau: sep.start.tau,
    distance: sep.start.tau.map(() => FIRST_DISTANCE),
  };
  const under = (Phi: Float64Array) => {
    const priors = placePriors(nodes, Phi, z);
    const rows = Array.from({ length: statistics[0].numIndividuals }, (_, i) =>
      nodes.logWeights.map((v, g) => {
        let s = v - priors.logNormalizers[i];
        for (let a = 0; a < q; a++) s += priors.terms[i * q + a] * locations[g * q + a];
        return s;
      }),
    );
    const problem: MultiProblem = { ...common, form: "level", logPrior: (i) => rows[i] };
    return { Phi, priors, rows, problem };
  };
  const first = under(flatten(shift.Phi));
  const solved = solveMaps(first.problem, start, flatten(sep.start.responsibilities));
  const step = expectation(first.problem, solved.state, solved.solutions);
  const powers = nodePowers(nodes);
  const width = powers.length / n;
  const moments = new Float64Array((step.responsibilities.length / n) * width);
  for (let i = 0; i < moments.length / width; i++) {
    moments.set(multiplyVector(powers, step.responsibilities.subarray(i * n, (i + 1) * n), width, n), i * width);
  }
  const places = momentsOfPowers(moments, q);
  const scores = shiftScores(first.priors, places, z, q);
  const complete = shiftInformation(first.priors.covariances, z, q);
  const observed = shiftInformation(
    first.priors.covariances.map((v, e) => v - places.covariances[e]),
    z,
    q,
  );
  const size = first.Phi.length;
  const total = new Float64Array(size);
  scores.forEach((s, e) => {
    total[e % size] += s;
  });
  const attempt = (move: Float64Array) => {
    const { Phi, problem } = under(first.Phi.map((v, e) => v + move[e]));
    return { Phi, bound: expectation(problem, solved.state, solved.solutions).bound };
  };
  const after = safeguardedStep(total, observed, complete, step.bound, attempt, false) ?? {
    Phi: first.Phi,
    bound: step.bound,
  };
  return [
    compare(
      "shift.log_prior",
      first.rows.map((row) => Array.from(row)),
      shift.log_prior,
    ),
    compare("shift.bound", step.bound, shift.bound),
    compare("shift.scores", scores, shift.scores),
    compare("shift.complete", complete, shift.complete),
    compare("shift.observed", observed, shift.observed),
    compare("shift.Phi_after", after.Phi, shift.Phi_after),
    compare("shift.bound_after", after.bound, shift.bound_after),
  ];
}
