import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { lastShownTime, similarFollowedTo } from "./support.ts";

/** 200 individuals on a line: those on the left are followed to 2, those on the right to 10. */
function cohort() {
  const random = createRandom(1);
  const location = Float64Array.from({ length: 200 }, (_, i) => (i < 100 ? -1 : 1) + 0.1 * random.normal());
  const lastTime = Float64Array.from({ length: 200 }, (_, i) => (i < 100 ? 2 : 10));
  return { location, lastTime, mapDimension: 1 };
}

describe("similarFollowedTo", () => {
  it("is the last time to which enough of those nearby are followed", () => {
    const until = similarFollowedTo(cohort());
    expect(until([-1])).toBe(2);
    expect(until([1])).toBe(10);
    // Far away the thirty nearest count.
    expect(until([-5])).toBe(2);
    expect(until([5])).toBe(10);
  });

  it("does not rest on fewer than eleven, nor on the individual itself", () => {
    const places = cohort();
    const few = { ...places, lastTime: places.lastTime.map((t, i) => (i < 10 ? 9 : t)) };
    expect(similarFollowedTo(few)([-1])).toBe(2);
    const eleven = { ...places, lastTime: places.lastTime.map((t, i) => (i < 11 ? 9 : t)) };
    expect(similarFollowedTo(eleven)([-1])).toBe(9);
    expect(similarFollowedTo(eleven)([-1], 3)).toBe(2);
  });

  it("takes what there is of a small cohort: half of it", () => {
    const tiny = { location: Float64Array.of(0, 0.1, 0.2, 3), lastTime: Float64Array.of(1, 2, 3, 4), mapDimension: 1 };
    expect(similarFollowedTo(tiny)([0])).toBe(3);
  });
});

describe("lastShownTime", () => {
  it("is a round time to which a tenth of the individuals, and eleven, are followed", () => {
    const firstTime = new Float64Array(200);
    const lastTime = Float64Array.from({ length: 200 }, (_, i) => (i + 1) / 20);
    // Twenty are followed to 9.05.
    expect(lastShownTime({ firstTime, lastTime })).toBe(9);
    expect(lastShownTime({ firstTime, lastTime: lastTime.map((t) => t / 10) })).toBe(0.9);
    expect(lastShownTime({ firstTime, lastTime: new Float64Array(200) })).toBe(0);
  });
});
