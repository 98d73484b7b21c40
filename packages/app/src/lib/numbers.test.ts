import { describe, expect, it } from "vitest";
import { decimalsFor, fixed, powerFor, shortNumbers, sized, withPower } from "./numbers.ts";

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

  it("have decimals by the noise", () => {
    expect([4, 0.3, 0.00005, 0].map(decimalsFor)).toEqual([0, 1, 5, 1]);
  });
});
