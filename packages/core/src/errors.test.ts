import { describe, expect, it } from "vitest";
import {
  checkNames,
  checkNumbers,
  checkOption,
  DtmError,
  showComplaint,
  showForm,
  showReceived,
  showWhere,
} from "./errors.ts";

describe("showReceived", () => {
  it("clips to 40 characters and escapes what a terminal would obey", () => {
    expect(showReceived("71")).toBe("71");
    expect(showReceived("x".repeat(50))).toHaveLength(40);
    expect(showReceived("\u001b[31m\u0000\u009b\ufeff")).toBe("\\u001b[31m\\u0000\\u009b\\ufeff");
    expect(showReceived("Andr\u00e9")).toBe("Andr\u00e9");
  });
});

describe("showComplaint", () => {
  it("says where, expected, received and remedy", () => {
    const where = { file: "visits.csv", line: 7, column: "value", columnNumber: 3 };
    expect(showWhere(where)).toBe('visits.csv, line 7, column "value" (3)');
    const complaint = {
      code: "not-a-number",
      severity: "refuse",
      expected: "a number",
      received: '"5 mg"',
      where,
      remedy: "Fix it.",
    } as const;
    expect(showComplaint(complaint)).toBe(
      'visits.csv, line 7, column "value" (3): expected a number, received "5 mg". Fix it.',
    );
    expect(showComplaint({ ...complaint, where: {} })).toBe('expected a number, received "5 mg". Fix it.');
  });
});

describe("checkOption", () => {
  it("throws a DtmError with code option only when the check fails", () => {
    checkOption(true, "f", "", 0, "");
    expect(() => checkOption(false, "fitX", "rank from 1", 0, "Use 1.")).toThrow(
      new DtmError("option", "fitX: expected rank from 1, received 0. Use 1."),
    );
  });
});

describe("checkNumbers", () => {
  const code = (given: unknown) => {
    try {
      checkNumbers("f", "times", given);
      return "taken";
    } catch (error) {
      return (error as DtmError).code;
    }
  };

  it("takes arrays and typed arrays of finite numbers as they are", () => {
    for (const list of [[], [0, -1.5], Float64Array.of(1, 2), Int8Array.of(-1)]) {
      expect(checkNumbers("f", "times", list)).toBe(list);
    }
  });

  it("makes no number of anything else", () => {
    for (const item of [null, undefined, "", "2", true, new Date(0), 1n, Number.NaN, [1], Number.POSITIVE_INFINITY]) {
      expect(code([0, item])).toBe("not-finite");
    }
    for (const list of [2, "12", null, {}, { length: 1, 0: 1 }, new Set([1]), new DataView(new ArrayBuffer(8))]) {
      expect(code(list)).toBe("shape");
    }
    expect(code(BigInt64Array.of(1n))).toBe("not-finite");
    expect(() => checkNumbers("f", "times", [0, null])).toThrow(
      "f: expected times as finite numbers, received null at position 1.",
    );
  });
});

describe("checkNames", () => {
  it("refuses what is no object with names", () => {
    for (const given of [5, "x", [], [1], new Date(0)]) {
      expect(() => checkNames("f", given as object, ["a"])).toThrow(
        new DtmError(
          "option",
          `f: expected options, received ${showForm(given)}. Give them by name, such as { a: … }.`,
        ),
      );
    }
  });
});
