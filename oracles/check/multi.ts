/**
 * Checks two_markers.json: two markers and covariates. Statistics, and the mixed model of both markers with effects of covariates in the mean
 * by 25 rounds of generalised least squares and EM; the map is checked by multi-map.ts.
 */
import { grevilleAbscissae } from "../../packages/core/src/basis/bspline.ts";
import { type BasisStatistics, basisStatistics, unpackGram } from "../../packages/core/src/basis/statistics.ts";
import { markerCohort } from "../../packages/core/src/cohort/several-markers.ts";
import { factorCovariance } from "../../packages/core/src/models/linear/canonical.ts";
import { generalizedMean } from "../../packages/core/src/models/linear/covariate-effects.ts";
import { linearProblem, maximizeCovariance } from "../../packages/core/src/models/linear/em.ts";
import { type LinearParameters, markerOfRow } from "../../packages/core/src/models/linear/stack.ts";
import { withoutEffects } from "../../packages/core/src/models/mean.ts";
import { noiseLevel, whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { type Check, compare, fixtureBasis, fixtureMarkers, flatten, type Nested } from "./checker.ts";
import type { MultiMapFixture } from "./multi-fixture.ts";
import { checkMultiMap } from "./multi-map.ts";

type Row = readonly number[];

export interface MultiFixture {
  readonly data: readonly {
    readonly individual: number[];
    readonly time: number[];
    readonly value: number[];
    readonly knots: number[];
    readonly centre: number;
  }[];
  readonly z: readonly Row[];
  readonly greville: readonly Row[];
  readonly statistics: readonly { readonly n: Row; readonly G: Nested; readonly g: Nested; readonly yy: Row }[];
  readonly mlmm: {
    readonly trace: Row;
    readonly Sigma: Nested;
    readonly s2: Row;
    readonly coef: readonly Row[];
  };
}

/** The statistics of both markers, zeros where an individual lacks one. */
export function multiStatistics({ data }: MultiFixture): BasisStatistics[] {
  const cohort = fixtureMarkers(data);
  return data.map(({ knots, centre }, k) =>
    basisStatistics(markerCohort(cohort, k), fixtureBasis(knots, 2), { center: centre }),
  );
}

export function checkMulti(fixture: MultiMapFixture): Check[] {
  const statistics = multiStatistics(fixture);
  return [
    ...statistics.flatMap((own, k) => checkStatistics(fixture, own, k)),
    ...checkMixedModel(fixture, statistics),
    ...checkMultiMap(fixture, statistics),
  ];
}

function checkStatistics(fixture: MultiFixture, own: BasisStatistics, k: number): Check[] {
  const { n, G, g, yy } = fixture.statistics[k];
  const d = own.basis.numBasis;
  const grams = new Float64Array(own.numIndividuals * d * d);
  for (let i = 0; i < own.numIndividuals; i++) unpackGram(own, i, grams.subarray(i * d * d, (i + 1) * d * d));
  return [
    compare(`greville.${k}`, grevilleAbscissae(own.basis), fixture.greville[k]),
    compare(`statistics.${k}.n`, Float64Array.from(own.counts), n),
    compare(`statistics.${k}.G`, grams, G),
    compare(`statistics.${k}.g`, own.cross, g),
    compare(`statistics.${k}.yy`, own.sumSquares, yy),
  ];
}

function checkMixedModel({ z, mlmm }: MultiFixture, statistics: readonly BasisStatistics[]): Check[] {
  const rowMarker = markerOfRow(statistics);
  const D = rowMarker.length;
  const form = "level-and-rate";
  const covariates = { form, numCovariates: z[0].length, covariates: flatten(z) } as const;
  const v = statistics.map((own) => own.sumSquares.reduce((sum, s) => sum + s, 0) / own.numObservations);
  const factor = new Float64Array(D * D);
  rowMarker.forEach((k, j) => {
    factor[j * D + j] = Math.sqrt(v[k]);
  });
  const noises = v.map((variance) => whiteNoise(variance / 2));
  const centers = Float64Array.from(rowMarker, (k) => statistics[k].center);
  let parameters: LinearParameters = { meanCoefficients: centers, noises, factor, rank: D };
  let coefficients: readonly Float64Array[] = [];
  const trace = mlmm.trace.map(() => {
    ({ coefficients } = generalizedMean(statistics, parameters, "scalar", covariates));
    const moved = withoutEffects(
      statistics,
      { ...covariates, coefficients: coefficients.map((own) => own.slice(1)) },
      covariates.covariates,
    );
    const at = {
      ...parameters,
      meanCoefficients: Float64Array.from(rowMarker, (k) => statistics[k].center + coefficients[k][0]),
    };
    const problem = linearProblem(moved, "scalar");
    const expected = problem.expect(at);
    parameters = maximizeCovariance(problem, at, expected);
    return expected.logLikelihood;
  });
  return [
    compare("mlmm.trace", trace, mlmm.trace),
    compare("mlmm.Sigma", factorCovariance(parameters.factor, D, D), mlmm.Sigma),
    compare("mlmm.s2", parameters.noises.map(noiseLevel), mlmm.s2),
    ...mlmm.coef.map((expected, k) => compare(`mlmm.coef.${k}`, coefficients[k], expected)),
  ];
}
