import { describe, expect, it } from "vitest";
import { addNormals } from "./normal-sums.ts";
import { createRandom } from "./random.ts";
import { LOG_2PI, normalCdf } from "./special.ts";

describe("addNormals", () => {
  it("gives distribution function and density of one normal to 1e-15 within eight deviations", () => {
    const out = new Float64Array(2);
    for (let u = -7.999; u < 8; u += 0.00713) {
      addNormals(Float64Array.of(1), Float64Array.of(0), Float64Array.of(1), u, out);
      expect(Math.abs(out[0] - normalCdf(u))).toBeLessThan(1e-15);
      expect(Math.abs(out[1] - Math.exp(-0.5 * (u * u + LOG_2PI)))).toBeLessThan(1e-15);
    }
  });

  it("counts far components as wholly on one side", () => {
    const out = new Float64Array(2);
    addNormals(Float64Array.of(0.25, 0.75), Float64Array.of(-100, 100), Float64Array.of(2, 3), 0, out);
    expect([...out]).toEqual([0.25, 0]);
  });

  it("sums over components with means and deviations of their own", () => {
    const random = createRandom(3);
    const draw = (f: () => number) => Float64Array.from({ length: 50 }, f);
    const weights = draw(() => random.uniform());
    const means = draw(() => 3 * random.normal());
    const sds = draw(() => 0.2 + random.uniform());
    const out = new Float64Array(2);
    addNormals(weights, means, sds, 0.7, out);
    let below = 0;
    let density = 0;
    for (let k = 0; k < 50; k++) {
      const u = (0.7 - means[k]) / sds[k];
      below += weights[k] * normalCdf(u);
      density += (weights[k] / sds[k]) * Math.exp(-0.5 * (u * u + LOG_2PI));
    }
    expect(out[0]).toBeCloseTo(below, 13);
    expect(out[1]).toBeCloseTo(density, 13);
  });
});
