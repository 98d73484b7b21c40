import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { basisDomain, designMatrix } from "../../basis/bspline.ts";
import { basisStatistics } from "../../basis/statistics.ts";
import { makeCohort } from "../../cohort/cohort.ts";
import { combineMarkers, markerCohort } from "../../cohort/several-markers.ts";
import { multiply } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { prepareMarkers } from "../choose-noise.ts";
import { fitLinear } from "../linear-models.ts";
import { EFFECT_FORMS, effectColumns, withoutEffects } from "../mean.ts";
import { type CovariateEffects, fitLmmEffects, generalizedMean } from "./covariate-effects.ts";
import { logLikelihood } from "./likelihood.ts";
import { fitLmmStatistics, lmmParameters } from "./lmm.ts";
import { type LinearParameters, splitRows } from "./stack.ts";
import { fitLinearModels, linearStart } from "./start.ts";

const m = 80;
const P = 2;
const random = createRandom(5);
const covariates = Float64Array.from({ length: m * P }, () => random.normal());
/** Two markers; covariate 1 moves the level of the first and the slope of the second, covariate 2 does nothing. */
const cohort = combineMarkers(
  [0, 1].map((k) => {
    const [ids, times, values]: [string[], number[], number[]] = [[], [], []];
    for (let i = 0; i < m; i++) {
      const [level, slope] = [random.normal(), random.normal()];
      const z = covariates[i * P];
      for (let j = 0; j < (k === 1 && i % 4 === 0 ? 0 : 2 + random.integer(4)); j++) {
        const t = 8 * random.uniform();
        const own = level + (slope * t) / 8 + 0.5 * random.normal();
        ids.push(`P${100 + i}`);
        times.push(t);
        values.push(k === 0 ? 5 + 0.8 * z + own : 20 * (2 + 0.9 * z * (t / 4 - 1) + own));
      }
    }
    return makeCohort({ ids, times, values }, { name: `${k}` });
  }),
);
const { statistics } = prepareMarkers(cohort, { numBasis: 4 });

describe("effectColumns", () => {
  it("moves the mean by a constant, and by a line that is 0 in the middle and 1 at the end", () => {
    const { basis } = statistics[0];
    const [from, to] = basisDomain(basis);
    const times = [from, (from + to) / 2, to, from + 0.3];
    const B = designMatrix(basis, times);
    const { columns, h } = effectColumns("level-and-rate", basis);
    const curves = multiply(B, columns, 4, 4, h);
    times.forEach((t, j) => {
      expect(curves[2 * j]).toBeCloseTo(1, 12);
      expect(curves[2 * j + 1]).toBeCloseTo((2 * t - from - to) / (to - from), 12);
    });
    expect(effectColumns("level", basis).columns).toEqual(new Float64Array(4).fill(1));
    expect(effectColumns("curve", basis).h).toBe(4);
  });
});

describe("withoutEffects", () => {
  it("gives the statistics of values less the effects", () => {
    const coefficients = [Float64Array.of(1, 2, -1, 0.5), Float64Array.of(3, 1, 0, 4)];
    const effects = { form: "level-and-rate", numCovariates: P, coefficients } as const;
    const moved = withoutEffects(statistics, effects, covariates);
    cohort.markers.forEach(({ offsets, times, values }, k) => {
      const { basis, center } = statistics[k];
      const curves = multiply(
        designMatrix(basis, times),
        effectColumns("level-and-rate", basis).columns,
        times.length,
        4,
        2,
      );
      const rest = values.slice();
      for (let i = 0; i < m; i++) {
        for (let j = offsets[i]; j < offsets[i + 1]; j++) {
          for (let e = 0; e < 4; e++)
            rest[j] -= covariates[i * P + Math.floor(e / 2)] * coefficients[k][e] * curves[2 * j + (e % 2)];
        }
      }
      const series = { ...cohort.markers[k], values: rest };
      const own = basisStatistics({ ids: cohort.ids, markers: [series] }, basis, { center });
      expect(relativeError(moved[k].cross, own.cross)).toBeLessThan(1e-12);
      expect(relativeError(moved[k].sumSquares, own.sumSquares)).toBeLessThan(1e-11);
    });
  });
});

