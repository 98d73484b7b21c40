import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { createRandom, type Random } from "../numeric/random.ts";
import {
  countExceedances,
  energyForm,
  kdeForm,
  permutationStatistics,
  planPermutations,
  pooledKernel,
  runPermutations,
  shareInterval,
} from "./permutation.ts";

/** Places that look like a map: some crowd in the middle, some are skewed. */
function cloud(random: Random, n: number, q: number): Float64Array {
  const x = new Float64Array(n * q);
  for (let i = 0; i < n; i++) {
    const spread = random.uniform() < 0.3 ? 0.2 : 1;
    for (let k = 0; k < q; k++) x[i * q + k] = spread * (k === 1 ? random.gamma(2) - 2 : random.normal());
  }
  return x;
}

const firstOnes = (n: number, n1: number) => Uint8Array.from({ length: n }, (_, i) => (i < n1 ? 1 : 0));

/** a'Ka by its definition. */
function definition(kernel: (i: number, j: number) => number, labels: Uint8Array): number {
  const n = labels.length;
  const n1 = labels.reduce((s, v) => s + v, 0);
  const a = Float64Array.from(labels, (label) => (label === 1 ? 1 / n1 : -1 / (n - n1)));
  let T = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) T += a[i] * a[j] * kernel(i, j);
  return T;
}

const distance = (x: Float64Array, q: number) => (i: number, j: number) => {
  let r = 0;
  for (let k = 0; k < q; k++) r += (x[i * q + k] - x[j * q + k]) ** 2;
  return Math.sqrt(r);
};

describe("planPermutations", () => {
  it.each([10, 40])("observes a'Ka for both statistics, whichever class is larger (%i of 50 cases)", (cases) => {
    const n = 50;
    const x = cloud(createRandom(1), n, 2);
    const labels = firstOnes(n, cases);
    const kernel = pooledKernel(x, 2);
    const { observed } = planPermutations({ forms: [kdeForm(kernel, n), energyForm(x, n)], labels });
    const gap = distance(kernel.z, 2);
    const gauss = definition((i, j) => kernel.peak * Math.exp(-0.5 * gap(i, j) ** 2), labels);
    const far = distance(x, 2);
    expect(relativeError(observed, [gauss, definition((i, j) => -far(i, j), labels)])).toBeLessThan(1e-12);
  });

  it("holds matrices in four dimensions, where there are no lattices", () => {
    const x = cloud(createRandom(1), 501, 4);
    expect([kdeForm(pooledKernel(x, 4), 501).kind, energyForm(x, 501).kind]).toEqual(["matrix", "matrix"]);
  });

  it("refuses one class and shapes that do not fit", () => {
    const x = cloud(createRandom(1), 20, 2);
    const forms = [energyForm(x, 20)];
    expect(() => planPermutations({ forms, labels: new Uint8Array(20) })).toThrowError(
      expect.objectContaining({ code: "one-class" }),
    );
    expect(() => planPermutations({ forms, labels: firstOnes(19, 5) })).toThrowError(
      expect.objectContaining({ code: "shape" }),
    );
  });
});

