import { describe, expect, it } from "vitest";
import { flipSubset, listBits, openDraws } from "./subset-draws.ts";

const ORDER = Int32Array.of(40, 0, 1, 2, 33, 41);

/** The subset drawn as permutation `index`, from items 0, 1, 2, 33. */
function draw(seed: number, index: number, size: number): Int32Array {
  const state = new Int32Array(4);
  const bits = new Int32Array(2);
  openDraws(seed, index, state);
  flipSubset(state, ORDER.slice(), 1, 5, size, bits);
  const out = new Int32Array(8);
  return out.slice(0, listBits(bits, out));
}

describe("flipSubset", () => {
  it("draws every subset equally often and nothing outside its range", () => {
    const counts = new Map<string, number>();
    for (let b = 0; b < 6000; b++) {
      const subset = draw(1, b, 2).join();
      counts.set(subset, (counts.get(subset) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(["0,1", "0,2", "0,33", "1,2", "1,33", "2,33"]);
    // Each of 6 subsets has 1,000 ± 29; five standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(145);
  });

  it("is uniform along one stream: places of the first item over many shuffles", () => {
    const state = new Int32Array(4);
    openDraws(2, 0, state);
    const counts = new Float64Array(10);
    for (let k = 0; k < 30_000; k++) {
      const items = Int32Array.from({ length: 10 }, (_, i) => i);
      flipSubset(state, items, 0, 10, 10, new Int32Array(1));
      counts[items.indexOf(0)]++;
    }
    // χ² with 9 degrees of freedom is below 27.9 with probability 0.999.
    expect(counts.reduce((s, c) => s + (c - 3000) ** 2 / 3000, 0)).toBeLessThan(27.9);
  });

  it("flips: bits set before are cleared, so that a complement is drawn as well", () => {
    const state = new Int32Array(4);
    const bits = Int32Array.of(0b111, 0b10);
    openDraws(1, 5, state);
    flipSubset(state, ORDER.slice(), 1, 5, 3, bits);
    const out = new Int32Array(4);
    expect(listBits(bits, out)).toBe(1);
    const drawn = [...draw(1, 5, 3)];
    expect(drawn).toHaveLength(3);
    expect([...drawn, out[0]].sort((a, b) => a - b)).toEqual([0, 1, 2, 33]);
  });

  it("gives the same subset for the same seed and index, and others for other seeds", () => {
    expect(draw(7, 3, 2)).toEqual(draw(7, 3, 2));
    const several = (seed: number) => Array.from({ length: 20 }, (_, b) => draw(seed, b, 2).join()).join(" ");
    expect(several(7)).not.toBe(several(8));
  });
});

describe("listBits", () => {
  it("lists first and last bits of words", () => {
    const out = new Int32Array(8);
    expect(listBits(Int32Array.of(1 | (1 << 31), 0, -1 << 30), out)).toBe(4);
    expect([...out.subarray(0, 4)]).toEqual([0, 31, 94, 95]);
  });
});