describe.each(EFFECT_FORMS)("generalizedMean of effects of form %s", (form) => {
  const of = { form, numCovariates: P, covariates };
  const parameters = lmmParameters(fitLmmStatistics(statistics, { maxEvaluations: 10 }));
  const fitted = generalizedMean(statistics, parameters, "scalar", of);
  const S = fitted.columns.length;

  /** The likelihood where the coefficients are moved by `step` from the fitted ones. */
  function at(step: Float64Array): number {
    const moved = fitted.coefficients.map((own, k) => {
      const positions = fitted.columns.flatMap(({ marker }, s) => (marker === k ? [s] : []));
      return own.map((v, j) => v + step[positions[j]]);
    });
    const values = withoutEffects(statistics, { ...of, coefficients: moved.map((own) => own.slice(1)) }, covariates);
    const meanCoefficients = Float64Array.from({ length: 8 }, (_, j) => {
      const k = Math.floor(j / 4);
      return statistics[k].center + moved[k][0];
    });
    const given: LinearParameters = { ...parameters, meanCoefficients };
    return logLikelihood(values, given);
  }

  it("is where the likelihood has its maximum, with the information of second differences", () => {
    const best = at(new Float64Array(S));
    for (let s = 0; s < S; s++) {
      const h = 0.1 / Math.sqrt(fitted.information[s * S + s]);
      const [up, down] = [h, -h].map((by) => at(Float64Array.from({ length: S }, (_, e) => (e === s ? by : 0))));
      expect(Math.abs(up - down)).toBeLessThan(1e-8);
      expect((2 * best - up - down) / (h * h) / fitted.information[s * S + s]).toBeCloseTo(1, 5);
    }
  });
});

describe("fitLmmEffects", () => {
  const of = { form: "level-and-rate", numCovariates: P, covariates } as const;
  const model = fitLmmEffects(statistics, of, { mean: "spline", priors: "weak" });
  const effects: CovariateEffects = model.covariateEffects;

  it("finds effects within their standard errors, in few rounds", () => {
    const truth = [0.8, 0, 0, 0, 0, 20 * 0.9, 0, 0];
    const found = effects.coefficients.flatMap((own) => [...own]);
    truth.forEach((value, e) => {
      expect(Math.abs(found[e] - value) / Math.sqrt(effects.covariance[e * 9])).toBeLessThan(3.5);
    });
    expect(model.record.converged).toBe(true);
    expect(model.record.verdict).toMatch(/generalised least squares, in [2-9] rounds/);
    const none = fitLmmStatistics(statistics, { mean: "spline", priors: "weak" });
    expect(model.record.trace.at(-1)!).toBeGreaterThan(none.record.trace.at(-1)! + 10);
  });

  it("has a mean and effects that one more round does not move", () => {
    const again = generalizedMean(statistics, lmmParameters(model), "spline", of);
    const means = splitRows(statistics, lmmParameters(model).meanCoefficients);
    again.coefficients.forEach((own, k) => {
      const center = statistics[k].center;
      expect(
        relativeError(
          own.slice(0, 4).map((b) => center + b),
          means[k],
        ),
      ).toBeLessThan(1e-3);
      expect(relativeError(own.slice(4), effects.coefficients[k])).toBeLessThan(1e-3);
    });
  });

  it("gives a map its start: places of values without effects, mean and effects", () => {
    const one = prepareMarkers(markerCohort(cohort, 0), { numBasis: 4 }).statistics;
    const options = { mapDimension: 2, priors: "weak", covariates: of } as const;
    const models = fitLinearModels(one, options);
    expect(models.covariateEffects!.coefficients[0][0]).toBeCloseTo(0.8, 0);
    const start = linearStart(one, options);
    const without = linearStart(withoutEffects(one, models.covariateEffects!, covariates), {
      mapDimension: 2,
      priors: "weak",
    });
    expect(relativeError(start.scores!, without.scores!)).toBeLessThan(1e-2);
    const some = fitLinearModels(statistics, { ...options, sampleSize: 60 });
    expect(some.lmm.record.numIndividuals).toBe(60);
    expect(some.covariateEffects!.coefficients).toHaveLength(2);
    const ofCohort = fitLinear(cohort, { numBasis: 4, covariates: of });
    expect(ofCohort.covariateEffects!.coefficients[1][1] / 18).toBeCloseTo(1, 0);
  });
});
