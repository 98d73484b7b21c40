import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { scoreAuc } from "./effect.ts";
import { wideFeatures } from "./kernel-features.ts";
import { planPermutations, runPermutations } from "./permutation.ts";
import { negativeControls, visitCountMessage, visitStrata } from "./visit-guard.ts";

describe("visitStrata", () => {
  const random = createRandom(1);
  const n = 600;
  const counts = Int32Array.from({ length: n }, () => 1 + random.poisson(3.5));
  const times = Float64Array.from(counts, (c) => c * random.uniform());
  const { strata, description } = visitStrata(counts, times);

  it("keeps apart visit counts 1, 2, 3, 4–5, 6–8, 9 or more, each in tertiles of the last time", () => {
    const many = Int32Array.from({ length: 1800 }, (_, i) => [1, 2, 3, 4, 5, 6, 7, 8, 9, 30][i % 10]);
    const spread = Float64Array.from({ length: 1800 }, (_, i) => Math.floor(i / 10));
    const full = visitStrata(many, spread);
    expect(full.description).toHaveLength(18);
    expect(full.description.map(({ visits }) => visits.join("–")).filter((_, k) => k % 3 === 0)).toEqual([
      "1–1",
      "2–2",
      "3–3",
      "4–5",
      "6–8",
      "9–Infinity",
    ]);
    for (const [i, s] of full.strata.entries()) {
      const { visits, tertiles } = full.description[s];
      expect(many[i]).toBeGreaterThanOrEqual(visits[0]);
      expect(many[i]).toBeLessThanOrEqual(visits[1]);
      expect(tertiles[0]).toBe(tertiles[1]);
    }
  });

  it("leaves no stratum under ten and merges neighbours only", () => {
    const sizes = new Int32Array(description.length);
    for (const s of strata) sizes[s]++;
    expect([...sizes]).toEqual(description.map(({ size }) => size));
    for (const size of sizes) expect(size).toBeGreaterThanOrEqual(10);
    const few = visitStrata(
      Int32Array.of(...Array(15).fill(1), ...Array(4).fill(3), ...Array(30).fill(7)),
      times.subarray(0, 49),
    );
    // The four with three visits join the smaller class next to them.
    expect(few.description[0].visits).toEqual([1, 3]);
    expect(few.description.reduce((sum, { size }) => sum + size, 0)).toBe(49);
  });

  it("puts everyone together if there are too few, and does not depend on order", () => {
    expect(visitStrata([1, 5, 9], [1, 2, 3]).description).toHaveLength(1);
    const order = createRandom(2).permutation(n);
    const moved = visitStrata(
      Array.from(order, (i) => counts[i]),
      Array.from(order, (i) => times[i]),
    );
    expect([...moved.strata]).toEqual(Array.from(order, (i) => strata[i]));
  });

  it("refuses counts that are none", () => {
    expect(() => visitStrata([0], [1])).toThrowError(expect.objectContaining({ code: "shape" }));
    expect(() => visitStrata([1], [Number.NaN])).toThrowError(expect.objectContaining({ code: "not-finite" }));
  });
});

describe("the guard", () => {
  it("is silent where places only shrink with few visits, while the naive test shouts", async () => {
    // Equal courses; places are true places shrunk by n/(n + 5), and cases are seen more often.
    const random = createRandom(3);
    let naive = 0;
    let guarded = 0;
    for (let study = 0; study < 20; study++) {
      const n = 300;
      const labels = Uint8Array.from({ length: n }, (_, i) => i % 2);
      const counts = Int32Array.from(labels, (label) => 1 + random.poisson(label === 1 ? 6.5 : 1.2));
      const times = Float64Array.from(counts, (c) => c + random.uniform());
      const x = new Float64Array(2 * n);
      for (let k = 0; k < 2 * n; k++) {
        const reliability = counts[k >> 1] / (counts[k >> 1] + 5);
        x[k] = reliability * random.normal() + Math.sqrt(reliability * (1 - reliability)) * random.normal();
      }
      const features = [wideFeatures(x, 2)];
      const { strata } = visitStrata(counts, times);
      const p = async (within?: Int32Array) =>
        (
          await runPermutations(planPermutations({ features, labels, strata: within, seed: study }), {
            permutations: 199,
          })
        )[0].pValue;
      if ((await p()) <= 0.05) naive++;
      if ((await p(strata)) <= 0.05) guarded++;
    }
    expect(naive).toBeGreaterThanOrEqual(15);
    // Binomial(20, 0.05) exceeds 4 with probability 0.003.
    expect(guarded).toBeLessThanOrEqual(4);
  });
});

describe("visitCountMessage", () => {
  it("warns when the guard changes the verdict or the count alone tells the outcome", () => {
    expect(visitCountMessage({ naiveP: 0.01, guardedP: 0.4, visitAuc: 0.6 })).toContain("visit counts alone");
    expect(visitCountMessage({ naiveP: 0.01, guardedP: 0.01, visitAuc: 0.6 })).toBeUndefined();
    expect(visitCountMessage({ naiveP: 0.5, guardedP: 0.5, visitAuc: 0.5 })).toBeUndefined();
    const counts = Int32Array.from({ length: 100 }, (_, i) => 1 + (i % 11));
    const visitAuc = scoreAuc(
      counts,
      Uint8Array.from(counts, (c) => (c > 5 ? 1 : 0)),
    );
    expect(visitAuc).toBe(1);
    expect(visitCountMessage({ naiveP: 0.2, guardedP: 1, visitAuc })).toContain("nearly tells");
  });
});

describe("negativeControls", () => {
  it("split by count, by parity and by coin, and leave out what does not split", () => {
    const coins = [0.1, 0.9, 0.2, 0.8];
    const controls = negativeControls([1, 2, 3, 4], coins);
    expect(Object.fromEntries(controls.map(({ name, labels }) => [name, [...labels]]))).toEqual({
      "visit count": [0, 0, 1, 1],
      "visit parity": [1, 0, 1, 0],
      "random labels": [1, 0, 1, 0],
    });
    expect([...negativeControls([1, 5, 5, 5], coins)[0].labels]).toEqual([0, 1, 1, 1]);
    expect(negativeControls([2, 2, 2, 2], coins).map(({ name }) => name)).toEqual(["random labels"]);
  });
});
