import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contradictions } from "../../../../../test/name-check.ts";
import { type GroupCourse, letterOf, type NameOptions, nameGroups } from "./names.ts";

const both = (of: GroupCourse, options: NameOptions) => {
  const [{ name, summary, rate }] = nameGroups([of], options);
  return rate === "" ? [name, summary] : [name, summary, rate];
};
const nameCourse = (of: GroupCourse, options: NameOptions) => nameGroups([of], options)[0].name;

const TEN_YEARS = Array.from({ length: 41 }, (_, j) => j / 4);
const FIVE_YEARS = TEN_YEARS.slice(0, 21);
const course = (f: (t: number) => number, times = TEN_YEARS): GroupCourse => ({ times, values: times.map(f) });
const step = (t: number, at: number) => 1 / (1 + Math.exp(-2 * (t - at)));
const lung = { noise: 3, timeUnit: "years" };

describe("nameGroups, of one course,", () => {
  it("says the level of a course that moves by less than the noise", () => {
    const wave = course((t) => 96 + 0.2 * Math.sin(t));
    expect(both(wave, lung)).toEqual(["stable course", "96 to 96 by year 10"]);
    const drift = course((t) => 88 - 0.29 * t);
    expect(both(drift, lung)).toEqual(["stable course", "88 to 85 by year 10"]);
    expect(
      nameCourse(
        course((t) => 88 - 0.31 * t),
        lung,
      ),
    ).toBe("steady decline");
  });

  it("calls a change within the noise slow, and stable only what keeps its value too", () => {
    // A dip within, so that the range is above the noise and the change from end to end below it.
    const bilirubin = { noise: 0.256, transform: "log", timeUnit: "year" } as const;
    const dip = course((t) => 0.8 * Math.exp(0.05 * t - 0.03 * Math.sin((Math.PI * t) / 2.5)), FIVE_YEARS);
    expect(both(dip, bilirubin).slice(0, 2)).toEqual(["slow rise", "0.8 to 1 by year 5"]);
    // More than half as much again, on a scale whose noise is that of far higher values.
    const plain = { noise: 1.48, timeUnit: "year" };
    expect(
      nameCourse(
        course((t) => 1.2 + 0.14 * t, FIVE_YEARS),
        plain,
      ),
    ).toBe("slow rise");
    expect(
      nameCourse(
        course((t) => 1.9 - 0.14 * t, FIVE_YEARS),
        plain,
      ),
    ).toBe("slow decline");
    expect(
      nameCourse(
        course((t) => 1.2 + 0.05 * t, FIVE_YEARS),
        plain,
      ),
    ).toBe("stable course");
    // A small share of the noise is none, whatever share of the value it is; nor are values about 0 shares of anything.
    expect(
      nameCourse(
        course((t) => 0.01 + 0.01 * t, FIVE_YEARS),
        plain,
      ),
    ).toBe("stable course");
    expect(
      nameCourse(
        course((t) => -0.5 + 0.2 * t, FIVE_YEARS),
        plain,
      ),
    ).toBe("stable course");
    // From one sd of the noise on a change is steady.
    expect(
      nameCourse(
        course((t) => 1.2 + 0.3 * t, FIVE_YEARS),
        plain,
      ),
    ).toBe("steady rise");
    // A quarter less of a low value in half a year is no stable one, though nine tenths of the noise.
    const cells = (to: number) => course((t) => 5.1 + (to - 5.1) * (t / 10));
    expect([3.9, 4.5].map((to) => both(cells(to), { noise: 1.33, timeUnit: "years" })[0])).toEqual([
      "slow decline",
      "stable course",
    ]);
  });

  it("says last level, ends and rate from end to end of a straight course", () => {
    const fall = course((t) => 85 - 8 * t, FIVE_YEARS);
    expect(both(fall, lung)).toEqual(["steady decline", "85 to 45 by year 5", "−8 a year"]);
    const rise = course((t) => 50 + 2.4 * t);
    expect(both(rise, lung)).toEqual(["steady rise", "50 to 74 by year 10", "+2.4 a year"]);
  });

  it("says when a stable course turns", () => {
    const late = course((t) => 95 - 6 * Math.max(0, t - 5));
    expect(both(late, lung)).toEqual(["late decline", "95, 95 at year 5, 65 by year 10"]);
    expect(
      nameCourse(
        course((t) => 40 + 6 * Math.max(0, t - 4)),
        lung,
      ),
    ).toBe("stable, then rise");
  });

  it("says when a fall becomes faster, also where a straight line misses by less than half the noise", () => {
    // A late decline as members' medians show it: one line misses by 0.42 sd of the noise.
    const bent = course((t) => 97 - 1.9 * t - 3 * Math.max(0, t - 6), TEN_YEARS.slice(0, 37));
    const quiet = both(bent, { noise: 4, timeUnit: "years" });
    expect(quiet).toEqual(["late decline", "97, 86 at year 6, 71 by year 9"]);
    expect(nameCourse(bent, { noise: 12, timeUnit: "years" })).toBe("steady decline");
    const slower = course((t) => 95 - 10 * Math.min(t, 3) - 3 * Math.max(0, t - 3));
    expect(both(slower, lung)).toEqual(["early decline", "95, 65 at year 3, 44 by year 10"]);
  });

  it("says where an early change ends", () => {
    const early = course((t) => 90 - 15 * Math.min(t, 3));
    expect(both(early, lung)).toEqual(["early decline", "90, 45 at year 3, 45 by year 10"]);
    expect(
      nameCourse(
        course((t) => 60 + 10 * Math.min(t, 2)),
        lung,
      ),
    ).toBe("early rise");
  });

  it("says recovery only where it is known which side is better, and half is regained", () => {
    const dip = course((t) => 90 - 10 * Math.min(t, 3) + 5 * Math.max(0, t - 3));
    expect(nameCourse(dip, { ...lung, better: "high" })).toBe("dip and recovery");
    expect(nameCourse(dip, lung)).toBe("dip and return");
    expect(nameCourse(dip, { ...lung, better: "low" })).toBe("dip and return");
    const weak = course((t) => 90 - 10 * Math.min(t, 4) + 2.5 * Math.max(0, t - 4));
    expect(nameCourse(weak, { ...lung, better: "high" })).toBe("decline, partly back");
    const flare = course((t) => 10 + 5 * Math.min(t, 4) - 3 * Math.max(0, t - 4));
    expect(nameCourse(flare, { ...lung, better: "low" })).toBe("peak and recovery");
  });

  it("does not call a wave stable, nor a fall", () => {
    expect(
      nameCourse(
        course((t) => 74 + 8 * Math.sin(2 * t)),
        lung,
      ),
    ).toMatch(/up and down|unsteady/);
  });

  it("names smooth courses like the straight ones they resemble", () => {
    const [late, numbers] = both(
      course((t) => 92 - 30 * step(t, 7)),
      lung,
    );
    expect(late).toBe("late decline");
    expect(numbers).toMatch(/^92, 9[12] at year [56], 62 by year 10$/);
    expect(
      nameCourse(
        course((t) => 60 + 30 * Math.exp(-t)),
        lung,
      ),
    ).toBe("early decline");
  });

  it("says only where a group stood that is hardly followed", () => {
    const once = { times: [0.25], values: [83.2] };
    expect(both(once, lung)).toEqual(["short follow-up", "83 at year 0.25; fewer than half are followed longer"]);
  });

  it("follows the noise in its precision", () => {
    const y = course(() => 253.37);
    const summary = (noise: number) => nameGroups([y], { noise })[0].summary;
    expect([30, 3, 0.3].map(summary)).toEqual(["250", "253", "253.4"].map((v) => `${v} to ${v} by time 10`));
    const cells = course((t) => 25000 - 1000 * t);
    expect(both(cells, { noise: 300, timeUnit: "month" })).toEqual([
      "steady decline",
      "25,000 to 15,000 by month 10",
      "−1,000 a month",
    ]);
    const below = course((t) => -3 - 2 * t);
    expect(both(below, { noise: 0.5 }).slice(1)).toEqual(["−3 to −23 by time 10", "−2 per unit of time"]);
  });

  it("speaks of percent on the log scale, with noise that grows with the value", () => {
    const bilirubin = { noise: 0.3, transform: "log", timeUnit: "year" } as const;
    const rise = course((t) => 0.8 * Math.exp(0.25 * t));
    expect(both(rise, bilirubin)).toEqual(["steady rise", "0.8 to 9.7 by year 10", "+28% a year"]);
    expect(
      nameCourse(
        course(() => 0.83),
        bilirubin,
      ),
    ).toBe("stable course");
    expect(() =>
      nameCourse(
        course(() => -1),
        bilirubin,
      ),
    ).toThrow(/log can take, received -1/);
  });

  it("does not depend on how densely the course is given", () => {
    const f = (t: number) => 95 - 6 * Math.max(0, t - 5);
    const uneven = [...TEN_YEARS.filter((t) => t <= 2), 3, 4, 5, 6, 7, 8, 9, 10];
    expect(both(course(f, uneven), lung)).toEqual(both(course(f), lung));
  });

  it("refuses courses it cannot read", () => {
    expect(() => nameCourse({ times: [], values: [] }, lung)).toThrow(/increasing times/);
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
    const flat = [96.1, 96.4, 96.4].map((level) => course(() => level));
    const names = nameGroups([late(95, 6), late(92, 4), ...flat], lung);
    expect(names.map(({ name }) => name)).toEqual([
      "stable high (A)",
      "stable high (B)",
      "stable middle",
      "late decline to 72",
      "late decline to 65",
    ]);
  });

  it("gives the same names in any order of the groups", () => {
    const courses = [course((t) => 90 - 5 * t), course(() => 96), course(() => 95.8), course((t) => 40 + 4 * t)];
    const names = (list: GroupCourse[]) => nameGroups(list, lung).map(({ letter, name }) => `${letter} ${name}`);
    expect(names([...courses].reverse())).toEqual(names(courses));
  });

  it("says nothing that its line contradicts, whatever the lines", () => {
    // Lines through a few values, in units of the noise, on the plain and on the log scale.
    const bends = fc.array(fc.double({ min: -8, max: 8, noNaN: true }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(bends, { minLength: 1, maxLength: 5 }), fc.boolean(), (sets, onLog) => {
        const scale = onLog
          ? { to: Math.log, back: Math.exp, noise: 0.3 }
          : { to: (v: number) => v, back: (y: number) => y, noise: 3 };
        const courses = sets.map((knots) =>
          course((t) => {
            const at = (t / 10) * (knots.length - 1);
            const j = Math.min(Math.floor(at), knots.length - 2);
            return scale.back(scale.noise * (knots[j] + (at - j) * (knots[j + 1] - knots[j])) + (onLog ? 0 : 70));
          }),
        );
        const names = nameGroups(courses, { ...lung, noise: scale.noise, transform: onLog ? "log" : "identity" });
        expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
        const lasts = courses.map(({ values }) => values[values.length - 1]);
        for (const { name, summary, rate, group } of names) {
          expect(contradictions({ name, summary, rate, lasts, ...courses[group] }, scale)).toEqual([]);
        }
      }),
    );
  });
});
