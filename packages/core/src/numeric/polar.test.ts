import { describe, expect, it } from "vitest";
import { multiply, transpose } from "./matrix.ts";
import { polarFactor } from "./polar.ts";
import { createRandom } from "./random.ts";

function expectOrthogonal(R: Float64Array, q: number): void {
  const I = multiply(transpose(R, q, q), R, q, q, q);
  for (let a = 0; a < q; a++) for (let b = 0; b < q; b++) expect(I[a * q + b]).toBeCloseTo(a === b ? 1 : 0, 12);
}

describe("polarFactor", () => {
  it("is orthogonal and leaves a symmetric positive factor whose trace is the sum", () => {
    const random = createRandom(2);
    for (const q of [1, 2, 3, 6]) {
      const M = Float64Array.from({ length: q * q }, () => random.normal());
      const { rotation, sum } = polarFactor(M, q);
      expectOrthogonal(rotation, q);
      const H = multiply(transpose(rotation, q, q), M, q, q, q);
      let trace = 0;
      for (let a = 0; a < q; a++) {
        trace += H[a * q + a];
        for (let b = 0; b < a; b++) expect(H[a * q + b]).toBeCloseTo(H[b * q + a], 12);
      }
      expect(trace).toBeCloseTo(sum, 12);
    }
  });

  it("gives back rotations and reflections", () => {
    const turn = Float64Array.of(Math.cos(1), -Math.sin(1), Math.sin(1), Math.cos(1));
    polarFactor(turn, 2).rotation.forEach((x, e) => {
      expect(x).toBeCloseTo(turn[e], 14);
    });
    expect(polarFactor(Float64Array.of(0, 2, 3, 0), 2)).toEqual({ rotation: Float64Array.of(0, 1, 1, 0), sum: 5 });
  });

  it("completes a matrix without full rank, and keeps tiny singular values", () => {
    for (const M of [
      new Float64Array(9),
      Float64Array.of(1, 2, 3, 2, 4, 6, 0, 0, 0),
      Float64Array.of(0, 0, 0, 0, 0, 1, 0, 1e-11, 0),
    ]) {
      expectOrthogonal(polarFactor(M, 3).rotation, 3);
    }
    const skew = polarFactor(Float64Array.of(1, 0, 0, -1e-12), 2);
    expect(skew.rotation).toEqual(Float64Array.of(1, 0, 0, -1));
  });

  it("says so when entries are not finite", () => {
    expect(() => polarFactor(Float64Array.of(1, Number.NaN, 0, 1), 2)).toThrow(/finite/);
  });

  it("ends for every matrix without full rank, such as that of a map of fewer dimensions", () => {
    const random = createRandom(5);
    for (let k = 0; k < 2000; k++) {
      const [a, b, scale] = [random.normal(), random.normal(), 10 ** (6 * random.uniform())];
      const M = Float64Array.of(a * scale, b * scale, 0, 0);
      const { rotation, sum } = polarFactor(M, 2);
      expect(sum / (scale * Math.hypot(a, b))).toBeCloseTo(1, 12);
      expectOrthogonal(rotation, 2);
    }
  });
});
