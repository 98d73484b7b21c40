import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { basisStatistics } from "../../basis/statistics.ts";
import { makeCohort } from "../../cohort/cohort.ts";
import type { DtmError } from "../../errors.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { createRandom } from "../../numeric/random.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import type { FitProgress } from "../fit.ts";
import { markerModel } from "../fit.ts";
import { fitLmm } from "../fit-models.ts";
import { designGradient, meanDesign } from "../mean.ts";
import { factorCovariance } from "./canonical.ts";
import { linearProblem } from "./em.ts";
import { scoreOf } from "./expectation.ts";
import { fitFpcaStatistics } from "./fpca.ts";
import { covarianceGradient, logLikelihood } from "./likelihood.ts";
import { fitLmmStatistics, type LmmModel } from "./lmm.ts";
import { coefficientMeans } from "./posterior.ts";
import { principalScores } from "./principal-scores.ts";
import type { LinearParameters } from "./stack.ts";

const pbcLines = readFileSync(new URL("../../../../../examples/pbc/visits.csv", import.meta.url), "utf8")
  .trim()
  .split("\n");
const [header, ...pbcRows] = pbcLines.map((line) => line.split(","));
const column = (name: string) => pbcRows.map((row) => row[header.indexOf(name)]);
const pbc = makeCohort({
  ids: column("id"),
  times: column("time").map(Number),
  values: column("log_bili").map(Number),
});

/** Knots where other software puts them, and where they follow a change of units. */
const exact = { rounded: false } as const;

const fitted = (model: LmmModel) => model.record.trace.at(-1)!;
const parameters = (model: LmmModel): LinearParameters => ({
  meanCoefficients: markerModel(model).mean.coefficients,
  noises: [markerModel(model).noise],
  factor: model.covarianceFactor,
  rank: markerModel(model).basis.numBasis,
});
const covariance = (model: LmmModel) =>
  factorCovariance(model.covarianceFactor, markerModel(model).basis.numBasis, markerModel(model).basis.numBasis);

describe("fitLmm on log bilirubin of the PBC cohort", () => {
  it("reaches the maximum of other software with a scalar mean", () => {
    const model = fitLmm(pbc, { ...exact, priors: "none" });
    expect(Math.abs(fitted(model) - -1455.876)).toBeLessThan(1e-3);
    expect(model.record.converged).toBe(true);
    expect(markerModel(model).mean.coefficients.every((b) => b === markerModel(model).mean.coefficients[0])).toBe(true);
  });

  it("reaches the maximum of other software with a spline mean", () => {
    expect(Math.abs(fitted(fitLmm(pbc, { ...exact, mean: "spline", priors: "none" })) - -1382.82)).toBeLessThan(0.01);
  });

  it("by EM alone stops by the published rule, below the maximum and within 0.2 of it", () => {
    const model = fitLmm(pbc, { ...exact, algorithm: "em", priors: "none" });
    expect(fitted(model)).toBeLessThan(-1455.8759);
    expect(fitted(model)).toBeGreaterThan(-1456.1);
    expect(model.record.verdict).toMatch(/EM step/);
    const { trace } = model.record;
    const gain = trace.at(-1)! - trace.at(-2)!;
    expect(model.record.converged).toBe(gain < 1e-7 * (1 + Math.abs(trace.at(-1)!)));
  });
});

