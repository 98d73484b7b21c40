import { textWidth } from "@trajectory-maps/report";
import { describe, expect, it } from "vitest";
import {
  axisLabels,
  bandPath,
  cutSeries,
  extentOf,
  labelRoom,
  linePath,
  makeScale,
  numberAt,
  splitSeries,
  valueAtTime,
} from "./scale.ts";

describe("numberAt", () => {
  it("gives what a pixel tells and no more, whatever the unit of time", () => {
    expect(numberAt(makeScale(0, 10, 0, 400), 93)).toBe(2.33);
    expect(numberAt(makeScale(2005, 2015, 0, 400), 336)).toBe(2013.4);
    expect(numberAt(makeScale(0, 3650, 0, 400), 200)).toBe(1825);
    expect(numberAt(makeScale(0.5, 20, 0, 100, { log: true }), 50)).toBeCloseTo(Math.sqrt(10), 1);
  });
});

describe("makeScale", () => {
  it("takes the ends of the data to the ends of the drawing", () => {
    const y = makeScale(30, 125, 200, 20);
    expect(y(30)).toBe(200);
    expect(y(125)).toBe(20);
    expect(y.ticks).toEqual([40, 60, 80, 100, 120]);
    expect(y.decimals).toBe(0);
  });

  it("gives equal ratios equal distances on a log scale, with ticks of 1, 2 and 5", () => {
    const y = makeScale(0.5, 20, 0, 100, { log: true });
    expect(y(1) - y(0.5)).toBeCloseTo(y(20) - y(10), 9);
    expect(y.ticks).toEqual([0.5, 1, 2, 5, 10, 20]);
    expect(y.decimals).toBe(1);
  });

  it("stands for a single value without dividing by zero", () => {
    expect(makeScale(3, 3, 0, 10)(3)).toBe(5);
  });
});

describe("labels of an axis", () => {
  const texts = (
    right: number,
    options: { before?: string; after?: string } = {},
    ends: readonly [number, number] = [0, 10],
  ) => axisLabels(makeScale(...ends, 0, right), { right: right + 8, ...options }).map(({ words }) => words);

  it("give way before a last one that needs room", () => {
    expect(texts(300)).toEqual(["0", "2", "4", "6", "8", "10"]);
    expect(texts(300, { before: "year " })).toEqual(["0", "2", "4", "6", "8", "year 10"]);
    expect(texts(120, { before: "year " })).toEqual(["0", "2", "4", "6", "year 10"]);
    expect(texts(120, { before: "months since diagnosis " })).toEqual(["months since diagnosis 10"]);
  });

  it("never meet, whatever their number and length, and end within the drawing", () => {
    for (const [low, high] of [
      [0, 1.5],
      [26, 121],
      [0, 14.1],
      [1950, 2024],
      [0, 1e7],
      [1e-7, 9e-7],
    ]) {
      for (const width of [60, 110, 180, 240, 360, 700]) {
        for (const before of ["", "year ", "month "]) {
          const x = makeScale(low, high, 30, width - 8, { numTicks: 8 });
          const labels = axisLabels(x, { right: width, before });
          const ends = labels.map(({ words, x: at, anchor }) => {
            const long = textWidth(words, 11);
            return anchor === "end" ? [at - long, at] : [at - long / 2, at + long / 2];
          });
          ends.forEach(([, end], k) => {
            expect(end).toBeLessThanOrEqual(width);
            if (k + 1 < ends.length) expect(ends[k + 1][0] - end).toBeGreaterThanOrEqual(6);
          });
          expect(labels.at(-1)?.words.startsWith(before)).toBe(true);
        }
      }
    }
  });
});

describe("series", () => {
  const times = [0, 1, 2];
  const values = [10, 20, 0];

  it("are read between points by straight lines and held constant outside", () => {
    expect(valueAtTime(times, values, 0.5)).toBe(15);
    expect(valueAtTime(times, values, -1)).toBe(10);
    expect(valueAtTime(times, values, 9)).toBe(0);
  });

  it("split where solid ends and dashed begins: both parts hold that point", () => {
    const { known, later } = splitSeries(times, values, 1.5);
    expect(known).toEqual({ times: [0, 1, 1.5], values: [10, 20, 10] });
    expect(later).toEqual({ times: [1.5, 2], values: [10, 0] });
    expect(splitSeries(times, values, 5).later.times).toEqual([]);
    expect(cutSeries(times, values, 0.5)).toEqual({ times: [0, 0.5], values: [10, 15] });
    expect(cutSeries(times, values, 2)).toEqual({ times, values });
  });

  it("become paths that break at gaps", () => {
    const x = makeScale(0, 2, 0, 20);
    const y = makeScale(0, 20, 20, 0);
    expect(linePath(x, y, times, [10, Number.NaN, 0])).toBe("M0.0 10.0M20.0 20.0");
    expect(bandPath(x, y, [0, 2], [0, 0], [10, 10])).toBe("M0.0 10.0L20.0 10.0L20.0 20.0L0.0 20.0Z");
  });

  it("have an extent that leaves out what is not a number", () => {
    expect(extentOf([[1, Number.NaN], [5]])).toEqual([1, 5]);
    expect(extentOf([[0, 10]], 0.1)).toEqual([-1, 11]);
    expect(extentOf([])).toEqual([0, 1]);
    expect(extentOf([[1, 100]], 0.5, true)).toEqual([0.1, 1000]);
  });
});

describe("labels of an axis", () => {
  it("leave a common power of ten to a factor where numbers are long", () => {
    const huge = makeScale(0.9e12, 2.1e12, 100, 0, { numTicks: 3 });
    expect(huge.ticks.map(huge.label)).toEqual(["1.0", "1.5", "2.0"]);
    expect(huge.factor).toBe("× 10¹²");
    const tiny = makeScale(0, 4e-7, 100, 0, { numTicks: 2 });
    expect([...tiny.ticks.map(tiny.label), tiny.factor]).toEqual(["0", "200", "400", "× 10⁻⁹"]);
    const usual = makeScale(0, 120, 100, 0, { numTicks: 3 });
    expect([...usual.ticks.map(usual.label), usual.factor]).toEqual(["0", "50", "100", ""]);
  });

  it("are powers of ten on a log scale that spans many", () => {
    const y = makeScale(20, 3e7, 100, 0, { log: true, numTicks: 5 });
    expect(y.ticks.map(y.label)).toEqual(["100", "1,000", "10,000", "10⁵", "10⁶", "10⁷"]);
    expect(y.factor).toBe("");
  });

  it("get the room they need", () => {
    const y = makeScale(-90000, 90000, 100, 0, { numTicks: 4 });
    expect(labelRoom(y, 11, 28)).toBeGreaterThan(40);
    expect(labelRoom(makeScale(0, 10, 100, 0), 11, 28)).toBe(28);
  });
});

it("a log axis over many powers of ten has about as many ticks as are wished for", () => {
  const ticks = (numTicks: number) => makeScale(30, 4e7, 80, 0, { numTicks, log: true }).ticks;
  expect(ticks(2)).toEqual([100, 1e4, 1e6]);
  expect(ticks(5)).toEqual([100, 1e3, 1e4, 1e5, 1e6, 1e7]);
});
