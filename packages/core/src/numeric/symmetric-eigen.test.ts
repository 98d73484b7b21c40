import { EigenvalueDecomposition, Matrix } from "ml-matrix";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { identity, multiply, symmetrizeInPlace, transpose } from "./matrix.ts";
import { createRandom } from "./random.ts";
import { semidefiniteRoot, symmetricEigen } from "./symmetric-eigen.ts";

function symmetric(n: number, seed: number): Float64Array {
  const random = createRandom(seed);
  const A = Float64Array.from({ length: n * n }, () => random.normal());
  symmetrizeInPlace(A, n);
  return A;
}

/** V diag(w) V'. */
function compose(values: Float64Array, vectors: Float64Array, n: number): Float64Array {
  const scaled = vectors.map((v, k) => v * values[k % n]);
  return multiply(scaled, transpose(vectors, n, n), n, n, n);
}

describe.each([1, 2, 3, 5, 12, 30])("symmetricEigen of size %i", (n) => {
  const A = symmetric(n, n);
  const { values, vectors } = symmetricEigen(A, n);

  it("gives back A from descending eigenvalues and orthonormal vectors", () => {
    expect(relativeError(compose(values, vectors, n), A)).toBeLessThan(1e-13);
    expect(relativeError(multiply(transpose(vectors, n, n), vectors, n, n, n), identity(n))).toBeLessThan(1e-13);
    for (let k = 1; k < n; k++) expect(values[k]).toBeLessThanOrEqual(values[k - 1]);
  });

  it("agrees with ml-matrix", () => {
    const decomposition = new EigenvalueDecomposition(Matrix.from1DArray(n, n, Array.from(A)), {
      assumeSymmetric: true,
    });
    const expected = Float64Array.from(decomposition.realEigenvalues).sort().reverse();
    expect(relativeError(values, expected)).toBeLessThan(1e-13);
  });
});

describe("symmetricEigen", () => {
  it("finds tiny eigenvalues of a scaled matrix to full relative accuracy", () => {
    // D H D with H well conditioned: Jacobi keeps the relative accuracy of the small eigenvalue.
    const [a, b, rho] = [1e8, 1e-8, 0.5];
    const { values } = symmetricEigen(Float64Array.of(a * a, rho * a * b, rho * a * b, b * b), 2);
    expect(values[1] / (b * b * (1 - rho * rho))).toBeCloseTo(1, 12);
  });

  it("leaves its argument alone and copes with zero and diagonal matrices", () => {
    const D = Float64Array.of(1, 0, 0, 3);
    expect(Array.from(symmetricEigen(D, 2).values)).toEqual([3, 1]);
    expect(Array.from(D)).toEqual([1, 0, 0, 3]);
    expect(Array.from(symmetricEigen(new Float64Array(9), 3).values)).toEqual([0, 0, 0]);
  });

  it("refuses entries that are not finite instead of returning nonsense", () => {
    const bad = Float64Array.of(1, Number.NaN, Number.NaN, 1);
    expect(() => symmetricEigen(bad, 2)).toThrow(/finite/);
  });
});

describe("semidefiniteRoot", () => {
  it("gives L with L L' = A for singular A", () => {
    const v = Float64Array.of(1, -2, 3);
    const A = multiply(v, v, 3, 1, 3);
    const L = semidefiniteRoot(A, 3);
    expect(relativeError(multiply(L, transpose(L, 3, 3), 3, 3, 3), A)).toBeLessThan(1e-14);
  });

  it("converges for a matrix of rank one whose triangles differ by rounding", () => {
    const A = Float64Array.from([
      ...[0.7278134792589037, 0.6219969156863312, 0.25863969118925845, 0.011081056078948085, 0],
      ...[0.6219969156863312, 0.5315649876631164, 0.22103615112706212, 0.009469984961904184, 0],
      ...[0.2586396911892585, 0.22103615112706212, 0.09191158416932635, 0.003937823362694924, 0],
      ...[0.011081056078948087, 0.009469984961904182, 0.003937823362694924, 0.00016871053824095571, 0],
      ...[0, 0, 0, 0, 0],
    ]);
    const { values } = symmetricEigen(A, 5);
    expect(values[0]).toBeCloseTo(1.351458761629588, 14);
    for (const value of values.slice(1)) expect(Math.abs(value)).toBeLessThan(1e-15);
  });
});
