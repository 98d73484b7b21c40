import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { functionalDistribution } from "./curve-distribution.ts";
import { joinNodes } from "./join-nodes.ts";
import type { CoefficientPosterior } from "./posterior.ts";
import { mixtureQuantiles } from "./quantiles.ts";

/** A lattice of 60 or more nodes per dimension, coefficients that bend with the place. */
function lattice(q: number, d: number): CoefficientPosterior {
  const random = createRandom(q);
  const per = q === 1 ? 600 : 60;
  const K = per ** q;
  const place = (k: number, c: number) => (8 * (Math.floor(k / per ** c) % per)) / per - 4;
  const locations = Float64Array.from({ length: K * q }, (_, e) => place(Math.floor(e / q), e % q));
  const raw = Float64Array.from({ length: K }, (_, k) => {
    let s = random.uniform() - 1;
    for (let c = 0; c < q; c++) s -= 2 * (locations[k * q + c] - 0.5) ** 2;
    return Math.exp(s);
  });
  const total = raw.reduce((a, b) => a + b, 0);
  const covariances = new Float64Array(K * d * d);
  for (let k = 0; k < K; k++) {
    for (let a = 0; a < d; a++) {
      covariances[(k * d + a) * d + a] = 1 + 0.2 * locations[k * q] ** 2;
      if (a > 0) {
        covariances[(k * d + a) * d + a - 1] = 0.3;
        covariances[(k * d + a - 1) * d + a] = 0.3;
      }
    }
  }
  return {
    nodes: Int32Array.from({ length: K }, (_, k) => 2 * k),
    weights: raw.map((v) => v / total),
    locations,
    means: Float64Array.from({ length: K * d }, (_, e) => Math.sin(e % d) * 3 * locations[Math.floor(e / d) * q]),
    covariances,
    logLikelihood: -3,
  };
}

/** Σ w m [d] and Σ w (S + mm') [d,d]. */
function moments({ weights, means, covariances }: CoefficientPosterior, d: number): number[] {
  const out = new Array<number>(d + d * d).fill(0);
  weights.forEach((w, k) => {
    for (let a = 0; a < d; a++) {
      out[a] += w * means[k * d + a];
      for (let b = 0; b < d; b++) {
        out[d + a * d + b] += w * (covariances[(k * d + a) * d + b] + means[k * d + a] * means[k * d + b]);
      }
    }
  });
  return out;
}

describe("joinNodes", () => {
  it.each([
    [1, 3],
    [2, 5],
  ])("keeps weight, mean and covariance of the whole, on a map of %i dimensions", (q, d) => {
    const posterior = lattice(q, d);
    const joined = joinNodes(posterior, q, d);
    expect(joined.weights.length).toBeLessThan(posterior.weights.length / 2);
    expect(joined.weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
    const [before, after] = [moments(posterior, d), moments(joined, d)];
    after.forEach((v, e) => {
      expect(v).toBeCloseTo(before[e], 9);
    });
    expect(joined.nodes.every((node) => posterior.nodes.includes(node))).toBe(true);
  });

  it("moves bands of a course by less than a hundredth of their width", () => {
    const posterior = lattice(2, 5);
    const joined = joinNodes(posterior, 2, 5);
    const row = Float64Array.of(0, 0.2, 0.6, 0.2, 0);
    const bands = [posterior, joined].map((from) =>
      mixtureQuantiles(functionalDistribution(from, new Float64Array(5), row, 0, 0), [0.05, 0.5, 0.95]),
    );
    const width = bands[0][2] - bands[0][0];
    for (let k = 0; k < 3; k++) expect(Math.abs(bands[0][k] - bands[1][k])).toBeLessThan(0.01 * width);
  });

  it("leaves few nodes, and nodes that are no places, as they are", () => {
    const few = { ...lattice(1, 3), weights: Float64Array.of(0.5, 0.5) };
    expect(joinNodes(few, 1, 3)).toBe(few);
    const none = lattice(1, 3);
    expect(joinNodes(none, 0, 3)).toBe(none);
  });
});
