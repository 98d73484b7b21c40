import { expect, it } from "vitest";
import { fastExp } from "./exp.ts";
import { createRandom } from "./random.ts";

it("fastExp is within 4 units in the last place of Math.exp over the whole range", () => {
  const random = createRandom(1);
  let worst = 0;
  for (let n = 0; n < 200_000; n++) {
    const x = n % 2 === 0 ? 1416 * random.uniform() - 708 : 2 * random.normal();
    worst = Math.max(worst, Math.abs(fastExp(x) / Math.exp(x) - 1));
  }
  expect(worst).toBeLessThan(4 * Number.EPSILON);
});

it("fastExp is exact at 0, empty far below, infinite far above, and passes NaN on", () => {
  expect(fastExp(0)).toBe(1);
  expect(fastExp(-1e6)).toBe(0);
  expect(fastExp(Number.NEGATIVE_INFINITY)).toBe(0);
  expect(fastExp(1e6)).toBe(Number.POSITIVE_INFINITY);
  expect(fastExp(Number.NaN)).toBeNaN();
});
