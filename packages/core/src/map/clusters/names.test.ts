import { describe, expect, it } from "vitest";
import { type GroupCourse, letterOf, type NameOptions, nameGroups } from "./names.ts";

const nameCourse = (of: GroupCourse, options: NameOptions) => nameGroups([of], options)[0].name;

const TEN_YEARS = Array.from({ length: 41 }, (_, j) => j / 4);
const course = (f: (t: number) => number, times = TEN_YEARS): GroupCourse => ({ times, values: times.map(f) });
const step = (t: number, at: number) => 1 / (1 + Math.exp(-2 * (t - at)));
const lung = { noise: 3, timeUnit: "years" };

describe("nameCourse", () => {
  it("says the level of a stable course", () => {
    expect(
      nameCourse(
        course((t) => 96 + 0.2 * Math.sin(t)),
        lung,
      ),
    ).toBe("stable near 96");
    expect(
      nameCourse(
        course((t) => 88 - 0.3 * t),
        lung,
      ),
    ).toBe("stable near 86");
  });

  it("says rate, last level and last time of a straight course", () => {
    const five = [0, 1, 2, 3, 4, 5];
    expect(
      nameCourse(
        course((t) => 85 - 8 * t, five),
        lung,
      ),
    ).toBe("falls 8 a year to 45 by year 5");
    expect(
      nameCourse(
        course((t) => 50 + 2.4 * t),
        lung,
      ),
    ).toBe("rises 2.4 a year to 74 by year 10");
  });

  it("says when a stable course turns", () => {
    expect(
      nameCourse(
        course((t) => 95 - 6 * Math.max(0, t - 5)),
        lung,
      ),
    ).toBe("stable to year 5, then falls");
    expect(
      nameCourse(
        course((t) => 40 + 6 * Math.max(0, t - 4)),
        lung,
      ),
    ).toBe("stable to year 4, then rises");
  });

  it("says when a fall becomes faster, also where a straight line misses by less than half the noise", () => {
    // A late decline as members' medians show it: one line misses by 0.42 sd of the noise.
    const bent = course((t) => 97 - 1.9 * t - 3 * Math.max(0, t - 6), TEN_YEARS.slice(0, 37));
    expect(nameCourse(bent, { noise: 4, timeUnit: "years" })).toBe("falls, faster from year 6, to 71 by year 9");
    expect(nameCourse(bent, { noise: 12, timeUnit: "years" })).not.toContain("faster");
  });

  it("says where an early change ends", () => {
    expect(
      nameCourse(
        course((t) => 90 - 15 * Math.min(t, 3)),
        lung,
      ),
    ).toBe("falls to 45 by year 3, then stable");
    expect(
      nameCourse(
        course((t) => 60 + 10 * Math.min(t, 2)),
        lung,
      ),
    ).toBe("rises to 80 by year 2, then stable");
  });

  it("says recovers only where it is known which side is better, and half is regained", () => {
    const dip = course((t) => 90 - 10 * Math.min(t, 3) + 5 * Math.max(0, t - 3));
    expect(nameCourse(dip, { ...lung, better: "high" })).toBe("falls to 60 by year 3, then recovers to 95");
    expect(nameCourse(dip, lung)).toBe("falls to 60 by year 3, then rises back to 95");
    expect(nameCourse(dip, { ...lung, better: "low" })).toBe("falls to 60 by year 3, then rises back to 95");
    const weak = course((t) => 90 - 10 * Math.min(t, 4) + 2.5 * Math.max(0, t - 4));
    expect(nameCourse(weak, { ...lung, better: "high" })).toBe("falls to 50 by year 4, then rises to 65");
    const flare = course((t) => 10 + 5 * Math.min(t, 4) - 3 * Math.max(0, t - 4));
    expect(nameCourse(flare, { ...lung, better: "low" })).toBe("rises to 30 by year 4, then recovers to 12");
  });

  it("says a change of pace where one piece is twice as steep", () => {
    const late = course((t) => 95 - 2 * t - 5 * Math.max(0, t - 6));
    expect(nameCourse(late, lung)).toBe("falls, faster from year 6, to 55 by year 10");
    const early = course((t) => 95 - 10 * Math.min(t, 3) - 3 * Math.max(0, t - 3));
    expect(nameCourse(early, lung)).toBe("falls, more slowly from year 3, to 44 by year 10");
  });

  it("names smooth courses like the straight ones they resemble", () => {
    expect(
      nameCourse(
        course((t) => 92 - 30 * step(t, 7)),
        lung,
      ),
    ).toMatch(/^stable to year [56], then falls$/);
    expect(
      nameCourse(
        course((t) => 60 + 30 * Math.exp(-t)),
        lung,
      ),
    ).toMatch(/^falls to 6\d by year [12], then stable$/);
  });

  it("follows the noise in its precision", () => {
    const y = course(() => 253.37);
    expect(nameCourse(y, { noise: 30 })).toBe("stable near 250");
    expect(nameCourse(y, { noise: 3 })).toBe("stable near 253");
    expect(nameCourse(y, { noise: 0.3 })).toBe("stable near 253.4");
    expect(
      nameCourse(
        course((t) => 25000 - 1000 * t),
        { noise: 300, timeUnit: "month" },
      ),
    ).toBe("falls 1,000 a month to 15,000 by month 10");
    expect(
      nameCourse(
        course((t) => -3 - 2 * t),
        { noise: 0.5 },
      ),
    ).toBe("falls 2 per unit of time to −23 by time 10");
  });

  it("speaks of percent on the log scale, with noise that grows with the value", () => {
    const bilirubin = { noise: 0.3, transform: "log", timeUnit: "year", unit: "mg/dl" } as const;
    expect(
      nameCourse(
        course((t) => 0.8 * Math.exp(0.25 * t)),
        bilirubin,
      ),
    ).toBe("rises 28% a year to 10 mg/dl by year 10");
    expect(
      nameCourse(
        course(() => 0.83),
        bilirubin,
      ),
    ).toBe("stable near 0.8 mg/dl");
    expect(() =>
      nameCourse(
        course(() => -1),
        bilirubin,
      ),
    ).toThrow(/log can take, received -1/);
  });

  it("writes the unit once, and a change of a percentage in points", () => {
    const five = [0, 1, 2, 3, 4, 5];
    const falling = course((t) => 85 - 8 * t, five);
    expect(nameCourse(falling, { ...lung, unit: "%" })).toBe("falls 8 points a year to 45% by year 5");
    expect(nameCourse(falling, { ...lung, unit: "ml" })).toBe("falls 8 ml a year to 45 by year 5");
  });

  it("does not depend on how densely the course is given", () => {
    const f = (t: number) => 95 - 6 * Math.max(0, t - 5);
    const uneven = [...TEN_YEARS.filter((t) => t <= 2), 3, 4, 5, 6, 7, 8, 9, 10];
    expect(nameCourse(course(f, uneven), lung)).toBe(nameCourse(course(f), lung));
  });

  it("refuses courses it cannot read", () => {
    expect(() => nameCourse({ times: [0], values: [1] }, lung)).toThrow(/two increasing times/);
    expect(() => nameCourse({ times: [0, 0], values: [1, 2] }, lung)).toThrow(/group 0/);
    expect(() =>
      nameCourse(
        course(() => Number.NaN),
        lung,
      ),
    ).toThrow(/finite values/);
    expect(() =>
      nameCourse(
        course(() => 1),
        { noise: 0 },
      ),
    ).toThrow(/noise/);
  });
});

