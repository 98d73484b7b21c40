import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { multiplyVector } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { scaledInverse } from "../numeric/semidefinite.ts";
import { jackknifeCovariance } from "./jackknife.ts";

/** Least squares of several values an individual: X_i [n_i,2], y_i, noise of variance 1 times `scale(i)`. */
function problem(m: number, seed: number, scale: (i: number, x: number) => number) {
  const random = createRandom(seed);
  const S = 2;
  const individuals = Array.from({ length: m }, (_, i) => {
    const x = random.normal();
    const n = 1 + random.integer(3);
    const rows = Array.from({ length: n }, () => ({ X: [1, x], y: scale(i, x) * random.normal() }));
    const information = new Float64Array(S * S);
    const cross = new Float64Array(S);
    for (const { X, y } of rows) {
      for (let a = 0; a < S; a++) {
        cross[a] += X[a] * y;
        for (let b = 0; b < S; b++) information[a * S + b] += X[a] * X[b];
      }
    }
    return { information, cross };
  });
  const sum = (left: number) => {
    const [I, c] = [new Float64Array(S * S), new Float64Array(S)];
    individuals.forEach((own, i) => {
      if (i === left) return;
      own.information.forEach((v, e) => {
        I[e] += v;
      });
      own.cross.forEach((v, e) => {
        c[e] += v;
      });
    });
    return { I, estimate: multiplyVector(scaledInverse(I, S), c, S, S) };
  };
  const { I, estimate } = sum(-1);
  const evidenceOf = (i: number) => {
    const { information, cross } = individuals[i];
    const explained = multiplyVector(information, estimate, S, S);
    return { score: cross.map((v, e) => v - explained[e]), information };
  };
  return { m, S, I, estimate, evidenceOf, without: (i: number) => sum(i).estimate };
}

describe("jackknife", () => {
  it("is made of the moves of estimates without one individual, and of those that count it as before", () => {
    const { m, S, I, estimate, evidenceOf, without } = problem(30, 1, () => 1);
    const expected = new Float64Array(S * S);
    for (let i = 0; i < m; i++) {
      const moved = without(i).map((v, e) => v - estimate[e]);
      const still = multiplyVector(scaledInverse(I, S), evidenceOf(i).score, S, S).map((v) => -v);
      for (let e = 0; e < S * S; e++) {
        const [a, b] = [Math.floor(e / S), e % S];
        expected[e] += 0.5 * (moved[a] * still[b] + still[a] * moved[b]);
      }
    }
    expect(relativeError(jackknifeCovariance(m, evidenceOf, I), expected)).toBeLessThan(1e-10);
  });

  it("agrees with the information where the model is right, and is larger where noise grows with the covariate", () => {
    const ratio = (scale: (i: number, x: number) => number) => {
      const { m, S, I, evidenceOf } = problem(4000, 3, scale);
      return jackknifeCovariance(m, evidenceOf, I)[S + 1] / scaledInverse(I, S)[S + 1];
    };
    // Σ s_i²/I_i of 4,000 individuals: a standard error of about 0.04.
    expect(Math.abs(ratio(() => 1) - 1)).toBeLessThan(0.12);
    // Noise of sd |x|: E x⁴/E x² = 3 for a normal x.
    expect(ratio((_, x) => Math.abs(x))).toBeGreaterThan(2.4);
  });

  it("is finite where one individual alone tells a parameter", () => {
    const evidence = [0, 1, 2, 3].map((i) => ({
      score: Float64Array.of(0.1 * (i - 1.5), 0),
      information: Float64Array.of(1, 0, 0, i === 3 ? 1 : 0),
    }));
    const V = jackknifeCovariance(4, (i) => evidence[i], Float64Array.of(4, 0, 0, 1));
    // The others have information 3 on the first parameter, all 4: Σ (s_i/3)(s_i/4).
    expect([...V]).toEqual([expect.closeTo((0.15 ** 2 + 0.05 ** 2) * (2 / 12), 12), 0, 0, 0]);
  });
});
