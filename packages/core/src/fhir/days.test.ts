/** Days as FHIR writes them. */
import { describe, expect, it } from "vitest";
import { dayOf, numberOf } from "./days.ts";

describe("days", () => {
  it("exist or do not", () => {
    expect(dayOf("2020-02-29", undefined)).toBe("2020-02-29");
    expect(dayOf("2021-02-29", undefined)).toBe("no-such-date");
    expect(dayOf("1900-02-29", undefined)).toBe("no-such-date");
    expect(dayOf("2021-13", undefined)).toBe("no-such-date");
    expect(dayOf("0001-01-01", undefined)).toBe("no-such-date");
  });

  it("have numbers since 1970", () => {
    expect([numberOf("1970-01-01"), numberOf("2020-03-01") - numberOf("2020-02-28")]).toEqual([0, 2]);
  });
});
