import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../numeric/cholesky.ts";
import { multiply, transpose } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { filterVisits, inverseRows, laterNoise, whitenedProducts, whitenedSlopes } from "./serial.ts";

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

  it("forecasts the noise of a later visit as the dense conditional distribution does", () => {
    const gap = 0.7;
    const L = cholesky(dense(noise), n);
    const k = Float64Array.from(
      times,
      (t) => (1 - noise.whiteShare) * Math.exp(-(times[n - 1] + gap - t) / noise.range),
    );
    const weightsOf = multiply(invertFromCholesky(L, n), k, n, n, 1);
    const { carry, variance } = laterNoise(filtered, noise, gap);
    const explained = weightsOf.reduce((sum, w, j) => sum + w * k[j], 0);
    expect(variance).toBeCloseTo(1 - explained, 12);
    for (let a = 0; a < c; a++) {
      const mean = weightsOf.reduce((sum, w, j) => sum + w * rows[j * c + a], 0);
      expect(carry * filtered.lastMean[a]).toBeCloseTo(mean, 12);
    }
  });
});
