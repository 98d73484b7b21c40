import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { enoughFollowed, followedAt, followedWindow, lastRoundTime, roundTimeStep } from "./followed.ts";

describe("followedWindow", () => {
  it("asks for a tenth of the members, for eleven, and for half of a small group", () => {
    expect([1, 4, 10, 21, 22, 60, 110, 111, 1073].map(enoughFollowed)).toEqual([1, 2, 5, 11, 11, 11, 11, 12, 108]);
  });

  it("ends where no more than enough members are followed", () => {
    // 200 members, the i-th seen from i/100 to i/20: twenty must be under observation.
    const first = Array.from({ length: 200 }, (_, i) => (i + 1) / 100);
    const last = Array.from({ length: 200 }, (_, i) => (i + 1) / 20);
    const { from, until } = followedWindow(first, last);
    expect(from).toBe(0.2);
    expect(until).toBe(181 / 20);
    expect(last.filter((t) => t >= until)).toHaveLength(20);
    expect(followedAt(last, [0, until, until + 0.01, 11])).toEqual(Int32Array.of(200, 20, 19, 0));
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
        const whole = from === Math.min(...first) && until === Math.max(...last);
        if (!whole) expect(last.filter((t) => t >= until).length).toBeGreaterThanOrEqual(enoughFollowed(spans.length));
      }),
    );
  });
});

describe("lastRoundTime", () => {
  it("is a round time that members reach", () => {
    expect(lastRoundTime({ from: 0, until: 9.4 })).toBe(9);
    expect(lastRoundTime({ from: 0.3, until: 4.1 })).toBe(4);
    expect(lastRoundTime({ from: 0, until: 118 })).toBe(110);
    expect(lastRoundTime({ from: 42, until: 78.9 })).toBe(75);
    expect(lastRoundTime({ from: 0, until: 0.73 })).toBe(0.7);
  });

  it("lies in the window, and steps of shorter spans divide those of longer ones", () => {
    const time = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(time, fc.double({ min: 0.01, max: 1000, noNaN: true }), (from, span) => {
        const until = from + span;
        const round = lastRoundTime({ from, until });
        expect(round).toBeGreaterThan(from);
        expect(round).toBeLessThanOrEqual(until * (1 + 1e-9));
        const ratio = roundTimeStep(until - from) / roundTimeStep((until - from) / 3);
        expect(Math.abs(ratio - Math.round(ratio))).toBeLessThan(1e-9);
      }),
    );
  });
});
