import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  enoughFollowed,
  followedAt,
  followedTo,
  followedWindow,
  lastShownTime,
  roundTimeStep,
  roundWindow,
} from "./followed.ts";

describe("followedWindow", () => {
  it("asks for a tenth of the members, for eleven, and for half of a small group", () => {
    expect([1, 4, 10, 21, 22, 60, 110, 111, 1073].map(enoughFollowed)).toEqual([1, 2, 5, 11, 11, 11, 11, 12, 108]);
  });

  it("begins when enough have been observed and ends when half are no longer followed", () => {
    // 200 members, the i-th seen from i/100 to i/20: twenty must have been observed, a hundred still be followed.
    const first = Array.from({ length: 200 }, (_, i) => (i + 1) / 100);
    const last = Array.from({ length: 200 }, (_, i) => (i + 1) / 20);
    const { from, until } = followedWindow(first, last);
    expect(from).toBe(0.2);
    expect(until).toBe(101 / 20);
    expect(last.filter((t) => t >= until)).toHaveLength(100);
    expect(followedAt(last, [0, until, until + 0.01, 11])).toEqual(Int32Array.of(200, 100, 99, 0));
    expect(followedTo(last)).toBe(181 / 20);
    expect(followedTo(last, 1)).toBe(10);
  });

  it("asks for eleven of a group that has so many, and for all of a smaller one", () => {
    const last = Array.from({ length: 14 }, (_, i) => i + 1);
    expect(
      followedWindow(
        last.map(() => 0),
        last,
      ).until,
    ).toBe(4);
    expect(followedWindow([0, 0, 0], [1, 2, 3]).until).toBe(1);
  });

  it("never promises members that are not there, whatever the follow-up", () => {
    const visits = fc.array(
      fc.tuple(fc.double({ min: 0, max: 10, noNaN: true }), fc.double({ min: 0, max: 10, noNaN: true })),
      { minLength: 2, maxLength: 60 },
    );
    fc.assert(
      fc.property(visits, (spans) => {
        const first = spans.map(([a]) => a);
        const last = spans.map(([a, b]) => a + b);
        const { from, until } = followedWindow(first, last);
        expect(from).toBeLessThanOrEqual(until);
        if (from < until) expect(last.filter((t) => t >= until).length).toBeGreaterThanOrEqual(spans.length / 2);
      }),
    );
  });
});

describe("roundWindow", () => {
  it("is between round times that members reach", () => {
    expect(roundWindow({ from: 0, until: 9.4 })).toEqual({ from: 0, until: 9, step: 1 });
    expect(roundWindow({ from: 0.3, until: 4.1 })).toEqual({ from: 0.5, until: 4, step: 0.5 });
    expect(roundWindow({ from: 0, until: 118 })).toEqual({ from: 0, until: 110, step: 10 });
    expect(roundWindow({ from: 42, until: 78.9 })).toEqual({ from: 45, until: 75, step: 5 });
    expect(roundWindow({ from: 0, until: 0.73 })).toEqual({ from: 0, until: 0.7, step: 0.1 });
  });

  it("lies in the window and covers two thirds of it, and steps of shorter spans divide those of longer ones", () => {
    const time = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(time, fc.double({ min: 0.01, max: 1000, noNaN: true }), (from, span) => {
        const until = from + span;
        const round = roundWindow({ from, until });
        expect(round.from).toBeGreaterThanOrEqual(from - 1e-9 * until);
        expect(round.until).toBeLessThanOrEqual(until * (1 + 1e-9));
        expect(round.until - round.from).toBeGreaterThan(0.66 * (until - from));
        const ratio = roundTimeStep(until - from) / roundTimeStep((until - from) / 3);
        expect(Math.abs(ratio - Math.round(ratio))).toBeLessThan(1e-9);
      }),
    );
  });
});

describe("lastShownTime", () => {
  it("is a round time to which a tenth of the individuals, and eleven, are followed", () => {
    const firstTime = new Float64Array(200);
    const lastTime = Float64Array.from({ length: 200 }, (_, i) => (i + 1) / 20);
    // Twenty are followed to 9.05.
    const places = { firstTime, lastTime, location: new Float64Array(200), mapDimension: 1 };
    expect(lastShownTime(places)).toBe(9);
    expect(lastShownTime({ ...places, lastTime: lastTime.map((t) => t / 10) })).toBe(0.9);
    expect(lastShownTime({ ...places, lastTime: new Float64Array(200) })).toBe(0);
  });

  it("is one at which three quarters lie where enough similar individuals are followed", () => {
    // A third of them, far from the others, is followed to 4.
    const firstTime = new Float64Array(300);
    const location = Float64Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? 5 : -1));
    const lastTime = Float64Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? 4 : 10));
    expect(lastShownTime({ firstTime, lastTime, location, mapDimension: 1 })).toBe(4);
    expect(lastShownTime({ firstTime, lastTime, location: new Float64Array(300), mapDimension: 1 })).toBe(10);
  });
});
