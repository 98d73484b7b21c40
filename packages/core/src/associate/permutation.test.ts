import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { createRandom, type Random } from "../numeric/random.ts";
import { energyFeatures, type TestFeatures, testFeatures, wideFeatures } from "./kernel-features.ts";
import { eachLabelling } from "./labellings.ts";
import { countExceedances, planPermutations, runPermutations, shareInterval } from "./permutation.ts";

/** Places that look like a map: some crowd in the middle, some are skewed. */
function cloud(random: Random, n: number, q = 2): Float64Array {
  const x = new Float64Array(n * q);
  for (let i = 0; i < n; i++) {
    const spread = random.uniform() < 0.3 ? 0.2 : 1;
    for (let k = 0; k < q; k++) x[i * q + k] = spread * (k === 1 ? random.gamma(2) - 2 : random.normal());
  }
  return x;
}

const firstOnes = (n: number, n1: number) => Uint8Array.from({ length: n }, (_, i) => (i < n1 ? 1 : 0));

const energyOf = (x: Float64Array, n: number): TestFeatures => testFeatures(energyFeatures(x, n, x.length / n));

describe("planPermutations", () => {
  it("refuses one class and shapes that do not fit", () => {
    const features = [energyOf(cloud(createRandom(1), 20), 20)];
    expect(() => planPermutations({ features, labels: new Uint8Array(20) })).toThrowError(
      expect.objectContaining({ code: "one-class" }),
    );
    expect(() => planPermutations({ features, labels: firstOnes(19, 5) })).toThrowError(
      expect.objectContaining({ code: "shape" }),
    );
  });

  it("marks the smaller class, whichever it is", () => {
    const features = [energyOf(cloud(createRandom(1), 50), 50)];
    const plans = [10, 40].map((cases) => planPermutations({ features, labels: firstOnes(50, cases) }));
    for (const { labellings } of plans) expect(labellings.marked).toEqual(Int32Array.of(10));
  });
});

describe("countExceedances", () => {
  it("visits all labellings of a tiny sample equally often, so that p is the exact one", async () => {
    const x = Float64Array.of(0, 0.1, 0.3, 1, 5, 6, 6.1);
    const labels = Uint8Array.of(0, 0, 0, 0, 1, 1, 1);
    const plan = planPermutations({ features: [energyOf(x, 7)], labels });
    // Of the 35 labellings none separates better than the observed one.
    const [test] = await runPermutations(plan, { permutations: 9999 });
    expect(test.interval[0]).toBeLessThan(1 / 35);
    expect(test.interval[1]).toBeGreaterThan(1 / 35);
  });

  it("counts ties as reached: with nothing to shuffle p is 1", async () => {
    const x = cloud(createRandom(2), 40);
    const labels = firstOnes(40, 12);
    const plan = planPermutations({ features: [wideFeatures(x, 2)], labels, strata: Int32Array.from(labels) });
    expect(plan.comparable).toBe(0);
    expect((await runPermutations(plan, { permutations: 99 }))[0].pValue).toBe(1);
  });

  it("shuffles within strata only, and keeps the number marked in each", () => {
    const n = 40;
    const labels = Uint8Array.from({ length: n }, (_, i) => (i < 10 || (i < 20 && i % 2 === 1) ? 1 : 0));
    const strata = Int32Array.from({ length: n }, (_, i) => i % 2);
    const { labellings } = planPermutations({ features: [energyOf(cloud(createRandom(3), n), n)], labels, strata });
    const seen = new Set<string>();
    eachLabelling(labellings, 0, 200, (members) => {
      expect(members.filter((i) => i % 2 === 1).length).toBe(10);
      expect(members.length).toBe(15);
      expect([...members]).toEqual([...members].sort((a, b) => a - b));
      seen.add(members.join());
    });
    expect(seen.size).toBe(200);
  });

  it("does not depend on how the range is split, has the same bits for the same seed, and survives being sent", () => {
    const x = cloud(createRandom(3), 400);
    const strata = Int32Array.from({ length: 400 }, (_, i) => i % 3);
    const features = [wideFeatures(x, 2), energyOf(x, 400)];
    const plan = (seed: number) => planPermutations({ features, labels: firstOnes(400, 130), strata, seed });
    const counts = [countExceedances(plan(5), 0, 31), countExceedances(structuredClone(plan(5)), 31, 60)];
    expect(countExceedances(plan(5), 0, 60)).toEqual(counts[0].map((c, f) => c + counts[1][f]));
    expect(countExceedances(plan(6), 0, 60)).not.toEqual(countExceedances(plan(5), 0, 60));
  });
});

describe("runPermutations", () => {
  const planOf = (shift: number) => {
    const random = createRandom(16);
    const x = Float64Array.from({ length: 120 }, (_, i) => random.normal() + (i < 40 ? shift : 0));
    return planPermutations({ features: [wideFeatures(x, 1)], labels: firstOnes(120, 40) });
  };

  it("gives (1 + #)/(B + 1) and the same result for any number of shards", async () => {
    const one = await runPermutations(planOf(0.4), { permutations: 499 });
    expect(one[0].pValue).toBe((1 + countExceedances(planOf(0.4), 0, 499)[0]) / 500);
    expect(await runPermutations(planOf(0.4), { permutations: 499, shards: 7 })).toEqual(one);
  });

  it("stops early where every p-value is clearly above 0.05, and only there", async () => {
    const [clear] = await runPermutations(planOf(0), { earlyStop: true });
    expect(clear.permutations).toBeLessThan(9999);
    expect(clear.interval[0]).toBeGreaterThan(0.05);
    const [small] = await runPermutations(planOf(2), { earlyStop: true, permutations: 999 });
    expect(small).toMatchObject({ permutations: 999, pValue: 0.001 });
  });

  it("rejects random labels about as often as it should", async () => {
    const random = createRandom(7);
    const n = 120;
    const features = [wideFeatures(cloud(random, n), 2)];
    const strata = Int32Array.from({ length: n }, (_, i) => i % 4);
    let rejected = 0;
    for (let k = 0; k < 200; k++) {
      const labels = Uint8Array.from({ length: n }, () => (random.uniform() < 0.3 ? 1 : 0));
      const [test] = await runPermutations(planPermutations({ features, labels, strata, seed: k }), {
        permutations: 199,
      });
      if (test.pValue <= 0.05) rejected++;
    }
    // Binomial(200, 0.05): 2 to 20 has probability 0.999.
    expect(rejected).toBeGreaterThanOrEqual(2);
    expect(rejected).toBeLessThanOrEqual(20);
  });

  it("does not take half a permutation", async () => {
    await expect(runPermutations(planOf(0), { permutations: 0.5 })).rejects.toMatchObject({ code: "option" });
  });
});

describe("shareInterval", () => {
  it("is Clopper and Pearson's", () => {
    // R 4.2.2: binom.test(7, 50)$conf.int, binom.test(0, 250, conf.level = 0.999)$conf.int.
    expect(relativeError(shareInterval(7, 50, 0.95), [0.0581917, 0.267396])).toBeLessThan(1e-5);
    expect(shareInterval(0, 250, 0.999)[0]).toBe(0);
    expect(shareInterval(0, 250, 0.999)[1]).toBeCloseTo(1 - 0.0005 ** (1 / 250), 12);
    expect(shareInterval(9, 9, 0.9)[1]).toBe(1);
  });
});
