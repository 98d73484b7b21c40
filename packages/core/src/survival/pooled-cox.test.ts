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
    const [term] = poolCox(followUp, 1, candidates, { draws: 3, turns: 1 }).terms;
    expect(term.estimate).toBeCloseTo(plain.coefficient, 10);
    expect(term.standardError).toBeCloseTo(plain.standardError, 10);
    expect(term.missingInformation).toBeLessThan(0.02);
  });

  it("recovers the coefficient that the true places have; draws that ignore the event halve it", () => {
    const { followUp, candidates } = study(Math.SQRT1_2, 2);
    const [term] = poolCox(followUp, 1, candidates, { draws: 8, turns: 4 }).terms;
    const [naive] = poolCox(followUp, 1, candidates, { draws: 8, turns: 0 }).terms;
    // The truth is 1; with half of the variance unknown plain draws have about ½.
    expect(Math.abs(term.estimate - 1)).toBeLessThan(3 * term.standardError);
    expect(term.estimate).toBeGreaterThan(0.75);
    expect(naive.estimate).toBeLessThan(0.6);
    expect(term.missingInformation).toBeGreaterThan(0.2);
    expect(term.betweenVariance).toBeGreaterThan(0);
  });

  it("is the same for a seed, and counts covariates behind the axes", () => {
    const { followUp, candidates } = study(0.5, 3);
    const known = { ...candidates, covariates: Float64Array.from({ length: n }, (_, i) => i % 2), numCovariates: 1 };
    const options = { draws: 2, turns: 1, seed: 5 };
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
