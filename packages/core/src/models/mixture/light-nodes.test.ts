import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { lightLimit } from "./light-nodes.ts";

describe("lightLimit", () => {
  it("leaves out at most the given mass, and could not be doubled", () => {
    const random = createRandom(5);
    for (const mass of [0, 1e-12, 1e-6, 0.01]) {
      const weights = Float64Array.from({ length: 400 }, () => Math.exp(-30 * random.uniform()));
      const below = (limit: number) => weights.filter((w) => w < limit).reduce((a, b) => a + b, 0);
      const limit = lightLimit(weights, weights.length, mass);
      expect(below(limit)).toBeLessThanOrEqual(mass);
      expect(below(2 * limit)).toBeGreaterThan(mass);
    }
  });

  it("reads the first n weights alone, and counts zeros as light", () => {
    const weights = Float64Array.of(0, 0.5, 0.25, 1e-20, 1e-20);
    expect(lightLimit(weights, 3, 0.1)).toBe(0.25);
    expect(lightLimit(weights, 3, 0.3)).toBe(0.5);
  });
});
