import { describe, expect, it } from "vitest";
import { numIndividuals, numObservations, onlyMarker } from "../cohort/cohort.ts";
import { type SimulatedCohort, simulateCohort } from "./cohorts.ts";

const counts = ({ cohort }: SimulatedCohort) =>
  Int32Array.from(
    { length: numIndividuals(cohort) },
    (_, i) => onlyMarker(cohort).offsets[i + 1] - onlyMarker(cohort).offsets[i],
  );
const mean = (x: ArrayLike<number>) => Array.from(x).reduce((s, v) => s + v, 0) / x.length;
const median = (x: ArrayLike<number>) => Float64Array.from(x).sort()[Math.floor(x.length / 2)];
const share = (x: ArrayLike<number>, holds: (v: number) => boolean) => mean(Array.from(x, (v) => (holds(v) ? 1 : 0)));

/** Five standard errors of a share p among n. */
const slack = (p: number, n: number) => 5 * Math.sqrt((p * (1 - p)) / n);

/** Facts as stated for the published cohorts; mean and singletons follow from the negative binomial, (r/(r+ν))^r. */
const FACTS = {
  pfvc: { m: 2323, N: 10400, median: 3, mean: 4.48, single: 0.25, max: 55, low: 15, high: 140 },
  tss: { m: 2239, N: 8800, median: 2, mean: 3.92, single: 0.36, max: 22, low: 0, high: 55 },
} as const;

describe.each(["pfvc", "tss"] as const)("simulateCohort %s", (marker) => {
  const facts = FACTS[marker];
  const simulated = simulateCohort(marker, { seed: 7 });
  const { cohort, groups, groupNames, outcomes, truth } = simulated;
  const n = counts(simulated);

  it("has the published numbers of individuals and observations", () => {
    expect(numIndividuals(cohort)).toBe(facts.m);
    // The number of observations has a standard deviation of about 4.5 per individual.
    expect(Math.abs(numObservations(cohort) - facts.N)).toBeLessThan(5 * 4.5 * Math.sqrt(facts.m));
    expect(Math.abs(mean(n) - facts.mean)).toBeLessThan((5 * 4.5) / Math.sqrt(facts.m));
    expect(median(n)).toBe(facts.median);
    expect(Math.max(...n)).toBe(facts.max);
    expect(Math.min(...n)).toBe(1);
    expect(Math.abs(share(n, (k) => k === 1) - facts.single)).toBeLessThan(slack(facts.single, facts.m) + 0.005);
  });

  it("keeps times in the ten years and values in the marker's range", () => {
    for (const t of onlyMarker(cohort).times) expect(t >= 0 && t <= 10).toBe(true);
    for (const y of onlyMarker(cohort).values) expect(y >= facts.low && y <= facts.high).toBe(true);
    const first = Array.from({ length: facts.m }, (_, i) => onlyMarker(cohort).times[onlyMarker(cohort).offsets[i]]);
    // Entry is 10 Beta(0.8, 2.2): mean 10 · 0.8/3, variance 100 · 0.8 · 2.2 / (9 · 4).
    expect(Math.abs(mean(first) - 8 / 3)).toBeLessThan(5 * Math.sqrt(4.89 / facts.m));
  });

  it("draws groups with the stated probabilities", () => {
    const probabilities = marker === "pfvc" ? [0.12, 0.25, 0.13, 0.38, 0.12] : [0.52, 0.25, 0.13, 0.1];
    expect(groupNames).toHaveLength(probabilities.length);
    probabilities.forEach((p, g) => {
      expect(Math.abs(share(groups, (k) => k === g) - p)).toBeLessThan(slack(p, facts.m));
    });
  });

  it("draws outcomes with probabilities that depend on the group only", () => {
    const byGroup = (outcome: string, g: number) => {
      const members = Array.from(outcomes[outcome]).filter((_, i) => groups[i] === g);
      return { p: mean(members), n: members.length };
    };
    const lung = marker === "pfvc" ? [0.85, 0.6, 0.6, 0.18, 0.5] : [0.4, 0.4, 0.4, 0.4];
    const muscle = marker === "pfvc" ? [0.16, 0.09, 0.13, 0.07, 0.08] : [0.06, 0.14, 0.13, 0.22];
    for (let g = 0; g < groupNames.length; g++) {
      const [a, b] = [byGroup("interstitial lung disease", g), byGroup("myositis", g)];
      expect(Math.abs(a.p - lung[g])).toBeLessThan(slack(lung[g], a.n));
      expect(Math.abs(b.p - muscle[g])).toBeLessThan(slack(muscle[g], b.n));
    }
    expect(Object.keys(outcomes)).toHaveLength(7);
  });

  it("adds noise of the stated size to its true curves", () => {
    const inside = Array.from(truth.curve, (f, j) => ({ f, r: onlyMarker(cohort).values[j] - f })).filter(
      ({ f }) => f > facts.low + 5 * truth.noiseSd && f < facts.high - 5 * truth.noiseSd,
    );
    expect(inside.length).toBeGreaterThan(500);
    const sd = Math.sqrt(mean(inside.map(({ r }) => r * r)));
    expect(Math.abs(sd / truth.noiseSd - 1)).toBeLessThan(5 / Math.sqrt(2 * inside.length));
  });

  it("gives the same bits for the same seed, and other bits for another", () => {
    expect(simulateCohort(marker, { seed: 7 })).toEqual(simulated);
    expect(onlyMarker(simulateCohort(marker, { seed: 8 }).cohort).values).not.toEqual(onlyMarker(cohort).values);
  });
});

describe("simulateCohort", () => {
  it("follows group curves when noise, level and slope are taken away", () => {
    const { cohort, groups, truth } = simulateCohort("pfvc", { numIndividuals: 300, noiseSd: 0, seed: 2 });
    let worst = 0;
    cohort.ids.forEach((_, i) => {
      if (groups[i] !== 3) return;
      for (let j = onlyMarker(cohort).offsets[i]; j < onlyMarker(cohort).offsets[i + 1]; j++) {
        const t = onlyMarker(cohort).times[j];
        const stable = t <= 6 ? 96 : t <= 8 ? 96 - (t - 6) / 2 : 95;
        worst = Math.max(worst, Math.abs(truth.curve[j] - stable - truth.levels[i] - truth.slopes[i] * (t - 5)));
        if (truth.curve[j] < 140) expect(onlyMarker(cohort).values[j]).toBe(truth.curve[j]);
      }
    });
    expect(worst).toBeLessThan(1e-12);
  });

  it("keeps groups and outcomes in the order of ids for any number of individuals", () => {
    const { cohort, groups } = simulateCohort("tss", { numIndividuals: 12 });
    expect(cohort.ids[0]).toBe("P0001");
    expect(cohort.ids[11]).toBe("P0012");
    expect(groups).toHaveLength(12);
    expect(simulateCohort("tss", { numIndividuals: 10_001 }).cohort.ids[10_000]).toBe("P10001");
  });

  it("refuses options out of range", () => {
    expect(() => simulateCohort("fev" as "tss")).toThrow(/pfvc or tss, received fev/);
    expect(() => simulateCohort("tss", { numIndividuals: 0 })).toThrow(/received 0/);
    expect(() => simulateCohort("tss", { noiseSd: -1 })).toThrow(/received -1/);
  });
});
