import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { designMatrix } from "../../basis/bspline.ts";
import { onlyMarker } from "../../cohort/cohort.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { bilinear, identity, multiply, multiplyVector, transpose } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import { conditionalResidual, individualStatistics, packedStride, residualRoot } from "./individual-statistics.ts";

const sizes = [
  { numBasis: 5, degree: 2 },
  { numBasis: 3, degree: 1 },
  { numBasis: 7, degree: 3 },
];

/** A random covariance of rank r, [d,d]. */
function randomCovariance(d: number, r: number, seed: number): Float64Array {
  const random = createRandom(seed);
  const F = Float64Array.from({ length: d * r }, () => random.normal());
  return multiply(F, transpose(F, d, r), d, r, d);
}

describe("individualStatistics", () => {
  for (const size of sizes) {
    for (const rank of [size.numBasis, 2, 0]) {
      it(`equals the formulas with V formed, d = ${size.numBasis}, Σ_e of rank ${rank}`, () => {
        const { cohort, basis, statistics } = randomCohort({ numIndividuals: 6, seed: 4, ...size });
        const d = basis.numBasis;
        const mean = Float64Array.from({ length: d }, (_, k) => 19 + k / 3);
        const noiseVariance = 0.7;
        const covariance = rank > 0 ? randomCovariance(d, rank, 5) : new Float64Array(d * d);
        const model = { mean, noise: whiteNoise(noiseVariance), residualRoot: residualRoot(covariance, d) };
        for (let i = 0; i < 6; i++) {
          const { constant: c, row: packed } = individualStatistics(statistics, i, model);
          expect(packed.length).toBe(packedStride(d));
          const first = onlyMarker(cohort).offsets[i];
          const n = onlyMarker(cohort).offsets[i + 1] - first;
          const B = designMatrix(basis, onlyMarker(cohort).times.subarray(first, first + n));
          const fitted = multiplyVector(B, mean, n, d);
          const r = Float64Array.from({ length: n }, (_, j) => onlyMarker(cohort).values[first + j] - fitted[j]);
          const V = multiply(multiply(B, covariance, n, d, d), transpose(B, n, d), n, d, n);
          for (let j = 0; j < n; j++) V[j * n + j] += noiseVariance;
          const L = cholesky(V, n);
          const inverse = invertFromCholesky(L, n);
          const BV = multiply(transpose(B, n, d), inverse, d, n, n);
          const gt = multiplyVector(BV, r, d, n);
          const Gt = multiply(BV, B, d, n, d);
          const expected = new Float64Array(packed.length);
          expected.set(gt);
          let e = d;
          for (let k = 0; k < d; k++) for (let l = k; l < d; l++) expected[e++] = Gt[k * d + l];
          expect(relativeError(packed, expected)).toBeLessThan(1e-10);
          const logDensity = -0.5 * (n * LOG_2PI + logDetFromCholesky(L, n) + bilinear(r, inverse, r));
          expect(Math.abs(c - logDensity)).toBeLessThan(1e-9 * Math.abs(logDensity));
        }
      });
    }
  }

  it("without residual effect equals a residual effect of variance zero", () => {
    const { basis, statistics } = randomCohort({ numIndividuals: 3 });
    const d = basis.numBasis;
    const mean = new Float64Array(d).fill(20);
    const zero = residualRoot(new Float64Array(d * d), d);
    for (let i = 0; i < 3; i++) {
      const a = individualStatistics(statistics, i, { mean, noise: whiteNoise(2), residualRoot: null });
      const b = individualStatistics(statistics, i, { mean, noise: whiteNoise(2), residualRoot: zero });
      expect(relativeError(a.row, b.row)).toBeLessThan(1e-14);
      expect(a.constant).toBeCloseTo(b.constant, 10);
    }
  });
});

describe("conditionalResidual", () => {
  it("is the Gaussian conditional of e given f and y", () => {
    const { basis, statistics } = randomCohort({ numIndividuals: 4, seed: 8 });
    const d = basis.numBasis;
    const covariance = randomCovariance(d, d, 2);
    const root = residualRoot(covariance, d);
    const sigma2 = 0.3;
    const mean = new Float64Array(d).fill(20);
    for (let i = 0; i < 4; i++) {
      const ws = individualStatistics(statistics, i, { mean, noise: whiteNoise(sigma2), residualRoot: root });
      const { C, T, h } = conditionalResidual(ws);
      // C = (Σ_e⁻¹ + G/σ²)⁻¹, T = CG/σ², h = Cg/σ².
      const precision = invertFromCholesky(cholesky(covariance, d), d).map((v, e) => v + ws.G[e] / sigma2);
      const expected = invertFromCholesky(cholesky(precision, d), d);
      expect(relativeError(C, expected)).toBeLessThan(1e-8);
      expect(
        relativeError(
          T,
          multiply(expected, ws.G, d, d, d).map((v) => v / sigma2),
        ),
      ).toBeLessThan(1e-8);
      expect(
        relativeError(
          h,
          multiplyVector(expected, ws.g, d, d).map((v) => v / sigma2),
        ),
      ).toBeLessThan(1e-8);
    }
  });
});

describe("residualRoot", () => {
  it("is a lower triangular root, also of singular and of zero matrices", () => {
    for (const rank of [5, 2, 1]) {
      const A = randomCovariance(5, rank, rank);
      const L = residualRoot(A, 5);
      expect(relativeError(multiply(L, transpose(L, 5, 5), 5, 5, 5), A)).toBeLessThan(1e-7);
      for (let k = 0; k < 5; k++) for (let l = k + 1; l < 5; l++) expect(L[k * 5 + l]).toBe(0);
    }
    expect(residualRoot(new Float64Array(9), 3).every((v) => v === 0)).toBe(true);
    expect(residualRoot(identity(2, 4), 2)).toEqual(identity(2, 2));
  });
});
