import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readNumber, readPlainDigits } from "./numbers.ts";

describe("readPlainDigits", () => {
  it("gives the same bits as Number for every cell it takes, and takes all short ones", () => {
    const digits = fc.stringMatching(/^[0-9]{0,12}$/);
    const cell = fc.tuple(fc.constantFrom("", "-"), digits, fc.constantFrom("", "."), digits);
    fc.assert(
      fc.property(cell, (parts) => {
        const text = parts.join("");
        const value = readPlainDigits(text);
        const taken = /\d/.test(text) && text.replace(/\D/g, "").length <= 15;
        if (taken) expect(Object.is(value, Number(text))).toBe(true);
        else expect(value).toBeNaN();
      }),
      { numRuns: 20_000 },
    );
  });

  it.each(["", "-", ".", "+1", "1e5", "0x1", " 1", "1 ", "1.2.3", "1,2", "١", "1234567890123456"])(
    "leaves '%s' to the careful reader",
    (cell) => {
      expect(readPlainDigits(cell)).toBeNaN();
    },
  );
});

describe("readNumber", () => {
  it("knows one decimal mark at a time", () => {
    expect(readNumber("1,5", ",")).toBe(1.5);
    expect(readNumber("15", ",")).toBe(15);
    expect(readNumber("1.5", ",")).toBeNaN();
    expect(readNumber("1,5", ".")).toBeNaN();
  });
});
