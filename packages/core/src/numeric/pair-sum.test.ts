import { describe, expect, it } from "vitest";
import { addToPairs, roundPairs, sumPairs } from "./pair-sum.ts";
import { createRandom } from "./random.ts";

describe("sums in pairs", () => {
  it("do not depend on how terms are grouped, where plain sums do", () => {
    const random = createRandom(3);
    const terms = Array.from({ length: 500 }, () =>
      Float64Array.from({ length: 20 }, () => random.normal() * 10 ** (6 * random.uniform())),
    );
    const whole = roundPairs(sumPairs(terms));
    const groups = [terms.slice(0, 90), terms.slice(90, 333), terms.slice(333)];
    const pairs = new Float64Array(40);
    for (const group of [...groups].reverse()) addToPairs(pairs, sumPairs(group));
    expect(roundPairs(pairs)).toEqual(whole);
    const plain = (of: readonly Float64Array[]) => of.reduce((sum, own) => sum.map((v, e) => v + own[e]));
    expect(plain(groups.map(plain))).not.toEqual(plain(terms));
  });

  it("keep what one number loses", () => {
    expect(roundPairs(sumPairs([1e20, 1, -1e20].map((v) => Float64Array.of(v))))).toEqual(Float64Array.of(1));
    expect(roundPairs(sumPairs([]))).toHaveLength(0);
  });

  it("let what is not a number through", () => {
    expect(roundPairs(sumPairs([Float64Array.of(Number.NaN, 1), Float64Array.of(1, 1)]))).toEqual(
      Float64Array.of(Number.NaN, 2),
    );
  });
});
