/** The linear kernel with q(u) a point mass is the reduced-rank model of the paper's §2: w_i = F x_i. */
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { bandOf } from "../../../../../test/local-problem.ts";
import { bendingCohort, cohortStatistics } from "../../../../../test/paper-problem.ts";
import { residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { identity, multiply, transpose } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import { createEngine, loadIndividual } from "./engine.ts";
import { createPlace, unpackPlace } from "./state.ts";

describe("the linear kernel", () => {
  it("has FPCA's posterior as local optimum and its log-likelihood as objective, when q(u) is a point mass at F'", () => {
    for (const [seed, q, method] of [
      [1, 1, "newton"],
      [2, 2, "newton"],
      [3, 3, "newton"],
      [4, 2, "scg"],
    ] as const) {
      const statistics = cohortStatistics(bendingCohort(10, seed));
      const d = statistics.basis.numBasis;
      const random = createRandom(seed);
      const F = Float64Array.from({ length: d * q }, () => 4 * random.normal()); // [d,q]
      const [mu, s2, alpha] = [70, 5, 1.7];
      const meanCoefficients = new Float64Array(d).fill(mu);
      const engine = createEngine(
        statistics,
        {
          kernel: { kind: "linear", signalVariance: alpha, jitter: 0 },
          inducingLocations: identity(q),
          numInducing: q,
          mapDimension: q,
          numBasis: d,
          meanCoefficients,
          noiseVariance: s2,
        },
        { diagonal: false, priors: {}, sharedLengthscale: true },
      );
      // U = F' [q,d], A = K⁻¹U, T_kl = sym(a_k a_l').
      const A = transpose(F, d, q).map((v) => v / alpha);
      const T = new Float64Array(d * d * q * q);
      for (let k = 0; k < d; k++) {
        for (let l = 0; l < d; l++) {
          for (let j = 0; j < q; j++) {
            for (let i = 0; i < q; i++) {
              const both = A[j * d + k] * A[i * d + l] + A[i * d + k] * A[j * d + l];
              T[((k * d + l) * q + j) * q + i] = 0.5 * both;
            }
          }
        }
      }
      engine.solver.setGlobal(A, bandOf(T, statistics, q), engine.factor.inverse, s2);
      const P = engine.numLocal;
      const G = new Float64Array(d * d);
      const g = new Float64Array(d);
      for (let i = 0; i < statistics.numIndividuals; i++) {
        const theta = new Float64Array(P);
        theta.fill(-0.5, q, 2 * q);
        loadIndividual(engine, i);
        const J = engine.solver.solve(theta, 0, { method, gradientTolerance: 1e-10, maxEvaluations: 500 });
        const place = createPlace(q);
        unpackPlace(theta, 0, false, place);
        const { m, S } = place;
        // FPCA: C = (I + F'GF/σ²)⁻¹, x̂ = C F'g/σ², log p(y) by Woodbury.
        unpackGram(statistics, i, G);
        const rho = residualStatistics(statistics, i, meanCoefficients, g);
        const FT = transpose(F, d, q);
        const M = multiply(multiply(FT, G, q, d, d), F, q, d, q).map((v) => v / s2);
        for (let c = 0; c < q; c++) M[c * q + c] += 1;
        const factor = cholesky(M, q);
        const C = invertFromCholesky(factor, q);
        const b = multiply(FT, g, q, d, 1).map((v) => v / s2);
        const x = multiply(C, b, q, q, 1);
        const n = statistics.counts[i];
        const fitted = x.reduce((s, v, c) => s + v * b[c], 0);
        const logDensity = -0.5 * (n * (LOG_2PI + Math.log(s2)) + logDetFromCholesky(factor, q) + rho / s2 - fitted);
        expect(relativeError(m, x)).toBeLessThan(1e-8);
        expect(relativeError(S, C)).toBeLessThan(1e-8);
        expect(Math.abs(J - logDensity)).toBeLessThan(1e-8 * Math.abs(logDensity));
      }
    }
  });
});
