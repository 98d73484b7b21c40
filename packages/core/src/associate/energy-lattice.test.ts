import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { distancesFrom, energyLattice, nodePairs, spreadMembers } from "./energy-lattice.ts";
import { energyPlane, evaluate, formWorkspace, kernelRowSums } from "./quadratic-form.ts";

const everyone = (n: number) => Int32Array.from({ length: n }, (_, i) => i);

function places(n: number): Float64Array {
  const random = createRandom(8);
  return Float64Array.from({ length: 2 * n }, () => random.normal());
}

describe("energyLattice", () => {
  it("spreads everyone with total, mean and second moments kept", () => {
    // Moments show in distances to a far place: |u| to second order.
    const x = Float64Array.of(0.03, -0.02, 0.11, 0.4, 1000, 0);
    const lattice = energyLattice(x, 3, 1);
    const h = new Float64Array(lattice.numNodes);
    spreadMembers(lattice, Int32Array.of(0, 1), 2, h);
    expect(h.reduce((s, v) => s + v, 0)).toBeCloseTo(2, 12);
    const far = -distancesFrom(lattice, h, 2)[2];
    const exact = Math.hypot(1000 - 0.03, 0.02) + Math.hypot(1000 - 0.11, 0.4);
    // The directions of the average miss |u| by 2/(4·16² − 1) at most.
    expect(Math.abs(far / exact - 1)).toBeLessThan(0.002);
  });

  it("has the distance of two places to two parts in a thousand beyond a few steps", () => {
    for (const [dx, dy] of [
      [1, 0],
      [0.7, -0.8],
      [0, 2.3],
    ]) {
      const lattice = energyLattice(Float64Array.of(0.02, 0.05, 0.02 + dx, 0.05 + dy), 2, 1);
      const h = new Float64Array(lattice.numNodes);
      spreadMembers(lattice, Int32Array.of(0), 1, h);
      expect(Math.abs(-distancesFrom(lattice, h, 1)[1] / Math.hypot(dx, dy) - 1)).toBeLessThan(0.003);
    }
  });

  it("sums over pairs of nodes as over rows", () => {
    const n = 60;
    const lattice = energyLattice(places(n), n, 1);
    const h = new Float64Array(lattice.numNodes);
    spreadMembers(lattice, everyone(n), n, h);
    const rows = distancesFrom(lattice, h, n).reduce((s, v) => s + v, 0);
    expect(nodePairs(lattice, h, n) / rows).toBeCloseTo(1, 10);
  });

  it("leaves nobody at a distance from itself", () => {
    const form = energyPlane(Float64Array.of(0.21, 0.33, 2, 1), 2, 1);
    // Between two individuals T is 2|x − y|, whatever each has with itself.
    const T = evaluate(form, Int32Array.of(0), 1, formWorkspace(form));
    expect(Math.abs(T / (2 * Math.hypot(1.79, 0.67)) - 1)).toBeLessThan(0.003);
    expect(Math.abs(kernelRowSums(form, Int32Array.of(0))[0])).toBeLessThan(0.001);
  });
});
