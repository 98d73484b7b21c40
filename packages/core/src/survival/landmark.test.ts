import { describe, expect, it } from "vitest";
import { defaultLandmark, landmarkFollowUp } from "./landmark.ts";

/** Visits from lists per individual. */
function visitsOf(...lists: number[][]) {
  const offsets = [0];
  for (const list of lists) offsets.push(offsets[offsets.length - 1] + list.length);
  const times = lists.flatMap((list) => list.sort((a, b) => a - b));
  return { times: Float64Array.from(times), offsets: Int32Array.from(offsets) };
}

describe("defaultLandmark", () => {
  it("is the time by which half the individuals have two visits", () => {
    const visits = visitsOf([0, 1, 2], [3, 0], [0, 2], [0], [1, 5, 6]);
    // Second visits at 1, 3, 2, never, 5: three of five have them by 3.
    expect(defaultLandmark(visits, [])).toBe(3);
    expect(defaultLandmark(visitsOf([0, 1], [0, 9]), [])).toBe(1);
  });

  it("counts visits at one time as two", () => {
    expect(defaultLandmark(visitsOf([4, 4]), [])).toBe(4);
    expect(defaultLandmark(visitsOf([9, 7, 1, 8]), [])).toBe(7);
  });

  it("asks for a landmark where too few have two visits", () => {
    expect(() => defaultLandmark(visitsOf([0], [0, 1], [2]), [])).toThrow(/half of the 3 individuals.*Give a landmark/);
    expect(() => defaultLandmark(visitsOf(), [])).toThrow(/0 individuals/);
  });

  it("is not before 0 where nobody's follow-up ends there: who was diagnosed at 0 lived until then", () => {
    const visits = visitsOf([-5, -4, 3], [-2, -1], [1, 2]);
    expect(defaultLandmark(visits, [2, 9, Number.NaN])).toBe(0);
    expect(defaultLandmark(visits, [-0.5, 9, 2])).toBe(-1);
  });
});

describe("landmarkFollowUp", () => {
  const visits = visitsOf([0, 1], [0, 2], [3, 4], [0], [0, 1], [0, 1], [2, 5]);
  const followUp = { times: [10, 1.5, 9, Number.NaN, 2, 2, 2.5], events: [1, 1, 0, 0, 1, 0, 1] };

  it("keeps those seen by the landmark and followed beyond it, and counts the others by reason", () => {
    const { individuals, times, events, leftOut, landmark } = landmarkFollowUp(visits, followUp, 2);
    expect(landmark).toBe(2);
    expect(Array.from(individuals)).toEqual([0, 6]);
    expect(Array.from(times)).toEqual([8, 0.5]);
    expect(Array.from(events)).toEqual([1, 1]);
    expect(leftOut).toEqual({ unknown: 1, eventBefore: 2, censoredBefore: 1, noVisitBefore: 1 });
  });

  it("uses the default landmark", () => {
    expect(landmarkFollowUp(visits, followUp).landmark).toBe(2);
  });

  it("refuses a landmark nobody reaches and follow-up of others", () => {
    expect(() => landmarkFollowUp(visits, followUp, 50)).toThrow(/landmark 50.*another landmark/);
    expect(() => landmarkFollowUp(visits, { times: [1], events: [1] }, 2)).toThrow(/follow-up of 7 individuals/);
  });
});