describe("fitLmm at its maximum", () => {
  it.each(["scalar", "spline"] as const)("meets the conditions of a maximum over covariances (%s mean)", (mean) => {
    for (const data of [randomCohort({ seed: 31 }), randomCohort({ seed: 32, numBasis: 6, degree: 3, rank: 3 })]) {
      const { statistics } = data;
      const d = statistics.basis.numBasis;
      const model = fitLmmStatistics([statistics], { mean });
      const p = parameters(model);
      const expected = linearProblem([statistics], mean).expect(p);
      const score = scoreOf(expected, p, [statistics]);
      expect(expected.logLikelihood).toBeCloseTo(fitted(model), 8);
      // No direction of more variance gains (values vary by about 3, so 1e-3 per unit variance is next to nothing).
      expect(symmetricEigen(covarianceGradient([statistics], p), d).values[0]).toBeLessThan(1e-3);
      expect(Math.abs(score.logNoiseLevels[0])).toBeLessThan(1e-3);
      for (const s of designGradient(meanDesign(mean, d), score.meanCoefficients)) {
        expect(Math.abs(s)).toBeLessThan(1e-2);
      }
    }
  });

  it("is never below a nested reduced-rank model, although the covariance is singular there", () => {
    const { statistics } = randomCohort({ seed: 33, rank: 2, noiseSd: 1 });
    const lmm = fitLmmStatistics([statistics]);
    for (const rank of [1, 2, 3, 4]) {
      expect(fitted(lmm)).toBeGreaterThan(fitFpcaStatistics([statistics], { rank }).record.trace.at(-1)! - 1e-6);
    }
    const { values } = symmetricEigen(covariance(lmm), 5);
    expect(values[4]).toBeLessThan(1e-8 * values[0]);
    expect(lmm.record.verdict).toMatch(/rank \d of 5/);
  });

  it("is sought from lower ranks too, where a nested model climbs higher than the first maximum found", () => {
    const options = { numIndividuals: 44, maxObservations: 7, rank: 3, numBasis: 5, degree: 1, seed: 2077 };
    const { statistics } = randomCohort({ ...options, noiseSd: 0.11634931564088102 });
    const nested = fitFpcaStatistics([statistics], { rank: 3 }).record.trace.at(-1)!;
    const first = fitLmmStatistics([statistics], { restarts: 0 });
    const best = fitLmmStatistics([statistics]);
    expect(fitted(first)).toBeLessThan(nested - 0.1);
    expect(fitted(best)).toBeGreaterThan(nested - 1e-6);
    expect(best.record.warnings.join(" ")).toMatch(/several maxima/);
    expect(fitted(best)).toBeCloseTo(logLikelihood([statistics], parameters(best)), 8);
  });

  it("is found from a start whose covariance has lost directions (a saddle)", () => {
    const { statistics } = randomCohort({ seed: 34, rank: 3 });
    const best = fitLmmStatistics([statistics]);
    const factor = new Float64Array(25);
    for (let k = 0; k < 5; k++) factor[k * 5] = 1;
    const start = { meanCoefficients: new Float64Array(5).fill(20), noises: [whiteNoise(5)], factor, rank: 5 };
    const model = fitLmmStatistics([statistics], { start });
    expect(Math.abs(fitted(model) - fitted(best))).toBeLessThan(1e-5);
  });

  it("does not depend on how many EM steps came first", () => {
    const { statistics } = randomCohort({ seed: 35 });
    const a = fitLmmStatistics([statistics], { maxEmIterations: 0 });
    const b = fitLmmStatistics([statistics], { maxEmIterations: 50 });
    expect(Math.abs(fitted(a) - fitted(b))).toBeLessThan(1e-5);
    expect(relativeError(covariance(a), covariance(b))).toBeLessThan(1e-2);
  });
});

describe("fitLmm follows its units", () => {
  const { columns } = randomCohort({ seed: 41 });
  const base = fitLmm(makeCohort(columns), { ...exact, mean: "spline" });
  const logN = columns.values.length;

  it.each([
    [1, 1e6],
    [1e12, 0],
    [1e-12, 3],
    [-2.5, 10],
  ])("when values are multiplied by %d and shifted by %d of them", (a, b) => {
    const values = Array.from(columns.values, (y) => a * (y + b));
    const model = fitLmm(makeCohort({ ...columns, values }), { ...exact, mean: "spline" });
    // A shift by 1e6 standard deviations costs six digits of the values themselves.
    const tolerance = b > 1e3 ? 1e-4 : 1e-5;
    expect(Math.abs(fitted(model) + logN * Math.log(Math.abs(a)) - fitted(base))).toBeLessThan(tolerance);
    expect(relativeError([markerModel(model).noise.variance / a / a], [markerModel(base).noise.variance])).toBeLessThan(
      1e-3,
    );
    expect(
      relativeError(
        covariance(model).map((v) => v / a / a),
        covariance(base),
      ),
    ).toBeLessThan(1e-2);
    expect(
      relativeError(
        markerModel(model).mean.coefficients.map((v) => v / a - b),
        markerModel(base).mean.coefficients,
      ),
    ).toBeLessThan(1e-3);
  });

  it("when times are shifted and stretched", () => {
    const times = Array.from(columns.times, (t) => 4 * t + 1024);
    const model = fitLmm(makeCohort({ ...columns, times }), { ...exact, mean: "spline" });
    expect(Math.abs(fitted(model) - fitted(base))).toBeLessThan(1e-5);
    expect(relativeError(markerModel(model).mean.coefficients, markerModel(base).mean.coefficients)).toBeLessThan(1e-3);
  });
});

