import { describe, expect, it } from "vitest";
import { type Came, cameSentence } from "./came-sentence.ts";
import type { MarkerWords } from "./words.ts";

const words = { when: (t: number) => `year ${t}`, exact: String } as MarkerWords;
const later = [{ times: Float64Array.of(10), values: Float64Array.of(2) }];
const came: Came = {
  ...{ people: Array(20).fill(0), from: 8.8, to: 10.8, threshold: 10, direction: "up" },
  ...{ followed: 0, crossed: 0, later: [] },
};

describe("cameSentence", () => {
  it("says that nobody was followed, and counts nobody as well", () => {
    expect(cameSentence(came, words)).toBe(
      "By what was known of everybody at year 8.8. Nobody of these 20 people was measured at year 10.8 or later: " +
        "they do not say how many come to be above 10 by then.",
    );
    expect(cameSentence({ ...came, crossed: 2, later }, words)).toMatch(
      /2 had a value above 10 before they were last measured\. Their later values/,
    );
  });

  it("counts one person as one", () => {
    expect(cameSentence({ ...came, followed: 1, later }, words)).toContain(
      "1 was still measured at year 10.8 or later; 0 had a value above 10 by then. Their later values",
    );
    expect(cameSentence({ ...came, followed: 2, direction: "down", later }, words)).toContain("2 were still measured");
  });
});
