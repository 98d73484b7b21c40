import { describe, expect, it } from "vitest";
import { expectNothingTold, LAST } from "../../../../test/differences.ts";
import { makeCohort, onlyMarker } from "../cohort/cohort.ts";
import { roundedGram } from "../numeric/rounding.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { fitDtm, fitFpca, fitLmm } from "./fit-models.ts";
import type { TrajectoryModel } from "./model.ts";
import { saveModel } from "./save.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
const { marker, offsets, times, values } = onlyMarker(cohort);
const owners = cohort.ids.flatMap((id, i) => Array<string>(offsets[i + 1] - offsets[i]).fill(id));
const more = makeCohort(
  { ids: [...owners, owners[0]], times: [...times, LAST.time], values: [...values, LAST.value] },
  marker,
);

describe("two models that differ by one visit", () => {
  const quick = { nodes: { step: 0.8 }, restarts: 0, maxIterations: 3 } as const;
  const fits: Readonly<Record<string, (own: typeof cohort) => TrajectoryModel>> = {
    lmm: fitLmm,
    fpca: (own) => fitFpca(own),
    dtm: (own) => fitDtm(own, quick),
    "dtm-paper": (own) => fitDtm(own, { kind: "dtm-paper", mapDimension: 1, maxIterations: 3 }),
  };
  it.each(Object.entries(fits))("tell neither its time nor its value: %s", (_, fit) => {
    expectNothingTold(saveModel(fit(cohort)), saveModel(fit(more)), times);
  });

  it("would tell both if they were not rounded", () => {
    const exact = (own: typeof cohort) => saveModel(fitLmm(own, { rounded: false }));
    expect(() => expectNothingTold(exact(cohort), exact(more), times)).toThrow();
  });
});

describe("weights of observed times", () => {
  it("stay within what their diagonal allows when rounded, whatever the number of visits", () => {
    for (const n of [1, 3, 60, 1000]) {
      const gram = Float64Array.from([0.3, 0.2, 0.001, 0.2, 0.15, 0.01, 0.001, 0.01, 0.002]);
      const rounded = roundedGram(gram, n);
      rounded.forEach((v, e) => {
        const bound = Math.sqrt(rounded[4 * Math.floor(e / 3)] * rounded[4 * (e % 3)]);
        expect(v).toBeLessThanOrEqual(bound + 1e-12);
        expect(v).toBe(rounded[3 * (e % 3) + Math.floor(e / 3)]);
        if (n === 1000) expect(Math.abs(v - gram[e])).toBeLessThanOrEqual(2 / n);
      });
    }
  });
});
