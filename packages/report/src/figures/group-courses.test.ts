import { describe, expect, it } from "vitest";
import type { StudyGroup } from "../study.ts";
import { followedTimes, shownLength, shownParts, solidRange, solidUntil } from "./group-courses.ts";

/** 200 members, of whom the number followed falls from 200 at year 0 by 21 a year. */
const times = Array.from({ length: 11 }, (_, t) => t);
const group: StudyGroup = {
  group: 0,
  letter: "A",
  name: "stable near 96",
  size: 200,
  times,
  median: times.map(() => 96),
  lower: times.map(() => 90),
  upper: times.map(() => 99),
  followed: times.map((t) => Math.max(0, 200 - 21 * t)),
  parts: [{ numMembers: 30, median: times.map(() => 95), from: 0, until: 8 }],
};

describe("courses of groups", () => {
  it("are solid while half of the members are followed, and go on to where a tenth, and eleven, are", () => {
    // 32 followed at year 8, 11 at year 9, none at year 10; a tenth is twenty.
    expect(solidRange(group, 11)).toEqual([0, 4]);
    expect(solidUntil(group, 11)).toBe(4);
    expect(shownLength(group, 11)).toBe(9);
  });

  it("keep to the times that the study gives, and to the limit of small cells", () => {
    expect(solidRange({ ...group, from: 0.5, until: 6.2 }, 11)).toEqual([1, 6]);
    expect(solidRange({ ...group, until: 9.5 }, 40)).toEqual([0, 7]);
    expect(shownParts(group, 11)).toHaveLength(1);
    expect(shownParts(group, 31)).toHaveLength(0);
  });

  it("are nowhere solid where too few were ever followed", () => {
    const few = { ...group, followed: times.map(() => 4) };
    expect(solidUntil(few, 11)).toBeNaN();
  });

  it("write numbers at round times, the ends too where visits start or stop just inside them", () => {
    const inside = { ...group, times: times.map((t) => 0.01 + 0.99 * t) };
    expect(followedTimes(inside)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(followedTimes({ ...group, times: times.map((t) => 1.5 + 0.6 * t) })).toEqual([2, 4, 6]);
  });
});
