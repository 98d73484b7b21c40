/**
 * Held-out log-likelihoods of the published model's fixtures, under the optimal q(u): conditional on given draws, their
 * Monte Carlo average, a product lattice and Gauss–Hermite quadrature. The fixtures' "exact" values are lattice sums on
 * [−6,6]^q with step 0.02 (q = 1) or 0.1 (q = 2); the lattice of the same rule agrees to rounding. Files with q = 3 leave
 * them out; should one have them, a step of 0.25 is compared to 1e-4, the error of that step.
 */

import { basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { mapMoments } from "../../packages/core/src/models/gp/sparse-map.ts";
import { logLikelihoods } from "../../packages/core/src/models/mixture/conditioner.ts";
import { type CoefficientMixture, makeMixture } from "../../packages/core/src/models/mixture/mixture.ts";
import { individualObservations, nodeLogDensities } from "../../packages/core/src/models/mixture/posterior.ts";
import type { InducingPosterior } from "../../packages/core/src/models/paper/inducing.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { gaussHermite } from "../../packages/core/src/numeric/quadrature.ts";
import { LOG_2PI } from "../../packages/core/src/numeric/special.ts";
import { productRule } from "../../test/product-rule.ts";
import { type Check, compare, fixtureCohort, flatten, type Nested } from "./checker.ts";
import type { PaperProblem } from "./dtm-paper.ts";

/** The held-out block of a fixture; quadratures are left out where q makes them too large. */
export interface HeldOutFixture {
  readonly subject: readonly number[];
  readonly t: readonly number[];
  readonly y: readonly number[];
  readonly x_draws: Nested;
  readonly cond_ll: Nested;
  readonly mc_estimate: Nested;
  readonly exact?: Nested;
  readonly gauss_hermite_20?: Nested;
}

const LATTICE_HALF_WIDTH = 6;
const LATTICE_STEPS = [0.02, 0.1, 0.25];

/** Checks the held-out block; `optimal` is the q(u) that the fixture's numbers are conditional on. */
export function checkHeldOut(fixture: HeldOutFixture, problem: PaperProblem, optimal: InducingPosterior): Check[] {
  const { statistics, q } = problem;
  const cohort = fixtureCohort(fixture.subject, fixture.t, fixture.y);
  const held = basisStatistics(cohort, statistics.basis, statistics);
  const draws = flatten(fixture.x_draws);
  const n = draws.length / q;
  const mixture = mixtureAt(problem, optimal, draws, new Float64Array(n).fill(-Math.log(n)));
  const conditional: number[] = [];
  for (let i = 0; i < held.numIndividuals; i++) {
    conditional.push(...nodeLogDensities(mixture, individualObservations(mixture, held, i)));
  }
  const checks = [
    compare("heldout.cond_ll", conditional, fixture.cond_ll),
    compare("heldout.mc_estimate", logLikelihoods(mixture, held), fixture.mc_estimate),
  ];
  if (fixture.gauss_hermite_20 !== undefined) {
    const rule = productRule(gaussHermite(20), q);
    const values = logLikelihoods(mixtureAt(problem, optimal, rule.nodes, rule.logWeights), held);
    checks.push(compare("heldout.gauss_hermite_20", values, fixture.gauss_hermite_20));
  }
  if (fixture.exact !== undefined) {
    const { nodes, logWeights } = lattice(q, LATTICE_HALF_WIDTH, LATTICE_STEPS[q - 1]);
    const values = logLikelihoods(mixtureAt(problem, optimal, nodes, logWeights), held);
    checks.push(compare("heldout.exact", values, fixture.exact, q === 3 ? 1e-4 : 1e-8));
  }
  return checks;
}

function mixtureAt(
  problem: PaperProblem,
  posterior: InducingPosterior,
  locations: Float64Array,
  logWeights: Float64Array,
): CoefficientMixture {
  const { parameters, p, q, d } = problem;
  const map = {
    kernel: parameters.kernel,
    mapDimension: q,
    numInducing: p,
    numBasis: d,
    inducingLocations: parameters.inducingLocations,
    inducingMean: posterior.mean,
    inducingCovariance: posterior.covariance,
  };
  return makeMixture({
    numBasis: d,
    mapDimension: q,
    locations,
    logWeights,
    ...mapMoments(map, locations, logWeights.length),
    meanCoefficients: parameters.meanCoefficients,
    noise: whiteNoise(parameters.noiseVariance),
  });
}

/** Nodes on [−H,H]^q with step Δ and log weights log(Δ^q N(x|0,I)), first dimension slowest. */
function lattice(q: number, half: number, step: number): { nodes: Float64Array; logWeights: Float64Array } {
  const per = Math.round((2 * half) / step) + 1;
  const total = per ** q;
  const nodes = new Float64Array(total * q);
  const logWeights = new Float64Array(total).fill(q * (Math.log((2 * half) / (per - 1)) - 0.5 * LOG_2PI));
  for (let g = 0; g < total; g++) {
    let rest = g;
    for (let c = q - 1; c >= 0; c--) {
      const k = rest % per;
      rest = (rest - k) / per;
      const x = -half + (2 * half * k) / (per - 1);
      nodes[g * q + c] = x;
      logWeights[g] -= 0.5 * x * x;
    }
  }
  return { nodes, logWeights };
}
