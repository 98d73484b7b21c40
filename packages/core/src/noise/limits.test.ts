import { describe, expect, it } from "vitest";
import { designMatrix } from "../basis/bspline.ts";
import { bsplineBasis } from "../basis/knots.ts";
import { basisStatistics } from "../basis/statistics.ts";
import { makeCohort } from "../cohort/cohort.ts";
import { effectMoments, gaussianEffect, observationsOf } from "../models/mixture/effect.ts";
import { choleskyInPlace, logDetFromCholesky, solveCholeskyInPlace } from "../numeric/cholesky.ts";
import { dot, multiply, multiplyTransposed, multiplyVector, transpose } from "../numeric/matrix.ts";
import { LOG_2PI, logNormalCdf, normalCdf } from "../numeric/special.ts";
import { censoredSites, type LimitPrior } from "./limits.ts";
import { levelNoise, type Noise } from "./noise.ts";
import type { SerialCorrelation } from "./serial.ts";

const times = [0.2, 0.9, 1.6, 2.1, 3.4, 4];
const values = [0.9, 0.4, 0.5, 0.4, 1.3, 0.7];
const basis = bsplineBasis(Float64Array.from(times), { numBasis: 3, degree: 2 });
const d = 3;
const prior: LimitPrior = {
  mean: Float64Array.of(0.8, 0.3, 0.9),
  factor: Float64Array.of(0.6, 0, 0, 0.3, 0.5, 0, -0.2, 0.3, 0.4),
  variance: 0.09,
  spread: 0,
};
const serial: SerialCorrelation = { range: 0.8, whiteShare: 0.35 };

/** log p and the moments of w | values, by the statistics. */
function bySites(sides: readonly number[], correlation?: SerialCorrelation, at = prior, scale = 1) {
  const columns = { ids: times.map(() => "a"), times, values: values.map((v) => scale * v), censored: sides };
  const noise: Noise = { ...levelNoise(at.variance, 0, correlation), limits: at };
  const statistics = basisStatistics(makeCohort(columns), basis, { noise, center: 0.5 });
  const own = observationsOf(statistics, 0, at.mean, noise);
  const effect = gaussianEffect(own, at.factor);
  return { logDensity: effect.logDensity, ...effectMoments(effect, at.variance), statistics };
}

/** The same by brute force: the Gaussian of the measured values, and the others on a grid over the given side of their limits. */
function byQuadrature(
  sides: readonly number[],
  { range = 1, whiteShare = 1 }: Partial<SerialCorrelation> = {},
  at = prior,
) {
  const n = times.length;
  const B = designMatrix(basis, Float64Array.from(times));
  const Sigma = multiplyTransposed(at.factor, at.factor, d, d, d);
  const V = multiplyTransposed(multiply(B, Sigma, n, d, d), B, n, d, n);
  for (let j = 0; j < n; j++) {
    for (let k = 0; k < n; k++) {
      const correlated = (1 - whiteShare) * Math.exp(-Math.abs(times[j] - times[k]) / range);
      V[j * n + k] += at.variance * (correlated + (j === k ? whiteShare : 0));
    }
  }
  const L = V.slice();
  choleskyInPlace(L, n);
  const mean = multiplyVector(B, at.mean, n, d);
  const hidden = sides.flatMap((side, j) => (side === 0 ? [] : [j]));
  const cross = multiplyTransposed(B, Sigma, n, d, d);
  const step = hidden.length === 1 ? 0.001 : 0.01;
  const reach = 3.5;
  const sums = { total: 0, first: new Float64Array(d), second: new Float64Array(d * d) };
  let rest = new Float64Array(0);
  const visit = (k: number, y: Float64Array) => {
    if (k < hidden.length) {
      const j = hidden[k];
      for (let a = 0.5 * step; a < reach; a += step) {
        y[j] = values[j] + sides[j] * a;
        visit(k + 1, y);
      }
      return;
    }
    const r = y.map((v, j) => v - mean[j]);
    const solved = r.slice();
    solveCholeskyInPlace(L, n, solved);
    const weight = Math.exp(-0.5 * (n * LOG_2PI + logDetFromCholesky(L, n) + dot(r, solved))) * step ** hidden.length;
    const w = multiplyVector(transpose(cross, n, d), solved, d, n);
    sums.total += weight;
    for (let a = 0; a < d; a++) {
      sums.first[a] += weight * w[a];
      for (let b = 0; b < d; b++) sums.second[a * d + b] += weight * w[a] * w[b];
    }
    if (rest.length === 0) {
      // Cov[w | all values] is the same everywhere.
      const K = cross.slice();
      const columns = Array.from({ length: d }, (_, a) => {
        const column = Float64Array.from({ length: n }, (__, j) => K[j * d + a]);
        solveCholeskyInPlace(L, n, column);
        return column;
      });
      rest = Float64Array.from({ length: d * d }, (_, e) => {
        const [a, b] = [Math.floor(e / d), e % d];
        return Sigma[e] - columns[a].reduce((sum, v, j) => sum + v * cross[j * d + b], 0);
      });
    }
  };
  visit(0, Float64Array.from(values));
  const first = sums.first.map((v) => v / sums.total);
  const covariance = sums.second.map((v, e) => v / sums.total - first[Math.floor(e / d)] * first[e % d] + rest[e]);
  return { logDensity: Math.log(sums.total), mean: first, covariance };
}

