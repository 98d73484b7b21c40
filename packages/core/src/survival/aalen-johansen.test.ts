import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { aalenJohansen, incidenceAt } from "./aalen-johansen.ts";
import { causeFollowUp } from "./follow-up.ts";
import { kaplanMeier } from "./kaplan-meier.ts";

function competing(n: number, seed: number, grain = 10) {
  const random = createRandom(seed);
  const times: number[] = [];
  const causes: number[] = [];
  for (let i = 0; i < n; i++) {
    const [event, censoring] = [-Math.log(1 - random.uniform()), 2.5 * random.uniform()];
    times.push(Math.ceil(grain * Math.min(event, censoring)) / grain);
    causes.push(event <= censoring ? (random.uniform() < 0.6 ? 1 : 2) : 0);
  }
  return { times, causes };
}

describe("aalenJohansen", () => {
  it("is one less Kaplan–Meier with Greenwood's error where there is one cause", () => {
    const data = competing(60, 1);
    const one = { times: data.times, causes: data.causes.map((cause) => Math.min(cause, 1)) };
    const curves = aalenJohansen(one, 1);
    const km = kaplanMeier(causeFollowUp(one, 1));
    curves.causes[0].incidence.forEach((F, j) => {
      expect(F).toBeCloseTo(1 - km.survival[j], 12);
      if (km.survival[j] > 0) expect(curves.causes[0].standardErrors[j]).toBeCloseTo(km.standardErrors[j], 12);
    });
  });

  it("shares everybody out: without any event, or with one of the causes", () => {
    const { survival, causes } = aalenJohansen(competing(80, 2), 2);
    survival.forEach((S, j) => {
      expect(S + causes[0].incidence[j] + causes[1].incidence[j]).toBeCloseTo(1, 12);
    });
  });

  it("is the share that had the event where nobody is censored, with the binomial error", () => {
    const data = { times: [1, 2, 2, 3, 4], causes: [2, 1, 2, 1, 1] };
    const [first] = aalenJohansen(data, 2).causes;
    expect(Array.from(first.incidence)).toEqual([0, 0.2, 0.4, expect.closeTo(0.6, 12)]);
    expect(first.standardErrors[1]).toBeCloseTo(Math.sqrt((0.2 * 0.8) / 5), 12);
  });

  it("is below one less Kaplan–Meier with the competing event censored", () => {
    const data = competing(200, 3);
    const [first] = aalenJohansen(data, 2).causes;
    const km = kaplanMeier(causeFollowUp(data, 1));
    first.incidence.forEach((F, j) => {
      expect(F).toBeLessThanOrEqual(1 - km.survival[j] + 1e-12);
    });
    expect(1 - km.survival[km.survival.length - 1] - first.incidence[first.incidence.length - 1]).toBeGreaterThan(0.1);
  });

  it("has the error of the definition: derivatives by the weight of each individual", () => {
    const data = competing(30, 4, 4);
    const weighted = (w: readonly number[]) => {
      let [S, F] = [1, 0];
      for (const t of [...new Set(data.times)].sort((a, b) => a - b)) {
        const sum = (keep: (i: number) => boolean) => w.reduce((s, v, i) => (keep(i) ? s + v : s), 0);
        const n = sum((i) => data.times[i] >= t);
        const d = sum((i) => data.times[i] === t && data.causes[i] > 0);
        F += (S * sum((i) => data.times[i] === t && data.causes[i] === 1)) / n;
        S *= 1 - d / n;
      }
      return F;
    };
    const ones = data.times.map(() => 1);
    const squares = ones.map((_, i) => {
      const at = (v: number) => weighted(ones.map((one, k) => (k === i ? v : one)));
      return ((at(1 + 1e-5) - at(1 - 1e-5)) / 2e-5) ** 2;
    });
    const [first] = aalenJohansen(data, 2).causes;
    const error = Math.sqrt(squares.reduce((a, b) => a + b, 0));
    expect(first.standardErrors[first.standardErrors.length - 1]).toBeCloseTo(error, 8);
  });

  it("covers the truth about as often as it says", () => {
    let covered = 0;
    const truth = 0.6 * (1 - Math.exp(-0.7));
    for (let study = 0; study < 400; study++) {
      const { times, atRisk, causes } = aalenJohansen(competing(80, 100 + study), 2);
      const [at] = incidenceAt({ times, atRisk, ...causes[0] }, [0.7]);
      if (at.lower <= truth && truth <= at.upper) covered++;
    }
    // 95% ± 3 binomial standard errors of 400 studies.
    expect(covered / 400).toBeGreaterThan(0.917);
    expect(covered / 400).toBeLessThan(0.983);
  });

  it("has an exact bound while nobody has had the event", () => {
    const { times, atRisk, causes } = aalenJohansen({ times: [1, 2, 3, 4], causes: [2, 0, 0, 1] }, 2);
    const [before, later] = incidenceAt({ times, atRisk, ...causes[0] }, [2.5, 4]);
    expect(before).toMatchObject({ incidence: 0, lower: 0, atRisk: 2, noEvent: true });
    expect(before.upper).toBeCloseTo(1 - Math.sqrt(0.025), 12);
    expect(later.incidence).toBeCloseTo(0.75, 12);
  });

  it("has no interval where everybody has had the event, whatever the sum of the steps rounds to", () => {
    for (const n of [3, 7, 10, 49, 60]) {
      const times = Array.from({ length: n }, (_, i) => i + 1);
      const curves = aalenJohansen({ times, causes: times.map(() => 1) }, 1);
      const [{ incidence, lower, upper }] = incidenceAt({ ...curves, ...curves.causes[0] }, [n]);
      expect(incidence).toBeCloseTo(1, 12);
      expect([lower, upper]).toEqual([Number.NaN, Number.NaN]);
    }
  });

  it("refuses causes that are none", () => {
    expect(() => aalenJohansen({ times: [1, 2], causes: [1, 3] }, 2)).toThrow(/received 3 for individual 1/);
    expect(() => aalenJohansen({ times: [-1, 2], causes: [1, 0] }, 1)).toThrow(/times of 0 or more/);
  });
});
