/**
 * Checks `mixed.json`: linear mixed model and reduced-rank models, scalar and spline mean. Log-likelihood, EM iterates,
 * posteriors, scores and held-out values to 1e-8; converged values as the file's notes say: the mixed model's maximum
 * may lie above the file's (EM had not arrived), never more than 0.05 below; reduced rank to 1e-4 from the given start.
 */

import { type BasisStatistics, basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { markerModel } from "../../packages/core/src/models/fit.ts";
import { canonicalFactor, factorCovariance } from "../../packages/core/src/models/linear/canonical.ts";
import {
  linearProblem,
  type MaximizationStep,
  maximizeCovariance,
  maximizeLoadings,
} from "../../packages/core/src/models/linear/em.ts";
import { fitFpcaStatistics } from "../../packages/core/src/models/linear/fpca.ts";
import { individualLogLikelihoods, logLikelihood } from "../../packages/core/src/models/linear/likelihood.ts";
import { fitLmmStatistics } from "../../packages/core/src/models/linear/lmm.ts";
import { coefficientPosterior, effectPosterior } from "../../packages/core/src/models/linear/posterior.ts";
import { principalScores } from "../../packages/core/src/models/linear/principal-scores.ts";
import type { LinearParameters } from "../../packages/core/src/models/linear/stack.ts";
import type { MeanKind } from "../../packages/core/src/models/mean.ts";
import { noiseLevel, whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { semidefiniteRoot } from "../../packages/core/src/numeric/symmetric-eigen.ts";
import {
  atLeast,
  type Check,
  compare,
  compareAbsolute,
  type FixtureData,
  fixtureBasis,
  fixtureCohort,
  fixtureStatistics,
  flatten,
  type Nested,
} from "./checker.ts";

interface Parameters {
  readonly mu: Nested;
  readonly s2: number;
  readonly Sigma?: Nested;
  readonly F?: readonly (readonly number[])[];
  readonly FFt?: Nested;
  readonly loglik?: number;
}

interface Case {
  readonly init: Parameters;
  readonly loglik_init: number;
  readonly posterior_after_5: { readonly [name: string]: Nested };
  readonly pc_scores_after_5?: { readonly scores: readonly (readonly number[])[] };
  readonly canonical_F_after_5?: Nested;
  readonly heldout_loglik_after_5: readonly number[];
  readonly converged: Parameters & { readonly loglik: number; readonly iterations?: number };
}

interface MixedFixture {
  readonly data: FixtureData;
  readonly lmm: { readonly [mean: string]: Case };
  readonly fpca: { readonly [mean: string]: { readonly [rank: string]: Case } };
  readonly heldout: { readonly subject: number[]; readonly t: number[]; readonly y: number[] };
}

/** What the checks of one file share. */
interface Context {
  readonly statistics: BasisStatistics;
  readonly heldout: BasisStatistics;
}

export function checkMixed(fixture: MixedFixture): Check[] {
  const { data, heldout } = fixture;
  const statistics = fixtureStatistics(data);
  const context: Context = {
    statistics,
    heldout: basisStatistics(
      fixtureCohort(heldout.subject, heldout.t, heldout.y),
      fixtureBasis(data.knots, data.degree),
      statistics,
    ),
  };
  const checks: Check[] = [];
  for (const [mean, lmm] of Object.entries(fixture.lmm)) checks.push(...checkLmm(context, mean as MeanKind, lmm));
  for (const [mean, ranks] of Object.entries(fixture.fpca)) {
    for (const [rank, fpca] of Object.entries(ranks)) checks.push(...checkFpca(context, mean as MeanKind, rank, fpca));
  }
  return checks;
}

function checkLmm(context: Context, mean: MeanKind, c: Case): Check[] {
  const { statistics } = context;
  const d = statistics.basis.numBasis;
  const name = `lmm.${mean}`;
  const init = readParameters(c.init, semidefiniteRoot(flatten(c.init.Sigma!), d), d, d);
  const { checks, after5 } = checkIterates(context, mean, name, c, init, maximizeCovariance);
  const posterior = coefficientPosterior([statistics], after5);
  checks.push(...checkPosterior(name, c, posterior.mean, posterior.covariance));
  if (c.pc_scores_after_5) {
    const { scores } = c.pc_scores_after_5;
    const own = principalScores(posterior.mean, statistics.numIndividuals, d, scores[0].length);
    checks.push(compare(`${name}.pc_scores_after_5`, own.scores, scores));
  }
  const fit = fitLmmStatistics([statistics], { mean });
  checks.push(atLeast(`${name}.converged.loglik`, fit.record.trace.at(-1)!, c.converged.loglik, 0.05));
  return checks;
}

function checkFpca(context: Context, mean: MeanKind, rank: string, c: Case): Check[] {
  const { statistics } = context;
  const d = statistics.basis.numBasis;
  const q = c.init.F![0].length;
  const name = `fpca.${mean}.${rank}`;
  const init = readParameters(c.init, flatten(c.init.F!), d, q);
  const { checks, after5 } = checkIterates(context, mean, name, c, init, maximizeLoadings);
  const posterior = effectPosterior([statistics], after5);
  checks.push(...checkPosterior(name, c, posterior.mean, posterior.covariance));
  checks.push(
    compare(`${name}.canonical_F_after_5`, canonicalFactor(after5.factor, d, q), c.canonical_F_after_5 ?? []),
  );
  // The file's values are those of EM from this start; the maximum found by the full fit may not lie below them.
  const maxEmIterations = c.converged.iterations ?? 5000;
  const em = { algorithm: "em", emTolerance: 1e-12, maxEmIterations } as const;
  const published = fitFpcaStatistics([statistics], { mean, rank: q, start: init, ...em });
  const full = fitFpcaStatistics([statistics], { mean, rank: q, start: init });
  const { converged } = c;
  const coefficients = markerModel(published).mean.coefficients;
  const FFt = factorCovariance(published.loadings, d, q);
  checks.push(
    compareAbsolute(`${name}.converged.loglik`, published.record.trace.at(-1)!, converged.loglik, 1e-4),
    atLeast(`${name}.converged.loglik (full fit)`, full.record.trace.at(-1)!, converged.loglik, 1e-4),
    compare(`${name}.converged.mu`, freeMean(mean, coefficients), converged.mu, 1e-4),
    compare(`${name}.converged.s2`, markerModel(published).noise.variance, converged.s2, 1e-4),
    compare(`${name}.converged.FFt`, FFt, converged.FFt ?? [], 1e-4),
  );
  return checks;
}

/** Log-likelihood at the start, every EM iterate that the file lists, and held-out values after five steps. */
function checkIterates(
  context: Context,
  mean: MeanKind,
  name: string,
  c: Case,
  init: LinearParameters,
  maximize: MaximizationStep,
): { checks: Check[]; after5: LinearParameters } {
  const { statistics, heldout } = context;
  const d = statistics.basis.numBasis;
  const problem = linearProblem([statistics], mean);
  const listed = c as unknown as { readonly [key: string]: Parameters | undefined };
  const checks = [compare(`${name}.loglik_init`, logLikelihood([statistics], init), c.loglik_init)];
  let parameters = init;
  for (let iteration = 1; iteration <= 5; iteration++) {
    parameters = maximize(problem, parameters, problem.expect(parameters));
    const expected = listed[`after_${iteration}`];
    if (expected === undefined) continue;
    const at = `${name}.after_${iteration}`;
    const { meanCoefficients, noises, factor, rank } = parameters;
    checks.push(
      compare(`${at}.mu`, freeMean(mean, meanCoefficients), expected.mu),
      compare(`${at}.s2`, noiseLevel(noises[0]), expected.s2),
      expected.Sigma === undefined
        ? compare(`${at}.F`, factor, expected.F ?? [])
        : compare(`${at}.Sigma`, factorCovariance(factor, d, rank), expected.Sigma),
      compare(`${at}.loglik`, logLikelihood([statistics], parameters), expected.loglik!),
    );
  }
  const scores = individualLogLikelihoods([heldout], parameters);
  checks.push(compare(`${name}.heldout_loglik_after_5`, scores, c.heldout_loglik_after_5));
  return { checks, after5: parameters };
}

/** Posterior means and covariances of the individuals listed, which are the first ones. */
function checkPosterior(name: string, c: Case, mean: Float64Array, covariance: Float64Array): Check[] {
  return Object.entries(c.posterior_after_5).map(([key, expected]) => {
    const own = key.endsWith("mean") ? mean : covariance;
    return compare(`${name}.posterior_after_5.${key}`, own.subarray(0, flatten(expected).length), expected);
  });
}

function readParameters(from: Parameters, factor: Float64Array, d: number, rank: number): LinearParameters {
  const mu = flatten(from.mu);
  const meanCoefficients = mu.length === 1 ? new Float64Array(d).fill(mu[0]) : mu;
  return { meanCoefficients, noises: [whiteNoise(from.s2)], factor, rank };
}

function freeMean(mean: MeanKind, coefficients: Float64Array): Float64Array {
  return mean === "scalar" ? coefficients.slice(0, 1) : coefficients;
}
