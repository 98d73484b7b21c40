import { Matrix } from "ml-matrix";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { bilinear, dot, identity, multiply, multiplyVector, symmetrizeInPlace, trace, transpose } from "./matrix.ts";
import { createRandom } from "./random.ts";

const random = createRandom(3);
const normals = (length: number) => Float64Array.from({ length }, () => random.normal());
const toMatrix = (A: Float64Array, n: number, m: number) => Matrix.from1DArray(n, m, Array.from(A));

describe("dense matrices", () => {
  const [n, k, m] = [4, 3, 5];
  const A = normals(n * k);
  const B = normals(k * m);

  it("multiply agrees with ml-matrix and overwrites its buffer", () => {
    const expected = toMatrix(A, n, k)
      .mmul(toMatrix(B, k, m))
      .to1DArray();
    expect(relativeError(multiply(A, B, n, k, m, new Float64Array(n * m).fill(5)), expected)).toBeLessThan(1e-15);
  });

  it("multiplyVector and bilinear are products with one column", () => {
    const x = normals(k);
    const y = normals(n);
    expect(relativeError(multiplyVector(A, x, n, k), multiply(A, x, n, k, 1))).toBeLessThan(1e-15);
    expect(bilinear(y, A, x)).toBeCloseTo(dot(y, multiply(A, x, n, k, 1)), 14);
  });

  it("transpose is its own inverse and moves entry (i,j) to (j,i)", () => {
    const T = transpose(A, n, k);
    expect(T[2 * n + 1]).toBe(A[1 * k + 2]);
    expect(transpose(T, k, n)).toEqual(A);
  });

  it("symmetrizeInPlace keeps the symmetric part and the trace", () => {
    const S = normals(9);
    const expected = toMatrix(S, 3, 3)
      .add(toMatrix(S, 3, 3).transpose())
      .mul(0.5)
      .to1DArray();
    const before = trace(S, 3);
    symmetrizeInPlace(S, 3);
    expect(Array.from(S)).toEqual(expected);
    expect(trace(S, 3)).toBe(before);
  });

  it("identity scales", () => {
    expect(Array.from(identity(2, 3))).toEqual([3, 0, 0, 3]);
  });
});
