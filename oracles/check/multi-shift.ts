/** Block `shift` of two_markers.json: covariates shift places. */

import type { BasisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { givenNodes } from "../../packages/core/src/models/dtm/nodes.ts";
import {
  momentsOfPowers,
  placePriors,
  shiftInformation,
  shiftScores,
} from "../../packages/core/src/models/dtm/place-shift.ts";
import { nodePowers } from "../../packages/core/src/models/dtm/starting-places.ts";
import { multiplyVector } from "../../packages/core/src/numeric/matrix.ts";
import { type Check, compare, flatten } from "./checker.ts";
import { FIRST_DISTANCE, type MultiMapFixture, problemOf } from "./multi-fixture.ts";
import { expectation, type MultiProblem, type MultiState, safeguardedStep, solveMaps } from "./multi-problem.ts";

export function checkShift(fixture: MultiMapFixture, statistics: readonly BasisStatistics[]): Check[] {
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
