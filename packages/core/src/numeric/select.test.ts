import { describe, expect, it } from "vitest";
import { sortedQuantile } from "./select.ts";

describe("sortedQuantile", () => {
  it("is R's quantile of type 7", () => {
    // quantile(c(1, 2, 4, 8), c(0, 0.1, 0.5, 0.9, 1))
    const values = [0, 0.1, 0.5, 0.9, 1].map((p) => sortedQuantile([1, 2, 4, 8], p));
    [1, 1.3, 3, 6.8, 8].forEach((expected, k) => {
      expect(values[k]).toBeCloseTo(expected, 12);
    });
    expect(sortedQuantile([3], 0.7)).toBe(3);
  });
});
