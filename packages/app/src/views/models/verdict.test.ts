import type { ComparedModel, Comparison } from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { verdictSentence } from "./verdict.ts";

/** A comparison with the given differences from the mixed model. */
function compared(differences: Partial<Record<ComparedModel, readonly [number, number, number]>>): Comparison {
  const entries = Object.entries(differences) as [ComparedModel, readonly [number, number, number]][];
  return {
    models: ["lmm", ...entries.map(([model]) => model)].map((model) => ({ model })),
    differences: entries.map(([model, [mean, lower, upper]]) => ({ model, reference: "lmm", mean, lower, upper })),
    verdict: "Only lmm was scored: nothing to compare.",
  } as unknown as Comparison;
}

describe("verdictSentence", () => {
  it("says equally well when every interval holds 0", () => {
    expect(verdictSentence(compared({ fpca: [0, -0.1, 0.1], dtm: [0.07, -0.22, 0.37] }))).toBe(
      "The three models predict held-out individuals equally well (difference 0.07, 95% CI −0.22 to 0.37). " +
        "Use the map for reading, not because it fits better.",
    );
  });

  it("speaks of two models when a third differs", () => {
    expect(verdictSentence(compared({ fpca: [-1, -2, -0.5], dtm: [0.07, -0.22, 0.37] }))).toMatch(
      /^The trajectory map and the mixed model predict held-out individuals equally well/,
    );
  });

  it("says that the mixed model is better, and what the map is then", () => {
    expect(verdictSentence(compared({ dtm: [-0.4, -0.6, -0.1] }))).toBe(
      "The mixed model predicts better here (difference −0.40, 95% CI −0.60 to −0.10). The map is a reading aid for this cohort.",
    );
  });

  it("says that the map is better, by the better of two maps", () => {
    expect(verdictSentence(compared({ dtm: [0.4, 0.1, 0.7], "dtm-paper": [0.2, -0.1, 0.4] }))).toMatch(
      /^The trajectory map predicts held-out individuals better than the mixed model \(difference 0\.40/,
    );
  });

  it("keeps the library's words where nothing was compared", () => {
    expect(verdictSentence(compared({}))).toBe("Only lmm was scored: nothing to compare.");
  });
});
