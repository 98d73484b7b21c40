import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { fitCox } from "./cox.ts";
import { causeFollowUp } from "./follow-up.ts";
import { poolCox } from "./pooled-cox.ts";

const [n, C] = [800, 60];

/** Hazard exp(x) with x = mean + sd e; candidates have the same mean and sd, as a posterior does. */
function study(sd: number, seed: number) {
  const random = createRandom(seed);
  const means = Float64Array.from({ length: n }, () => Math.sqrt(1 - sd * sd) * random.normal());
  const times: number[] = [];
  const causes: number[] = [];
  for (const mean of means) {
    const event = -Math.log(1 - random.uniform()) / Math.exp(mean + sd * random.normal());
    const censoring = 2 * random.uniform();
    times.push(Math.min(event, censoring));
    causes.push(event <= censoring ? 1 : 0);
  }
  const places = Float64Array.from({ length: n * C }, (_, e) => means[Math.floor(e / C)] + sd * random.normal());
  const candidates = {
    places,
    numCandidates: C,
    mapDimension: 1,
    covariates: new Float64Array(0),
    numCovariates: 0,
  };
  return { followUp: { times, causes }, means, candidates };
}

describe("poolCox", () => {
  it("is plain Cox where places are known exactly", () => {
    const { followUp, means, candidates } = study(0, 1);
    const plain = fitCox(causeFollowUp(followUp, 1), means, 1).terms[0];
    const [term] = poolCox(followUp, 1, candidates, { draws: 3 }).terms;
    expect(term.estimate).toBeCloseTo(plain.coefficient, 10);
    expect(term.standardError).toBeCloseTo(plain.standardError, 10);
    expect(term.missingInformation).toBeLessThan(0.02);
  });

  it("gives the coefficient of the true places where draws know the event; those that do not fall short", () => {
    let [sum, naive, plugIn, covered] = [0, 0, 0, 0];
    for (let seed = 0; seed < 12; seed++) {
      const { followUp, candidates, means } = study(0.5, 20 + seed);
      const [term] = poolCox(followUp, 1, candidates, { draws: 6 }).terms;
      sum += term.estimate / 12;
      if (term.lower <= 1 && 1 <= term.upper) covered++;
      naive += poolCox(followUp, 1, candidates, { draws: 6, given: "visits" }).terms[0].estimate / 12;
      plugIn += fitCox(causeFollowUp(followUp, 1), means, 1).terms[0].coefficient / 12;
      expect(term.missingInformation).toBeGreaterThan(0.05);
    }
    // The truth is 1, a quarter of the variance is unknown; a mean of twelve has a standard error of about 0.02.
    expect(Math.abs(sum - 1)).toBeLessThan(0.08);
    expect(sum).toBeGreaterThan(plugIn);
    expect(naive).toBeLessThan(0.8);
    expect(covered).toBeGreaterThanOrEqual(9);
  });

  it("is the same for a seed, and counts covariates behind the axes", () => {
    const { followUp, candidates } = study(0.5, 3);
    const known = { ...candidates, covariates: Float64Array.from({ length: n }, (_, i) => i % 2), numCovariates: 1 };
    const options = { draws: 2, seed: 5 };
    const pooled = poolCox(followUp, 1, known, options);
    expect(pooled).toEqual(poolCox(followUp, 1, known, options));
    expect(pooled.terms).toHaveLength(2);
  });

  it("refuses shapes that do not fit", () => {
    const { followUp, candidates } = study(0.5, 3);
    expect(() => poolCox(followUp, 1, { ...candidates, mapDimension: 2 })).toThrow(/places \[800,60,2\]/);
    expect(() => poolCox(followUp, 1, candidates, { draws: 1 })).toThrow(/from 2 on/);
  });
});
