import { describe, expect, it } from "vitest";
import { clearOf } from "./draw-individual.ts";

describe("words at the first place of a trail", () => {
  const name = { x: 60, y: -14, halfWidth: 30, halfHeight: 8 };
  const dot = { x: 0, y: 0, halfWidth: 13, halfHeight: 13 };

  it("stand below, and elsewhere where the name or the dot of the individual is", () => {
    expect(clearOf([200, 200], 20, [name, dot])).toEqual([200, 216]);
    // Just above the name: above it is free.
    expect(clearOf([60, -34], 20, [name, dot])).toEqual([60, -43]);
    for (let x = -80; x <= 120; x += 5) {
      for (let y = -80; y <= 60; y += 5) {
        const at = clearOf([x, y], 20, [name, dot]);
        if (at === null) continue;
        for (const box of [name, dot]) {
          const isApart =
            Math.abs(at[0] - box.x) >= 20 + box.halfWidth || Math.abs(at[1] - 4 - box.y) >= 7 + box.halfHeight;
          expect(isApart).toBe(true);
        }
      }
    }
    expect(clearOf([0, 0], 20, [{ x: 0, y: 0, halfWidth: 99, halfHeight: 99 }])).toBeNull();
  });
});
