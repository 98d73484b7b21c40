/**
 * fixtures/dtm_q*_p*_{diag,full}.json: every line of the bound, every gradient, natural-gradient step, optimal q(u),
 * local optima and held-out likelihoods of the published model, by the direct formulas and by the fast local solver.
 */

import { designMatrix } from "../../packages/core/src/basis/bspline.ts";
import { residualStatistics, unpackGram } from "../../packages/core/src/basis/statistics.ts";
import { rbfKernel } from "../../packages/core/src/models/gp/kernel.ts";
import { naturalStep } from "../../packages/core/src/models/gp/solve.ts";
import { mapMoments } from "../../packages/core/src/models/gp/sparse-map.ts";
import { requireKernelFactor } from "../../packages/core/src/models/paper/bound.ts";
import {
  coefficientsOfInducing,
  type InducingCoefficients,
  type InducingPosterior,
  inducingKl,
  naturalTarget,
  posteriorOfNatural,
} from "../../packages/core/src/models/paper/inducing.ts";
import { type GlobalParameters, type Priors, packLocations } from "../../packages/core/src/models/paper/state.ts";
import { multiply, transpose } from "../../packages/core/src/numeric/matrix.ts";
import {
  directSums,
  type ElboGradient,
  elboGradient,
  elboTerms,
  exactInducingPosterior,
  individualWeights,
  naturalOfPosterior,
  unwhiten,
  whiten,
} from "../../test/paper-bound.ts";
import { computePsi, createPsi } from "../../test/psi.ts";
import {
  type Check,
  type Checker,
  compare,
  type FixtureData,
  fixtureStatistics,
  flatten,
  type Nested,
} from "./checker.ts";
import { checkHeldOut, type HeldOutFixture } from "./dtm-paper-heldout.ts";
import { checkLocalSolver } from "./dtm-paper-local.ts";

interface TermsFixture {
  readonly expected_loglik: number;
  readonly trace_S: number;
  readonly trace_ktilde: number;
  readonly neg_kl_x: number;
}

interface GradientFixture {
  readonly mu: number;
  readonly log_s2: number;
  readonly log_alpha: number;
  readonly log_ell: number;
  readonly Z: Nested;
  readonly m: Nested;
  readonly lam: Nested;
  readonly S?: Nested;
  readonly K?: Nested;
}

interface MeanPrecision {
  readonly mean: number;
  readonly precision: number;
}

/** A file of the form of fixtures/dtm_q2_p4_full.json. */
export interface PaperFixture {
  readonly data: FixtureData;
  readonly q: number;
  readonly p: number;
  readonly diagonal_S: boolean;
  readonly mu: number;
  readonly s2: number;
  readonly alpha: number;
  readonly ell: number;
  readonly eps: number;
  readonly Z: Nested;
  readonly prior?: {
    readonly logs2?: MeanPrecision;
    readonly logalpha?: MeanPrecision;
    readonly logell?: MeanPrecision;
  };
  readonly local: { readonly m: Nested; readonly chol: Nested; readonly S: Nested };
  readonly qu: { readonly m: Nested; readonly S: Nested };
  readonly K: Nested;
  readonly K_chol: Nested;
  readonly psi1: Nested;
  readonly Psi2: Nested;
  readonly G: Nested;
  readonly g: Nested;
  readonly rr: Nested;
  readonly h: Nested;
  readonly W: Nested;
  readonly local_const: Nested;
  readonly elbo: TermsFixture & {
    readonly per_subject: readonly (TermsFixture & { readonly J: number })[];
    readonly neg_kl_u: number;
    readonly log_prior: number;
    readonly total: number;
  };
  readonly grad: GradientFixture;
  readonly predict: {
    readonly x: Nested;
    readonly w_mean: Nested;
    readonly w_cov: Nested;
    readonly times: readonly number[];
    readonly y_mean: Nested;
    readonly y_cov: Nested;
  };
  readonly natural_step: {
    readonly minibatch: readonly number[];
    readonly scale: number;
    readonly learning_rate: number;
    readonly eta1: Nested;
    readonly m: Nested;
    readonly S: Nested;
  };
  readonly optimal_qu: {
    readonly m: Nested;
    readonly S: Nested;
    readonly elbo: number;
    readonly neg_kl_u: number;
    readonly grad: GradientFixture;
  };
  readonly local_optimum: { readonly J: readonly number[]; readonly m: Nested; readonly S: Nested };
  readonly heldout: HeldOutFixture;
}

