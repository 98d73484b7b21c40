/**
 * fixtures/fit.json: whole fits from the published start. The bound at the start must agree to 1e-7, fitted bounds must
 * be within 0.5 % of the reference ones or above them.
 */

import { markerModel } from "../../packages/core/src/models/fit.ts";
import { fitLmmStatistics } from "../../packages/core/src/models/linear/lmm.ts";
import { linearStart } from "../../packages/core/src/models/linear/start.ts";
import type { MapStart } from "../../packages/core/src/models/map-start.ts";
import type { DtmPaperOptions } from "../../packages/core/src/models/paper/options.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { fitDtmPaperStatistics } from "../../test/paper-fit.ts";
import {
  atLeast,
  type Check,
  type Checker,
  compare,
  type FixtureData,
  fixtureStatistics,
  flatten,
  type Nested,
} from "./checker.ts";

interface FitResults {
  readonly elbo_init: number;
  readonly elbo_coordinate: number;
  readonly elbo_lbfgs: number;
  readonly elbo_lbfgs_hyper: number;
}

interface FitFixture {
  readonly data: FixtureData;
  readonly q: number;
  readonly p: number;
  readonly ell: number;
  readonly sd: number;
  readonly eps: number;
  readonly Z: readonly (readonly number[])[];
  readonly lmm: {
    readonly mu: number;
    readonly s2: number;
    readonly Sigma: Nested;
    readonly loglik: number;
    readonly iterations: number;
    readonly tol: number;
  };
  readonly alpha: number;
  readonly x_init: Nested;
  readonly results: { readonly [kind: string]: FitResults };
}

const WITHIN = 0.005;

/** Checks a file of the form of fixtures/fit.json. */
export const checkFit: Checker = (fixture: FitFixture) => {
  const statistics = fixtureStatistics(fixture.data);
  const { q, lmm } = fixture;
  const em = { algorithm: "em", maxEmIterations: lmm.iterations, emTolerance: lmm.tol } as const;
  const model = fitLmmStatistics([statistics], { ...em, mapDimension: q });
  const own = linearStart([statistics], { ...em, mapDimension: q });
  const checks = [
    compare("lmm.mu", markerModel(model).mean.coefficients[0], lmm.mu),
    compare("lmm.s2", markerModel(model).noise.variance, lmm.s2),
    compare("lmm.Sigma", own.markers[0].covariance, lmm.Sigma),
    compare("lmm.loglik", model.record.trace[model.record.trace.length - 1], lmm.loglik),
    compare("x_init", own.scores!, fixture.x_init),
  ];
  // The fits start from the file's own numbers, so that they do not inherit rounding of the linear start.
  const start: MapStart = {
    ...own,
    markers: [
      {
        mean: { kind: "scalar", coefficients: new Float64Array(statistics.basis.numBasis).fill(lmm.mu) },
        noise: whiteNoise(lmm.s2),
        covariance: flatten(lmm.Sigma),
      },
    ],
    scores: flatten(fixture.x_init),
  };
  const common: DtmPaperOptions = {
    mapDimension: q as 1 | 2 | 3,
    startPlaces: "scores",
    startSd: fixture.sd,
    inducing: { placement: "given", locations: fixture.Z },
    signalVariance: fixture.alpha,
    lengthscale: fixture.ell,
    jitter: fixture.eps,
  };
  for (const [kind, expected] of Object.entries(fixture.results)) {
    const diagonalLocations = kind === "diag";
    const runFit = (options: DtmPaperOptions) =>
      fitDtmPaperStatistics(statistics, start, { ...common, diagonalLocations, ...options }).model;
    const batch = runFit({ schedule: "batch" });
    const coordinate = runFit({ schedule: "coordinate" });
    const learned = runFit({ schedule: "batch", learn: true, maxIterations: 300 });
    const path = `results.${kind}`;
    checks.push(
      compare(`${path}.elbo_init (batch)`, batch.record.trace[0], expected.elbo_init, 1e-7),
      compare(`${path}.elbo_init (coordinate)`, coordinate.record.trace[0], expected.elbo_init, 1e-7),
      near(`${path}.elbo_coordinate`, coordinate.elbo.total, expected.elbo_coordinate),
      near(`${path}.elbo_lbfgs`, batch.elbo.total, expected.elbo_lbfgs),
      near(`${path}.elbo_lbfgs_hyper`, learned.elbo.total, expected.elbo_lbfgs_hyper),
    );
  }
  return checks;
};

/** At most 0.5 % below; above is fine. */
function near(name: string, actual: number, expected: number): Check {
  return atLeast(name, actual, expected, WITHIN * Math.abs(expected));
}
