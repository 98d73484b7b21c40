import { describe, expect, it } from "vitest";
import { makeCohort, onlyMarker } from "../cohort/cohort.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { splitCohort } from "../cohort/split.ts";
import { calibrationFactors, classOf, type ForecastCalibration } from "../models/conformal.ts";
import { viewMarker } from "../models/fit.ts";
import { fitDtm } from "../models/fit-models.ts";
import { forecastGuard } from "../models/forecast-guard.ts";
import { fitLmm } from "../models/linear-models.ts";
import { embedPlaces, placeIndividual } from "../models/place.ts";
import { predict } from "../models/predict.ts";
import { loadModel, saveModel } from "../models/save.ts";
import { whiteNoise } from "../noise/noise.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { calibrateByRefits } from "../study/calibration.ts";
import { calibrateBands, calibrateForecasts, isAsked, withCalibrations } from "./calibrate.ts";
import { forecastBands, guardedForecaster, modelForecaster, nextVisits, visitsAfter } from "./forecast.ts";

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
    expect(calibrateForecasts([{ model, cohort: unequalNoise(20, 3) }]).coverage).toBeUndefined();
    const { coverage: _, ...before } = calibration;
    expect(loadModel(saveModel({ ...model, calibration: before })).calibration).toEqual(before);
    expect(loadModel(saveModel({ ...model, calibration })).calibration).toEqual(calibration);
  });

  it("is factor one where the model is right", () => {
    const { cohort: right } = simulateCohort("pfvc", { numIndividuals: 60, seed: 1 });
    const truth = fitLmm(right);
    const [bands] = calibrateByRefits(truth, right, { folds: 3 });
    expect(bands.classes).toHaveLength(bands.knownFrom.length * bands.horizonFrom.length);
    for (const { lower, upper } of bands.classes) {
      expect(lower[2]).toBeGreaterThan(0.6);
      expect(upper[2]).toBeLessThan(2);
    }
  });

  it("tells quantiles by individuals, each of whom weighs the same, one more lying at infinity", () => {
    // With 20 individuals the 95% band needs the 97.5% quantile of 21: there is none. The 90% band needs the 95% quantile.
    const few = calibrateForecasts([{ model, cohort: unequalNoise(20, 3) }]);
    expect(few.classes[0].upper[2]).not.toBeNull();
    expect(few.classes[0].upper[3]).toBeNull();
    expect(() => calibrationFactors(few, 2, 1, 0.95)).toThrow(/20 calibration individuals/);
    expect(() => calibrationFactors(calibration, 2, 1, 0.7)).toThrow(/levels 0.5, 0.8, 0.9, 0.95, received 0.7/);
    // Fewer would tell single visits in a file that may be shared.
    expect(() => calibrateForecasts([{ model, cohort: unequalNoise(19, 3) }])).toThrow(/20 individuals .* received 19/);
    expect(classOf([1, 2, 3, 5], 4)).toBe(2);
    expect(classOf([0, 0.5], -1)).toBe(0);
  });

  it("joins a class of few individuals with its neighbours in visits known", () => {
    // Misses of 1 to 4, by the class of visits known: 50 individuals each with 1 and 2, 30 each with 3 and 5, none with more.
    const classes = [1, 2, 3, 5].flatMap((known, k) =>
      Array.from({ length: k < 2 ? 50 : 30 }, () => ({ known, miss: k + 1 })),
    );
    const bands = classes.map(({ known, miss }, individual) => ({
      ...{ individual, known, horizon: 1 },
      ...{ value: miss, median: 0, lower: -1, upper: 1 },
    }));
    const { knownFrom, classes: found } = calibrateBands([bands]);
    const upper = knownFrom.map((_, k) => found[3 * k + 2].upper[0]);
    expect(knownFrom.map((_, k) => found[3 * k + 2].numIndividuals)).toEqual([50, 50, 110, 60, 60, 60]);
    // The 75% quantile: own, own, of 2, 3 and 4, then of 3 and 4.
    expect(upper).toEqual([1, 2, 4, 4, 4, 4]);
  });

  it("leaves no class of time empty where visits are on a schedule", () => {
    const band = { known: 1, value: 0, median: 0, lower: -1, upper: 1 };
    // Seven times each, since twenty individuals are asked for.
    const at = (horizons: number[]) =>
      calibrateBands([
        Array.from({ length: 7 }, () => horizons)
          .flat()
          .map((horizon, individual) => ({ ...band, individual, horizon })),
      ]).horizonFrom;
    expect(at([0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1.5, 1.5, 2])).toEqual([0, 1, 1.5]);
    expect(at([1, 2, 3, 4, 5, 6])).toEqual([0, 3, 5]);
    expect(at([1, 1, 1])).toEqual([0, 1, 1]);
  });

  it("asks from every number of visits to sixteen, so that a class is calibrated on those whom it serves", () => {
    const asked = Array.from({ length: 64 }, (_, k) => k + 1).filter(isAsked);
    expect(asked.slice(0, 16)).toEqual(Array.from({ length: 16 }, (_, k) => k + 1));
    expect(asked.slice(16)).toEqual([18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60, 64]);
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

describe("calibration of a guarded map", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 150, seed: 3 });
  const [{ train, test }] = splitCohort(cohort, 2, 1);
  const model = fitDtm(train, { restarts: 0, maxIterations: 15 });
  const calibration = calibrateForecasts([{ model, cohort: test, train }]);
  const guard = forecastGuard(model, train);
  const { offsets, times, values } = onlyMarker(test);
  /** Forecasts from the first two visits of thirty, far beyond the last that similar individuals had. */
  const forecasts = (factors: ForecastCalibration, interval: "observation" | "conformal") =>
    test.ids.slice(0, 30).map((_, i) => {
      const from = offsets[i];
      const to = Math.min(from + 2, offsets[i + 1]);
      const visits = { times: times.subarray(from, to), values: values.subarray(from, to) };
      const fallback = placeIndividual(guard.mixedModel, visits);
      const someone = placeIndividual(model, visits);
      const at = [1, 4, 9, 14].map((t) => someone.lastTime + t);
      const options = { interval, guard: { guard, fallback } };
      return { known: to - from, at, ...predict({ ...model, calibration: factors }, someone, at, options) };
    });

  it("scores the forecast that is shown", () => {
    expect(calibrateForecasts([{ model, cohort: test }]).classes).not.toEqual(calibration.classes);
    const tasks = visitsAfter(test, (n) => n === 2).slice(0, 5);
    const bands = forecastBands(test, tasks, guardedForecaster(model, guard), 0.9);
    let j = 0;
    // Bands for calibration leave out the lightest components.
    for (const { individual, from, to } of tasks) {
      const start = offsets[individual];
      const visits = { times: times.subarray(start, start + 2), values: values.subarray(start, start + 2) };
      const fallback = placeIndividual(guard.mixedModel, visits);
      const at = times.subarray(start + from, start + to);
      const own = predict(model, placeIndividual(model, visits), at, { guard: { guard, fallback } });
      for (let t = 0; t < at.length; t++, j++) expect(bands[j].upper).toBeCloseTo(own.upper[t], 2);
    }
    expect(j).toBe(bands.length);
  });

  it("multiplies the guarded band, also where it is extrapolated", () => {
    const [own, calibrated] = [forecasts(calibration, "observation"), forecasts(calibration, "conformal")];
    expect(own.some(({ extrapolated }) => extrapolated.includes(1))).toBe(true);
    own.forEach(({ known, median, lower, upper }, i) => {
      [1, 4, 9, 14].forEach((horizon, t) => {
        const factors = calibrationFactors(calibration, known, horizon, 0.9);
        expect(calibrated[i].median[t]).toBe(median[t]);
        expect(calibrated[i].lower[t]).toBeCloseTo(median[t] - factors.lower * (median[t] - lower[t]), 6);
        expect(calibrated[i].upper[t]).toBeCloseTo(median[t] + factors.upper * (upper[t] - median[t]), 6);
      });
    });
  });

  it("keeps the median inside, whatever the factors", () => {
    const onesided = calibration.classes.map((one) => ({ ...one, lower: one.lower.map(() => -0.2) }));
    for (const factors of [calibration, { ...calibration, classes: onesided }]) {
      for (const { lower, median, upper } of forecasts(factors, "conformal")) {
        median.forEach((m, t) => {
          expect(lower[t] <= m && m <= upper[t]).toBe(true);
        });
      }
    }
  });
});

