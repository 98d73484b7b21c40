import { describe, expect, it } from "vitest";
import { adjustPValues, fewCasesMessage } from "./multiplicity.ts";

describe("adjustPValues", () => {
  it("is R's p.adjust for Holm and Benjamini–Hochberg", () => {
    // R 4.2.2: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.5), "holm") and "BH".
    const adjusted = adjustPValues([0.01, 0.04, 0.03, 0.005, 0.5]);
    const holm = [0.04, 0.09, 0.09, 0.025, 0.5];
    const bh = [0.025, 0.05, 0.05, 0.025, 0.5];
    for (const [k, { holm: h, bh: b }] of adjusted.entries()) {
      expect(h).toBeCloseTo(holm[k], 14);
      expect(b).toBeCloseTo(bh[k], 14);
    }
    expect(adjustPValues([])).toEqual([]);
    expect(adjustPValues([0.2])).toEqual([{ holm: 0.2, bh: 0.2 }]);
  });
});

describe("fewCasesMessage", () => {
  it("speaks below twenty in the smaller class", () => {
    expect(fewCasesMessage(6, 200)).toContain("6 cases");
    expect(fewCasesMessage(200, 19)).toContain("19 individuals without");
    expect(fewCasesMessage(20, 20)).toBeUndefined();
  });
});
