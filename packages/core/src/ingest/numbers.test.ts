import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readNumber } from "./numbers.ts";

describe("readNumber", () => {
  it("gives the same bits as Number for digits with or without a point, unless they would become 0", () => {
    const digits = fc.stringMatching(/^[0-9]{0,18}$/);
    const cell = fc.tuple(fc.constantFrom("", "-", "+"), digits, fc.constantFrom("", "."), digits);
    fc.assert(
      fc.property(cell, (parts) => {
        const text = parts.join("");
        const value = readNumber(text, ".");
        if (/\d/.test(text)) expect(Object.is(value, Number(text))).toBe(true);
        else expect(value).toBeNaN();
      }),
      { numRuns: 5000 },
    );
    expect(readNumber("1e-400", ".")).toBeNaN();
    expect(readNumber("0e-400", ".")).toBe(0);
  });

  it.each([
    "",
    "-",
    ".",
    "0x1",
    "1.2.3",
    "1_000",
    "١",
    "1e",
    "Infinity",
    "1e400",
    "1e300",
    "1e51",
    "-1.1e45",
    "1e-300",
    "9e-46",
  ])("takes '%s' for no number", (cell) => {
    expect(readNumber(cell, ".")).toBeNaN();
  });

  it("takes the minus of typesetting for a minus", () => {
    expect(readNumber("\u22121.5", ".")).toBe(-1.5);
    expect(readNumber("\u22121,5e\u22122", ",")).toBe(-0.015);
    expect(readNumber("1\u22122", ".")).toBeNaN();
  });

  it("knows one decimal mark at a time", () => {
    expect(readNumber("1,5", ",")).toBe(1.5);
    expect(readNumber("15", ",")).toBe(15);
    expect(readNumber("1.5", ",")).toBeNaN();
    expect(readNumber("1,5", ".")).toBeNaN();
  });
});
