import { describe, expect, it } from "vitest";
import { multiply, transpose } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { varimax } from "./varimax.ts";

function normals(d: number, q: number, seed: number): Float64Array {
  const random = createRandom(seed);
  return Float64Array.from({ length: d * q }, () => random.normal());
}

/** Variance of squared loadings, summed over columns. */
function criterion(Z: Float64Array, d: number, q: number): number {
  let sum = 0;
  for (let c = 0; c < q; c++) {
    const squares = Array.from({ length: d }, (_, r) => Z[r * q + c] ** 2);
    const mean = squares.reduce((a, b) => a + b, 0) / d;
    sum += squares.reduce((a, b) => a + (b - mean) ** 2, 0);
  }
  return sum;
}

describe("varimax", () => {
  it("rotates: the rotation is orthogonal, and lengths of rows stay", () => {
    for (const q of [2, 3, 5]) {
      const F = normals(12, q, q);
      const { loadings, rotation, converged } = varimax(F, 12, q);
      expect(converged).toBe(true);
      const I = multiply(transpose(rotation, q, q), rotation, q, q, q);
      for (let a = 0; a < q; a++) for (let b = 0; b < q; b++) expect(I[a * q + b]).toBeCloseTo(a === b ? 1 : 0, 12);
      multiply(F, rotation, 12, q, q).forEach((x, e) => {
        expect(loadings[e]).toBeCloseTo(x, 12);
      });
    }
  });

  it("leaves no small turn that would raise the criterion", () => {
    const [d, q] = [15, 3];
    const { loadings } = varimax(normals(d, q, 4), d, q, { normalize: false });
    const best = criterion(loadings, d, q);
    for (const [a, b] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ]) {
      for (const angle of [-0.05, -0.001, 0.001, 0.05]) {
        const turned = loadings.slice();
        for (let r = 0; r < d; r++) {
          const [x, y] = [loadings[r * q + a], loadings[r * q + b]];
          turned[r * q + a] = Math.cos(angle) * x - Math.sin(angle) * y;
          turned[r * q + b] = Math.sin(angle) * x + Math.cos(angle) * y;
        }
        expect(criterion(turned, d, q)).toBeLessThan(best + 1e-12);
      }
    }
  });

  it("finds the simple structure that a rotation hid", () => {
    const simple = Float64Array.of(2, 0, 1, 0, 3, 0, 0, 1, 0, 2, 0, 1.5);
    const [c, s] = [Math.cos(0.7), Math.sin(0.7)];
    const hidden = multiply(simple, Float64Array.of(c, -s, s, c), 6, 2, 2);
    const { loadings } = varimax(hidden, 6, 2);
    for (let r = 0; r < 6; r++) {
      const [small, large] = [Math.abs(loadings[2 * r]), Math.abs(loadings[2 * r + 1])].sort((a, b) => a - b);
      // The criterion is flat at its top: the angle is exact to the root of its precision.
      expect(small).toBeLessThan(1e-6);
      expect(large).toBeCloseTo(Math.abs(simple[2 * r] + simple[2 * r + 1]), 8);
    }
  });

  it("leaves one factor alone, and copes with rows and columns of zeros", () => {
    expect(varimax(Float64Array.of(1, -2, 3), 3, 1)).toMatchObject({ rotation: Float64Array.of(1), converged: true });
    const zeros = varimax(Float64Array.of(1, 0, 0, 0, 2, 0), 3, 2);
    expect(zeros.loadings.every(Number.isFinite)).toBe(true);
    expect(varimax(new Float64Array(6), 3, 2)).toMatchObject({ loadings: new Float64Array(6), converged: true });
  });

  it("refuses what is not [d,q] or not finite", () => {
    expect(() => varimax(new Float64Array(5), 3, 2)).toThrow(/\[d,q\]/);
    expect(() => varimax(Float64Array.of(1, Number.NaN), 1, 2)).toThrow(/finite/);
  });
});
