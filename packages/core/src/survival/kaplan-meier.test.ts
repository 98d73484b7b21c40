import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { curveAt, kaplanMeier, kaplanMeierByGroup } from "./kaplan-meier.ts";

function followUp(n: number, seed: number) {
  const random = createRandom(seed);
  const times: number[] = [];
  const events: number[] = [];
  for (let i = 0; i < n; i++) {
    const [event, censoring] = [-Math.log(1 - random.uniform()), 2 * random.uniform()];
    times.push(Math.ceil(10 * Math.min(event, censoring)) / 10);
    events.push(event <= censoring ? 1 : 0);
  }
  return { times, events };
}

describe("kaplanMeier", () => {
  it("is the share still alive where nobody is censored, with the binomial standard error", () => {
    const times = [3, 1, 2, 2, 5];
    const curve = kaplanMeier({ times, events: [1, 1, 1, 1, 1] });
    curve.times.forEach((t, j) => {
      const alive = times.filter((x) => x > t).length / 5;
      expect(curve.survival[j]).toBeCloseTo(alive, 14);
      if (alive > 0) expect(curve.standardErrors[j]).toBeCloseTo(Math.sqrt((alive * (1 - alive)) / 5), 14);
    });
    expect(curve).toMatchObject({ numIndividuals: 5, numEvents: 5, median: { time: 2 } });
  });

  it("counts those censored at a time as at risk at that time", () => {
    const curve = kaplanMeier({ times: [1, 1, 2], events: [1, 0, 1] });
    expect(Array.from(curve.atRisk)).toEqual([3, 1]);
    expect(Array.from(curve.censored)).toEqual([1, 0]);
    expect(curve.survival[0]).toBeCloseTo(2 / 3, 14);
    expect(curve.survival[1]).toBe(0);
    expect([curve.lower[1], curve.upper[1], curve.standardErrors[1]]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  });

  it("is the same in any order, and falls from one inside its interval", () => {
    const data = followUp(80, 3);
    for (const interval of ["log-log", "log", "plain"] as const) {
      const curve = kaplanMeier(data, { interval });
      const reversed = { times: [...data.times].reverse(), events: [...data.events].reverse() };
      expect(kaplanMeier(reversed, { interval })).toEqual(curve);
      curve.survival.forEach((s, j) => {
        if (j > 0) expect(s).toBeLessThanOrEqual(curve.survival[j - 1]);
        if (s === 0) return;
        expect(curve.lower[j]).toBeLessThanOrEqual(s);
        expect(curve.upper[j]).toBeGreaterThanOrEqual(s);
        expect(curve.upper[j]).toBeLessThanOrEqual(1);
      });
    }
  });

  it("has wider intervals at a higher level", () => {
    const [narrow, wide] = [0.5, 0.99].map((level) => kaplanMeier(followUp(50, 1), { level }));
    expect(wide.lower[5]).toBeLessThan(narrow.lower[5]);
    expect(wide.upper[5]).toBeGreaterThan(narrow.upper[5]);
  });

  it("covers the truth about as often as it says", () => {
    let covered = 0;
    for (let study = 0; study < 400; study++) {
      const [at] = curveAt(kaplanMeier(followUp(60, 100 + study)), [0.7]);
      // Times are rounded up to tenths: alive after 0.7 means an event after 0.7.
      const truth = Math.exp(-0.7);
      if (at.lower <= truth && truth <= at.upper) covered++;
    }
    // 95% ± 3 binomial standard errors of 400 studies.
    expect(covered / 400).toBeGreaterThan(0.917);
    expect(covered / 400).toBeLessThan(0.983);
  });

  it("has no median where half do not die, and a middle where the curve rests at one half", () => {
    expect(kaplanMeier({ times: [1, 2, 3], events: [1, 0, 0] }).median.time).toBeNaN();
    expect(kaplanMeier({ times: [1, 2, 4, 6], events: [1, 1, 1, 1] }).median.time).toBe(3);
  });

  it("refuses negative times, odd events and no individuals", () => {
    expect(() => kaplanMeier({ times: [-1], events: [1] })).toThrow(/times of 0 or more, received -1/);
    expect(() => kaplanMeier({ times: [1], events: [2] })).toThrow(/received 2 for individual 0/);
    expect(() => kaplanMeier({ times: [], events: [] })).toThrow(/received 0 and 0/);
    expect(() => kaplanMeier({ times: [1], events: [1] }, { level: 1 })).toThrow(/level/);
  });
});

describe("curveAt", () => {
  const curve = kaplanMeier({ times: [1, 2, 2, 4], events: [1, 1, 0, 1] });

  it("reads the step function and the numbers at risk", () => {
    const rows = curveAt(curve, [0, 1, 1.5, 2, 3, 4, 5]);
    expect(rows.map((row) => row.survival)).toEqual([1, 0.75, 0.75, 0.5, 0.5, 0, 0]);
    expect(rows.map((row) => row.atRisk)).toEqual([4, 4, 3, 3, 1, 1, 0]);
    expect(rows[0]).toMatchObject({ lower: 1, upper: 1, noEvent: true });
    expect(rows.map((row) => row.noEvent)).toEqual([true, false, false, false, false, false, false]);
  });

  it("has an exact lower bound while nobody has had the event, from those still at risk", () => {
    const none = kaplanMeier({ times: [1, 2, 3, 3, 3, 5], events: [0, 0, 0, 0, 0, 0] });
    const rows = curveAt(none, [0, 0.5, 2, 4, 6]);
    expect(rows.map((row) => row.upper)).toEqual([1, 1, 1, 1, 1]);
    const expected = [1, 0.025 ** (1 / 6), 0.025 ** (1 / 5), 0.025];
    for (const [k, lower] of expected.entries()) expect(rows[k].lower).toBeCloseTo(lower, 12);
    expect(rows[4].lower).toBeNaN();
    // Clopper and Pearson: with this S, no event among the n at risk has probability 2.5%.
    expect(rows[2].lower ** rows[2].atRisk).toBeCloseTo(0.025, 12);
    expect(curveAt(kaplanMeier({ times: [1, 2], events: [0, 0] }, { level: 0.8 }), [1.5])[0].lower).toBeCloseTo(
      0.1,
      12,
    );
  });

  it("covers a rare event's truth before the first event at least as often as it says", () => {
    // S(1) = 0.97, twenty individuals, a third censored before.
    let covered = 0;
    const random = createRandom(31);
    for (let study = 0; study < 1000; study++) {
      const event = Array.from({ length: 20 }, () => Math.log(1 - random.uniform()) / Math.log(0.97));
      const censored = Array.from({ length: 20 }, () => 3 * random.uniform());
      const times = event.map((t, i) => Math.min(t, censored[i]));
      const [at] = curveAt(kaplanMeier({ times, events: event.map((t, i) => (t <= censored[i] ? 1 : 0)) }), [1]);
      if (at.lower <= 0.97 && at.upper >= 0.97) covered++;
    }
    expect(covered / 1000).toBeGreaterThan(0.93);
  });
});

describe("kaplanMeierByGroup", () => {
  it("makes the curve of each group's own members", () => {
    const data = { times: [1, 2, 3, 4, 5], events: [1, 0, 1, 1, 1] };
    const [a, b] = kaplanMeierByGroup(data, [0, 1, 0, 1, -1], 2);
    expect(a).toEqual(kaplanMeier({ times: [1, 3], events: [1, 1] }));
    expect(b).toEqual(kaplanMeier({ times: [2, 4], events: [0, 1] }));
  });
});