const gap = (a: Float64Array, b: Float64Array) => a.reduce((most, v, k) => Math.max(most, Math.abs(v - b[k])), 0);

describe("censoredSites", () => {
  it("are the same by a matrix of the size of the basis and by one of the visits", () => {
    const sides = [0, -1, -1, 0, 1, -1];
    // Hardly correlated: what is left of the correlation is as small as the tolerance.
    const almost: SerialCorrelation = { range: 1e-3, whiteShare: 1 - 1e-12 };
    for (const spread of [0, 0.5]) {
      const [white, dense] = [undefined, almost].map((own) => bySites(sides, own, { ...prior, spread }));
      expect(Math.abs(white.logDensity - dense.logDensity)).toBeLessThan(1e-8);
      expect(gap(white.mean, dense.mean)).toBeLessThan(1e-8);
      expect(gap(white.covariance, dense.covariance)).toBeLessThan(1e-8);
    }
  });

  it("need no matrix of the visits where these are not correlated", () => {
    // One of 4,000 by 4,000 is 128 MB, and its inverse takes minutes.
    const n = 4000;
    const rows = Float64Array.from({ length: 4 * n }, (_, e) => [1, 0, 0, 0.5][e % 4]);
    const sites = censoredSites({ times: new Float64Array(n), rows }, new Int8Array(n).fill(-1), 0, prior);
    expect(sites.rows.every(Number.isFinite) && sites.weights.every((w) => w > 0 && w < 1)).toBe(true);
  });

  it.each([
    ["below, white", [0, -1, 0, 0, 0, 0], undefined],
    ["above, white", [0, 0, 0, 0, 1, 0], undefined],
    ["below, correlated", [0, -1, 0, 0, 0, 0], serial],
    ["above, correlated", [0, 0, 0, 0, 1, 0], serial],
  ])("are exact for one censored visit: %s", (_, sides, correlation) => {
    const [ep, exact] = [bySites(sides, correlation), byQuadrature(sides, correlation)];
    // What the midpoints of the integral are good to.
    expect(Math.abs(ep.logDensity - exact.logDensity)).toBeLessThan(1e-5);
    expect(gap(ep.mean, exact.mean)).toBeLessThan(1e-5);
    expect(gap(ep.covariance, exact.covariance)).toBeLessThan(1e-5);
  });

  it.each([
    ["neighbours, white", [0, -1, -1, 0, 0, 0], undefined],
    ["neighbours, correlated", [0, -1, -1, 0, 0, 0], serial],
    ["both sides, correlated", [0, -1, 0, 0, 1, 0], serial],
  ])("are good to 0.1% of a standard deviation for two: %s", (_, sides, correlation) => {
    const [ep, exact] = [bySites(sides, correlation), byQuadrature(sides, correlation)];
    expect(Math.abs(ep.logDensity - exact.logDensity)).toBeLessThan(0.001);
    for (let a = 0; a < d; a++) {
      const variance = exact.covariance[a * d + a];
      expect(Math.abs(ep.mean[a] - exact.mean[a]) / Math.sqrt(variance)).toBeLessThan(0.001);
      expect(Math.abs(ep.covariance[a * d + a] / variance - 1)).toBeLessThan(0.005);
    }
  });

  it("leave the slope of log p by log s as it is, of white and of correlated noise", () => {
    for (const correlation of [undefined, serial]) {
      const sides = [0, -1, 0, -1, 0, 1];
      const { statistics } = bySites(sides, correlation);
      const kept = (variance: number) => {
        const own = observationsOf(statistics, 0, prior.mean, levelNoise(variance, 0, correlation));
        return gaussianEffect(own, prior.factor).logDensity;
      };
      const anew = (variance: number) => bySites(sides, correlation, { ...prior, variance }).logDensity;
      const slope = (of: (variance: number) => number, h = 1e-4) =>
        (of(prior.variance * Math.exp(h)) - of(prior.variance * Math.exp(-h))) / (2 * h);
      expect(kept(prior.variance)).toBeCloseTo(anew(prior.variance), 10);
      expect(slope(kept)).toBeCloseTo(slope(anew), 6);
    }
  });

  it("say nothing where the limit is far away, and all but the value where it must lie there", () => {
    const far = values.map((v, j) => (j === 1 ? 40 : v));
    const noise: Noise = { ...levelNoise(prior.variance, 0), limits: prior };
    const of = (y: readonly number[], sides: readonly number[], kept: readonly number[]) => {
      const pick = (x: readonly number[]) => kept.map((j) => x[j]);
      const columns = { ids: kept.map(() => "a"), times: pick(times), values: pick(y), censored: pick(sides) };
      return gaussianEffect(
        observationsOf(basisStatistics(makeCohort(columns), basis, { noise, center: 0 }), 0, prior.mean, noise),
        prior.factor,
      ).logDensity;
    };
    const none = [0, 0, 0, 0, 0, 0];
    const without = of(values, none, [0, 2, 3, 4, 5]);
    expect(of(far, [0, -1, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5])).toBeCloseTo(without, 6);
    expect(Number.isFinite(of(far, [0, 1, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5]))).toBe(true);
  });

  it("scale with the unit of the values", () => {
    const scaled = {
      ...prior,
      mean: prior.mean.map((v) => 10 * v),
      factor: prior.factor.map((v) => 10 * v),
      variance: 9,
    };
    const sides = [0, -1, 0, -1, 0, 1];
    const [one, ten] = [bySites(sides, serial), bySites(sides, serial, scaled, 10)];
    expect(
      gap(
        one.mean.map((v) => 10 * v),
        ten.mean,
      ),
    ).toBeLessThan(1e-7);
    expect(one.statistics.counts[0]).toBeCloseTo(ten.statistics.counts[0], 8);
    expect(one.statistics.counts[0]).toBeGreaterThan(3);
    expect(one.statistics.counts[0]).toBeLessThan(6);
  });
});

describe("logNormalCdf", () => {
  it("is log Φ where that has digits, and goes on smoothly beyond", () => {
    for (const z of [-7.5, -3, 0, 2, 9]) expect(logNormalCdf(z)).toBeCloseTo(Math.log(normalCdf(z)), 12);
    const [left, right] = [logNormalCdf(-8 - 1e-9), logNormalCdf(-8 + 1e-9)];
    expect(Math.abs(left / right - 1)).toBeLessThan(1e-8);
    // Abramowitz & Stegun 26.2.12 at −40: log Φ = −804.608442…
    expect(logNormalCdf(-40)).toBeCloseTo(-804.608442, 5);
  });
});
