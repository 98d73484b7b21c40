import { describe, expect, it } from "vitest";
import { trace } from "../numeric/matrix.ts";
import { columnMeans, covarianceOf } from "../numeric/moments.ts";
import { createRandom } from "../numeric/random.ts";
import { countExceedances, multiplierP, planMultipliers, randomSigns } from "./multipliers.ts";
import { approximateP, type Score, scoreOf } from "./score-test.ts";

const random = createRandom(5);
const [n, F] = [61, 4];
const features = Float64Array.from({ length: n * F }, () => random.normal());
const labels = Float64Array.from({ length: n }, (_, i) => (i % 3 === 0 ? 1 : 0));

describe("scoreOf", () => {
  it("is, for two groups, the difference of means with separate covariances", () => {
    const score = scoreOf(features, labels);
    const rows = (label: number) => features.filter((_, k) => labels[Math.floor(k / F)] === label);
    const [x1, x0] = [rows(1), rows(0)];
    const [n1, n0] = [x1.length / F, x0.length / F];
    const scale = (n1 * n0) / n;
    const [m1, m0] = [columnMeans(x1, n1, F), columnMeans(x0, n0, F)];
    const [S1, S0] = [covarianceOf(x1, n1, F, m1), covarianceOf(x0, n0, F, m0)];
    score.sum.forEach((s, f) => {
      expect(s).toBeCloseTo(scale * (m1[f] - m0[f]), 12);
    });
    score.variance.forEach((v, k) => {
      expect(v).toBeCloseTo(scale ** 2 * (S1[k] / n1 + S0[k] / n0), 12);
    });
  });

  it("takes out what covariates explain, repeated or not", () => {
    const age = Float64Array.from({ length: n }, () => random.normal());
    const score = scoreOf(features, labels, [age, age.map((v) => 2 * v + 1)]);
    expect(score.design).toHaveLength(3);
    expect(age.reduce((s, v, i) => s + v * score.residual[i], 0)).toBeCloseTo(0, 10);
    expect(score.residual.reduce((s, v) => s + v, 0)).toBeCloseTo(0, 10);
    const moved = features.map((v, k) => v + 3 * age[Math.floor(k / F)]);
    expect(scoreOf(moved, labels, [age]).statistic).toBeCloseTo(scoreOf(features, labels, [age]).statistic, 8);
  });

  it("refuses labels that do not differ or that covariates determine", () => {
    expect(() => scoreOf(features, new Float64Array(n))).toThrowError(/labels that differ/);
    expect(() => scoreOf(features, labels, [labels.map((v) => 3 - v)])).toThrowError(/leave free/);
  });
});

describe("approximateP", () => {
  it("is the tail of a weighted sum of chi-squares, against 200,000 draws", () => {
    const weights = [3, 1.5, 0.4, 0.1];
    const variance = new Float64Array(16);
    for (let f = 0; f < 4; f++) variance[f * 5] = weights[f];
    const draws = Float64Array.from({ length: 200_000 }, () =>
      weights.reduce((s, w) => s + w * random.normal() ** 2, 0),
    ).sort();
    for (const share of [0.5, 0.1, 0.05, 0.01]) {
      const statistic = draws[Math.round((1 - share) * draws.length)];
      const p = approximateP({ statistic, variance, numFeatures: 4 } as Score);
      // Its own error, stated by Liu, Tang & Zhang, and four standard errors of the draws.
      expect(Math.abs(p - share)).toBeLessThan(0.04 * share + 4 * Math.sqrt(share / draws.length));
    }
  });
});

describe("multipliers", () => {
  /** T*, tr V* of one draw as the definition has them: φ* = ξe, refitted. */
  function slowRatio(score: Score, signs: Uint8Array): number {
    const drawn = score.errors.map((e, k) => {
      const i = Math.floor(k / F);
      return (signs[i >> 3] >> (i & 7)) & 1 ? e : -e;
    });
    const again = scoreOf(
      drawn,
      score.residual,
      score.design.slice(0, -1).map((column) => column),
    );
    return again.statistic / trace(again.variance, F);
  }

  it("count the draws whose refitted ratio reaches the observed one, in cells and without", () => {
    const age = Float64Array.from({ length: n }, () => random.normal());
    for (const score of [scoreOf(features, labels), scoreOf(features, age), scoreOf(features, labels, [age])]) {
      const observed = score.statistic / trace(score.variance, F);
      const bytes = new Uint8Array(Math.ceil(n / 8));
      let count = 0;
      for (let b = 0; b < 300; b++) {
        randomSigns(9)(b, bytes);
        if (slowRatio(score, bytes) >= observed * (1 - 1e-12)) count++;
      }
      expect(countExceedances(planMultipliers(score, 9), 0, 300)).toBe(count);
    }
  });

  it("do not depend on how the draws are divided", async () => {
    const score = scoreOf(features, labels);
    const whole = await multiplierP(score, 3, { draws: 1999 });
    const parts = await multiplierP(score, 3, {
      draws: 1999,
      shards: 7,
      count: async (plan, from, to) => countExceedances(structuredClone(plan), from, to),
    });
    expect(parts).toBe(whole);
  });

  it("agree with the limit for many individuals, and give 1 where all posteriors are equal", async () => {
    const m = 20_400;
    const many = Float64Array.from({ length: 2 * m }, () => random.normal());
    const z = Float64Array.from({ length: m }, (_, i) => i % 2);
    const score = scoreOf(many, z);
    expect(Math.abs((await multiplierP(score, 1)) - approximateP(score))).toBeLessThan(0.02);
    expect(await multiplierP(scoreOf(new Float64Array(2 * n).fill(0.3), labels), 1)).toBe(1);
  });
});