describe("calibration of several markers", () => {
  it("is of each marker given all, and is kept in the model file", () => {
    const { cohort } = simulatePlaces({ numIndividuals: 120, seed: 2 });
    const [{ train, test }] = splitCohort(cohort, 2, 1);
    const model = fitDtm(train, { restarts: 0, maxIterations: 15 });
    const calibrations = [0, 1].map((k) => calibrateForecasts([{ model, cohort: test }], k));
    const calibrated = withCalibrations(model, calibrations);
    expect(viewMarker(calibrated, 1).calibration).toEqual(calibrations[1]);
    expect(loadModel(saveModel(calibrated)).markers[0].calibration).toEqual(calibrations[0]);
    // The band that is multiplied is the one that predict gives, also where the other marker was seen.
    const k = 1;
    const task = visitsAfter(test, (n) => n === 2, k)[3];
    const { offsets, times, marker } = test.markers[k];
    const [start, i] = [offsets[task.individual], task.individual];
    const until = times[start + 1];
    const bands = forecastBands(test, [task], modelForecaster(model, undefined, k), 0.9, k);
    const markers = Object.fromEntries(
      test.markers.map((series) => {
        const own = Array.from(series.times.subarray(series.offsets[i], series.offsets[i + 1]));
        const n = series === test.markers[k] ? 2 : own.filter((t) => t <= until).length;
        const values = Array.from(series.values.subarray(series.offsets[i], series.offsets[i] + n));
        return [series.marker.name, { times: own.slice(0, n), values }];
      }),
    );
    const someone = placeIndividual(calibrated, { markers });
    const at = Array.from(times.subarray(start + 2, offsets[i + 1]));
    const { lower, upper, median } = predict(calibrated, someone, at, { marker: marker.name });
    bands.forEach((band, j) => {
      expect([band.lower, band.median, band.upper]).toEqual([
        expect.closeTo(lower[j], 4),
        expect.closeTo(median[j], 4),
        expect.closeTo(upper[j], 4),
      ]);
    });
    const guard = forecastGuard(viewMarker(model, k), markerCohort(train, k), { places: embedPlaces(model, train) });
    const fallback = placeIndividual(guard.mixedModel, markers[marker.name]);
    const guarded = predict(calibrated, someone, at, { marker: marker.name, guard: { guard, fallback } });
    forecastBands(test, [task], guardedForecaster(model, guard, undefined, k), 0.9, k).forEach((band, j) => {
      expect(band.upper).toBeCloseTo(guarded.upper[j], 4);
    });
    const conformal = predict(calibrated, someone, at, { marker: marker.name, interval: "conformal" });
    expect(conformal.upper).not.toEqual(upper);
  });
});