describe("fitLmm as a function", () => {
  it("gives the same bits whatever the order of rows, and on every call", () => {
    const { columns } = randomCohort({ seed: 42 });
    const order = createRandom(7).permutation(columns.ids.length);
    const shuffled = {
      ids: Array.from(order, (j) => columns.ids[j]),
      times: Array.from(order, (j) => columns.times[j]),
      values: Array.from(order, (j) => columns.values[j]),
    };
    const strip = (model: LmmModel) => ({ ...model, record: { ...model.record, milliseconds: {} } });
    const first = strip(fitLmm(makeCohort(columns)));
    expect(strip(fitLmm(makeCohort(shuffled)))).toEqual(first);
    expect(strip(fitLmm(makeCohort(columns)))).toEqual(first);
    expect(structuredClone(first)).toEqual(first);
  });

  it("places individuals by unit-variance scores of their posterior means", () => {
    const { statistics } = randomCohort({ seed: 43, rank: 3 });
    const model = fitLmmStatistics([statistics], { mapDimension: 3 });
    const W = coefficientMeans([statistics], parameters(model));
    const own = principalScores(W, statistics.numIndividuals, 5, 3);
    expect(model.scoreCenter).toEqual(own.center);
    expect(model.scoreLoadings).toEqual(own.loadings);
    expect(model.mapDimension).toBe(3);
  });

  it("reports progress, keeps its trace monotone and says how it ended", () => {
    const { statistics } = randomCohort({ seed: 44 });
    const seen: FitProgress[] = [];
    const model = fitLmmStatistics([statistics], { onProgress: (p) => seen.push(p), seed: 9, restarts: 0 });
    const { trace, options, seed, iterations, verdict, numIndividuals } = model.record;
    for (let k = 1; k < trace.length; k++)
      expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1] - 1e-9 * Math.abs(trace[k]));
    expect(seen.length).toBe(iterations);
    expect(seen.at(-1)!.stage).toBe("linear mixed model");
    expect(seen.at(-1)!.value).toBeCloseTo(trace.at(-1)!, 8);
    expect(options).toMatchObject({ algorithm: "em+quasi-newton", mean: "scalar", maxEmIterations: 20 });
    expect([seed, numIndividuals]).toEqual([9, 40]);
    expect(verdict).toMatch(/^Converged: after 20 EM steps/);
    expect(trace.at(-1)).toBeCloseTo(logLikelihood([statistics], parameters(model)), 8);
  });

  it("stops when cancelled", () => {
    const { statistics } = randomCohort({ seed: 45 });
    const signal = { aborted: false };
    const onProgress = (p: FitProgress) => {
      if (p.iteration === 30) signal.aborted = true;
    };
    let code = "";
    try {
      fitLmmStatistics([statistics], { signal, onProgress });
    } catch (error) {
      code = (error as DtmError).code;
    }
    expect(code).toBe("cancelled");
  });

  it("says so when it is stopped by its limits", () => {
    const { statistics } = randomCohort({ seed: 46 });
    const short = fitLmmStatistics([statistics], { maxEmIterations: 2, maxEvaluations: 5 });
    expect(short.record.converged).toBe(false);
    expect(short.record.verdict).toMatch(/^Stopped after 2 EM steps and 5 quasi-Newton/);
    const em = fitLmmStatistics([statistics], { algorithm: "em", maxEmIterations: 3 });
    expect(em.record.verdict).toMatch(/^Stopped after 3 EM steps/);
  });

  it("refuses options out of range", () => {
    const { statistics } = randomCohort({ seed: 47 });
    expect(() => fitLmmStatistics([statistics], { mapDimension: 6 })).toThrow(/mapDimension from 1 to 5/);
    expect(() => fitLmmStatistics([statistics], { tolerance: -1 })).toThrow(/tolerance/);
    expect(() => fitLmmStatistics([statistics], { maxEmIterations: 1.5 })).toThrow(/whole number/);
    expect(() => fitLmmStatistics([statistics], { mean: "none" as "scalar" })).toThrow(/scalar/);
  });
});

describe("fitLmm on awkward cohorts", () => {
  it("fits values without noise and says that the likelihood has no maximum", () => {
    const ids: string[] = [];
    const times: number[] = [];
    const values: number[] = [];
    for (let i = 0; i < 8; i++) {
      for (let j = 0; j < 6; j++) {
        ids.push(`P${i}`);
        times.push(j);
        values.push(i * i + 2 * i * j);
      }
    }
    const model = fitLmm(makeCohort({ ids, times, values }), { numBasis: 2, degree: 1 });
    expect(model.record.warnings.join(" ")).toMatch(/noise variance fell to its lower limit/);
    expect(Number.isFinite(fitted(model))).toBe(true);
  });

  it("takes the mean curve of least norm where the times leave coefficients open, and says so", () => {
    const { columns } = randomCohort({ seed: 48, numBasis: 5 });
    const times = Array.from(columns.times, (t) => (t < 5 ? 0 : 10)); // two distinct times only
    const cohort = makeCohort({ ...columns, times });
    const { basis } = randomCohort({ seed: 48 });
    const model = fitLmmStatistics([basisStatistics(cohort, basis)], { mean: "spline" });
    expect(model.record.warnings.join(" ")).toMatch(/mean coefficients are not determined/);
    expect(markerModel(model).mean.coefficients.every(Number.isFinite)).toBe(true);
    expect(model.record.converged).toBe(true);
  });

  it("fits the smallest bases and three individuals", () => {
    const { cohort } = randomCohort({ seed: 50, numIndividuals: 3, maxObservations: 20, rank: 1 });
    const line = fitLmm(cohort, { numBasis: 2, degree: 1 });
    const flexible = fitLmm(cohort, { numBasis: 6, degree: 3 });
    expect(line.record.converged).toBe(true);
    expect(Number.isFinite(fitted(flexible))).toBe(true);
  });
});
