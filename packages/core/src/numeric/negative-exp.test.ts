import { describe, expect, it } from "vitest";
import { negativeExp } from "./negative-exp.ts";

describe("negativeExp", () => {
  it("agrees with Math.exp to 1e-15 relative, and to 1e-14 where its table has ended", () => {
    let near = 0;
    let far = 0;
    for (let k = 0; k <= 20_000; k++) {
      const x = (-44 * k) / 20_000;
      near = Math.max(near, Math.abs(negativeExp(x) / Math.exp(x) - 1));
      const y = -44 - (600 * k) / 20_000;
      far = Math.max(far, Math.abs(negativeExp(y) / Math.exp(y) - 1));
    }
    expect(near).toBeLessThan(1e-15);
    expect(far).toBeLessThan(1e-14);
  });

  it("is one at 0, zero far below, and passes on what is not a number", () => {
    expect(negativeExp(0)).toBe(1);
    expect(negativeExp(-0)).toBe(1);
    expect(negativeExp(1e-17)).toBe(1);
    expect(negativeExp(-1000)).toBe(0);
    expect(negativeExp(Number.NEGATIVE_INFINITY)).toBe(0);
    expect(negativeExp(Number.NaN)).toBeNaN();
  });
});