describe("nameGroups", () => {
  it("gives letters from the highest to the lowest last value", () => {
    const names = nameGroups([course((t) => 90 - 5 * t), course(() => 96), course((t) => 80 - t)], lung);
    expect(names.map(({ letter, group }) => [letter, group])).toEqual([
      ["A", 1],
      ["B", 2],
      ["C", 0],
    ]);
    expect([0, 25, 26, 27, 52, 701, 702].map(letterOf)).toEqual(["A", "Z", "AA", "AB", "BA", "ZZ", "AAA"]);
  });

  it("adds levels until no two names are equal", () => {
    const late = (from: number, slope: number) => course((t) => from - slope * Math.max(0, t - 5));
    const names = nameGroups(
      [late(95, 6), late(92, 4), course(() => 96.1), course(() => 96.4), course(() => 96.4)],
      lung,
    );
    expect(names.map(({ name }) => name)).toEqual([
      "stable near 96 (A)",
      "stable near 96 (B)",
      "stable near 96.1",
      "stable to year 5, then falls to 72",
      "stable to year 5, then falls to 65",
    ]);
  });

  it("gives the same names in any order of the groups", () => {
    const courses = [course((t) => 90 - 5 * t), course(() => 96), course(() => 95.8), course((t) => 40 + 4 * t)];
    const names = (list: GroupCourse[]) => nameGroups(list, lung).map(({ letter, name }) => `${letter} ${name}`);
    expect(names([...courses].reverse())).toEqual(names(courses));
  });
});
