import { describe, expect, it } from "vitest";
import { hasSettled, type Movement, nextMovement, UNKNOWN_MOVEMENT } from "./stop-rule.ts";

/** Checks of one individual on a line whose place moves by the given distances. */
function checks(distances: readonly number[], limit: number): Movement[] {
  let place = 1;
  let movement = UNKNOWN_MOVEMENT;
  return distances.map((distance) => {
    const before = Float64Array.of(place);
    place += distance;
    movement = nextMovement(movement, before, Float64Array.of(place), 1, limit);
    return movement;
  });
}

describe("the movement of places", () => {
  it("is extrapolated as a geometric series", () => {
    const [first, second, third] = checks([0.08, 0.04, 0.02], 0.01);
    // Before two checks are known the rate is taken as 0.8.
    expect(first.remaining).toBeCloseTo(0.32, 10);
    expect(second.remaining).toBeCloseTo(0.16, 10);
    expect(third.remaining).toBeCloseTo(0.02, 10);
  });

  it("is at rest after three small checks in a row on the lattice asked for, after one on the coarse one", () => {
    const movements = checks([0.008, 0.004, 0.002, 0.001, 0.0005], 0.01);
    expect(movements.map(({ small }) => small)).toEqual([0, 0, 1, 2, 3]);
    expect(movements.map((m) => hasSettled(m, "fine"))).toEqual([false, false, false, false, true]);
    expect(movements.map((m) => hasSettled(m, "coarse"))).toEqual([false, false, true, true, true]);
  });

  it("is not at rest on a plateau, where small steps do not shrink", () => {
    const movements = checks([0.003, 0.003, 0.003, 0.0035, 0.004, 0.003], 0.01);
    expect(movements.some((m) => hasSettled(m, "fine"))).toBe(false);
    expect(movements.at(-1)?.small).toBeLessThan(3);
  });

  it("is none where nothing moves", () => {
    expect(checks([0, 0, 0], 1e-12).map((m) => hasSettled(m, "fine"))).toEqual([false, false, true]);
  });
});
