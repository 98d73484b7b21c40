import { describe, expect, it } from "vitest";
import { GAUSS, gaussRule, levelRule, STRIDES, strideFor } from "./level-rules.ts";
import { levelsOf } from "./levels.ts";

const all = levelsOf(1, 0.3);

function sumOver({ z, logCounts }: { z: Float64Array; logCounts: Float64Array }, f: (z: number) => number): number {
  return z.reduce((total, v, k) => total + Math.exp(logCounts[k]) * f(v), 0);
}

const exact = (f: (z: number) => number) => sumOver({ z: all.z, logCounts: all.logWeights }, f);

describe("gaussRule", () => {
  it.each(GAUSS)("sums polynomials of degree 2N − 1 as all levels do: %o", ({ points }) => {
    const rule = gaussRule(all, points);
    for (let degree = 0; degree < 2 * points; degree++) {
      const power = (z: number) => z ** degree;
      expect(Math.abs(sumOver(rule, power) - exact(power))).toBeLessThan(1e-11 * exact((z) => Math.abs(z) ** degree));
    }
  });

  it.each(GAUSS)("errs by 1e-9 at most in log p(y) where it is taken: %o", ({ points, mostSpread, mostMean }) => {
    const rule = gaussRule(all, points);
    for (const n of [1, 3, 10, 40]) {
      const spread = Math.sqrt(mostSpread / n);
      for (const square of [0, 0.3, 1, 3, 10, 30, 100].map((ratio) => ratio * n)) {
        const density = (z: number) => Math.exp(-0.5 * (n * spread * z + square * (Math.exp(-spread * z) - 1)));
        const total = sumOver(rule, density);
        if (Math.abs(sumOver(rule, (z) => z * density(z)) / total) > mostMean) continue;
        expect(Math.abs(Math.log(total / exact(density)))).toBeLessThan(1e-9);
      }
    }
  });
});

describe("levelRule", () => {
  it.each(STRIDES)("counts all weights, and errs by 2e-5 at most where its step is allowed: every %i", (stride) => {
    const rule = levelRule(all, stride);
    expect(sumOver(rule, () => 1)).toBeCloseTo(1, 12);
    // A Gaussian posterior about 0 of the least sd.
    const sd = 0.9 * stride * 0.25;
    const density = (z: number) => Math.exp(-0.5 * z * z * Math.max(1 / (sd * sd) - 1, 0));
    expect(strideFor(all, sd)).toBe(stride);
    expect(Math.abs(Math.log(sumOver(rule, density) / exact(density)))).toBeLessThan(2e-5);
  });
});
