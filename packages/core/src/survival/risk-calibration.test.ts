import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { causeFollowUp } from "./follow-up.ts";
import { kaplanMeier } from "./kaplan-meier.ts";
import { calibrateRisk } from "./risk-calibration.ts";

/** Risk of the event by time 1 between 0.05 and 0.6, uniform censoring. */
function study(n: number, seed: number) {
  const random = createRandom(seed);
  const risks = Array.from({ length: n }, () => 0.05 + 0.55 * random.uniform());
  const times: number[] = [];
  const causes: number[] = [];
  for (const risk of risks) {
    const [event, censoring] = [Math.log(1 - random.uniform()) / Math.log(1 - risk), 3 * random.uniform()];
    times.push(Math.min(event, censoring));
    causes.push(event <= censoring ? 1 : 0);
  }
  return { risks, followUp: { times, causes } };
}

describe("calibrateRisk", () => {
  const { risks, followUp } = study(2000, 1);

  it("finds true risks right, group by group and in the large", () => {
    const { overall, groups } = calibrateRisk(followUp, 1, risks, 1);
    expect(groups).toHaveLength(5);
    expect(groups.reduce((sum, g) => sum + g.numIndividuals, 0)).toBe(2000);
    for (const { predicted, observed, lower, upper } of [overall, ...groups]) {
      expect(lower).toBeLessThan(observed);
      // Three half-widths of a 95% interval over two: a chance of 1 in 300 each.
      expect(Math.abs(predicted - observed)).toBeLessThan(0.75 * (upper - lower));
    }
    expect(groups[4].observed).toBeGreaterThan(groups[0].observed + 0.3);
    // Cut so that each expects as many events, to one individual.
    const expected = groups.map((g) => g.predicted * g.numIndividuals);
    expect(Math.max(...expected) - Math.min(...expected)).toBeLessThan(2);
    const km = kaplanMeier(causeFollowUp(followUp, 1));
    const at = km.times.filter((t) => t <= 1).length - 1;
    expect(overall.observed).toBeCloseTo(1 - km.survival[at], 12);
  });

  it("finds doubled risks too high", () => {
    const doubled = risks.map((risk) => Math.min(1, 2 * risk));
    const { overall } = calibrateRisk(followUp, 1, doubled, 1);
    expect(overall.observed / overall.predicted).toBeLessThan(0.6);
    expect(overall.upper).toBeLessThan(overall.predicted);
  });

  it("makes fewer groups where there are few events", () => {
    const few = study(120, 2);
    const { overall, groups } = calibrateRisk(few.followUp, 1, few.risks, 0.5);
    expect(groups).toHaveLength(Math.max(1, Math.floor(overall.numEvents / 15)));
    expect(calibrateRisk(few.followUp, 1, few.risks, 0.05).groups).toHaveLength(1);
  });

  it("refuses what are no risks", () => {
    expect(() => calibrateRisk(followUp, 1, [0.5], 1)).toThrow(/2000 risks/);
  });
});
