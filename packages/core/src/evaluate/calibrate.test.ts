import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { splitCohort } from "../cohort/split.ts";
import { calibrationFactors, classOf } from "../models/conformal.ts";
import { fitLmm } from "../models/linear-models.ts";
import { placeIndividual } from "../models/place.ts";
import { predict } from "../models/predict.ts";
import { loadModel, saveModel } from "../models/save.ts";
import { whiteNoise } from "../noise/noise.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { calibrateByRefits } from "../study/calibration.ts";
import { calibrateForecasts } from "./calibrate.ts";
import { forecastBands, modelForecaster, nextVisits } from "./forecast.ts";

/** Courses with noise of very unequal size, which a model with one noise variance covers badly. */
function unequalNoise(numIndividuals: number, seed: number) {
  const random = createRandom(seed);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < numIndividuals; i++) {
    const [level, slope, sd] = [80 + 8 * random.normal(), random.normal(), i % 4 === 0 ? 12 : 1];
    for (let j = 0; j < 6; j++) {
      rows.ids.push(`p${String(i).padStart(5, "0")}`);
      rows.times.push(j + 0.5 * random.uniform());
      rows.values.push(level + slope * j + sd * random.normal());
    }
  }
  return makeCohort(rows);
}

describe("calibrateForecasts", () => {
  const cohort = unequalNoise(900, 1);
  const [{ train, test }] = splitCohort(cohort, 3, 1);
  const model = fitLmm(train);
  const calibration = calibrateForecasts([{ model, cohort: test }]);

  it("holds what it promises for new individuals, at every level", () => {
    const fresh = unequalNoise(900, 2);
    const bands = forecastBands(fresh, nextVisits(fresh), modelForecaster(model), 0.9);
    const share = (
      inside: (b: (typeof bands)[number], c: { lower: number; upper: number }) => boolean,
      level: number,
    ) =>
      bands.filter((b) => inside(b, calibrationFactors(calibration, b.known, b.horizon, level))).length / bands.length;
    const calibrated = (level: number) =>
      share(
        ({ value, median, lower, upper }, c) =>
          value >= median - c.lower * (median - lower) && value <= median + c.upper * (upper - median),
        level,
      );
    // Three standard errors of the mean over 300 calibration and 900 new individuals.
    for (const level of [0.5, 0.8, 0.9, 0.95]) expect(Math.abs(calibrated(level) - level)).toBeLessThan(0.045);
  });

  it("measures coverage by individuals, the calibrated band with factors of others", () => {
    // A model that takes measurements for surer than they are.
    const markers = model.markers.map((own) => ({ ...own, noise: whiteNoise(own.noise.variance / 9) }));
    const { coverage } = calibrateForecasts([{ model: { ...model, markers }, cohort: test }]);
    expect(coverage!.own).toBeLessThan(0.85);
    // Three standard errors with 300 individuals.
    expect(Math.abs(coverage!.calibrated - 0.9)).toBeLessThan(0.045);
    expect(calibrateForecasts([{ model, cohort: unequalNoise(9, 3) }]).coverage).toBeUndefined();
    const { coverage: _, ...before } = calibration;
    expect(loadModel(saveModel({ ...model, calibration: before })).calibration).toEqual(before);
    expect(loadModel(saveModel({ ...model, calibration })).calibration).toEqual(calibration);
  });

  it("is factor one where the model is right", () => {
    const { cohort: right } = simulateCohort("pfvc", { numIndividuals: 60, seed: 1 });
    const truth = fitLmm(right);
    const bands = calibrateByRefits(truth, right, { folds: 3 });
    expect(bands.classes).toHaveLength(bands.knownFrom.length * bands.horizonFrom.length);
    for (const { lower, upper } of bands.classes) {
      expect(lower[2]).toBeGreaterThan(0.6);
      expect(upper[2]).toBeLessThan(2);
    }
  });

  it("tells quantiles by individuals, each of whom weighs the same, one more lying at infinity", () => {
    // With 9 individuals the 90% band needs the 95% quantile of 10: there is none.
    const few = calibrateForecasts([{ model, cohort: unequalNoise(9, 3) }]);
    expect(few.classes[0].upper[2]).toBeNull();
    expect(() => calibrationFactors(few, 2, 1, 0.9)).toThrow(/9 calibration individuals/);
    expect(() => calibrationFactors(calibration, 2, 1, 0.7)).toThrow(/levels 0.5, 0.8, 0.9, 0.95, received 0.7/);
    expect(classOf([1, 2, 3, 5], 4)).toBe(2);
    expect(classOf([0, 0.5], -1)).toBe(0);
  });

  it("makes the bands of predictions after the last visit, and is kept in the model file", () => {
    const calibrated = loadModel(saveModel({ ...model, calibration }));
    const someone = placeIndividual(calibrated, { times: [0, 1, 2], values: [80, 79, 81] });
    const times = [1, 3, 4];
    const own = predict(calibrated, someone, times);
    const { lower, upper, median } = predict(calibrated, someone, times, { interval: "conformal" });
    expect(median).toEqual(own.median);
    expect(lower[0]).toBe(own.lower[0]);
    const factors = calibrationFactors(calibration, 3, 1, 0.9);
    expect(upper[1]).toBeCloseTo(own.median[1] + factors.upper * (own.upper[1] - own.median[1]), 9);
    expect(lower[1]).toBeCloseTo(own.median[1] - factors.lower * (own.median[1] - own.lower[1]), 9);
    expect(() => predict(model, someone, times, { interval: "conformal" })).toThrow(/dtm calibrate/);
    const damaged = { ...calibration, classes: calibration.classes.slice(1) };
    expect(() => loadModel(saveModel({ ...model, calibration: damaged }))).toThrow(/calibration.classes/);
  });
});
