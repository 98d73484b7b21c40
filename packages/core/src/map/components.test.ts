import { describe, expect, it } from "vitest";
import { designMatrix } from "../basis/bspline.ts";
import { markerModel } from "../models/fit.ts";
import { fitFpca, fitLmm } from "../models/fit-models.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { rotatedComponents } from "./components.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 150, seed: 5 });

describe("rotatedComponents", () => {
  const fpca = fitFpca(cohort, { rank: 2 });
  const found = rotatedComponents(fpca)!;

  it("leaves the variance of curves as it was: a turn changes no model", () => {
    const { times } = found[0];
    const B = designMatrix(markerModel(fpca).basis, times);
    const d = markerModel(fpca).basis.numBasis;
    times.forEach((_, t) => {
      let variance = 0;
      for (let c = 0; c < 2; c++) {
        let f = 0;
        for (let k = 0; k < d; k++) f += B[t * d + k] * fpca.loadings[k * 2 + c];
        variance += f * f;
      }
      const turned = found.reduce((s, { curve }) => s + curve[t] * curve[t], 0);
      expect(turned).toBeCloseTo(variance, 8);
    });
  });

  it("are sorted by share, positive at their peak, and speak of different times", () => {
    expect(found[0].share + found[1].share).toBeCloseTo(1, 12);
    expect(found[0].share).toBeGreaterThanOrEqual(found[1].share);
    for (const { curve, times, peak } of found) {
      expect(Math.max(...curve)).toBe(curve[times.indexOf(peak)]);
      expect(Math.max(...curve)).toBeGreaterThanOrEqual(-Math.min(...curve));
    }
    expect(Math.abs(found[0].peak - found[1].peak)).toBeGreaterThan(2);
  });

  it("are there for mixed models, with no more variance than the covariance has; not for maps", () => {
    const lmm = fitLmm(cohort);
    const components = rotatedComponents(lmm)!;
    const d = markerModel(lmm).basis.numBasis;
    const { times } = components[0];
    const B = designMatrix(markerModel(lmm).basis, times);
    times.forEach((_, t) => {
      let variance = 0;
      for (let c = 0; c < d; c++) {
        let f = 0;
        for (let k = 0; k < d; k++) f += B[t * d + k] * lmm.covarianceFactor[k * d + c];
        variance += f * f;
      }
      const kept = components.reduce((s, { curve }) => s + curve[t] * curve[t], 0);
      expect(kept).toBeLessThanOrEqual(variance * (1 + 1e-9));
    });
    expect(rotatedComponents({ ...fpca, kind: "dtm" } as unknown as TrajectoryModel)).toBeNull();
  });
});