describe("permutationStatistics", () => {
  it("visits all labellings of a tiny sample equally often, so that p is the exact one", async () => {
    const x = Float64Array.of(0, 0.1, 0.3, 1, 5, 6, 6.1);
    const labels = Uint8Array.of(0, 0, 0, 0, 1, 1, 1);
    const plan = planPermutations({ forms: [energyForm(x, 7)], labels });
    // Of the 35 labellings none separates better than the observed one.
    const [test] = await runPermutations(plan, { permutations: 9999 });
    expect(test.interval[0]).toBeLessThan(1 / 35);
    expect(test.interval[1]).toBeGreaterThan(1 / 35);
  });

  it("counts ties as reached: with nothing to shuffle p is 1", async () => {
    const x = cloud(createRandom(2), 40, 2);
    const labels = firstOnes(40, 12);
    const strata = Int32Array.from(labels);
    const plan = planPermutations({ forms: [kdeForm(pooledKernel(x, 2), 40)], labels, strata });
    expect(plan.comparable).toBe(0);
    expect((await runPermutations(plan, { permutations: 99 }))[0].pValue).toBe(1);
  });

  it("shuffles within strata only", () => {
    // Places 0 and 100 are the strata: the mean place of the marked can never change between them.
    const n = 40;
    const x = Float64Array.from({ length: n }, (_, i) => (i % 2) * 100 + i / n);
    const labels = Uint8Array.from({ length: n }, (_, i) => (i < 10 || (i < 20 && i % 2 === 1) ? 1 : 0));
    const strata = Int32Array.from({ length: n }, (_, i) => i % 2);
    const forms = [energyForm(x, n)];
    const within = permutationStatistics(planPermutations({ forms, labels, strata }), 0, 200);
    const among = permutationStatistics(planPermutations({ forms, labels }), 0, 200);
    const spread = (v: Float64Array) => Math.max(...v) - Math.min(...v);
    expect(spread(within)).toBeLessThan(1);
    expect(spread(among)).toBeGreaterThan(10);
  });

  it("does not depend on how the range is split, and has the same bits for the same seed", () => {
    const x = cloud(createRandom(3), 80, 2);
    const strata = Int32Array.from({ length: 80 }, (_, i) => i % 3);
    const forms = [kdeForm(pooledKernel(x, 2), 80), energyForm(x, 80)];
    const plan = (seed: number) => planPermutations({ forms, labels: firstOnes(80, 30), strata, seed });
    const whole = permutationStatistics(plan(5), 0, 60);
    const parts = [...permutationStatistics(plan(5), 0, 17), ...permutationStatistics(plan(5), 17, 60)];
    expect(parts).toEqual([...whole]);
    expect([...permutationStatistics(plan(6), 0, 60)]).not.toEqual([...whole]);
    const counts = [countExceedances(plan(5), 0, 31), countExceedances(plan(5), 31, 60)];
    expect(countExceedances(plan(5), 0, 60)).toEqual(counts[0].map((c, f) => c + counts[1][f]));
  });

  it("survives being sent to a thread", () => {
    const x = cloud(createRandom(3), 600, 2);
    const forms = [kdeForm(pooledKernel(x, 2), 600), energyForm(x, 600)];
    const plan = planPermutations({ forms, labels: firstOnes(600, 100) });
    expect(forms.map((form) => form.kind)).toEqual(["grid", "lattice"]);
    expect(countExceedances(structuredClone(plan), 0, 50)).toEqual(countExceedances(plan, 0, 50));
  });

  it.each([1, 2, 3])("on the lattice is off by less than a hundredth of the null spread at n = 2,000, q = %i", (q) => {
    const n = 2000;
    const x = cloud(createRandom(4), n, q);
    const kernel = pooledKernel(x, q);
    const forms = [
      kdeForm(kernel, n, "matrix"),
      kdeForm(kernel, n, "lattice"),
      energyForm(x, n, "matrix"),
      energyForm(x, n, "lattice"),
    ];
    const B = 60;
    const T = permutationStatistics(planPermutations({ forms, labels: firstOnes(n, 200) }), 0, B);
    for (const direct of [0, 2]) {
      const column = Array.from({ length: B }, (_, b) => T[b * 4 + direct]);
      const mean = column.reduce((s, v) => s + v, 0) / B;
      const spread = Math.sqrt(column.reduce((s, v) => s + (v - mean) ** 2, 0) / B);
      const error = Math.sqrt(column.reduce((s, v, b) => s + (T[b * 4 + direct + 1] - v) ** 2, 0) / B);
      expect(error / spread).toBeLessThan(0.01);
    }
  });
});

describe("runPermutations", () => {
  const planOf = (shift: number) => {
    const random = createRandom(16);
    const x = Float64Array.from({ length: 120 }, (_, i) => random.normal() + (i < 40 ? shift : 0));
    return planPermutations({ forms: [kdeForm(pooledKernel(x, 1), 120)], labels: firstOnes(120, 40) });
  };

  it("gives (1 + #)/(B + 1) and the same result for any number of shards", async () => {
    const one = await runPermutations(planOf(0.4), { permutations: 499 });
    expect(one[0].pValue).toBe((1 + one[0].exceedances) / 500);
    expect(await runPermutations(planOf(0.4), { permutations: 499, shards: 7 })).toEqual(one);
  });

  it("stops early where the answer is clear, and says so", async () => {
    const [clear] = await runPermutations(planOf(0), { earlyStop: true });
    expect(clear.stoppedEarly).toBe(true);
    expect(clear.permutations).toBeLessThan(9999);
    expect(clear.interval[0]).toBeGreaterThan(0.05);
    const [small] = await runPermutations(planOf(2), { earlyStop: true });
    expect(small.permutations).toBe(250);
    const [whole] = await runPermutations(planOf(2), { earlyStop: { sides: "above" }, permutations: 999 });
    expect(whole).toMatchObject({ permutations: 999, stoppedEarly: false, pValue: 0.001 });
  });

  it("rejects random labels about as often as it should", async () => {
    const random = createRandom(7);
    const n = 120;
    const form = kdeForm(pooledKernel(cloud(random, n, 2), 2), n);
    const strata = Int32Array.from({ length: n }, (_, i) => i % 4);
    let rejected = 0;
    for (let k = 0; k < 200; k++) {
      const labels = Uint8Array.from({ length: n }, () => (random.uniform() < 0.3 ? 1 : 0));
      const [test] = await runPermutations(planPermutations({ forms: [form], labels, strata, seed: k }), {
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
