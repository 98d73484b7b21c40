import { describe, expect, it } from "vitest";
import { expectGradient, relativeError } from "../../../../test/expect-gradient.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../numeric/cholesky.ts";
import { bilinear, multiply, multiplyTransposed, transpose } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { LOG_2PI } from "../numeric/special.ts";
import { grossStep } from "./gross.ts";
import {
  averagedStatistics,
  expectedSquares,
  levelDensities,
  levelPosterior,
  levelSlopes,
  levelsOf,
  rotateEffect,
} from "./levels.ts";
import { drawNoise, levelNoise, noiseLevels, whiteNoise } from "./noise.ts";
import { describeNoise } from "./words.ts";

const random = createRandom(9);
const d = 3;
const n = 5;
const B = Float64Array.from({ length: n * d }, () => random.normal());
const r = Float64Array.from({ length: n }, () => 2 * random.normal());
const L = Float64Array.from({ length: d * d }, (_, e) => (e % d <= Math.floor(e / d) ? random.normal() : 0));
const Bt = transpose(B, n, d);
const own = {
  G: multiply(Bt, B, d, n, d),
  g: multiply(Bt, r, d, n, 1),
  rho: r.reduce((sum, v) => sum + v * v, 0),
};
const rotated = rotateEffect(own.G, L, d);
const tau = 0.4;

/** V = τBLL'B' + sI [n,n], factored. */
function denseFactor(s: number): Float64Array {
  const BL = multiply(B, L, n, d, d);
  const V = multiplyTransposed(BL, BL, n, d, n).map((v, e) => tau * v + (Math.floor(e / n) === e % n ? s : 0));
  return cholesky(V, n);
}

describe("levels of noise", () => {
  const levels = levelsOf(1.5, 0.7);

  it("have weights that sum to one, and one level for ω = 0", () => {
    expect(levels.logWeights.reduce((sum, v) => sum + Math.exp(v), 0)).toBeCloseTo(1, 14);
    expect(levels.variances[16]).toBe(1.5);
    expect([...levelsOf(1.5, 0).variances]).toEqual([1.5]);
    expect(levelNoise(2, 0)).toEqual(whiteNoise(2));
  });

  it("have densities of the dense normal at every level", () => {
    const evidence = { n, logDet: 0, delta: rotated.delta, ...expectedSquares(own, rotated) };
    const found = levelDensities(evidence, levels, tau);
    const expected = levels.variances.map((s) => {
      const M = denseFactor(s);
      return -0.5 * (n * LOG_2PI + logDetFromCholesky(M, n) + bilinear(r, invertFromCholesky(M, n), r));
    });
    expect(relativeError(found, expected)).toBeLessThan(1e-11);
  });

  it("average B'V⁻¹B and B'V⁻¹r over their weights", () => {
    const weights = levels.logWeights.map(Math.exp);
    const { gram, cross } = averagedStatistics(own, rotated, levels, tau, weights);
    const [G, g] = [new Float64Array(d * d), new Float64Array(d)];
    levels.variances.forEach((s, k) => {
      const inverse = invertFromCholesky(denseFactor(s), n);
      const BV = multiply(Bt, inverse, d, n, n);
      multiply(BV, B, d, n, d).forEach((v, e) => {
        G[e] += weights[k] * v;
      });
      multiply(BV, r, d, n, 1).forEach((v, e) => {
        g[e] += weights[k] * v;
      });
    });
    expect(relativeError(gram, G)).toBeLessThan(1e-12);
    expect(relativeError(cross, g)).toBeLessThan(1e-12);
  });

  it("have slopes of log Σ p exp Q by log σ², log τ and log ω", () => {
    const mean = Float64Array.of(0.3, -0.2, 0.5);
    const moment = multiplyTransposed(mean, mean, d, 1, d).map((v, e) => v + (Math.floor(e / d) === e % d ? 0.1 : 0));
    const evidence = { n, logDet: 0.3, delta: rotated.delta, ...expectedSquares(own, rotated, { mean, moment }) };
    const at = (x: ArrayLike<number>) => ({ levels: levelsOf(Math.exp(x[0]), Math.exp(x[2])), tau: Math.exp(x[1]) });
    const value = (x: ArrayLike<number>) => {
      const p = at(x);
      return levelPosterior(levelDensities(evidence, p.levels, p.tau), p.levels);
    };
    const x = Float64Array.of(Math.log(1.5), Math.log(tau), Math.log(0.7));
    const { levels: there, tau: size } = at(x);
    const { logVariance, logTau, logSpread } = levelSlopes(evidence, there, size, value(x).weights);
    expectGradient((y) => value(y).logSum, x, Float64Array.of(logVariance, logTau, logSpread));
  });
});

describe("noise with levels", () => {
  const noise = levelNoise(4, 0.8);

  it("draws individuals whose log variances spread by ω", () => {
    const draws = createRandom(3);
    const times = new Float64Array(400);
    const logs = Array.from({ length: 600 }, () => {
      const values = drawNoise(noise, times, draws);
      return Math.log(values.reduce((sum, v) => sum + v * v, 0) / values.length);
    });
    const mean = logs.reduce((sum, v) => sum + v, 0) / logs.length;
    const sd = Math.sqrt(logs.reduce((sum, v) => sum + (v - mean) ** 2, 0) / logs.length);
    expect(Math.abs(mean - Math.log(4))).toBeLessThan(0.12);
    expect(Math.abs(sd - 0.8)).toBeLessThan(0.08);
  });

  it("says by how much individuals differ", () => {
    expect(noiseLevels(noise).variances).toHaveLength(33);
    expect(describeNoise(noise, (v) => v.toFixed(2))).toContain("factor of 1.49");
    expect(describeNoise(whiteNoise(4), String)).toBe("noise variance 4");
  });
});

describe("gross errors", () => {
  it("are believed of large errors only, and doubt lowers the weight of a visit", () => {
    const { probability, weights } = grossStep(Float64Array.of(0.5, 4, 60), 0.01);
    expect(probability[0]).toBeLessThan(0.001);
    expect(probability[1]).toBeLessThan(0.01);
    expect(probability[2]).toBeGreaterThan(0.999);
    expect(weights[2]).toBeCloseTo(1 / 400, 4);
  });
});
