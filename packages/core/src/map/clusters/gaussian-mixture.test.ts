import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { fitGaussianMixture, mixtureFromLabels, mixtureMembership } from "./gaussian-mixture.ts";
import { adjustedRandIndex } from "./stability.ts";

/** Points of two long, tilted and one round group in the plane, with their groups. */
function threeGroups(n: number, seed: number) {
  const random = createRandom(seed);
  const points = new Float64Array(2 * n);
  const labels = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    const g = random.categorical([0.5, 0.3, 0.2]);
    const [a, b] = [random.normal(), random.normal()];
    labels[i] = g;
    points[2 * i] = [3 * a, 8 + a + 0.3 * b, -6 + b][g];
    points[2 * i + 1] = [a + 0.4 * b, -2 * a, 7 + a][g];
  }
  return { points, labels };
}

describe("fitGaussianMixture", () => {
  const { points, labels } = threeGroups(600, 2);
  const fit = fitGaussianMixture(points, 600, 2);

  it("finds number, shares and members of the groups", () => {
    expect(fit.mixture.numGroups).toBe(3);
    expect(adjustedRandIndex(fit.labels, labels)).toBeGreaterThan(0.97);
    const weights = Array.from(fit.mixture.weights).sort();
    // Standard errors of shares of 600 are about 0.02.
    [0.2, 0.3, 0.5].forEach((w, g) => {
      expect(Math.abs(weights[g] - w)).toBeLessThan(0.05);
    });
    expect(fit.evidence.find((e) => e.numGroups === 3)!.bic).toBeCloseTo(fit.bic, 1);
    expect(fit.evidence.map((e) => e.numGroups)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(fit.converged).toBe(true);
  });

  it("climbs at every iteration", () => {
    for (const numGroups of [4, 5, 6]) {
      const { trace } = fitGaussianMixture(points, 600, 2, { numGroups, maxIterations: 60 });
      expect(trace.length).toBeGreaterThan(5);
      for (let t = 1; t < trace.length; t++) expect(trace[t]).toBeGreaterThanOrEqual(trace[t - 1] - 1e-9);
    }
  });

  it("has the likelihood and memberships of its parameters, by the definition", () => {
    const { weights, means, covariances: S } = fit.mixture;
    let logLikelihood = 0;
    for (let i = 0; i < 600; i++) {
      const densities = Array.from(weights, (w, g) => {
        const [dx, dy] = [points[2 * i] - means[2 * g], points[2 * i + 1] - means[2 * g + 1]];
        const [a, b, d] = [S[4 * g], S[4 * g + 1], S[4 * g + 3]];
        const det = a * d - b * b;
        return (
          (w * Math.exp(-0.5 * ((d * dx * dx - 2 * b * dx * dy + a * dy * dy) / det))) / (2 * Math.PI * Math.sqrt(det))
        );
      });
      const total = densities.reduce((s, x) => s + x, 0);
      logLikelihood += Math.log(total);
      densities.forEach((x, g) => {
        expect(fit.membership[3 * i + g]).toBeCloseTo(x / total, 10);
      });
    }
    expect(fit.logLikelihood).toBeCloseTo(logLikelihood, 8);
    expect(fit.bic).toBeCloseTo(-2 * logLikelihood + 17 * Math.log(600), 8);
  });

  it("is the shrunken sample moments for one group", () => {
    const { mixture } = fitGaussianMixture(Float64Array.of(1, 2, 3, 6), 4, 1, { numGroups: 1 });
    expect(mixture.means[0]).toBeCloseTo(3, 12);
    // Σ = (S + Λ)/(n + ν + q + 1) with S = 14, Λ = 14/4 and its floor, ν = 3.
    expect(mixture.covariances[0]).toBeCloseTo((14 + 3.5) / 9, 7);
  });

  it("does not depend on the order of the places", () => {
    const reversed = new Float64Array(1200);
    for (let i = 0; i < 600; i++) reversed.set(points.subarray(2 * i, 2 * i + 2), 2 * (599 - i));
    const other = fitGaussianMixture(reversed, 600, 2);
    expect(other.mixture).toEqual(fit.mixture);
    expect(other.labels.reverse()).toEqual(fit.labels);
  });

  it("survives equal places, places on a line and as many groups as places", () => {
    expect(fitGaussianMixture(new Float64Array(20).fill(3), 10, 2).mixture.numGroups).toBe(1);
    const line = Float64Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? i : 2 * (i - 1)));
    expect(fitGaussianMixture(line, 30, 2, { numGroups: 2 }).membership.every(Number.isFinite)).toBe(true);
    const all = fitGaussianMixture(points.slice(0, 10), 5, 2, { numGroups: 5 });
    expect(all.membership.every(Number.isFinite)).toBe(true);
    expect(() => fitGaussianMixture(points.slice(0, 10), 5, 2, { numGroups: 6 })).toThrow(/from 1 to the 5 places/);
  });
});

