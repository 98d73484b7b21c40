import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../numeric/cholesky.ts";
import { multiply, transpose } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { drawSerial, filterVisits, givenNoise, inverseRows, whitenedProducts, whitenedSlopes } from "./serial.ts";

const random = createRandom(5);
const n = 6;
const c = 3;
const times = [0, 0.4, 0.4, 1.5, 3, 3.1];
const rows = Float64Array.from({ length: n * c }, () => random.normal());
const weights = [1, 0.3, 1, 0.05, 1, 0.8];
const noise = { range: 0.8, whiteShare: 0.35 };

/** R [n,n] as written. */
function dense(at: typeof noise, by: readonly number[] = weights): Float64Array {
  return Float64Array.from({ length: n * n }, (_, e) => {
    const [j, k] = [Math.floor(e / n), e % n];
    const serial = (1 - at.whiteShare) * Math.exp(-Math.abs(times[j] - times[k]) / at.range);
    return serial + (j === k ? at.whiteShare / by[j] : 0);
  });
}

function denseProducts(at: typeof noise): { products: Float64Array; logDet: number } {
  const L = cholesky(dense(at), n);
  const RZ = multiply(invertFromCholesky(L, n), rows, n, n, c);
  return { products: multiply(transpose(rows, n, c), RZ, c, n, c), logDet: logDetFromCholesky(L, n) };
}

describe("whitening by the scalar filter", () => {
  const filtered = filterVisits({ times, rows, weights }, noise);

  it("gives Z'R⁻¹Z and log|R| of the dense matrix, equal times included", () => {
    const { products, logDet } = whitenedProducts(filtered);
    const expected = denseProducts(noise);
    expect(relativeError(products, expected.products)).toBeLessThan(1e-12);
    expect(logDet).toBeCloseTo(expected.logDet, 12);
  });

  it("gives the rows of R⁻¹Z and the diagonal of R⁻¹", () => {
    const inverse = invertFromCholesky(cholesky(dense(noise), n), n);
    const { rows: U, diagonal } = inverseRows(filtered);
    expect(relativeError(U, multiply(inverse, rows, n, n, c))).toBeLessThan(1e-12);
    expect(
      relativeError(
        diagonal,
        times.map((_, j) => inverse[j * n + j]),
      ),
    ).toBeLessThan(1e-12);
  });

  it("has the derivatives of the dense form", () => {
    const h = 1e-5;
    const logit = Math.log(noise.whiteShare / (1 - noise.whiteShare));
    const moved = [
      (by: number) => ({ ...noise, range: noise.range * Math.exp(by) }),
      (by: number) => ({ ...noise, whiteShare: 1 / (1 + Math.exp(-logit - by)) }),
    ];
    whitenedSlopes({ times, rows, weights }, noise).forEach(({ products, logDet }, theta) => {
      const [up, down] = [h, -h].map((by) => denseProducts(moved[theta](by)));
      const differences = up.products.map((v, e) => (v - down.products[e]) / (2 * h));
      expect(relativeError(products, differences)).toBeLessThan(1e-7);
      expect(logDet).toBeCloseTo((up.logDet - down.logDet) / (2 * h), 7);
    });
  });

  it("is the identity for white noise, whatever the range", () => {
    const { products, logDet } = whitenedProducts(filterVisits({ times, rows }, { range: 2, whiteShare: 1 }));
    expect(relativeError(products, multiply(transpose(rows, n, c), rows, c, n, c))).toBeLessThan(1e-13);
    expect(logDet).toBe(0);
  });

  /** Mean weights on the given times, and variance, of noise at `at`, densely. */
  function denselyGiven(at: number, given: readonly number[], by: readonly number[]) {
    const m = given.length;
    const R = Float64Array.from({ length: m * m }, (_, e) => {
      const [j, k] = [Math.floor(e / m), e % m];
      const serial = (1 - noise.whiteShare) * Math.exp(-Math.abs(given[j] - given[k]) / noise.range);
      return serial + (j === k ? noise.whiteShare / by[j] : 0);
    });
    const k = Float64Array.from(given, (t) => (1 - noise.whiteShare) * Math.exp(-Math.abs(at - t) / noise.range));
    const mean = multiply(invertFromCholesky(cholesky(R, m), m), k, m, m, 1);
    return { mean, variance: 1 - mean.reduce((sum, w, j) => sum + w * k[j], 0) };
  }

  it("gives the noise of a measurement before, between, at and after the visits as the dense conditional distribution does", () => {
    const at = [-1, 0.2, 0.4, 3.8];
    givenNoise({ times, rows, weights }, noise, at).forEach(({ mean, variance }, t) => {
      const expected = denselyGiven(at[t], times, weights);
      expect(variance).toBeCloseTo(expected.variance, 12);
      const means = multiply(transpose(rows, n, c), expected.mean, c, n, 1);
      expect(relativeError(mean, means)).toBeLessThan(1e-12);
    });
  });

  it("gives each of several measurements those before it, in any order of time", () => {
    const at = [3.8, 0.2, 3.3];
    const own = Float64Array.from({ length: at.length * c }, () => random.normal());
    const found = givenNoise({ times, rows, weights }, noise, at, own);
    found.forEach(({ mean, variance }, t) => {
      const before = at.slice(0, t);
      const expected = denselyGiven(at[t], [...times, ...before], [...weights, ...before.map(() => 1)]);
      expect(variance).toBeCloseTo(expected.variance, 12);
      const all = Float64Array.from([...rows, ...own.subarray(0, t * c)]);
      const columns = multiply(transpose(all, n + t, c), expected.mean, c, n + t, 1);
      const carried = at.map((_, l) => (l < t ? expected.mean[n + l] : 0));
      expect(relativeError(mean, [...columns, ...carried])).toBeLessThan(1e-12);
    });
  });

  it("knows nothing without visits", () => {
    expect(givenNoise({ times: [], rows: new Float64Array(0) }, noise, [2])[0].variance).toBeCloseTo(1, 15);
  });

  it("draws noise of this correlation", () => {
    const draws = 20_000;
    const products = new Float64Array(n * n);
    for (let s = 0; s < draws; s++) {
      const e = drawSerial(noise, Float64Array.from(times), random);
      for (let j = 0; j < n; j++) for (let k = 0; k < n; k++) products[j * n + k] += (e[j] * e[k]) / draws;
    }
    const R = dense(
      noise,
      times.map(() => 1),
    );
    expect(products.every((v, e) => Math.abs(v - R[e]) < 0.04)).toBe(true);
  });
});
