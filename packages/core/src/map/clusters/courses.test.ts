import { describe, expect, it } from "vitest";
import { courseAt, groupCourses } from "./courses.ts";

describe("groupCourses", () => {
  // Five curves at two times; the last belongs to no group.
  const curves = Float64Array.of(1, 10, 3, 30, 2, 20, 7, 70, 99, 99);

  it("takes quantiles time by time within each group", () => {
    const [a, b] = groupCourses(curves, [0, 5], [0, 0, 0, 1, -1], 2, { level: 0.5 });
    expect(a).toMatchObject({ group: 0, numMembers: 3 });
    expect(Array.from(a.median)).toEqual([2, 20]);
    expect(Array.from(a.lower)).toEqual([1.5, 15]);
    expect(Array.from(a.upper)).toEqual([2.5, 25]);
    expect(Array.from(a.times)).toEqual([0, 5]);
    expect(b.numMembers).toBe(1);
    for (const line of [b.lower, b.median, b.upper]) expect(Array.from(line)).toEqual([7, 70]);
  });

  it("refuses wrong shapes, empty groups and levels out of range", () => {
    expect(() => groupCourses(curves, [0, 5, 6], [0, 0, 0, 1, -1], 2)).toThrow(/\[5,3\]/);
    expect(() => groupCourses(curves, [0, 5], [0, 0, 0, 0, 0], 2)).toThrow(/group 1 of 2 is empty/);
    expect(() => groupCourses(curves, [0, 5], [0, 0, 0, 1, -1], 2, { level: 1 })).toThrow(/level/);
  });
});

describe("courseAt", () => {
  it("reads a course between its times, and goes on along its ends", () => {
    expect([0, 0.5, 1, 3, 4].map((t) => courseAt([0, 1, 3], [2, 4, 0], t))).toEqual([2, 3, 4, 0, -2]);
  });
});
