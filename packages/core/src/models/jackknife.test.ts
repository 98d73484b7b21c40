import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { multiplyVector } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { scaledInverse } from "../numeric/semidefinite.ts";
import { addInformations, jackknifeCovariance } from "./jackknife.ts";

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
  it("is made of the moves of estimates without one individual, where there is no map", () => {
    const { m, S, estimate, evidenceOf, without } = problem(30, 1, () => 1);
    const expected = new Float64Array(S * S);
    for (let i = 0; i < m; i++) {
      const moved = without(i).map((v, e) => v - estimate[e]);
      for (let e = 0; e < S * S; e++) expected[e] += (m / (m - S)) * moved[Math.floor(e / S)] * moved[e % S];
    }
    const V = jackknifeCovariance(m, evidenceOf, addInformations(m, evidenceOf, S));
    expect(relativeError(V, expected)).toBeLessThan(1e-10);
  });

  it("agrees with the information where the model is right, and is larger where noise grows with the covariate", () => {
    const ratio = (scale: (i: number, x: number) => number) => {
      const { m, S, I, evidenceOf } = problem(4000, 3, scale);
      return jackknifeCovariance(m, evidenceOf, addInformations(m, evidenceOf, S))[S + 1] / scaledInverse(I, S)[S + 1];
    };
    // Σ s_i²/I_i of 4,000 individuals: a standard error of about 0.04.
    expect(Math.abs(ratio(() => 1) - 1)).toBeLessThan(0.12);
    // Noise of sd |x|: E x⁴/E x² = 3 for a normal x.
    expect(ratio((_, x) => Math.abs(x))).toBeGreaterThan(2.4);
  });

  it("agrees with the information that a map leaves where scores vary by that with the map known", () => {
    const { m, S, evidenceOf } = problem(4000, 5, () => 1);
    // Half of what each says of the first parameter, and a third of what of the second, is lost to a map that all share.
    const beside = (i: number) => {
      const { score, information: withMapKnown } = evidenceOf(i);
      const information = withMapKnown.map((v, e) => v * [1 / 2, Math.sqrt(1 / 3), Math.sqrt(1 / 3), 2 / 3][e]);
      return { score, information, withMapKnown };
    };
    const sums = addInformations(m, beside, S);
    const V = jackknifeCovariance(m, beside, sums);
    const expected = scaledInverse(sums.information, S);
    for (const e of [0, S + 1]) expect(Math.abs(V[e] / expected[e] - 1)).toBeLessThan(0.12);
  });

  it("is finite where one individual alone tells a parameter", () => {
    const evidence = [0, 1, 2, 3].map((i) => ({
      score: Float64Array.of(0.1 * (i - 1.5), 0),
      information: Float64Array.of(1, 0, 0, i === 3 ? 1 : 0),
    }));
    const V = jackknifeCovariance(
      4,
      (i) => evidence[i],
      addInformations(4, (i) => evidence[i], 2),
    );
    // The others have information 3 on the first parameter: 4/2 Σ (s_i/3)².
    expect([...V]).toEqual([expect.closeTo(2 * (0.15 ** 2 + 0.05 ** 2) * (2 / 9), 12), 0, 0, 0]);
  });
});
