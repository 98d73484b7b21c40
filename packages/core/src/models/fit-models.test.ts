import { describe, expect, it } from "vitest";
import { makeCohort, selectIndividuals } from "../cohort/cohort.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { prepareMarkers } from "./choose-noise.ts";
import { fitDtm, fitDtmStatistics, fitLinear, usualNoise } from "./fit-models.ts";
import { saveModel } from "./save.ts";

describe("fitDtm from linear models that have been fitted", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
  const linear = fitLinear(cohort, { noise: usualNoise("dtm", cohort) });
  const short = { restarts: 0, maxIterations: 3, nodes: { step: 0.5 } } as const;

  /** The file of a model but for the time the fit took. */
  const fileOf = (options: Parameters<typeof fitDtm>[1]) => {
    const model = fitDtm(cohort, options);
    return saveModel({ ...model, record: { ...model.record, milliseconds: {} } });
  };

  it("gives the model of a fit that makes them itself, byte for byte", () => {
    expect(fileOf({ ...short, linear })).toBe(fileOf(short));
    const paper = { kind: "dtm-paper", schedule: "paper", maxIterations: 2 } as const;
    const asPublished = fitLinear(cohort, { priors: "none" });
    expect(fileOf({ ...paper, linear: asPublished })).toBe(fileOf(paper));
  });

  it("gives the same model from statistics alone, byte for byte", () => {
    const { statistics, warnings } = prepareMarkers(cohort, { noise: usualNoise("dtm", cohort) });
    const markers = cohort.markers.map(({ marker }) => marker);
    const model = fitDtmStatistics({ markers, statistics, warnings }, short);
    expect(saveModel({ ...model, record: { ...model.record, milliseconds: {} } })).toBe(fileOf(short));
  });

  it("takes those of a sample of the cohort, as fits of very many are made", () => {
    const sampled = fitLinear(cohort, { sampleSize: 40 });
    expect(sampled.lmm.record.numIndividuals).toBe(40);
    expect(fitDtm(cohort, { ...short, noise: "white", linear: sampled }).record.numIndividuals).toBe(60);
  });

  it("refuses those of another mean, dimension, basis or cohort, and says what it expected", () => {
    const refused = (options: Parameters<typeof fitDtm>[1], received: RegExp) => {
      expect(() => fitDtm(cohort, options)).toThrow(expect.objectContaining({ code: "option" }));
      expect(() => fitDtm(cohort, options)).toThrow(/expected linear models of 2 dimensions, a scalar mean/);
      expect(() => fitDtm(cohort, options)).toThrow(received);
    };
    refused({ ...short, linear: fitLinear(cohort, { mean: "spline" }) }, /received 2 dimensions, a spline mean/);
    refused({ ...short, linear: fitLinear(cohort, { mapDimension: 1 }) }, /received 1 dimensions/);
    refused({ ...short, linear: fitLinear(cohort, { numBasis: 4 }) }, /Fit them to the same cohort/);
    // Other individuals on the same knots.
    const others = selectIndividuals(cohort, [...Array(40).keys()]);
    const { basis } = linear.lmm.markers[0];
    refused({ ...short, linear: fitLinear(others, { basis }) }, /Fit them to the same cohort/);
  });
});

describe("the noise of a fit for which none is asked", () => {
  it("is white where values have no noise at all, and a fit with levels would break down", () => {
    const ids = Array.from({ length: 150 }, (_, e) => `p${Math.floor(e / 5)}`);
    const times = ids.map((_, e) => e % 5);
    const same = makeCohort({ ids, times, values: times });
    expect(fitDtm(same, { restarts: 0, maxIterations: 3 }).markers[0].noise.variance).toBeGreaterThan(0);
  });

  it("is white for several markers, covariates and free residuals", () => {
    const { cohort } = simulateCohort("pfvc", { numIndividuals: 20, seed: 3 });
    expect(usualNoise("dtm", cohort)).toBe("auto");
    expect(usualNoise("dtm", cohort, "full")).toBe("white");
    expect(usualNoise("lmm", cohort)).toBe("white");
    expect(usualNoise("dtm", { ...cohort, markers: [...cohort.markers, ...cohort.markers] })).toBe("white");
  });
});
