/** The reader of texts objects to what cannot be true, and to nothing else. */
import { describe, expect, it } from "vitest";
import { impossibilities } from "./page-texts.ts";

describe("impossibilities", () => {
  it.each([
    "Expected at year NaN",
    "between 7 and 3 at year 10",
    "Year 8: 70 (90% 83 to 58)",
    "33% 48–20%",
    "120% of members stay together",
    "−3% of visits",
    "-2 individuals in the circle",
    "350 of 340 individuals seen that long",
    "90% intervals held 87.3171% of visits",
    "p 1.4",
    "undefined at year 3",
    "Expected at null",
    "(95% CI 0.30 to 0.14)",
  ])("objects to %s", (text) => {
    expect(impossibilities(text)).not.toEqual([]);
  });

  it.each([
    "74 to 44 by year 8, −3.1 a year; 118 of 340 individuals seen that long",
    "Rises about 140% a year until about year 3",
    "33% 20–48%",
    "0% 0–4%",
    "Year 1.8: 72 (90% 61 to 83)",
    "The fit improves by 12.5 per pass",
    "104% predicted",
    "leave the cell empty if it is missing (na, n/a, nan, null, . and .a to .z also mean missing)",
    "Change, year 0.75 to 1.75: −6.3 to 7.9",
    "More common on the right: 76% there, 31% elsewhere (held out); p ≤ 0.02",
    "P-2269, 6 visits, late decline 98 percent",
    "log-likelihood −3,441.9 (95% CI −2.1 to 0.4)",
  ])("has nothing against %s", (text) => {
    expect(impossibilities(text)).toEqual([]);
  });
});
