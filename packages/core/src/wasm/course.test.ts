import { expect, it } from "vitest";
import { normalCdf } from "../numeric/special.ts";
import { openKernels } from "./layout.ts";
import { COURSE } from "./layouts.ts";

it("fillNormals gives Φ and its first derivatives at every 64th from −8 to 8, and 0 and 1 at the ends", () => {
  const { buffers, run } = openKernels(COURSE, { numBasis: 2, numTiles: 1, numActive: 1 });
  run.fillNormals();
  const table = buffers.normalTable;
  expect([...table.subarray(0, 6)]).toEqual([0, 0, 0, 0, 0, 0]);
  expect([...table.subarray(-6)]).toEqual([1, 0, 0, 0, 0, 0]);
  for (let j = 1; j < 1024; j++) {
    const c = j / 64 - 8;
    const density = Math.exp(-0.5 * c * c) / Math.sqrt(2 * Math.PI);
    const derivatives = [1, -c / 2, (c * c - 1) / 6, -(c ** 3 - 3 * c) / 24].map((v) => v * density);
    // normalCdf takes erfc of a rounded c/√2: 1e-14 of it at −8.
    expect(Math.abs(table[6 * j] - normalCdf(c))).toBeLessThan(2e-14 * normalCdf(c));
    derivatives.forEach((v, n) => {
      expect(Math.abs(table[6 * j + 1 + n] - v)).toBeLessThan(1e-14 * density);
    });
  }
});
