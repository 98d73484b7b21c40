import { describe, expect, it } from "vitest";
import {
  adjustedPValue,
  cell,
  decimalsFor,
  fixed,
  interval,
  listWords,
  maskSmall,
  percent,
  percentChance,
  powerFor,
  pValue,
  ratio,
  ratioInterval,
  shortNumbers,
  signed,
  signedInterval,
  significant,
  sized,
  trimmed,
  whole,
  wilson,
  withPower,
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

  it("tell ratios that two decimals would call nothing, and none finer than whole where they are huge", () => {
    expect([1.0049, 0.31, 0.0312, 0.00042, 3e-7, 112_200.4].map((x) => ratio(x))).toEqual([
      "1.00",
      "0.31",
      "0.031",
      "0.00042",
      "<\u00a00.0001",
      "112,200",
    ]);
    expect(ratioInterval(0.0004, 0.2)).toBe("0.0004 to 0.20");
    expect(ratioInterval(0.72, 0.9972, ", ")).toBe("0.720, 0.997");
  });

  it("say no chance that is none or sure", () => {
    expect([0, 0.004, 0.65, 0.996, 1, Number.NaN].map(percentChance)).toEqual([
      "< 1%",
      "< 1%",
      "65%",
      "> 99%",
      "> 99%",
      "–",
    ]);
  });

  it("keep significant digits at every size", () => {
    expect(significant(0)).toBe("0");
    expect(significant(0.01234)).toBe("0.0123");
    expect(significant(1234.5)).toBe("1,235");
    expect(significant(1.5e30)).toBe("1.5e+30");
    expect(trimmed(2.5, 3)).toBe("2.5");
    expect(significant(1e-6, 6)).toBe("1 × 10⁻⁶");
  });

  it("write p-values by size, and the floor of a permutation test as a bound", () => {
    expect(pValue(0.234)).toBe("0.23");
    expect(pValue(0.0341)).toBe("0.034");
    expect(pValue(0.0004)).toBe("<\u00a00.001");
    expect(pValue(1 / 2000, 1999)).toBe("≤\u00a00.0005");
    expect(pValue(2 / 2000, 1999)).toBe("0.001");
  });

  it("round bounds of p up: the floor of the test, and twelve times that", () => {
    expect(pValue(1 / 300, 299)).toBe("≤\u00a00.0034");
    expect(adjustedPValue(12 / 10_000, 1 / 10_000, 9999)).toBe("≤\u00a00.0012");
    expect(adjustedPValue(7 / 3000, 1 / 3000, 2999)).toBe("≤\u00a00.0024");
    expect(adjustedPValue(1, 1 / 20, 19)).toBe("≤\u00a01");
    expect(adjustedPValue(0.0022, 2 / 10_000, 9999)).toBe("0.002");
    expect(adjustedPValue(Number.NaN, Number.NaN, 9999)).toBe("–");
  });

  it("have as many decimals as an end of an interval needs that is not the value of no effect, and a p-value that is not 0.05", () => {
    expect(interval(0.44, 0.9993, 2, 1)).toBe("0.440 to 0.999");
    expect(interval(0.44, 1, 2, 1)).toBe("0.44 to 1.00");
    expect(interval(0.002, 0.03, 2, 0)).toBe("0.002 to 0.030");
    expect(interval(-0.002, 0.03, 2, 0)).toBe("−0.002 to 0.030");
    expect(interval(0.002, 0.03, 2)).toBe("0.00 to 0.03");
    expect(signedInterval(0.0004, 0.011, 3)).toBe("+0.0004 to +0.0110");
    expect([0.0496, 0.0504, 0.05, 0.0451].map((p) => pValue(p))).toEqual(["0.0496", "0.0504", "0.050", "0.045"]);
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
    expect(maskSmall("Only 7 cases in 200; AUC 0.5, 95% interval", 11)).toBe(
      "Only <11 cases in 200; AUC 0.5, 95% interval",
    );
    for (const text of [
      "The basis was limited to 4 functions, because there are only 5 distinct times.",
      "There are as many basis functions as distinct times (5): noise can hardly be told from variation.",
      "From values up to time 7 alone: p 0.001.",
      "The map carries only 3 % of the variance between individuals.",
      "The noise variance fell to its lower limit (1e-8 of the variance of the values).",
      "2 of 5 mean coefficients are not determined by the observed times.",
    ]) {
      expect(maskSmall(text, 11)).toBe(text);
    }
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

describe("numbers of any size", () => {
  it("are written in full at usual sizes", () => {
    expect([0, 0.01, 999_999, -5].map((v) => powerFor(v))).toEqual([0, 0, 0, 0]);
    expect([sized(71.26, 1), sized(-0.04, 1), sized(0, 2)]).toEqual(["71.3", "0.0", "0.00"]);
  });

  it("get a power of ten beyond, a multiple of three, with three digits", () => {
    expect([1e6, 1e9, 4.2e12, -2.5e7, 3e-7].map((v) => sized(v, 0))).toEqual([
      "1.00 × 10⁶",
      "1.00 × 10⁹",
      "4.20 × 10¹²",
      "−25.0 × 10⁶",
      "300 × 10⁻⁹",
    ]);
    expect(withPower(1.234e12, 1, 12)).toBe("1.2 × 10¹²");
  });

  it("are short in names made by rule, where usual numbers stay as they are", () => {
    expect(shortNumbers("Falls 39,000,000,000 a year to 430,000,000,000 by year 9")).toBe(
      "Falls 39 × 10⁹ a year to 430 × 10⁹ by year 9",
    );
    expect(shortNumbers("Rises 0.0000000025 a year")).toBe("Rises 2.5 × 10⁻⁹ a year");
    expect(shortNumbers("Falls 1.5 a year to 12,000 by year 9")).toBe("Falls 1.5 a year to 12,000 by year 9");
  });

  it("are a dash where there is none", () => {
    expect([sized(Number.NaN, 1), withPower(Infinity, 1, 12), fixed(-Infinity, 0)]).toEqual(["–", "–", "–"]);
  });
});
