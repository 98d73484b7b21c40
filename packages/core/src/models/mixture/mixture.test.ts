import { CholeskyDecomposition, Matrix } from "ml-matrix";
import { describe, expect, it } from "vitest";
import { designMatrix } from "../../basis/bspline.ts";
import { bsplineBasis } from "../../basis/knots.ts";
import { basisStatistics, mapColumns } from "../../basis/statistics.ts";
import { makeCohort, numIndividuals, onlyMarker } from "../../cohort/cohort.ts";
import { noiseLevel, whiteNoise } from "../../noise/noise.ts";
import { createRandom } from "../../numeric/random.ts";
import { logLikelihoods } from "./conditioner.ts";
import { makeMixture } from "./mixture.ts";
import { conditionMixture, individualObservations } from "./posterior.ts";

const d = 5;
const q = 2;

/** A random mixture of `numNodes` components and a small cohort whose values are far from zero. */
function example(numNodes: number, seed: number) {
  const random = createRandom(seed);
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < 8; i++) {
    for (let j = 0; j <= i % 7; j++) {
      ids.push(`p${i}`);
      times.push(10 * random.uniform());
      values.push(80 + 5 * random.normal());
    }
  }
  const cohort = makeCohort({ ids, times, values });
  const statistics = basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times));
  const covariances = new Float64Array(numNodes * d * d);
  for (let g = 0; g < numNodes; g++) {
    const R = Float64Array.from({ length: d * d }, () => random.normal());
    for (let a = 0; a < d; a++) {
      for (let b = 0; b < d; b++) {
        for (let c = 0; c < d; c++) covariances[(g * d + a) * d + b] += R[a * d + c] * R[b * d + c];
      }
    }
  }
  const raw = Float64Array.from({ length: numNodes }, () => 0.1 + random.uniform());
  const total = raw.reduce((s, w) => s + w, 0);
  const mixture = makeMixture({
    numBasis: d,
    mapDimension: q,
    locations: Float64Array.from({ length: numNodes * q }, () => random.normal()),
    logWeights: raw.map((w) => Math.log(w / total)),
    means: Float64Array.from({ length: numNodes * d }, () => 3 * random.normal()),
    covariances,
    relativeJitter: 0,
    meanCoefficients: new Float64Array(d).fill(79),
    noise: whiteNoise(2.5),
  });
  return { cohort, statistics, mixture, covariances };
}

/** log N(y | mean, V) and the conditional moments of w, from full n×n matrices. */
function dense(B: Matrix, y: Matrix, mean: Matrix, S: Matrix, s2: number) {
  const n = y.rows;
  const half = B.mmul(S).mmul(B.transpose());
  const V = Matrix.add(half, half.transpose()).mul(0.5).add(Matrix.eye(n).mul(s2));
  const residual = Matrix.sub(y, B.mmul(mean).add(Matrix.ones(n, 1).mul(79)));
  const chol = new CholeskyDecomposition(V);
  const solved = chol.solve(residual);
  let logDet = 0;
  for (let k = 0; k < n; k++) logDet += 2 * Math.log(chol.lowerTriangularMatrix.get(k, k));
  const logDensity = -0.5 * (n * Math.log(2 * Math.PI) + logDet + residual.transpose().mmul(solved).get(0, 0));
  const gain = S.mmul(B.transpose());
  return {
    logDensity,
    mean: Matrix.add(mean, gain.mmul(solved)),
    covariance: Matrix.sub(S, gain.mmul(chol.solve(gain.transpose()))),
  };
}

describe("a mixture of Gaussians over coefficients", () => {
  it("gives the log-likelihood and posterior of full n×n covariances", () => {
    const { cohort, statistics, mixture, covariances } = example(4, 3);
    const B = designMatrix(statistics.basis, onlyMarker(cohort).times);
    const all = logLikelihoods(mixture, statistics);
    for (let i = 0; i < numIndividuals(cohort); i++) {
      const [start, end] = [onlyMarker(cohort).offsets[i], onlyMarker(cohort).offsets[i + 1]];
      const Bi = Matrix.from1DArray(end - start, d, Array.from(B.subarray(start * d, end * d)));
      const yi = Matrix.columnVector(Array.from(onlyMarker(cohort).values.subarray(start, end)));
      const nodes = Array.from({ length: mixture.numNodes }, (_, g) =>
        dense(
          Bi,
          yi,
          Matrix.columnVector(Array.from(mixture.means.subarray(g * d, (g + 1) * d))),
          Matrix.from1DArray(d, d, Array.from(covariances.subarray(g * d * d, (g + 1) * d * d))),
          noiseLevel(mixture.noise),
        ),
      );
      const joint = nodes.map((node, g) => mixture.logWeights[g] + node.logDensity);
      const largest = Math.max(...joint);
      const expected = largest + Math.log(joint.reduce((s, v) => s + Math.exp(v - largest), 0));
      expect(all[i]).toBeCloseTo(expected, 9);

      const observations = individualObservations(mixture, statistics, i);
      const posterior = conditionMixture(mixture, observations, 0);
      expect(posterior.logLikelihood).toBeCloseTo(expected, 9);
      for (let g = 0; g < mixture.numNodes; g++) {
        expect(posterior.weights[g]).toBeCloseTo(Math.exp(joint[g] - expected), 9);
        for (let a = 0; a < d; a++) {
          expect(posterior.means[g * d + a]).toBeCloseTo(nodes[g].mean.get(a, 0), 8);
          for (let b = 0; b < d; b++) {
            expect(posterior.covariances[(g * d + a) * d + b]).toBeCloseTo(nodes[g].covariance.get(a, b), 8);
          }
        }
      }
    }
  });

  it("returns its prior for an individual without observations", () => {
    const { statistics, mixture } = example(3, 5);
    const none = mapColumns(statistics, (column) => column.map(() => 0));
    const posterior = conditionMixture(mixture, individualObservations(mixture, none, 0), 0);
    expect(posterior.logLikelihood).toBeCloseTo(0, 12);
    for (let g = 0; g < 3; g++) expect(posterior.weights[g]).toBeCloseTo(Math.exp(mixture.logWeights[g]), 12);
    for (let k = 0; k < 3 * d; k++) expect(posterior.means[k]).toBeCloseTo(mixture.means[k], 12);
  });

  it("accepts singular covariances", () => {
    const { statistics, mixture } = example(1, 7);
    const flat = makeMixture({ ...mixture, covariances: new Float64Array(d * d), relativeJitter: 0 });
    for (const v of logLikelihoods(flat, statistics)) expect(Number.isFinite(v)).toBe(true);
  });
});
