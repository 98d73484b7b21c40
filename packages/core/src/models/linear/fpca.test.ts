import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { makeCohort } from "../../cohort/cohort.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { markerModel } from "../fit.ts";
import { fitFpca, fitLmm } from "../fit-models.ts";
import { factorCovariance } from "./canonical.ts";
import { type FpcaModel, fitFpcaStatistics } from "./fpca.ts";
import { logLikelihood } from "./likelihood.ts";
import { fitLmmStatistics } from "./lmm.ts";

const fitted = (model: FpcaModel) => model.record.trace.at(-1)!;

describe("fitFpca", () => {
  it("of rank 2 reaches the maximum of other software on log bilirubin", () => {
    const lines = readFileSync(new URL("../../../../../examples/pbc/visits.csv", import.meta.url), "utf8")
      .trim()
      .split("\n");
    const [header, ...rows] = lines.map((line) => line.split(","));
    const column = (name: string) => rows.map((row) => row[header.indexOf(name)]);
    const cohort = makeCohort({
      ids: column("id"),
      times: column("time").map(Number),
      values: column("log_bili").map(Number),
    });
    const model = fitFpca(cohort, { rounded: false, rank: 2, priors: "none" });
    expect(Math.abs(fitted(model) - -1553.23)).toBeLessThan(0.05);
    expect(model.record.converged).toBe(true);
  });

  it.each(["scalar", "spline"] as const)("of rank d equals the linear mixed model (%s mean)", (mean) => {
    for (const data of [
      randomCohort({ seed: 51, rank: 4, noiseSd: 2 }),
      randomCohort({ seed: 52, numBasis: 4, degree: 1, rank: 2 }),
    ]) {
      const { statistics } = data;
      const lmm = fitLmmStatistics([statistics], { mean, tolerance: 1e-9 });
      const full = fitFpcaStatistics([statistics], { mean, rank: statistics.basis.numBasis, tolerance: 1e-9 });
      expect(Math.abs(fitted(full) - lmm.record.trace.at(-1)!)).toBeLessThan(1e-6);
    }
  });

  it("gains with every further component until the truth is spent", () => {
    const { statistics } = randomCohort({ seed: 53, rank: 2, numIndividuals: 80 });
    const values = [1, 2, 3, 4, 5].map((rank) => fitted(fitFpcaStatistics([statistics], { rank })));
    for (let k = 1; k < 5; k++) expect(values[k]).toBeGreaterThan(values[k - 1] - 1e-6);
    expect(values[1] - values[0]).toBeGreaterThan(10);
    expect(values[4] - values[1]).toBeLessThan(10);
  });

  it("gives loadings in canonical orientation: orthogonal, longest first, largest entry positive", () => {
    const { statistics } = randomCohort({ seed: 54, rank: 3 });
    const q = 3;
    const model = fitFpcaStatistics([statistics], { rank: q });
    const { loadings: F, record } = model;
    const { mean, noise } = markerModel(model);
    const inner = (a: number, c: number) => {
      let s = 0;
      for (let k = 0; k < 5; k++) s += F[k * q + a] * F[k * q + c];
      return s;
    };
    for (let a = 0; a < q; a++) {
      for (let c = 0; c < a; c++) expect(Math.abs(inner(a, c))).toBeLessThan(1e-9 * inner(0, 0));
      if (a > 0) expect(inner(a, a)).toBeLessThanOrEqual(inner(a - 1, a - 1));
      const column = Array.from({ length: 5 }, (_, k) => F[k * q + a]);
      expect(Math.max(...column)).toBeGreaterThanOrEqual(-Math.min(...column));
    }
    const p = { meanCoefficients: mean.coefficients, noises: [noise], factor: F, rank: q };
    expect(logLikelihood([statistics], p)).toBeCloseTo(record.trace.at(-1)!, 8);
  });

  it("finds the same model from a turned start, and by EM alone", () => {
    const { statistics } = randomCohort({ seed: 55 });
    const base = fitFpcaStatistics([statistics], { rank: 2, tolerance: 1e-9 });
    const [c, s] = [Math.cos(0.7), Math.sin(0.7)];
    const factor = base.loadings.slice();
    for (let k = 0; k < 5; k++) {
      const [a, b] = [base.loadings[2 * k], base.loadings[2 * k + 1]];
      factor.set([1.5 * (c * a + s * b), 1.5 * (c * b - s * a)], 2 * k);
    }
    const start = { meanCoefficients: new Float64Array(5).fill(19), noises: [whiteNoise(3)], factor, rank: 2 };
    const turned = fitFpcaStatistics([statistics], { rank: 2, start, tolerance: 1e-9 });
    const em = fitFpcaStatistics([statistics], {
      rank: 2,
      start,
      algorithm: "em",
      emTolerance: 1e-13,
      maxEmIterations: 5000,
    });
    for (const model of [turned, em]) {
      expect(Math.abs(fitted(model) - fitted(base))).toBeLessThan(1e-5);
      expect(relativeError(factorCovariance(model.loadings, 5, 2), factorCovariance(base.loadings, 5, 2))).toBeLessThan(
        1e-3,
      );
      expect(relativeError(model.loadings, base.loadings)).toBeLessThan(1e-3);
    }
  });

  it("recovers a component that a start has lost", () => {
    const { statistics } = randomCohort({ seed: 56 });
    const base = fitFpcaStatistics([statistics], { rank: 2 });
    const factor = base.loadings.map((f, j) => (j % 2 === 0 ? f : 0));
    const start = { meanCoefficients: markerModel(base).mean.coefficients, noises: [whiteNoise(5)], factor, rank: 2 };
    expect(Math.abs(fitted(fitFpcaStatistics([statistics], { rank: 2, start })) - fitted(base))).toBeLessThan(1e-5);
  });

  it("refuses a rank beyond the basis and a start of another rank", () => {
    const { statistics } = randomCohort({ seed: 57 });
    expect(() => fitFpcaStatistics([statistics], { rank: 6 })).toThrow(/rank from 1 to 5/);
    const start = {
      meanCoefficients: new Float64Array(5),
      noises: [whiteNoise(1)],
      factor: new Float64Array(5),
      rank: 1,
    };
    expect(() => fitFpcaStatistics([statistics], { rank: 2, start })).toThrow(/start of rank 2/);
  });
});

describe("values without noise", () => {
  const ids = (counts: readonly number[]) => counts.flatMap((n, i) => new Array<string>(n).fill(`i${i}`));

  it("are fitted with a warning where the mean passes through all of them", () => {
    const times = [0, 1, 2, 3, 0, 1, 0, 1, 2];
    const cohort = makeCohort({ ids: ids([4, 2, 3]), times, values: times.map((t) => 10 * t) });
    for (const fit of [fitLmm, fitFpca]) {
      const { warnings } = fit(cohort, { mean: "spline" }).record;
      expect(warnings.join(" ")).toMatch(/noise variance fell to its lower limit/);
    }
  });

  it("are fitted where rounding at the lowest level of the noise lets the likelihood fall", () => {
    const cohort = makeCohort({
      ids: ids([3, 4, 2, 3, 1, 2, 2, 1]),
      times: [6, 0, 1, 1, 0, 5, 0, 1, 0, 3, 2, 4, 5, 4, 6, 6, 1, 5],
      values: [5, 5, 5, 5, 5, 5, 5, 5, 6, 5, 5, 5, 5, 6, 5, 6, 6, 5].map((y) => y * 1e-4),
    });
    expect(fitFpca(cohort).record.warnings.join(" ")).toMatch(/noise variance fell to its lower limit/);
  });
});
