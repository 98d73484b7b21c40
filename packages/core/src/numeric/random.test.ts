import { describe, expect, it } from "vitest";
import { createRandom, drawSubsetInPlace, openStream } from "./random.ts";

const DRAWS = 20_000;

/** Mean and variance of draws; bounds below are five standard errors, so a right generator passes. */
function moments(draw: () => number): { mean: number; variance: number } {
  const x = Float64Array.from({ length: DRAWS }, draw);
  const mean = x.reduce((s, v) => s + v, 0) / DRAWS;
  return { mean, variance: x.reduce((s, v) => s + (v - mean) ** 2, 0) / DRAWS };
}

function expectMoments(draw: () => number, mean: number, variance: number, kurtosis: number): void {
  const found = moments(draw);
  expect(Math.abs(found.mean - mean)).toBeLessThan(5 * Math.sqrt(variance / DRAWS));
  expect(Math.abs(found.variance - variance)).toBeLessThan(5 * variance * Math.sqrt((kurtosis - 1) / DRAWS));
}

describe("createRandom", () => {
  it("draws with the right mean and variance", () => {
    const random = createRandom(11);
    expectMoments(random.uniform, 1 / 2, 1 / 12, 1.8);
    expectMoments(random.normal, 0, 1, 3);
    expectMoments(() => random.gamma(0.55), 0.55, 0.55, 3 + 6 / 0.55);
    expectMoments(() => random.gamma(4), 4, 4, 3 + 6 / 4);
    expectMoments(() => random.poisson(3.4), 3.4, 3.4, 3 + 1 / 3.4);
    expectMoments(() => random.poisson(80), 80, 80, 3 + 1 / 80);
    expectMoments(() => random.beta(0.8, 2.2), 0.8 / 3, (0.8 * 2.2) / (9 * 4), 3);
    expectMoments(() => random.integer(6), 2.5, 35 / 12, 1.73);
    expectMoments(() => random.categorical([1, 3]), 0.75, 0.1875, 2.34);
    expectMoments(random.categoricalOf([1, 0, 3]), 1.5, 0.75, 2.34);
  });

  it("never draws what has no weight", () => {
    const draw = createRandom(2).categoricalOf([0, 2, 0, 1, 0]);
    expect(new Set(Array.from({ length: 200 }, draw))).toEqual(new Set([1, 3]));
  });

  it("keeps normal tails: the share beyond 2 is 4.55%", () => {
    const random = createRandom(5);
    let beyond = 0;
    for (let k = 0; k < DRAWS; k++) if (Math.abs(random.normal()) > 2) beyond++;
    expect(Math.abs(beyond / DRAWS - 0.0455)).toBeLessThan(5 * Math.sqrt((0.0455 * 0.9545) / DRAWS));
  });

  it("starts well from small seeds: first draws are spread and differ", () => {
    const first = Array.from({ length: 200 }, (_, seed) => createRandom(seed).uniform());
    expect(new Set(first).size).toBe(200);
    expect(Math.abs(first.reduce((s, v) => s + v, 0) / 200 - 0.5)).toBeLessThan(5 * Math.sqrt(1 / 12 / 200));
    expect(createRandom(1).uniform()).not.toBe(createRandom(1.5).uniform());
  });

  it("gives the same draws for the same seed", () => {
    const [a, b] = [createRandom(42), createRandom(42)];
    const mixed = (r: typeof a) => [
      r.uniform(),
      r.normal(),
      r.gamma(2.5),
      r.poisson(40),
      r.beta(1, 2),
      ...r.permutation(5),
    ];
    expect(mixed(a)).toEqual(mixed(b));
  });

  it("goes on from a stored state, whatever was drawn before", () => {
    const random = createRandom(8);
    for (let k = 0; k < 7; k++) random.normal();
    random.gamma(0.3);
    random.poisson(100);
    const restored = createRandom(JSON.parse(JSON.stringify(random.state())));
    for (let k = 0; k < 20; k++) {
      expect(restored.normal()).toBe(random.normal());
      expect(restored.gamma(2)).toBe(random.gamma(2));
      expect(restored.poisson(50)).toBe(random.poisson(50));
    }
  });

  it("permutes everything once, each place equally likely", () => {
    const random = createRandom(2);
    const counts = new Int32Array(4);
    for (let k = 0; k < 4000; k++) {
      const order = random.permutation(4);
      expect(Array.from(order).sort()).toEqual([0, 1, 2, 3]);
      counts[order[0]]++;
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(5 * Math.sqrt(4000 * 0.25 * 0.75));
  });

  it("gives 0 for a Poisson mean of 0", () => {
    expect(createRandom(1).poisson(0)).toBe(0);
  });
});

describe("openStream", () => {
  it("gives the same numbers for the same seed and index, and others for any other", () => {
    const draws = (seed: number, index: number) => {
      const stream = openStream(seed, index);
      return Array.from({ length: 8 }, () => stream.next());
    };
    expect(draws(1, 7)).toEqual(draws(1, 7));
    const firsts = new Set<string>();
    for (const seed of [0, 1, 2, 0.5, -1])
      for (let index = 0; index < 200; index++) firsts.add(draws(seed, index).join());
    expect(firsts.size).toBe(1000);
  });

  it("is uniform across streams as well as along one", () => {
    // 30,000 draws into 10 cells: χ² with 9 degrees of freedom is below 27.9 with probability 0.999.
    const chi2 = (draw: (k: number) => number) => {
      const counts = new Float64Array(10);
      for (let k = 0; k < 30_000; k++) counts[draw(k)]++;
      return counts.reduce((s, c) => s + (c - 3000) ** 2 / 3000, 0);
    };
    const tenth = (draw: number) => Math.floor(((draw >>> 0) * 10) / 2 ** 32);
    const stream = openStream(3, 0);
    expect(chi2(() => tenth(stream.next()))).toBeLessThan(27.9);
    expect(chi2((k) => tenth(openStream(3, k).next()))).toBeLessThan(27.9);
  });
});

describe("drawSubsetInPlace", () => {
  it("draws every subset equally often and touches nothing outside its range", () => {
    const counts = new Map<string, number>();
    for (let b = 0; b < 6000; b++) {
      const items = Int32Array.of(9, 0, 1, 2, 3, 8);
      drawSubsetInPlace(openStream(1, b), items, 1, 5, 2);
      expect([items[0], items[5]]).toEqual([9, 8]);
      expect([...items.subarray(1, 5)].sort()).toEqual([0, 1, 2, 3]);
      const subset = [items[1], items[2]].sort().join();
      counts.set(subset, (counts.get(subset) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    // Each of 6 subsets has 1,000 ± 29; five standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(145);
  });
});
