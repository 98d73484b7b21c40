import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { concordance } from "./concordance.ts";

/** Small integers, so that times and risks are often tied. */
function study(n: number, seed: number) {
  const random = createRandom(seed);
  const draw = (k: number) => Array.from({ length: n }, () => random.integer(k));
  return { times: draw(8), events: draw(2), risk: draw(5) };
}

/** Slow and obvious: all pairs, by the definition. */
function slow({ times, events, risk }: ReturnType<typeof study>) {
  const n = times.length;
  const agree = new Array<number>(n).fill(0);
  const disagree = new Array<number>(n).fill(0);
  const tied = new Array<number>(n).fill(0);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const first = events[i] === 1 && (times[i] < times[j] || (times[i] === times[j] && events[j] === 0));
      if (!first) continue;
      const into = risk[i] > risk[j] ? agree : risk[i] < risk[j] ? disagree : tied;
      into[i]++;
      into[j]++;
    }
  }
  const half = (x: number[]) => x.reduce((a, b) => a + b, 0) / 2;
  const [c, d, t] = [half(agree), half(disagree), half(tied)];
  const N = c + d + t;
  const D = (c - d) / N;
  const squares = agree.map((a, i) => ((a - disagree[i] - D * (a + disagree[i] + tied[i])) / N) ** 2);
  return { value: (c + t / 2) / N, se: Math.sqrt(squares.reduce((a, b) => a + b, 0)) / 2, c, d, t };
}

describe("concordance", () => {
  it("is what counting all pairs gives, with ties of times and risks", () => {
    for (let seed = 0; seed < 20; seed++) {
      const data = study(40, seed);
      const { value, se, c, d, t } = slow(data);
      const fast = concordance(data, data.risk);
      expect(fast).toMatchObject({ concordant: c, discordant: d, tiedRisk: t });
      expect(fast.concordance).toBeCloseTo(value, 13);
      expect(fast.standardError).toBeCloseTo(se, 13);
    }
  });

  it("is one for a perfect order, zero for its reverse, and one half when all risks are equal", () => {
    const data = { times: [1, 2, 3, 4], events: [1, 1, 1, 0] };
    expect(concordance(data, [4, 3, 2, 1]).concordance).toBe(1);
    expect(concordance(data, [1, 2, 3, 4]).concordance).toBe(0);
    expect(concordance(data, [7, 7, 7, 7])).toMatchObject({ concordance: 0.5, standardError: 0, tiedRisk: 6 });
  });

  it("sees only the order of the risks", () => {
    const data = study(60, 3);
    const squeezed = data.risk.map((r) => Math.atan(10 * r));
    expect(concordance(data, squeezed)).toEqual(concordance(data, data.risk));
  });

  it("has no value without a pair to compare, and refuses risks that are not finite", () => {
    expect(concordance({ times: [1, 2], events: [0, 0] }, [1, 2]).concordance).toBeNaN();
    expect(() => concordance({ times: [1, 2], events: [1, 0] }, [1, Number.NaN])).toThrow(/finite risks/);
    expect(() => concordance({ times: [1, 2], events: [1, 0] }, [1])).toThrow(/2 finite risks/);
  });

  it("reads every individual a few times, not once for each other", () => {
    const random = createRandom(1);
    const n = 2000;
    const times = Array.from({ length: n }, () => random.uniform());
    let reads = 0;
    const counted = new Proxy(times, {
      get: (list, name) => {
        if (typeof name === "string" && /^\d/.test(name)) reads++;
        return Reflect.get(list, name);
      },
    });
    const data = { times: counted, events: new Float64Array(n).fill(1) };
    expect(concordance(data, times).concordance).toBe(0);
    // A sort reads two times for each of its n log₂ n comparisons; all pairs are 45 times as many.
    expect(reads).toBeLessThan(4 * n * Math.log2(n));
  });

  it("counts pairs of many times and risks as the definition does", () => {
    const random = createRandom(2);
    const draw = () => Array.from({ length: 1500 }, () => random.uniform());
    const data = { times: draw(), events: draw().map((u) => (u < 0.5 ? 1 : 0)), risk: draw() };
    const { value, c, d } = slow(data);
    const fast = concordance(data, data.risk);
    expect(fast).toMatchObject({ concordant: c, discordant: d, tiedRisk: 0 });
    expect(fast.concordance).toBeCloseTo(value, 12);
  });
});