/** The model of a fixture, ready for the functions of the core. */
export function paperProblem(fixture: PaperFixture) {
  const { q, p, data } = fixture;
  const statistics = fixtureStatistics(data);
  const d = statistics.basis.numBasis;
  const m = statistics.numIndividuals;
  const parameters: GlobalParameters = {
    kernel: rbfKernel(q, fixture.alpha, fixture.ell, fixture.eps),
    inducingLocations: flatten(fixture.Z),
    numInducing: p,
    mapDimension: q,
    numBasis: d,
    meanCoefficients: new Float64Array(d).fill(fixture.mu),
    noiseVariance: fixture.s2,
  };
  const diagonal = fixture.diagonal_S;
  const theta = packLocations({ mean: flatten(fixture.local.m), covariance: flatten(fixture.local.S) }, q, diagonal);
  const factor = requireKernelFactor(parameters);
  const priors: Priors = {
    logNoiseVariance: fixture.prior?.logs2,
    logSignalVariance: fixture.prior?.logalpha,
    logLengthscale: fixture.prior?.logell,
  };
  const given = whiten(flatten(fixture.qu.m), flatten(fixture.qu.S), factor, p, d);
  return { statistics, parameters, diagonal, theta, factor, priors, given, p, q, d, m };
}

export type PaperProblem = ReturnType<typeof paperProblem>;

/** Checks a file of the form of fixtures/dtm_q2_p4_full.json. */
export const checkDtmPaper: Checker = (fixture: PaperFixture) => {
  const problem = paperProblem(fixture);
  const { statistics, parameters, diagonal, theta } = problem;
  const optimal = exactInducingPosterior(problem, directSums(parameters, statistics, theta, diagonal));
  return [
    ...checkSetup(fixture, problem),
    ...checkElbo(fixture, problem),
    ...checkNaturalStep(fixture, problem),
    ...checkOptimum(fixture, problem, optimal),
    ...checkPrediction(fixture, problem),
    ...checkHeldOut(fixture.heldout, problem, optimal),
    ...checkLocalSolver(fixture, problem, optimal),
  ];
};

function coefficients(problem: PaperProblem, posterior: InducingPosterior): InducingCoefficients {
  return coefficientsOfInducing(problem, posterior);
}

function checkSetup(fixture: PaperFixture, problem: PaperProblem): Check[] {
  const { statistics, parameters, factor, given, p, q, d, m } = problem;
  const s2 = parameters.noiseVariance;
  const posterior = coefficients(problem, given);
  const psi = createPsi(p);
  const weights = createPsi(p);
  const [means, covariances] = [flatten(fixture.local.m), flatten(fixture.local.S)];
  const all = { psi1: [] as number[], psi2: [] as number[], G: [] as number[], g: [] as number[], rr: [] as number[] };
  const local = { h: [] as number[], W: [] as number[], c: [] as number[] };
  const G = new Float64Array(d * d);
  const g = new Float64Array(d);
  for (let i = 0; i < m; i++) {
    const place = { m: means.slice(i * q, (i + 1) * q), S: covariances.slice(i * q * q, (i + 1) * q * q) };
    computePsi(parameters, place, psi);
    all.psi1.push(...psi.psi1);
    all.psi2.push(...psi.psi2);
    unpackGram(statistics, i, G);
    all.G.push(...G);
    const rho = residualStatistics(statistics, i, parameters.meanCoefficients, g);
    all.g.push(...g);
    all.rr.push(rho);
    individualWeights({ ...problem, posterior }, i, g, weights);
    local.h.push(...weights.psi1);
    local.W.push(...weights.psi2.map((w) => -2 * w));
    const constant = -0.5 * statistics.counts[i] * Math.log(2 * Math.PI * s2) - (0.5 * rho) / s2;
    local.c.push(constant + weights.psi0 * psi.psi0);
  }
  return [
    compare("K", factor.matrix, fixture.K),
    compare("K_chol", factor.cholesky, fixture.K_chol),
    compare("psi1", all.psi1, fixture.psi1),
    compare("Psi2", all.psi2, fixture.Psi2),
    compare("G", all.G, fixture.G),
    compare("g", all.g, fixture.g),
    compare("rr", all.rr, fixture.rr),
    compare("h", local.h, fixture.h),
    compare("W", local.W, fixture.W),
    compare("local_const", local.c, fixture.local_const),
  ];
}

