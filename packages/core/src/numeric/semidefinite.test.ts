import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { multiply, transpose } from "./matrix.ts";
import { createRandom } from "./random.ts";
import { lowerFactor, pseudoInverse, solveSemidefiniteInPlace } from "./semidefinite.ts";

const random = createRandom(11);
const matrix = (n: number, m: number) => Float64Array.from({ length: n * m }, () => random.normal());
const outer = (F: Float64Array, n: number, r: number) => multiply(F, transpose(F, n, r), n, r, n);

describe("pseudoInverse", () => {
  it("is the inverse of a regular matrix", () => {
    const A = outer(matrix(5, 8), 5, 8);
    const { inverse, rank } = pseudoInverse(A, 5);
    const product = multiply(A, inverse, 5, 5, 5);
    for (let k = 0; k < 25; k++) expect(product[k]).toBeCloseTo(k % 6 === 0 ? 1 : 0, 9);
    expect(rank).toBe(5);
  });

  it("meets the four Penrose conditions for a singular matrix", () => {
    const A = outer(matrix(6, 3), 6, 3);
    const { inverse: X, rank } = pseudoInverse(A, 6);
    const AX = multiply(A, X, 6, 6, 6);
    expect(rank).toBe(3);
    expect(relativeError(multiply(AX, A, 6, 6, 6), A)).toBeLessThan(1e-10);
    expect(relativeError(multiply(X, AX, 6, 6, 6), X)).toBeLessThan(1e-10);
    expect(relativeError(transpose(AX, 6, 6), AX)).toBeLessThan(1e-10);
    expect(relativeError(transpose(multiply(X, A, 6, 6, 6), 6, 6), multiply(X, A, 6, 6, 6))).toBeLessThan(1e-10);
  });
});

describe("solveSemidefiniteInPlace", () => {
  it("solves regular systems", () => {
    const A = outer(matrix(7, 9), 7, 9);
    const x = matrix(7, 1);
    const b = multiply(A, x, 7, 7, 1);
    solveSemidefiniteInPlace(A, 7, b);
    expect(relativeError(b, x)).toBeLessThan(1e-9);
  });

  it("gives the solution of least norm for singular systems", () => {
    const F = matrix(6, 2);
    const A = outer(F, 6, 2);
    const x = multiply(A, matrix(6, 1), 6, 6, 1); // in the range of A, hence of least norm
    const b = multiply(A, x, 6, 6, 1);
    solveSemidefiniteInPlace(A, 6, b);
    expect(relativeError(b, x)).toBeLessThan(1e-8);
  });
});

describe("lowerFactor", () => {
  it.each([
    [5, 5, 5],
    [5, 2, 2],
    [4, 7, 4],
    [5, 5, 2],
  ])("keeps FF' for F of %i x %i with rank %i, lower triangular with diagonal ≥ 0", (n, r, rank) => {
    const F = multiply(matrix(n, rank), matrix(rank, r), n, rank, r);
    const width = Math.min(n, r);
    const L = lowerFactor(F, n, r);
    expect(L.length).toBe(n * width);
    expect(relativeError(outer(L, n, width), outer(F, n, r))).toBeLessThan(1e-13);
    for (let k = 0; k < width; k++) {
      expect(L[k * width + k]).toBeGreaterThanOrEqual(0);
      for (let c = k + 1; c < width; c++) expect(L[k * width + c]).toBe(0);
    }
  });
});
