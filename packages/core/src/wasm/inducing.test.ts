import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../numeric/cholesky.ts";
import { multiplyVector } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { inducingKernel } from "./inducing.ts";

/** Band entries k ≤ l ≤ k + w of d blocks. */
function bandOf(d: number, w: number): { rows: number[]; columns: number[] } {
  const rows: number[] = [];
  const columns: number[] = [];
  for (let k = 0; k < d; k++) {
    for (let l = k; l <= Math.min(k + w, d - 1); l++) {
      rows.push(k);
      columns.push(l);
    }
  }
  return { rows, columns };
}

describe("inducingKernel", () => {
  it("solves, inverts and gives second moments as plain loops do, for any size and band", () => {
    for (const [d, p, w] of [
      [5, 7, 2],
      [4, 6, 1],
      [6, 3, 3],
      [3, 1, 2],
      [2, 9, 1],
    ]) {
      const random = createRandom(d * p + w);
      const { rows, columns } = bandOf(d, w);
      const n = d * p;
      const kernel = inducingKernel(d, p, rows, columns);
      const weight = 1.7;
      // Symmetric blocks, small beside the prior, so that the matrix is positive definite.
      const dense = new Float64Array(n * n);
      for (let j = 0; j < p; j++) for (let i = 0; i < p; i++) kernel.prior[j * p + i] = i === j ? 3 : 0.1;
      for (let e = 0; e < rows.length; e++) {
        for (let j = 0; j < p; j++) {
          for (let i = 0; i <= j; i++) {
            const x = (0.2 * random.normal()) / p;
            for (const [r, c] of [
              [j, i],
              [i, j],
            ]) {
              kernel.gram[(e * p + r) * p + c] = x;
              const value = weight * x + (rows[e] === columns[e] ? kernel.prior[r * p + c] : 0);
              dense[(rows[e] * p + r) * n + columns[e] * p + c] = value;
              dense[(columns[e] * p + r) * n + rows[e] * p + c] = value;
            }
          }
        }
      }
      const L = cholesky(dense, n);
      const C = invertFromCholesky(L, n);
      const b = Float64Array.from({ length: n }, () => random.normal());
      const a = multiplyVector(C, b, n, n);
      const T = new Float64Array(rows.length * p * p);
      for (let e = 0; e < rows.length; e++) {
        const [k, l] = [rows[e] * p, columns[e] * p];
        for (let j = 0; j < p; j++) {
          for (let i = 0; i < p; i++) {
            const covariance = C[(k + j) * n + l + i] + C[(k + i) * n + l + j];
            T[(e * p + j) * p + i] = 0.5 * (covariance + a[k + j] * a[l + i] + a[k + i] * a[l + j]);
          }
        }
      }
      for (const withInverse of [true, false]) {
        expect(kernel.factor(weight)).toBe(true);
        expect(kernel.logDeterminant()).toBeCloseTo(logDetFromCholesky(L, n), 10);
        kernel.vector.set(b);
        kernel.solve(withInverse);
        expect(relativeError(kernel.vector, a)).toBeLessThan(1e-12);
        expect(relativeError(kernel.moments, T)).toBeLessThan(1e-12);
        if (!withInverse) continue;
        const inverse = new Float64Array(n * n);
        for (let i = 0; i < n; i++) {
          inverse.set(kernel.inverse.subarray(i * kernel.stride, i * kernel.stride + n), i * n);
        }
        expect(relativeError(inverse, C)).toBeLessThan(1e-12);
      }
    }
  });

  it("says so where the precision is not positive definite, and serves the next one", () => {
    const kernel = inducingKernel(2, 2, [0, 1], [0, 1]);
    kernel.prior.set([1, 0, 0, -1]);
    expect(kernel.factor(1)).toBe(false);
    kernel.prior.set([4, 0, 0, 16]);
    expect(kernel.factor(1)).toBe(true);
    kernel.vector.set([4, 16, 12, 32]);
    kernel.solve(false);
    expect(Array.from(kernel.vector)).toEqual([1, 1, 3, 2]);
  });
});
