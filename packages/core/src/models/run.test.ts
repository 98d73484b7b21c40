import { describe, expect, it } from "vitest";
import { procrustes } from "../numeric/procrustes.ts";
import { createRandom } from "../numeric/random.ts";
import { compareStarts } from "./run.ts";

const random = createRandom(4);
const X = Float64Array.from({ length: 60 }, () => random.normal());

/** X turned by an angle, mirrored, scaled and shifted. */
function moved(angle: number, mirror: boolean): Float64Array {
  const out = new Float64Array(60);
  for (let i = 0; i < 30; i++) {
    const [a, b] = [X[2 * i], X[2 * i + 1]];
    const y = Math.sin(angle) * a + Math.cos(angle) * b;
    out[2 * i] = 3 + 2 * (Math.cos(angle) * a - Math.sin(angle) * b);
    out[2 * i + 1] = -1 + (mirror ? -2 : 2) * y;
  }
  return out;
}

const procrustesAgreement = (X: Float64Array, Y: Float64Array, q: number) => procrustes(X, Y, X.length / q, q).rSquared;

describe("the agreement of two maps", () => {
  it("is one for rotated, mirrored, scaled and shifted maps", () => {
    for (const [angle, mirror] of [
      [0.7, false],
      [2.1, true],
    ] as const) {
      expect(procrustesAgreement(X, moved(angle, mirror), 2)).toBeCloseTo(1, 12);
    }
    expect(
      procrustesAgreement(
        X,
        X.map((v) => 2 - 3 * v),
        1,
      ),
    ).toBeCloseTo(1, 12);
  });

  it("is small for unrelated maps and symmetric in its arguments", () => {
    const Y = Float64Array.from({ length: 60 }, () => random.normal());
    expect(procrustesAgreement(X, Y, 2)).toBeLessThan(0.5);
    expect(procrustesAgreement(X, Y, 2)).toBeCloseTo(procrustesAgreement(Y, X, 2), 12);
  });
});

describe("compareStarts", () => {
  const Y = Float64Array.from({ length: 60 }, () => random.normal());
  const best = { start: 0, bound: -100, places: X };

  it("puts the best first and tells the same map, rivals and worse ones apart", () => {
    const other = { start: 2, bound: -101, places: Y };
    const same = { start: 1, bound: -100.5, places: moved(1, false) };
    const worse = { start: 3, bound: -110, places: Y };
    const told = compareStarts([worse, same, other, best], 0, 2);
    expect(told.map(({ bound }) => bound)).toEqual([-100, -100.5, -101, -110]);
    expect(told.map(({ sameMap }) => sameMap)).toEqual([true, true, false, false]);
    expect(told.map(({ similarBound }) => similarBound)).toEqual([true, true, true, false]);
  });

  it("has nothing to compare for one start", () => {
    expect(compareStarts([best], 0, 2)).toEqual([]);
  });
});
