import { describe, expect, it } from "vitest";
import { martingaleResiduals } from "./martingale.ts";

describe("martingaleResiduals", () => {
  it("are events less the cumulative hazard, ties sharing a risk set, and sum to zero", () => {
    const residuals = martingaleResiduals({ times: [2, 1, 2, 3], events: [1, 1, 0, 0] });
    // H(1) = 1/4, H(2) = 1/4 + 1/3.
    const expected = [1 - 7 / 12, 3 / 4, -7 / 12, -7 / 12];
    residuals.forEach((m, i) => {
      expect(m).toBeCloseTo(expected[i], 14);
    });
    expect(residuals.reduce((s, m) => s + m, 0)).toBeCloseTo(0, 14);
  });
});
