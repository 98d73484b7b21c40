import { describe, expect, it } from "vitest";
import { selectVisits } from "../cohort/cohort.ts";
import type { StartResult } from "../models/fit.ts";
import { fitDtm } from "../models/fit-models.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { compareModels } from "./compare.ts";
import { mapVerdict } from "./map-verdict.ts";
import type { Comparison } from "./summarize-folds.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 2 });
const fitted = fitDtm(cohort, { seed: 1, tolerance: 0.1, nodes: { step: 0.5 }, restarts: 1 });

const start = (bound: number, agreement: number): StartResult => ({
  name: "random places 1",
  bound,
  agreement,
  sameMap: agreement >= 0.9,
  similarBound: bound >= -2,
});
const withStarts = (...starts: StartResult[]) => ({ ...fitted, record: { ...fitted.record, converged: true, starts } });
const lightOf = (verdict: ReturnType<typeof mapVerdict>, name: string) => verdict.lights.find((l) => l.name === name);

describe("the verdict on a map", () => {
  it("is unknown, not good, before it was compared on held-out individuals", () => {
    const verdict = mapVerdict(withStarts(start(0, 1), start(-0.1, 0.99)));
    expect(verdict.state).toBe("unknown");
    expect(verdict.lights.map(({ state }) => state)).toEqual(["good", "good", "unknown", "unknown"]);
  });

  it("is never good where most individuals were seen once, and says so", () => {
    const once = selectVisits(cohort, (n, _, i) => (i % 10 === 0 ? n : 1));
    const seen = fitDtm(once, { seed: 1, tolerance: 0.1, nodes: { step: 0.5 }, restarts: 0 });
    const better = { differences: [{ model: "dtm", reference: "lmm", mean: 1, lower: 0.5, upper: 1.5 }], models: [] };
    for (const evidence of [null, better]) {
      const verdict = mapVerdict(seen, evidence);
      expect(verdict.state === "caution" || verdict.state === "poor").toBe(true);
      expect(lightOf(verdict, "explains")?.sentence).toMatch(/5\d of 60 individuals have one observation/);
    }
    expect(lightOf(mapVerdict(fitted, better), "explains")?.state).toBe("good");
  });

  it("is poor where the fit has not settled, whatever else, and says so first", () => {
    const verdict = mapVerdict({ ...fitted, record: { ...fitted.record, converged: false, verdict: "Stopped at 3." } });
    expect(verdict.state).toBe("poor");
    expect(verdict.headline).toBe("Do not draw conclusions from this map. Stopped at 3.");
  });

  it("takes the worse of what starts and refits say, and says that first", () => {
    const starts = (refits: number[], ...told: StartResult[]) =>
      lightOf(mapVerdict(withStarts(...told), null, refits), "starts");
    const agreeing = [start(0, 1), start(-1, 0.95)];
    expect(starts([0.95, 0.9, 0.97], ...agreeing)?.state).toBe("good");
    expect(starts([0.95, 0.7, 0.6], ...agreeing)?.state).toBe("caution");
    expect(starts([0.95, 0.7, 0.6], ...agreeing)?.sentence).toMatch(
      /^Refits to 80% of the individuals give places with R² 0.70 \(median; 0.60 to 0.95 over 3\): the map depends/,
    );
    expect(starts([0.4, 0.3, 0.97], ...agreeing)?.state).toBe("poor");
    expect(starts([0.95], start(0, 1), start(-1, 0.5))?.state).toBe("poor");
    expect(starts([0.95], start(0, 1))?.state).toBe("good");
  });

  it("tells starts that agree from worse ones and from rivals", () => {
    const state = (...starts: StartResult[]) => lightOf(mapVerdict(withStarts(...starts)), "starts")?.state;
    expect(state(start(0, 1), start(-1, 0.95), start(-20, 0.3))).toBe("good");
    expect(state(start(0, 1), start(-8, 0.5), start(-20, 0.3))).toBe("caution");
    expect(state(start(0, 1), start(-1, 0.5), start(-20, 0.3))).toBe("poor");
    expect(state(start(0, 1))).toBe("unknown");
    const told = (...starts: StartResult[]) => lightOf(mapVerdict(withStarts(...starts)), "starts")?.sentence;
    expect(told(start(0, 1), start(-1, 0.95))).toBe("All 2 starts found the same map.");
    expect(told(start(0, 1), start(-1, 0.95), start(-20, 0.3))).toBe(
      "2 of 3 starts found the same map; the others ended lower.",
    );
  });

  it("reads a comparison: gain over the mixed model and coverage", async () => {
    const comparison = await compareModels(cohort, { folds: 2, models: ["lmm", "dtm"], seed: 1 });
    const changed = (mean: number, half: number, p90: number, count = 400): Comparison => ({
      ...comparison,
      differences: comparison.differences.map((d) => ({ ...d, mean, lower: mean - half, upper: mean + half })),
      models: comparison.models.map((m) => ({
        ...m,
        coverage: { ...m.coverage, p90 },
        forecast: { ...m.forecast, count },
      })),
    });
    const states = (c: Comparison) =>
      mapVerdict(withStarts(start(0, 1), start(0, 1)), c).lights.map(({ state }) => state);
    expect(states(changed(0.5, 0.1, 0.9)).slice(2)).toEqual(["good", "good"]);
    expect(states(changed(0.05, 0.1, 0.83)).slice(2)).toEqual(["caution", "caution"]);
    expect(states(changed(-0.5, 0.1, 0.6)).slice(2)).toEqual(["poor", "poor"]);
    // All of ten is no evidence that intervals are too wide, one in ten is evidence that they are too narrow.
    expect(states(changed(0.5, 0.1, 1, 10)).slice(3)).toEqual(["unknown"]);
    expect(states(changed(0.5, 0.1, 0.1, 10)).slice(3)).toEqual(["poor"]);
    expect(mapVerdict(withStarts(start(0, 1), start(0, 1)), changed(0.5, 0.1, 0.9)).headline).toBe(
      "The map can be read.",
    );
  });

  it("calls a map that carries nothing what it is", () => {
    const empty = { ...fitted, markers: fitted.markers.map((m) => ({ ...m, varianceShare: 0 })) };
    expect(lightOf(mapVerdict(empty), "explains")).toMatchObject({
      state: "poor",
      sentence: expect.stringContaining("0%"),
    });
  });
});
