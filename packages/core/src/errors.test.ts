import { describe, expect, it } from "vitest";
import { checkOption, DtmError, showComplaint, showReceived, showWhere } from "./errors.ts";

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
