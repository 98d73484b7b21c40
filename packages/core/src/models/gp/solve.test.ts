import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { multiply } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { inducingKl, inducingSolver, naturalStep } from "./solve.ts";

/** A random positive definite matrix and a right-hand side. */
function randomProblem(n: number) {
  const random = createRandom(n);
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      A[i * n + j] = i === j ? 2 * n + random.uniform() : random.normal();
      A[j * n + i] = A[i * n + j];
    }
  }
  return { A, b: Float64Array.from({ length: n }, () => random.normal()) };
}

function solved(kernels: "wasm-simd" | "typescript", A: Float64Array, b: Float64Array, turns = 1) {
  const n = b.length;
  const solve = inducingSolver(n, kernels);
  const mean = new Float64Array(n);
  const covariance = new Float64Array(n * n);
  let logDet = Number.NaN;
  for (let turn = 0; turn < turns; turn++) logDet = solve(A, b, mean, covariance);
  return { mean, covariance, logDet };
}

describe("inducingSolver", () => {
  for (const n of [1, 2, 3, 7, 30, 45, 125]) {
    it(`solves and inverts ${n} equations, in WebAssembly as by definition`, () => {
      const { A, b } = randomProblem(n);
      const plain = solved("typescript", A, b);
      expect(relativeError(multiply(A, plain.mean, n, n, 1), b)).toBeLessThan(1e-12);
      const unit = multiply(A, plain.covariance, n, n, n);
      for (let i = 0; i < n; i++) unit[i * n + i] -= 1;
      expect(Math.max(...unit.map(Math.abs))).toBeLessThan(1e-12);
      // Twice, because the second call finds what the first one left.
      const kernel = solved("wasm-simd", A, b, 2);
      expect(relativeError(kernel.mean, plain.mean)).toBeLessThan(1e-13);
      expect(relativeError(kernel.covariance, plain.covariance)).toBeLessThan(1e-13);
      expect(Math.abs(kernel.logDet - plain.logDet)).toBeLessThan(1e-11 * n);
    });
  }

  it("answers NaN where the matrix is not positive definite or not finite, and serves the next one", () => {
    const b = Float64Array.of(4, 16);
    for (const kernels of ["wasm-simd", "typescript"] as const) {
      const solve = inducingSolver(2, kernels);
      const mean = new Float64Array(2);
      const covariance = new Float64Array(4);
      expect(solve(Float64Array.of(1, 2, 2, 1), b, mean, covariance)).toBeNaN();
      expect(solve(Float64Array.of(1, 0, 0, Number.NaN), b, mean, covariance)).toBeNaN();
      expect([...mean, ...covariance].every(Number.isNaN)).toBe(true);
      expect(solve(Float64Array.of(4, 0, 0, 16), b, mean, covariance)).toBeCloseTo(Math.log(64), 12);
      expect(Array.from(mean)).toEqual([1, 1]);
    }
  });
});

describe("a natural step", () => {
  it("of length one reaches the target, of length zero stays", () => {
    const target = { sums: Float64Array.of(3, 4) };
    expect(Array.from(naturalStep({ sums: Float64Array.of(1, 2) }, target, 0).sums)).toEqual([1, 2]);
    expect(Array.from(naturalStep({ sums: Float64Array.of(1, 2) }, target, 1, 2).sums)).toEqual([6, 8]);
  });
});

describe("inducingKl", () => {
  it("is zero for the prior", () => {
    expect(inducingKl(new Float64Array(2), Float64Array.of(1, 0, 0, 1), 0)).toBe(0);
  });
});