function checkElbo(fixture: PaperFixture, problem: PaperProblem): Check[] {
  const { statistics, parameters, diagonal, theta, priors, given } = problem;
  const posterior = coefficients(problem, given);
  const { terms, individuals } = elboTerms(parameters, statistics, theta, diagonal, posterior, priors);
  const expected = fixture.elbo;
  const lines = (pick: (t: TermsFixture & { J: number }) => number) => expected.per_subject.map(pick);
  const gradient = elboGradient(parameters, statistics, theta, diagonal, posterior, priors);
  return [
    compare(
      "elbo.per_subject.expected_loglik",
      individuals.map((t) => t.expectedLogLikelihood),
      lines((t) => t.expected_loglik),
    ),
    compare(
      "elbo.per_subject.trace_S",
      individuals.map((t) => t.inducingUncertainty),
      lines((t) => t.trace_S),
    ),
    compare(
      "elbo.per_subject.trace_ktilde",
      individuals.map((t) => t.conditionalVariance),
      lines((t) => t.trace_ktilde),
    ),
    compare(
      "elbo.per_subject.neg_kl_x",
      individuals.map((t) => -t.locationKl),
      lines((t) => t.neg_kl_x),
    ),
    compare(
      "elbo.per_subject.J",
      individuals.map((t) => t.objective),
      lines((t) => t.J),
    ),
    compare("elbo.expected_loglik", terms.expectedLogLikelihood, expected.expected_loglik),
    compare("elbo.trace_S", terms.inducingUncertainty, expected.trace_S),
    compare("elbo.trace_ktilde", terms.conditionalVariance, expected.trace_ktilde),
    compare("elbo.neg_kl_x", -terms.locationKl, expected.neg_kl_x),
    compare("elbo.neg_kl_u", -terms.inducingKl, expected.neg_kl_u),
    compare("elbo.log_prior", terms.logPrior, expected.log_prior),
    compare("elbo.total", terms.total, expected.total),
    ...checkGradient("grad", gradient, fixture.grad, problem),
  ];
}

/** A gradient against a fixture's; `lam` and `m` are the parts of theta. */
export function checkGradient(
  path: string,
  gradient: ElboGradient,
  expected: GradientFixture,
  problem: PaperProblem,
): Check[] {
  const { q, m } = problem;
  const P = gradient.theta.length / m;
  const part = (from: number, to: number) =>
    Array.from({ length: m }, (_, i) => Array.from(gradient.theta.subarray(i * P + from, i * P + to)));
  const sum = (x: Float64Array) => x.reduce((a, b) => a + b, 0);
  const checks = [
    compare(`${path}.mu`, gradient.meanLevel, expected.mu),
    compare(`${path}.log_s2`, gradient.logNoiseVariance, expected.log_s2),
    compare(`${path}.log_alpha`, gradient.logSignalVariance, expected.log_alpha),
    compare(`${path}.log_ell`, sum(gradient.logLengthscales), expected.log_ell),
    compare(`${path}.Z`, gradient.inducing, expected.Z),
    compare(`${path}.m`, part(0, q), expected.m),
    compare(`${path}.lam`, part(q, P), expected.lam),
  ];
  if (expected.S !== undefined) checks.push(compare(`${path}.S`, gradient.locationCovariance, expected.S));
  if (expected.K !== undefined) checks.push(compare(`${path}.K`, gradient.kernelMatrix, expected.K));
  return checks;
}

