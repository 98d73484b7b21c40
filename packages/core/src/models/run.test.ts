import { describe, expect, it } from "vitest";
import { procrustes } from "../numeric/procrustes.ts";
import { createRandom } from "../numeric/random.ts";
import { differentMaps } from "./run.ts";

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

describe("differentMaps", () => {
  const Y = Float64Array.from({ length: 60 }, () => random.normal());
  const best = { start: 0, bound: -100, places: X };

  it("tells of another map with a bound almost as large, and of nothing else", () => {
    const other = { start: 2, bound: -101, places: Y };
    const same = { start: 1, bound: -100.5, places: moved(1, false) };
    const worse = { start: 3, bound: -110, places: Y };
    const told = differentMaps([best, same, other, worse], 2);
    expect(told.length).toBe(1);
    expect(told[0]).toMatch(/random places 1 found a different map .* 1\.00 lower/);
  });
});
