import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellText, dateText, decimalText, singleText } from "./cell-text.ts";

describe("cellText", () => {
  it.each([
    [1.5, "1.5"],
    [-0, "0"],
    [1e21, "1e+21"],
    [Number.NaN, ""],
    [12345678901234567890n, "12345678901234567890"],
    [true, "true"],
    [null, ""],
    [undefined, ""],
    [" a ", " a "],
    [new Date(Date.UTC(2020, 0, 31)), "2020-01-31"],
    [new Date(Date.UTC(2020, 0, 31, 10, 15)), "2020-01-31T10:15:00"],
    [new Date(Date.UTC(2020, 0, 31, 10, 15, 0, 250)), "2020-01-31T10:15:00.250"],
    [new Date(Number.NaN), ""],
  ])("writes %s as %s", (value, text) => expect(cellText(value)).toBe(text));

  it("writes no lists, objects and bytes", () => {
    for (const value of [[1], { a: 1 }, Uint8Array.of(1)]) expect(cellText(value)).toBeUndefined();
  });

  it("writes numbers that read back as they were, 32-bit ones as short as they can be", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => Number(cellText(x)) === x + 0),
      { seed: 1 },
    );
    fc.assert(
      fc.property(
        fc.float({ noNaN: true, noDefaultInfinity: true }),
        (x) => Math.fround(Number(singleText(x))) === x + 0,
      ),
      { seed: 1 },
    );
    expect(singleText(Math.fround(0.1))).toBe("0.1");
    expect(singleText(Math.fround(16777216))).toBe("16777216");
  });

  it("knows no time zone: the same text whatever the machine's own", () => {
    expect(dateText(Date.UTC(2020, 2, 29, 23, 30))).toBe("2020-03-29T23:30:00");
  });

  it("writes decimals without zeros at the end", () => {
    expect(["1.50", "2.00", "100", "0.10", "-3.0"].map(decimalText)).toEqual(["1.5", "2", "100", "0.1", "-3"]);
  });
});
