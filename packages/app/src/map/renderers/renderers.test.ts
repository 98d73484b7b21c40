import { describe, expect, it } from "vitest";
import { cellsOfDots } from "./density-raster.ts";
import { divideInto, layStamp, makeStamp } from "./stamps.ts";

describe("stamps", () => {
  const disc = { colour: [200, 100, 50] as const, opacity: 1, radius: 3, line: 0 };
  const sumOfOpacity = (bytes: ArrayLike<number>) => {
    let sum = 0;
    for (let k = 3; k < bytes.length; k += 4) sum += bytes[k] / 255;
    return sum;
  };

  it("cover the area of a disc or of a ring's line, wherever in the pixel their middle is", () => {
    for (const [phaseX, phaseY] of [
      [0, 0],
      [1, 3],
      [2, 2],
    ]) {
      // A border of straight pieces misses the area by its curvature, a few hundredths of a pixel each.
      expect(sumOfOpacity(makeStamp(disc, phaseX, phaseY).bytes)).toBeCloseTo(Math.PI * 9, 0);
      expect(sumOfOpacity(makeStamp({ ...disc, line: 1 }, phaseX, phaseY).bytes)).toBeCloseTo(2 * Math.PI * 3, 0);
    }
  });

  it("laid on each other mix as opacity says, to a step of a byte", () => {
    const [width, height] = [9, 9];
    const bytes = new Uint8Array(4 * width * height);
    layStamp(bytes, width, height, makeStamp({ ...disc, opacity: 0.5 }, 0, 0), 4, 4);
    layStamp(bytes, width, height, makeStamp({ ...disc, opacity: 0.5, colour: [0, 0, 250] }, 0, 0), 4, 4);
    const out = new Uint8ClampedArray(bytes.length);
    divideInto(bytes, out);
    const at = 4 * (4 * width + 4);
    // ½ of the upper, ¼ of the lower; ¾ opaque.
    const expected = [200 / 4, 100 / 4, 50 / 4 + 250 / 2].map((v) => v / 0.75);
    expected.forEach((v, c) => {
      expect(Math.abs(out[at + c] - v)).toBeLessThan(2);
    });
    expect(Math.abs(out[at + 3] - 0.75 * 255)).toBeLessThan(2);
    expect(Array.from(out.subarray(0, 4))).toEqual([0, 0, 0, 0]);
  });

  it("end at the border of the picture", () => {
    const stamp = makeStamp(disc, 0, 0);
    const whole = sumOfOpacity(stamp.bytes);
    const at = (x: number, y: number) => {
      const bytes = new Uint8Array(4 * 20 * 10);
      layStamp(bytes, 20, 10, stamp, x, y);
      return sumOfOpacity(bytes);
    };
    expect(at(10, 5)).toBe(whole);
    for (const [x, y] of [
      [0, 0],
      [19, 9],
      [0, 9],
      [19, 0],
    ]) {
      expect(at(x, y)).toBeGreaterThan(whole / 4);
      expect(at(x, y)).toBeLessThan(whole / 2);
    }
    for (const [x, y] of [
      [-9, 5],
      [30, 5],
      [10, -9],
      [10, 20],
    ]) {
      expect(at(x, y)).toBe(0);
    }
  });
});

describe("cellsOfDots", () => {
  const box = { x0: -2, x1: 2, y0: -1, y1: 1 };

  it("count everyone inside the box once, the upper half in the upper rows", () => {
    const places = Float64Array.from([0, 0.5, 0.3, 0.5, -1.2, -0.5, 9, 9]);
    const { nx, ny, counts } = cellsOfDots({ places, faded: null }, box);
    expect([nx, ny]).toEqual([200, 100]);
    const sum = (from: number, to: number) => counts.subarray(from * nx, to * nx).reduce((s, v) => s + v, 0);
    expect(sum(0, ny)).toBeCloseTo(3, 5);
    expect(sum(0, ny / 2)).toBeCloseTo(2, 5);
  });

  it("leave out those who fade", () => {
    const places = Float64Array.from([0, 0, 0, 0]);
    const all = cellsOfDots({ places, faded: null }, box);
    const one = cellsOfDots({ places, faded: Uint8Array.of(1, 0) }, box);
    expect(one.most).toBeCloseTo(all.most / 2, 6);
  });
});
