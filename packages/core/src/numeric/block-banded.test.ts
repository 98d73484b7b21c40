import { describe, expect, it } from "vitest";
import { choleskyBandInPlace, invertFromBandCholesky, solveBandInPlace } from "./block-banded.ts";
import { cholesky, invertFromCholesky, solveCholeskyInPlace } from "./cholesky.ts";
import { createRandom } from "./random.ts";

/** A random positive definite matrix with blocks within the band. */
function bandedMatrix(numBlocks: number, p: number, w: number, seed: number): Float64Array {
  const n = numBlocks * p;
  const random = createRandom(seed);
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      if (Math.floor(i / p) - Math.floor(j / p) > w) continue;
      const v = i === j ? 0.5 + n : random.normal();
      A[i * n + j] = v;
      A[j * n + i] = v;
    }
  }
  return A;
}

const SHAPES = [
  [1, 1, 0],
  [1, 6, 2],
  [3, 4, 1],
  [5, 5, 2],
  [6, 3, 3],
  [4, 7, 0],
  [5, 2, 4],
] as const;

describe("block-banded matrices", () => {
  it("have the Cholesky factor, solution and inverse of the dense functions", () => {
    for (const [numBlocks, p, w] of SHAPES) {
      const n = numBlocks * p;
      const A = bandedMatrix(numBlocks, p, w, 10 * numBlocks + p);
      const dense = cholesky(A, n);
      const L = A.slice();
      expect(choleskyBandInPlace(L, numBlocks, p, w)).toBe(true);
      const inverse = invertFromCholesky(dense, n);
      const out = new Float64Array(n * n).fill(Number.NaN);
      invertFromBandCholesky(L, numBlocks, p, w, out, new Float64Array(n * n));
      const b = Float64Array.from({ length: n }, (_, k) => Math.sin(k));
      const x = b.slice();
      solveBandInPlace(L, numBlocks, p, w, x);
      solveCholeskyInPlace(dense, n, b);
      for (let i = 0; i < n; i++) {
        expect(x[i]).toBeCloseTo(b[i], 13);
        for (let j = 0; j < n; j++) {
          const inBand = Math.abs(Math.floor(i / p) - Math.floor(j / p)) <= w;
          if (j <= i) expect(inBand ? L[i * n + j] : 0).toBeCloseTo(dense[i * n + j], 12);
          expect(out[i * n + j]).toBeCloseTo(inverse[i * n + j], 13);
        }
      }
    }
  });

  it("are refused by the factorisation when they are not positive definite", () => {
    for (const bad of [0, 3, 8]) {
      const A = bandedMatrix(3, 3, 1, 4);
      A[bad * 9 + bad] = -1;
      expect(choleskyBandInPlace(A, 3, 3, 1)).toBe(false);
    }
  });
});
