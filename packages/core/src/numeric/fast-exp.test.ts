import { describe, expect, it } from "vitest";
import { expShiftedInPlace, NEGLIGIBLE_EXPONENT } from "./fast-exp.ts";

describe("expShiftedInPlace", () => {
  it("agrees with Math.exp to 1e-15 relative over its whole range", () => {
    const x = Float64Array.from({ length: 20_001 }, (_, k) => (NEGLIGIBLE_EXPONENT * k) / 20_000);
    const y = x.slice();
    expShiftedInPlace(y, 0, y.length, 0);
    let worst = 0;
    for (let k = 0; k < x.length; k++) worst = Math.max(worst, Math.abs(y[k] / Math.exp(x[k]) - 1));
    expect(worst).toBeLessThan(1e-15);
  });

  it("is exactly one at the shift and zero far below it", () => {
    const x = Float64Array.of(7, 5, -2000, Number.NEGATIVE_INFINITY);
    const sum = expShiftedInPlace(x, 0, 4, 7);
    expect(x[0]).toBe(1);
    expect(x[1]).toBeCloseTo(Math.exp(-2), 15);
    expect(x[2]).toBe(0);
    expect(x[3]).toBe(0);
    expect(sum).toBe(x[0] + x[1]);
  });

  it("touches only the given range", () => {
    const x = Float64Array.of(-1, -1, -1);
    expShiftedInPlace(x, 1, 2, 0);
    expect(x[0]).toBe(-1);
    expect(x[1]).toBeCloseTo(Math.exp(-1), 15);
    expect(x[2]).toBe(-1);
  });

  it("passes a value that is not a number on", () => {
    const x = Float64Array.of(0, Number.NaN);
    expect(expShiftedInPlace(x, 0, 2, 0)).toBeNaN();
  });
});
