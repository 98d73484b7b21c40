import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { type AssociationInput, associate } from "./association.ts";
import { countExceedances } from "./permutation.ts";

/** Two representations of 200 individuals; "shape" goes with the second, "often" with visits alone, "few" is rare. */
function study(seed = 1): AssociationInput {
  const random = createRandom(seed);
  const m = 200;
  const visitCounts = Int32Array.from({ length: m }, () => 1 + random.poisson(4));
  const lastTimes = Float64Array.from(visitCounts, (c) => c * (0.5 + random.uniform()));
  const places = () =>
    Float64Array.from({ length: 2 * m }, (_, k) => (visitCounts[k >> 1] / (visitCounts[k >> 1] + 2)) * random.normal());
  const lmm = places();
  const dtm = places();
  const labels = (share: (i: number) => number) =>
    Uint8Array.from({ length: m }, (_, i) => (random.uniform() < share(i) ? 1 : 0));
  const withMissing = labels((i) => (dtm[2 * i] > 0.3 ? 0.85 : 0.1));
  withMissing.fill(255, 0, 15);
  return {
    representations: [
      { name: "lmm", locations: lmm },
      { name: "dtm", locations: dtm, draws: [dtm.map((v) => v + 0.1 * random.normal()), places(), places()] },
    ],
    visitCounts,
    lastTimes,
    outcomes: [
      { name: "shape", labels: withMissing },
      { name: "often", labels: Uint8Array.from(visitCounts, (c) => (c > 5 ? 1 : 0)) },
      { name: "few", labels: Uint8Array.from({ length: m }, (_, i) => (i % 33 === 0 ? 1 : 0)) },
    ],
  };
}

const OPTIONS = { permutations: 299, seed: 7 };

describe("associate", () => {
  const result = associate(study(), OPTIONS);

  it("finds what goes with places, in the representation where it does", async () => {
    const { outcomes, primary } = await result;
    expect(primary).toBe("dtm");
    const [shape] = outcomes;
    expect(shape).toMatchObject({ outcome: "shape", missing: 15, p: 1 / 300, naiveP: 1 / 300 });
    expect(shape.cases + shape.controls).toBe(185);
    expect(shape.adjusted.holm).toBeCloseTo(0.01, 12);
    expect(shape.representations.dtm.p).toBe(shape.p);
    expect(shape.representations.lmm.p).toBeGreaterThan(0.05);
    expect(shape.representations.dtm.kde!.p).toBeLessThan(shape.representations.lmm.kde!.p);
    expect(shape.effect.auc.lower).toBeGreaterThan(0.6);
    expect(shape.effect.energyCoefficient!.lower).toBeGreaterThan(0);
    expect(shape.drawsP).toMatchObject({ draws: 3 });
    expect(shape.warnings).toEqual([]);
  });

  it("warns of an outcome that is the number of visits, and of few cases", async () => {
    const [, often, few] = (await result).outcomes;
    expect(often.warnings.map(({ code }) => code)).toContain("follows-visit-count");
    expect(often.p).toBeGreaterThan(0.05);
    expect(often.effect.visitAuc).toBe(1);
    expect(few.cases).toBe(7);
    expect(few.warnings.map(({ code }) => code)).toEqual(["few-cases"]);
  });

  it("runs negative controls, the number of visits among them", async () => {
    const { controls, individuals } = await result;
    expect(controls.map(({ control }) => control)).toEqual(["visit count", "visit parity", "random labels"]);
    for (const { cases, controls: others, p } of controls) {
      expect(cases + others).toBe(individuals);
      expect(p).toBeGreaterThan(0.01);
    }
  });

  it("tells how many permutations each p-value rests on", async () => {
    const { outcomes, controls, permutations } = await result;
    expect(permutations).toBe(299);
    for (const o of outcomes) {
      expect([o.permutations, o.representations.lmm.permutations, o.drawsP!.permutations]).toEqual([299, 299, 299]);
      // The twin stops where it is clearly above 0.05, and only there.
      if (o.naiveP < 0.05) expect(o.naivePermutations).toBe(299);
      if (o.naiveP > 0.2) expect(o.naivePermutations).toBe(250);
      // p = (1 + count)/(1 + permutations), with a whole count.
      const reached = o.naiveP * (1 + o.naivePermutations);
      expect(reached).toBeCloseTo(Math.round(reached), 9);
    }
    for (const control of controls) expect(control.permutations).toBe(299);
    const [many] = (await associate({ ...study(), outcomes: [] }, { permutations: 1200 })).controls;
    expect(many.permutations).toBe(999);
  });

  it("is plain data", async () => {
    const value = await result;
    expect(structuredClone(value)).toEqual(value);
    expect(JSON.parse(JSON.stringify(value))).toEqual(value);
  });

  it("gives the same bits for the same seed, in any order of individuals and outcomes, by any counter", async () => {
    const input = study();
    const order = createRandom(3).permutation(200);
    const rows = (x: Float64Array) => Float64Array.from({ length: 400 }, (_, k) => x[2 * order[k >> 1] + (k & 1)]);
    const moved: AssociationInput = {
      representations: input.representations.map(({ name, locations, draws }) => ({
        name,
        locations: rows(locations),
        draws: draws?.map(rows),
      })),
      visitCounts: Array.from(order, (i) => input.visitCounts[i]),
      lastTimes: Array.from(order, (i) => input.lastTimes[i]),
      outcomes: input.outcomes
        .map(({ name, labels }) => ({ name, labels: Uint8Array.from(order, (i) => labels[i]) }))
        .reverse(),
    };
    const again = await associate(moved, {
      ...OPTIONS,
      shards: 5,
      count: async (plan, from, to) => countExceedances(structuredClone(plan), from, to),
    });
    const expected = await result;
    expect(again).toEqual({ ...expected, outcomes: [...expected.outcomes].reverse() });
  });

  it("says where the published test is not defined, and goes on", async () => {
    const input = study();
    const labels = new Uint8Array(200);
    labels.fill(1, 0, 2);
    const { outcomes } = await associate(
      { ...input, outcomes: [{ name: "two", labels }] },
      { ...OPTIONS, controls: false },
    );
    expect(outcomes[0].representations.dtm.kde).toBeNull();
    // Two cases lie in two strata at most: hardly anybody can be compared with them.
    expect(outcomes[0].warnings.map(({ code }) => code)).toEqual([
      "few-cases",
      "no-density-test",
      "no-density-test",
      "few-comparable",
    ]);
    expect(outcomes[0].p).toBeGreaterThan(0);
  });

  it("refuses one class, wrong lengths and an unknown primary, and can be cancelled", async () => {
    const input = study();
    const with_ = (labels: Uint8Array) => ({ ...input, outcomes: [{ name: "x", labels }] });
    await expect(associate(with_(new Uint8Array(200)))).rejects.toMatchObject({ code: "one-class" });
    await expect(associate(with_(new Uint8Array(9)))).rejects.toMatchObject({ code: "shape" });
    await expect(associate({ ...input, lastTimes: [1] })).rejects.toMatchObject({ code: "shape" });
    await expect(associate(input, { primary: "pca" })).rejects.toMatchObject({ code: "option" });
    await expect(associate(input, { signal: { aborted: true } })).rejects.toMatchObject({ code: "cancelled" });
  });
});
