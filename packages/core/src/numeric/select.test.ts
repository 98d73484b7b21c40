import { describe, expect, it } from "vitest";
import { createRandom } from "./random.ts";
import { quantilesInPlace, selectInPlace, sortedQuantile } from "./select.ts";

const random = createRandom(5);
const drawn = (length: number, draw: (k: number) => number) => Float64Array.from({ length }, (_, k) => draw(k));
const samples = [
  drawn(1, () => 3),
  drawn(2, (k) => -k),
  drawn(101, () => random.normal()),
  drawn(400, () => random.integer(7)),
  drawn(300, (k) => k),
  drawn(300, (k) => -Math.abs(k - 150)),
  drawn(50, (k) => (k % 3 === 0 ? Number.POSITIVE_INFINITY : k)),
];

describe("selectInPlace", () => {
  it("puts every rank where sorting puts it, and keeps what is in the array", () => {
    for (const sample of samples) {
      const sorted = sample.slice().sort();
      for (let rank = 0; rank < sample.length; rank += Math.ceil(sample.length / 20)) {
        const x = sample.slice();
        selectInPlace(x, rank, 0, x.length - 1);
        expect(x[rank]).toBe(sorted[rank]);
        expect(Math.max(...x.subarray(0, rank + 1))).toBe(sorted[rank]);
        expect(Math.min(...x.subarray(rank))).toBe(sorted[rank]);
        expect(x.sort()).toEqual(sorted);
      }
    }
  });
});

describe("quantilesInPlace", () => {
  it("gives the quantiles of the sorted numbers, bit for bit", () => {
    const probabilities = [0, 0.1, 0.1, 0.5, 0.9, 1];
    for (const sample of samples.slice(0, -1)) {
      const sorted = sample.slice().sort();
      const out = new Float64Array(probabilities.length);
      quantilesInPlace(sample.slice(), probabilities, out);
      expect(Array.from(out, (x) => x + 0)).toEqual(probabilities.map((p) => sortedQuantile(sorted, p) + 0));
    }
  });
});
