import { describe, expect, it } from "vitest";
import { DtmError } from "../../errors.ts";
import { givenNodes, latticeNodes } from "./nodes.ts";

describe("latticeNodes", () => {
  it("has 797 nodes by default, 317 in fast mode and 91 on the line", () => {
    expect(latticeNodes(2).numNodes).toBe(797);
    expect(latticeNodes(2, { step: "fast" }).numNodes).toBe(317);
    expect(latticeNodes(1).numNodes).toBe(91);
  });

  it("is symmetric about zero and stays within its disc", () => {
    const { locations, numNodes, radius } = latticeNodes(2, { step: 0.3 });
    const keys = new Set<string>();
    for (let g = 0; g < numNodes; g++) {
      expect(Math.hypot(locations[2 * g], locations[2 * g + 1])).toBeLessThanOrEqual(radius + 1e-9);
      keys.add(`${locations[2 * g]},${locations[2 * g + 1]}`);
    }
    for (let g = 0; g < numNodes; g++) expect(keys.has(`${-locations[2 * g]},${-locations[2 * g + 1]}`)).toBe(true);
  });

  it("has prior weights of a standard normal: they sum to one, with unit variance but for the lattice", () => {
    for (const q of [1, 2]) {
      const { locations, logWeights } = latticeNodes(q);
      let total = 0;
      let variance = 0;
      for (let g = 0; g < logWeights.length; g++) {
        total += Math.exp(logWeights[g]);
        variance += Math.exp(logWeights[g]) * locations[g * q] * locations[g * q];
      }
      expect(total).toBeCloseTo(1, 12);
      // The disc cuts the tails beyond 4 (q = 2) or 4.5 (q = 1).
      expect(Math.abs(variance - 1)).toBeLessThan(0.005);
    }
  });

  it("refuses three dimensions and names the model that takes them", () => {
    expect(() => latticeNodes(3)).toThrow(DtmError);
    expect(() => latticeNodes(3)).toThrow(/dtm-paper/);
  });

  it("refuses steps and radii without sense", () => {
    expect(() => latticeNodes(2, { step: 0 })).toThrow(/step/);
    expect(() => latticeNodes(2, { radius: Number.NaN })).toThrow(/radius/);
  });
});

describe("givenNodes", () => {
  it("weighs given places by the standard normal density", () => {
    const { logWeights } = givenNodes(Float64Array.of(0, 2), 1);
    expect(logWeights[1] - logWeights[0]).toBeCloseTo(-2, 12);
    expect(Math.exp(logWeights[0]) + Math.exp(logWeights[1])).toBeCloseTo(1, 12);
  });
});
