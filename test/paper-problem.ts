/** Small random problems of the published model, for tests. */

import { bsplineBasis } from "../packages/core/src/basis/knots.ts";
import { type BasisStatistics, basisStatistics } from "../packages/core/src/basis/statistics.ts";
import { type Cohort, makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import type { Kernel } from "../packages/core/src/models/gp/kernel.ts";
import type { MapStart } from "../packages/core/src/models/map-start.ts";
import type { InducingPosterior } from "../packages/core/src/models/paper/inducing.ts";
import { type GlobalParameters, numLocalParameters } from "../packages/core/src/models/paper/state.ts";
import { whiteNoise } from "../packages/core/src/noise/noise.ts";
import { choleskyInPlace, logDetFromCholesky } from "../packages/core/src/numeric/cholesky.ts";
import { createRandom, type Random } from "../packages/core/src/numeric/random.ts";

/** A cohort of curves that bend in two ways, with noise; ids P000, P001, ... */
export function bendingCohort(m: number, seed: number, mostVisits = 6): Cohort {
  const random = createRandom(seed);
  const [ids, times, values]: [string[], number[], number[]] = [[], [], []];
  for (let i = 0; i < m; i++) {
    const n = 1 + random.integer(mostVisits);
    const [level, slope] = [random.normal(), random.normal()];
    for (let j = 0; j < n; j++) {
      const t = 10 * random.uniform();
      ids.push(`P${String(i).padStart(4, "0")}`);
      times.push(t);
      values.push(70 + 8 * level + 5 * slope * Math.sin(0.4 * t + 0.5 * level) + 2 * random.normal());
    }
  }
  return makeCohort({ ids, times, values });
}

export function cohortStatistics(cohort: Cohort, numBasis = 5, degree = 2): BasisStatistics {
  return basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times, { numBasis, degree }));
}

/** A random positive definite matrix [n,n] with the given scale. */
export function randomCovariance(random: Random, n: number, scale: number): Float64Array {
  const L = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) L[i * n + j] = i === j ? 0.5 + random.uniform() : 0.4 * random.normal();
  const S = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      for (let k = 0; k <= Math.min(i, j); k++) S[i * n + j] += scale * L[i * n + k] * L[j * n + k];
    }
  }
  return S;
}

export interface ProblemOptions {
  readonly q: number;
  readonly p: number;
  readonly m: number;
  readonly numBasis?: number;
  readonly degree?: number;
  readonly diagonal?: boolean;
  readonly kernel?: "rbf" | "ard" | "linear";
  readonly jitter?: number;
}

/** Random statistics, parameters, places and q(v). */
export function randomProblem(seed: number, options: ProblemOptions) {
  const { q, p, m, numBasis: d = 4, degree = 2, diagonal = false, jitter = 1e-6 } = options;
  const random = createRandom(seed);
  const statistics = cohortStatistics(bendingCohort(m, seed + 1000), d, degree);
  const signalVariance = 20 * Math.exp(0.3 * random.normal());
  const shared = Math.exp(0.2 * random.normal());
  const kernel: Kernel =
    options.kernel === "linear"
      ? { kind: "linear", signalVariance, jitter: Math.max(jitter, 1e-3) }
      : {
          kind: "rbf",
          signalVariance,
          jitter,
          lengthscales: Float64Array.from({ length: q }, () =>
            options.kernel === "ard" ? Math.exp(0.3 * random.normal()) : shared,
          ),
        };
  const parameters: GlobalParameters = {
    kernel,
    inducingLocations: Float64Array.from({ length: p * q }, () => 1.3 * random.normal()),
    numInducing: p,
    mapDimension: q,
    numBasis: d,
    meanCoefficients: new Float64Array(d).fill(70 + random.normal()),
    noiseVariance: 4 * Math.exp(0.2 * random.normal()),
  };
  const P = numLocalParameters(q, diagonal);
  const theta = new Float64Array(m * P);
  for (let i = 0; i < m; i++) {
    for (let k = 0; k < P; k++)
      theta[i * P + k] = k < q ? random.normal() : k < 2 * q ? -1 + 0.5 * random.normal() : 0.2 * random.normal();
  }
  const dp = d * p;
  const covariance = randomCovariance(random, dp, 0.3 / p);
  const L = covariance.slice();
  choleskyInPlace(L, dp);
  const posterior: InducingPosterior = {
    mean: Float64Array.from({ length: dp }, () => random.normal()),
    covariance,
    logDet: logDetFromCholesky(L, dp),
  };
  return { random, statistics, parameters, theta, diagonal, posterior, p, q, d, m, P };
}

/** A crude start without the linear models: places are the level and trend of each individual's residuals. */
export function crudeStart(statistics: BasisStatistics, q: number, seed = 3): MapStart {
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const random = createRandom(seed);
  const scores = new Float64Array(m * q);
  let variance = 0;
  for (let i = 0; i < m; i++) {
    variance += statistics.sumSquares[i];
    let [level, trend] = [0, 0];
    for (let k = 0; k < d; k++) {
      level += statistics.cross[i * d + k];
      trend += (k - (d - 1) / 2) * statistics.cross[i * d + k];
    }
    const raw = [level / statistics.counts[i], trend / statistics.counts[i], random.normal()];
    for (let c = 0; c < q; c++) scores[i * q + c] = raw[c] / 8;
  }
  variance /= statistics.numObservations;
  const covariance = new Float64Array(d * d);
  for (let k = 0; k < d; k++) covariance[k * d + k] = variance;
  const locationCovariance = new Float64Array(m * q * q);
  for (let i = 0; i < m; i++) for (let c = 0; c < q; c++) locationCovariance[(i * q + c) * q + c] = 0.2;
  return {
    markers: [
      {
        mean: { kind: "scalar", coefficients: new Float64Array(d).fill(statistics.center) },
        noise: whiteNoise(0.1 * variance),
        covariance,
      },
    ],
    scores,
    locationMean: scores,
    locationCovariance,
    warnings: [],
  };
}
