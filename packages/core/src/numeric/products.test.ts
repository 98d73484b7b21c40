import { expect, it } from "vitest";
import { multiply } from "./matrix.ts";
import { addProduct } from "./products.ts";
import { createRandom } from "./random.ts";

it("addProduct adds the scaled product of any shapes, zeros included", () => {
  const random = createRandom(3);
  for (const [n, k, m] of [
    [1, 1, 1],
    [3, 4, 5],
    [7, 9, 2],
    [12, 13, 12],
  ]) {
    // Every third entry is zero, and the last rows are zero throughout.
    const A = Float64Array.from({ length: n * k }, (_, e) => (e % 3 === 0 || e > n * k - 6 ? 0 : random.normal()));
    const B = Float64Array.from({ length: k * m }, () => random.normal());
    const out = Float64Array.from({ length: n * m }, (_, e) => e);
    addProduct(-0.5, A, B, n, k, m, out);
    const product = multiply(A, B, n, k, m);
    out.forEach((v, e) => {
      expect(v).toBeCloseTo(e - 0.5 * product[e], 12);
    });
  }
});
