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
});
