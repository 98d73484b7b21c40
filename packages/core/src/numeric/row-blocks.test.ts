import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { multiply, transpose } from "./matrix.ts";
import { createRandom } from "./random.ts";
import { addBlockOuter, addBlockTimesTable, blockDotTable, paddedRows, ROW_BLOCK } from "./row-blocks.ts";

const random = createRandom(3);
const normals = (count: number) => Float64Array.from({ length: count }, () => random.normal());

describe("products with four long rows", () => {
  for (const [K, n] of [
    [4, 1],
    [8, 13],
    [20, 31],
  ]) {
    it(`equal plain matrix products (K = ${K}, n = ${n})`, () => {
      const P = normals(ROW_BLOCK * K);
      const T = normals(K * n);
      const R = normals(ROW_BLOCK * n);

      const product = normals(ROW_BLOCK * n);
      const expected = product.map((v, k) => v + multiply(P, T, ROW_BLOCK, K, n)[k]);
      addBlockTimesTable(P, 0, K, K, T, n, product);
      expect(relativeError(product, expected)).toBeLessThan(1e-14);

      const outer = normals(K * n);
      const plain = multiply(transpose(P, ROW_BLOCK, K), R, K, ROW_BLOCK, n);
      const expectedOuter = outer.map((v, k) => v + plain[k]);
      addBlockOuter(P, 0, K, K, R, n, outer);
      expect(relativeError(outer, expectedOuter)).toBeLessThan(1e-14);

      const dots = new Float64Array(ROW_BLOCK * K);
      blockDotTable(R, T, 0, K, n, dots, 0, K);
      expect(relativeError(dots, multiply(R, transpose(T, K, n), ROW_BLOCK, n, K))).toBeLessThan(1e-14);
    });
  }

  it("read and write from given rows and offsets", () => {
    const n = 5;
    const T = normals(6 * n);
    const R = normals(ROW_BLOCK * n);
    const all = new Float64Array(ROW_BLOCK * 6);
    blockDotTable(R, T, 0, 6, n, all, 0, 6);
    const part = new Float64Array(1 + ROW_BLOCK * 3);
    blockDotTable(R, T, 2, 2, n, part, 1, 3);
    for (let b = 0; b < ROW_BLOCK; b++) expect(part[1 + 3 * b]).toBe(all[6 * b + 2]);
    const out = new Float64Array(6 * n);
    addBlockOuter(all, 2, 6, 2, R, n, out, 4);
    expect(out.subarray(0, 4 * n).every((v) => v === 0)).toBe(true);
    expect(out[4 * n]).toBeCloseTo(all[2] * R[0] + all[8] * R[n] + all[14] * R[2 * n] + all[20] * R[3 * n], 12);
  });

  it("pad to multiples of four", () => {
    expect([1, 4, 5, 20].map(paddedRows)).toEqual([4, 4, 8, 20]);
  });
});
