import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { simultaneousBand } from "./simultaneous.ts";

describe("simultaneousBand", () => {
  it("holds the wanted share of whole curves and is wider than the pointwise band", () => {
    const random = createRandom(4);
    const S = 4000;
    const T = 12;
    const curve = () => {
      const [level, slope] = [random.normal(), random.normal()];
      return Array.from({ length: T }, (_, t) => level + (slope * t) / T + 0.3 * random.normal());
    };
    const draws = Float64Array.from(Array.from({ length: S }, curve).flat());
    const band = simultaneousBand(draws, S, T, 0.9);
    let inside = 0;
    for (let s = 0; s < S; s++) {
      if (curve().every((v, t) => v >= band.lower[t] && v <= band.upper[t])) inside++;
    }
    expect(inside / S).toBeGreaterThan(0.87);
    expect(inside / S).toBeLessThan(0.925);
    // Pointwise 90% of N(0, 1 + 0.09) at t = 0 would be ±1.717.
    expect(band.upper[0]).toBeGreaterThan(1.8);
  });
});
