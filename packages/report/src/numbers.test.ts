import { describe, expect, it } from "vitest";
import {
  cell,
  decimalsFor,
  fixed,
  listWords,
  maskSmall,
  percent,
  pValue,
  signed,
  significant,
  whole,
  wilson,
} from "./numbers.ts";

describe("numbers as text", () => {
  it("have thousands commas and a true minus, and no minus before zero", () => {
    expect(whole(1234567)).toBe("1,234,567");
    expect(fixed(-1755.84, 1)).toBe("−1,755.8");
    expect(fixed(-0.001, 2)).toBe("0.00");
    expect(signed(0.431, 2)).toBe("+0.43");
    expect(signed(0.001, 2)).toBe("0.00");
    expect(fixed(Number.NaN, 1)).toBe("–");
  });

  it("keep significant digits at every size", () => {
    expect(significant(0)).toBe("0");
    expect(significant(0.01234)).toBe("0.0123");
    expect(significant(1234.5)).toBe("1,235");
    expect(significant(1e-6, 6)).toBe("1 × 10⁻⁶");
  });

  it("write p-values by size, and the floor of a permutation test as a bound", () => {
    expect(pValue(0.234)).toBe("0.23");
    expect(pValue(0.0341)).toBe("0.034");
    expect(pValue(0.0004)).toBe("<\u00a00.001");
    expect(pValue(1 / 2000, 1999)).toBe("≤\u00a00.0005");
    expect(pValue(2 / 2000, 1999)).toBe("0.001");
  });

  it("put words and shares in order", () => {
    expect(listWords(["a", "b", "c"])).toBe("a, b and c");
    expect(percent(0.256)).toBe("26%");
    expect(decimalsFor(4.8)).toBe(0);
    expect(decimalsFor(0.3)).toBe(1);
  });
});

describe("small counts", () => {
  it("are withheld, zero is not", () => {
    expect([0, 1, 10, 11].map((n) => cell(n, 11))).toEqual(["0", "<11", "<11", "11"]);
    expect(cell(3, 1)).toBe("3");
  });

  it("are masked inside sentences, decimals and large numbers are not", () => {
    expect(maskSmall("Only 7 cases in 200; AUC 0.5, 95 % interval", 11)).toBe(
      "Only <11 cases in 200; AUC 0.5, 95 % interval",
    );
  });
});

describe("Wilson's interval", () => {
  it("holds the share, stays inside [0,1] and agrees with a worked example", () => {
    const { lower, upper } = wilson(8, 70);
    expect(lower).toBeCloseTo(0.0591, 3);
    expect(upper).toBeCloseTo(0.2099, 3);
    expect(wilson(0, 20).lower).toBe(0);
    expect(wilson(20, 20).upper).toBeCloseTo(1, 12);
  });
});
