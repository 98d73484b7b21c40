import { CholeskyDecomposition, inverse, Matrix } from "ml-matrix";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import {
  cholesky,
  choleskyInPlace,
  invertFromCholesky,
  invertLower,
  logDetFromCholesky,
  solveCholeskyInPlace,
  solveLowerInPlace,
  solveLowerMatrixInPlace,
  solveLowerTransposeInPlace,
} from "./cholesky.ts";
import { identity, multiply, multiplyVector, transpose } from "./matrix.ts";
import { createRandom } from "./random.ts";

// Sizes around the unrolling by four, and a large one.
const SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 25, 60];

/** X X' + n I: positive definite and well conditioned. */
function positiveDefinite(n: number, seed: number): Float64Array {
  const random = createRandom(seed);
  const X = Float64Array.from({ length: n * n }, () => random.normal());
  const A = multiply(X, transpose(X, n, n), n, n, n);
  for (let i = 0; i < n; i++) A[i * n + i] += n;
  return A;
}

const normals = (length: number, seed: number) => {
  const random = createRandom(seed);
  return Float64Array.from({ length }, () => random.normal());
};

const toMatrix = (A: Float64Array, n: number) => Matrix.from1DArray(n, n, Array.from(A));

describe.each(SIZES)("Cholesky of an %i by %i matrix", (n) => {
  const A = positiveDefinite(n, n);
  const L = cholesky(A, n);

  it("gives back A = L L' with L lower triangular, and agrees with ml-matrix", () => {
    expect(relativeError(multiply(L, transpose(L, n, n), n, n, n), A)).toBeLessThan(1e-14);
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) expect(L[i * n + j]).toBe(0);
    const reference = new CholeskyDecomposition(toMatrix(A, n)).lowerTriangularMatrix.to1DArray();
    expect(relativeError(L, reference)).toBeLessThan(1e-13);
  });

  it("reads the lower triangle only", () => {
    const B = A.slice();
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) B[i * n + j] = Number.NaN;
    expect(cholesky(B, n)).toEqual(L);
  });

  it("solves with L, L' and L L'", () => {
    const x = normals(n, 7);
    const lower = multiplyVector(L, x, n, n);
    solveLowerInPlace(L, n, lower);
    expect(relativeError(lower, x)).toBeLessThan(1e-12);
    const upper = multiplyVector(transpose(L, n, n), x, n, n);
    solveLowerTransposeInPlace(L, n, upper);
    expect(relativeError(upper, x)).toBeLessThan(1e-12);
    const both = multiplyVector(A, x, n, n);
    solveCholeskyInPlace(L, n, both);
    expect(relativeError(both, x)).toBeLessThan(1e-12);
  });

  it("solves for several right-hand sides at once", () => {
    const X = normals(n * 3, 9);
    const B = multiply(L, X, n, n, 3);
    solveLowerMatrixInPlace(L, n, B, 3);
    expect(relativeError(B, X)).toBeLessThan(1e-12);
  });

  it("inverts L and A, into used buffers too", () => {
    const stale = () => new Float64Array(n * n).fill(99);
    expect(relativeError(multiply(invertLower(L, n, stale()), L, n, n, n), identity(n))).toBeLessThan(1e-12);
    const inverted = invertFromCholesky(L, n, stale(), stale());
    expect(relativeError(inverted, inverse(toMatrix(A, n)).to1DArray())).toBeLessThan(1e-12);
    expect(inverted).toEqual(transpose(inverted, n, n));
  });

  it("gives the log-determinant as the sum of log eigenvalues would", () => {
    const diagonal = Float64Array.from({ length: n * n }, (_, k) => (k % (n + 1) === 0 ? k + 2 : 0));
    let expected = 0;
    for (let i = 0; i < n; i++) expected += Math.log(diagonal[i * n + i]);
    expect(logDetFromCholesky(cholesky(diagonal, n), n)).toBeCloseTo(expected, 11);
  });
});

describe("cholesky", () => {
  it("says false for matrices that are indefinite, singular or not a number, and the wrapper names the matrix", () => {
    expect(choleskyInPlace(Float64Array.of(1, 2, 2, 1), 2)).toBe(false);
    expect(choleskyInPlace(Float64Array.of(1, 1, 1, 1), 2)).toBe(false);
    expect(choleskyInPlace(Float64Array.of(1, Number.NaN, Number.NaN, 1), 2)).toBe(false);
    expect(() => cholesky(Float64Array.of(-1), 1, "kernel matrix")).toThrow(
      /1x1 kernel matrix is not positive definite/,
    );
  });
});
