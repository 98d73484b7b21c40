import { describe, expect, it } from "vitest";
import { decimalsApart, withoutZeros } from "./decimals.ts";

describe("decimalsApart", () => {
  it("adds decimals until no end that differs from the mark reads like it", () => {
    expect(decimalsApart([0.44, 0.9993], 1, 2)).toBe(3);
    expect(decimalsApart([0.44, 0.99994], 1, 2)).toBe(4);
    expect(decimalsApart([0.0004, 0.011], 0, 3)).toBe(4);
    expect(decimalsApart([-0.004, 0.03], 0, 2)).toBe(3);
    expect(decimalsApart([0.0496], 0.05, 3)).toBe(4);
  });

  it("leaves what is the mark, what is far from it and what is as good as it", () => {
    expect(decimalsApart([0, 0.03], 0, 2)).toBe(2);
    expect(decimalsApart([0.44, 0.95], 1, 2)).toBe(2);
    expect(decimalsApart([1e-12, Number.NaN, Number.POSITIVE_INFINITY], 0, 2)).toBe(2);
  });
});

describe("withoutZeros", () => {
  it("takes zeros from decimals alone", () => {
    const texts = ["8.0", "8.50", "0.120", "100", "1.5e+30", "1e+30", "-2.00"];
    expect(texts.map(withoutZeros)).toEqual(["8", "8.5", "0.12", "100", "1.5e+30", "1e+30", "-2"]);
  });
});
