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
  const strata = visitStrata(counts, times);
  /** The individuals of each stratum. */
  const membersOf = (of: Int32Array) =>
    Array.from({ length: Math.max(...of) + 1 }, (_, s) => [...of.keys()].filter((i) => of[i] === s));

  it("keeps apart visit counts 1, 2, 3, 4–5, 6–8, 9 or more, each in tertiles of the last time", () => {
    const many = Int32Array.from({ length: 1800 }, (_, i) => [1, 2, 3, 4, 5, 6, 7, 8, 9, 30][i % 10]);
    const spread = Float64Array.from({ length: 1800 }, (_, i) => Math.floor(i / 10));
    const members = membersOf(visitStrata(many, spread));
    expect(members).toHaveLength(18);
    const visits = members.map((own) => [...new Set(own.map((i) => many[i]))].sort((a, b) => a - b).join());
    expect(visits.filter((_, k) => k % 3 === 0)).toEqual(["1", "2", "3", "4,5", "6,7,8", "9,30"]);
    for (const [k, own] of members.entries()) {
      for (const i of own) expect(Math.floor(spread[i] / 60)).toBe(k % 3);
    }
  });

  it("leaves no stratum under ten and merges neighbours only", () => {
    for (const own of membersOf(strata)) expect(own.length).toBeGreaterThanOrEqual(10);
    const few = Int32Array.of(...Array(15).fill(1), ...Array(4).fill(3), ...Array(30).fill(7));
    const members = membersOf(visitStrata(few, times.subarray(0, 49)));
    // The four with three visits join the smaller class next to them.
    expect(new Set(members[0].map((i) => few[i]))).toEqual(new Set([1, 3]));
    expect(members.flat().length).toBe(49);
  });

  it("puts everyone together if there are too few, and does not depend on order", () => {
    expect(visitStrata([1, 5, 9], [1, 2, 3])).toEqual(new Int32Array(3));
    const order = createRandom(2).permutation(n);
    const moved = visitStrata(
      Array.from(order, (i) => counts[i]),
      Array.from(order, (i) => times[i]),
    );
    expect([...moved]).toEqual(Array.from(order, (i) => strata[i]));
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
      const strata = visitStrata(counts, times);
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
