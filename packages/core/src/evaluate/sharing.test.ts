import { describe, expect, it } from "vitest";
import { selectIndividuals } from "../cohort/cohort.ts";
import { fitDtm } from "../models/fit-models.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { fitSingleMap, judgeSharing, sharingVerdict } from "./sharing.ts";

const coarse = { nodes: { step: 0.5 }, restarts: 0, tolerance: 0.03 } as const;

describe("sharingVerdict", () => {
  it("supports one map where markers have the same place, and refuses it where they have nothing in common", () => {
    for (const [relation, state] of [
      ["same-place", "supported"],
      ["unrelated", "separate"],
    ] as const) {
      const { cohort } = simulatePlaces({ relation, seed: 1 });
      const verdict = sharingVerdict(cohort, fitDtm(cohort, coarse));
      expect(verdict.state).toBe(state);
      expect(verdict.sentences[0]).toContain(
        state === "supported" ? "One map is supported" : "These markers do not follow one map; use separate maps",
      );
      expect(verdict.perIndividual).toBeCloseTo(verdict.difference / 200, 12);
    }
  });

  it("is the shared bound less those of maps fitted alike to who has the marker", () => {
    const whole = simulatePlaces({ numIndividuals: 80, seed: 2 }).cohort;
    const [first, second] = whole.markers;
    // The last twenty lack the second marker.
    const offsets = second.offsets.map((end, i) => Math.min(end, second.offsets[Math.min(i, 60)]));
    const end = second.offsets[60];
    const short = { ...second, offsets, times: second.times.slice(0, end), values: second.values.slice(0, end) };
    const cohort = { ...whole, markers: [first, short] };
    const model = fitDtm(cohort, coarse);
    const singles = [0, 1].map((k) => fitSingleMap(cohort, model, k));
    const alone = fitDtm(
      selectIndividuals(
        { ...whole, markers: [second] },
        Array.from({ length: 60 }, (_, i) => i),
      ),
      { ...coarse, basis: model.markers[1].basis },
    );
    expect(singles[1].bound).toBe(alone.bound);
    const verdict = judgeSharing(cohort, model, singles);
    expect(verdict.difference).toBeCloseTo(model.bound - singles[0].bound - singles[1].bound, 8);
    expect(verdict.markers.map((own) => own.numIndividuals)).toEqual([80, 60]);
    expect(verdict.markers[1].areaAlone).toBeGreaterThan(verdict.area);
  });

  it("tells a marker that pays for sharing", () => {
    const { cohort } = simulatePlaces({ numIndividuals: 60, seed: 3 });
    const model = fitDtm(cohort, coarse);
    const single = { bound: -100, varianceShare: 0.9, noiseVariance: model.markers[0].noise.variance, converged: true };
    const { markers, sentences } = judgeSharing(cohort, model, [
      single,
      { ...single, noiseVariance: model.markers[1].noise.variance / 1.3 },
    ]);
    expect(markers.map(({ pays }) => pays)).toEqual([false, true]);
    expect(sentences.join(" ")).toContain("marker 2 pays for sharing: its noise variance is 1.30 times");
  });
});
