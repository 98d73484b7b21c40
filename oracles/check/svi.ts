/**
 * fixtures/svi.json: natural-gradient steps with frozen places, q(u) starting at the prior. Checked twice: with whitened
 * natural parameters, and in the form the schedules use (running data sums in coefficient space).
 */

import { rbfKernel } from "../../packages/core/src/models/gp/kernel.ts";
import { naturalStep } from "../../packages/core/src/models/gp/solve.ts";
import { requireKernelFactor } from "../../packages/core/src/models/paper/bound.ts";
import { createEngine, updateInducing } from "../../packages/core/src/models/paper/engine.ts";
import {
  coefficientsOfInducing,
  createSums,
  type InducingPosterior,
  inducingOfCoefficients,
  naturalTarget,
  posteriorOfNatural,
} from "../../packages/core/src/models/paper/inducing.ts";
import { sumObjectives, sumOverAll } from "../../packages/core/src/models/paper/passes.ts";
import {
  covarianceOfFactor,
  type GlobalParameters,
  packLocations,
} from "../../packages/core/src/models/paper/state.ts";
import { applyInducing, blendInducing, trackInducing } from "../../packages/core/src/models/paper/stochastic.ts";
import {
  directSums,
  elboTerms,
  exactInducingPosterior,
  naturalOfPosterior,
  priorInducingPosterior,
  unwhiten,
} from "../../test/paper-bound.ts";
import {
  type Check,
  type Checker,
  compare,
  type FixtureData,
  fixtureStatistics,
  flatten,
  type Nested,
} from "./checker.ts";

interface SviFixture {
  readonly data: FixtureData;
  readonly q: number;
  readonly p: number;
  readonly mu: number;
  readonly s2: number;
  readonly alpha: number;
  readonly ell: number;
  readonly eps: number;
  readonly Z: Nested;
  readonly local: { readonly m: Nested; readonly chol: Nested };
  readonly steps: readonly {
    readonly minibatch: readonly number[];
    readonly learning_rate: number;
    readonly scale: number;
    readonly elbo: number;
  }[];
  readonly final: { readonly m: Nested; readonly S: Nested };
  readonly optimum_for_frozen_local: { readonly m: Nested; readonly S: Nested };
}

/** Checks a file of the form of fixtures/svi.json. */
export const checkSvi: Checker = (fixture: SviFixture) => {
  const problem = sviProblem(fixture);
  return [...checkWhitened(fixture, problem), ...checkTracked(fixture, problem)];
};

function sviProblem(fixture: SviFixture) {
  const { q, p } = fixture;
  const statistics = fixtureStatistics(fixture.data);
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
  const factors = flatten(fixture.local.chol);
  const covariances = new Float64Array(m * q * q);
  for (let i = 0; i < m; i++) {
    covarianceOfFactor(factors.subarray(i * q * q), q, covariances.subarray(i * q * q));
  }
  const theta = packLocations({ mean: flatten(fixture.local.m), covariance: covariances }, q, false);
  return { statistics, parameters, theta, factor: requireKernelFactor(parameters), p, q, d, m };
}

type SviProblem = ReturnType<typeof sviProblem>;

function checkWhitened(fixture: SviFixture, problem: SviProblem): Check[] {
  const { statistics, parameters, theta, p, d } = problem;
  let natural = naturalOfPosterior(priorInducingPosterior(p, d));
  const elbos: number[] = [];
  for (const step of fixture.steps) {
    const sums = directSums(parameters, statistics, theta, false, step.minibatch);
    const target = naturalTarget(problem, sums, step.scale);
    natural = naturalStep(natural, target, step.learning_rate);
    const posterior = coefficientsOfInducing(problem, posteriorOfNatural(natural));
    elbos.push(elboTerms(parameters, statistics, theta, false, posterior).terms.total);
  }
  const all = directSums(parameters, statistics, theta, false);
  return [
    compare(
      "steps.elbo",
      elbos,
      fixture.steps.map((s) => s.elbo),
    ),
    ...comparePosterior("final", posteriorOfNatural(natural), fixture.final, problem),
    ...comparePosterior(
      "optimum_for_frozen_local",
      exactInducingPosterior(problem, all),
      fixture.optimum_for_frozen_local,
      problem,
    ),
  ];
}

function checkTracked(fixture: SviFixture, problem: SviProblem): Check[] {
  const { statistics, parameters, theta, p, d } = problem;
  const options = { diagonal: false, priors: {}, sharedLengthscale: true } as const;
  const engine = createEngine(statistics, parameters, options);
  // At the prior the running sums are zero.
  const tracked = trackInducing(engine, createSums(statistics, p, d), false);
  const elbos: number[] = [];
  for (const step of fixture.steps) {
    const sums = directSums(parameters, statistics, theta, false, step.minibatch);
    for (const part of [sums.cross, sums.gram]) for (let e = 0; e < part.length; e++) part[e] *= step.scale;
    blendInducing(engine, tracked, sums, step.learning_rate);
    applyInducing(engine, tracked);
    elbos.push(sumObjectives(engine, theta, null) - engine.posterior.kl);
  }
  const final = inducingOfCoefficients(engine, engine.posterior);
  sumOverAll(engine, theta);
  updateInducing(engine);
  const optimum = inducingOfCoefficients(engine, engine.posterior);
  return [
    compare(
      "fast.steps.elbo",
      elbos,
      fixture.steps.map((s) => s.elbo),
    ),
    ...comparePosterior("fast.final", final, fixture.final, problem),
    ...comparePosterior("fast.optimum_for_frozen_local", optimum, fixture.optimum_for_frozen_local, problem),
  ];
}

function comparePosterior(
  path: string,
  posterior: InducingPosterior,
  expected: { readonly m: Nested; readonly S: Nested },
  problem: SviProblem,
): Check[] {
  const u = unwhiten(posterior, problem.factor, problem.p, problem.d);
  return [compare(`${path}.m`, u.mean, expected.m), compare(`${path}.S`, u.covariance, expected.S)];
}