describe("mixtureMembership", () => {
  const points = Float64Array.of(-3, -2.5, -3.5, 3, 2.5, 3.5);
  const mixture = mixtureFromLabels(points, 1, [0, 0, 0, 1, 1, 1], 2);

  it("sums to one and is even in the middle", () => {
    const shares = mixtureMembership(mixture, Float64Array.of(-3, 0, 3));
    for (let i = 0; i < 3; i++) expect(shares[2 * i] + shares[2 * i + 1]).toBeCloseTo(1, 14);
    expect(shares[2]).toBeCloseTo(0.5, 12);
    expect(shares[0]).toBeGreaterThan(0.98);
  });

  it("spreads places that are vague, and agrees with the sharp form where they are not", () => {
    const sharp = mixtureMembership(mixture, points);
    mixtureMembership(mixture, points, new Float64Array(6)).forEach((share, e) => {
      expect(share).toBeCloseTo(sharp[e], 14);
    });
    const vague = mixtureMembership(mixture, points, new Float64Array(6).fill(25));
    expect(vague[0]).toBeLessThan(sharp[0]);
    expect(vague[0]).toBeGreaterThan(0.5);
    expect(() => mixtureMembership(mixture, points, new Float64Array(5))).toThrow(/\[6,1,1\]/);
  });

  it("is the share that groups have on average of where a place may be", () => {
    const wide = { numGroups: 2, dimension: 2, weights: Float64Array.of(0.97, 0.03) };
    const own = {
      ...wide,
      means: Float64Array.of(0, 0, 2.5, 1),
      covariances: Float64Array.of(1, 0, 0, 1, 0.3, 0.1, 0.1, 0.3),
    };
    const at = Float64Array.of(2.4, 1.1);
    const S = Float64Array.of(0.2, 0.1, 0.1, 0.3);
    // By the definition, on a fine lattice.
    const det = S[0] * S[3] - S[1] * S[2];
    let [sum, total] = [0, 0];
    for (let x = -1; x <= 6; x += 0.05) {
      for (let y = -2; y <= 5; y += 0.05) {
        const [dx, dy] = [x - at[0], y - at[1]];
        const density = Math.exp(-0.5 * ((S[3] * dx * dx - 2 * S[1] * dx * dy + S[0] * dy * dy) / det));
        sum += density * mixtureMembership(own, Float64Array.of(x, y))[1];
        total += density;
      }
    }
    const [, small] = mixtureMembership(own, at, S);
    expect(small).toBeCloseTo(sum / total, 1);
    // A small group keeps those whose place lies in it.
    expect(small).toBeGreaterThan(0.4);
  });

  it("ignores individuals without a group, and refuses an empty group", () => {
    const partly = mixtureFromLabels(points, 1, [0, 0, -1, 1, 1, -1], 2);
    expect(partly.means[0]).toBeCloseTo(-2.75, 12);
    expect(Array.from(partly.weights)).toEqual([0.5, 0.5]);
    expect(() => mixtureFromLabels(points, 1, [0, 0, 0, 0, 0, 0], 2)).toThrow(/group 1 has none/);
  });
});
