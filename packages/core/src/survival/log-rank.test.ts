import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { chisquareUpper } from "../numeric/special.ts";
import { logRank } from "./log-rank.ts";

function study(sizes: readonly number[], rates: readonly number[], seed: number) {
  const random = createRandom(seed);
  const labels = sizes.flatMap((n, g) => new Array<number>(n).fill(g));
  const times: number[] = [];
  const events: number[] = [];
  for (const g of labels) {
    const [event, censoring] = [-Math.log(1 - random.uniform()) / rates[g], 3 * random.uniform()];
    times.push(Math.min(event, censoring));
    events.push(event <= censoring ? 1 : 0);
  }
  return { data: { times, events }, labels };
}

describe("logRank", () => {
  it("is the worked example of two groups of three", () => {
    // Events at 1 (group 0), 2 (group 1), 3 (group 0); one censored in each group at 4.
    // Of those at risk, group 0 has 3 of 6, 2 of 5 and 2 of 4; V = Σ n_0 n_1/n².
    const test = logRank({ times: [1, 3, 4, 2, 4, 4], events: [1, 1, 0, 1, 0, 0] }, [0, 0, 0, 1, 1, 1], 2);
    const expected = 3 / 6 + 2 / 5 + 2 / 4;
    const variance = 9 / 36 + 6 / 25 + 4 / 16;
    expect(test.expected[0]).toBeCloseTo(expected, 14);
    expect(test.variance[0]).toBeCloseTo(variance, 14);
    expect(test.statistic).toBeCloseTo((2 - expected) ** 2 / variance, 12);
    expect(test).toMatchObject({ degrees: 1, observed: [2, 1], sizes: [3, 3] });
  });

  it("expects as many events as it observes, and has a variance whose rows sum to zero", () => {
    const { data, labels } = study([40, 30, 20], [1, 0.5, 2], 1);
    const { observed, expected, variance } = logRank(data, labels, 3);
    const sum = (x: readonly number[]) => x.reduce((a, b) => a + b, 0);
    expect(sum(expected)).toBeCloseTo(sum(observed), 10);
    for (let g = 0; g < 3; g++) expect(variance[3 * g] + variance[3 * g + 1] + variance[3 * g + 2]).toBeCloseTo(0, 12);
  });

  it("does not depend on the names of the groups", () => {
    const { data, labels } = study([40, 30, 20], [1, 0.5, 2], 2);
    const renamed = labels.map((g) => [2, 0, 1][g]);
    expect(logRank(data, renamed, 3).statistic).toBeCloseTo(logRank(data, labels, 3).statistic, 10);
  });

  it("rejects 5% of studies without a difference", () => {
    let rejected = 0;
    for (let seed = 0; seed < 600; seed++) {
      const { data, labels } = study([30, 30, 30], [1, 1, 1], seed);
      if (logRank(data, labels, 3).pValue < 0.05) rejected++;
    }
    // Three binomial standard errors of 600 studies are 2.7%.
    expect(Math.abs(rejected / 600 - 0.05)).toBeLessThan(0.027);
  });

  it("leaves out individuals without a group, and groups that never meet an event", () => {
    const { data, labels } = study([20, 20], [1, 3], 5);
    const more = { times: [...data.times, 0.1, 0], events: [...data.events, 1, 0] };
    const test = logRank(more, [...labels, -1, 2], 3);
    const { degrees, statistic, sizes } = test;
    expect({ degrees, statistic, sizes }).toEqual({
      degrees: 1,
      statistic: logRank(data, labels, 2).statistic,
      sizes: [20, 20, 1],
    });
  });

  it("refuses one group, an empty group and no event", () => {
    expect(() => logRank({ times: [1, 2], events: [1, 1] }, [0, 0], 1)).toThrow(/at least two groups/);
    expect(() => logRank({ times: [1, 2], events: [1, 1] }, [0, 0], 2)).toThrow(/sizes 2, 0/);
    expect(() => logRank({ times: [1, 2], events: [0, 0] }, [0, 1], 2)).toThrow(/received none/);
  });
});

describe("chisquareUpper", () => {
  it("keeps its digits far into the tail", () => {
    // P(χ²₂ > x) = exp(−x/2).
    for (const x of [0.1, 5, 60, 400]) expect(chisquareUpper(x, 2) / Math.exp(-x / 2)).toBeCloseTo(1, 12);
    expect(chisquareUpper(3.841458820694124, 1)).toBeCloseTo(0.05, 14);
  });
});