function checkNaturalStep(fixture: PaperFixture, problem: PaperProblem): Check[] {
  const { statistics, parameters, diagonal, theta, factor, given, p, d } = problem;
  const { minibatch, scale, learning_rate, eta1, m, S } = fixture.natural_step;
  const sums = directSums(parameters, statistics, theta, diagonal, minibatch);
  const target = naturalTarget(problem, sums, scale);
  // c = L_K' η1 per coefficient, so η1 = L_K⁻ᵀ c.
  const linear = multiply(transpose(factor.inverseCholesky, p, p), transpose(target.linear, d, p), p, p, d);
  const stepped = posteriorOfNatural(naturalStep(naturalOfPosterior(given), target, learning_rate));
  const u = unwhiten(stepped, factor, p, d);
  return [
    compare("natural_step.eta1", transpose(linear, p, d), eta1),
    compare("natural_step.m", u.mean, m),
    compare("natural_step.S", u.covariance, S),
  ];
}

function checkOptimum(fixture: PaperFixture, problem: PaperProblem, optimal: InducingPosterior): Check[] {
  const { statistics, parameters, diagonal, theta, factor, priors, p, d } = problem;
  const expected = fixture.optimal_qu;
  const u = unwhiten(optimal, factor, p, d);
  const posterior = coefficients(problem, optimal);
  const { terms } = elboTerms(parameters, statistics, theta, diagonal, posterior, priors);
  const gradient = elboGradient(parameters, statistics, theta, diagonal, posterior, priors);
  return [
    compare("optimal_qu.m", u.mean, expected.m),
    compare("optimal_qu.S", u.covariance, expected.S),
    compare("optimal_qu.elbo", terms.total, expected.elbo),
    compare("optimal_qu.neg_kl_u", -inducingKl(optimal), expected.neg_kl_u),
    ...checkGradient("optimal_qu.grad", gradient, expected.grad, problem),
  ];
}

function checkPrediction(fixture: PaperFixture, problem: PaperProblem): Check[] {
  const { statistics, parameters, given, p, q, d } = problem;
  const { predict } = fixture;
  const x = flatten(predict.x);
  const n = x.length / q;
  const map = {
    kernel: parameters.kernel,
    mapDimension: q,
    numInducing: p,
    numBasis: d,
    inducingLocations: parameters.inducingLocations,
    inducingMean: given.mean,
    inducingCovariance: given.covariance,
  };
  const { means, covariances } = mapMoments(map, x, n);
  const B = designMatrix(statistics.basis, predict.times); // [times,d]
  const numTimes = predict.times.length;
  const yMean: number[] = [];
  const yCovariance: number[] = [];
  for (let g = 0; g < n; g++) {
    const w = means.subarray(g * d, (g + 1) * d);
    const mean = multiply(B, w, numTimes, d, 1);
    yMean.push(...mean.map((v) => v + fixture.mu));
    const C = covariances.subarray(g * d * d, (g + 1) * d * d);
    const spread = multiply(multiply(B, C, numTimes, d, d), transpose(B, numTimes, d), numTimes, d, numTimes);
    for (let t = 0; t < numTimes; t++) spread[t * numTimes + t] += fixture.s2;
    yCovariance.push(...spread);
  }
  return [
    compare("predict.w_mean", means, predict.w_mean),
    compare("predict.w_cov", covariances, predict.w_cov),
    compare("predict.y_mean", yMean, predict.y_mean),
    compare("predict.y_cov", yCovariance, predict.y_cov),
  ];
}
