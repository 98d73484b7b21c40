import { describe, expect, it } from "vitest";
import { expectGradient } from "../../../../test/expect-gradient.ts";
import { createRandom } from "../numeric/random.ts";
import { fitCox } from "./cox.ts";
import { logRank } from "./log-rank.ts";
import { type CoxRows, coxWorkspace, partialLikelihood } from "./partial-likelihood.ts";

/** Follow-up with hazard exp(x'β), times rounded up to 1/`grain`. */
function study(n: number, beta: readonly number[], seed: number, grain = 20) {
  const random = createRandom(seed);
  const p = beta.length;
  const X = Float64Array.from({ length: n * p }, () => random.normal());
  const times: number[] = [];
  const events: number[] = [];
  for (let i = 0; i < n; i++) {
    const risk = beta.reduce((s, b, c) => s + b * X[i * p + c], 0);
    const [event, censoring] = [-Math.log(1 - random.uniform()) / Math.exp(risk), 3 * random.uniform()];
    times.push(Math.ceil(grain * Math.min(event, censoring)) / grain);
    events.push(event <= censoring ? 1 : 0);
  }
  return { data: { times, events }, X };
}

function sortedRows({ data, X }: ReturnType<typeof study>, p: number): CoxRows {
  const order = data.times.map((_, i) => i).sort((a, b) => data.times[b] - data.times[a]);
  return {
    n: order.length,
    p,
    times: Float64Array.from(order, (i) => data.times[i]),
    events: Float64Array.from(order, (i) => data.events[i]),
    X: Float64Array.from(order.flatMap((i) => Array.from(X.subarray(i * p, (i + 1) * p)))),
  };
}

describe("partialLikelihood", () => {
  const rows = sortedRows(study(40, [0.5, -1], 3), 2);

  it("is the definition, event by event", () => {
    const beta = Float64Array.of(0.3, -0.4);
    const eta = Array.from({ length: 40 }, (_, i) => 0.3 * rows.X[2 * i] - 0.4 * rows.X[2 * i + 1]);
    const sum = (keep: (i: number) => boolean) => eta.reduce((s, e, i) => (keep(i) ? s + Math.exp(e) : s), 0);
    for (const efron of [true, false]) {
      let expected = 0;
      for (const t of new Set(rows.times)) {
        const dead = eta.filter((_, i) => rows.times[i] === t && rows.events[i] === 1);
        const risk = sum((i) => rows.times[i] >= t);
        const dying = sum((i) => rows.times[i] === t && rows.events[i] === 1);
        dead.forEach((e, l) => {
          expected += e - Math.log(risk - (efron ? l / dead.length : 0) * dying);
        });
      }
      expect(partialLikelihood(rows, beta, efron, coxWorkspace(40, 2))).toBeCloseTo(expected, 10);
    }
  });

  it("has the gradient and the information of its value", () => {
    for (const efron of [true, false]) {
      const work = coxWorkspace(40, 2);
      const beta = Float64Array.of(0.2, -0.7);
      partialLikelihood(rows, beta, efron, work);
      const gradient = work.gradient.slice();
      const information = work.information.slice();
      expectGradient((b) => partialLikelihood(rows, b, efron, work), beta, gradient);
      for (let c = 0; c < 2; c++) {
        const slope = (b: Float64Array) => {
          partialLikelihood(rows, b, efron, work);
          return -work.gradient[c];
        };
        expectGradient(slope, beta, information.slice(2 * c, 2 * c + 2));
      }
    }
  });

  it("neither overflows nor vanishes for large risks, and grows in proportion to them", () => {
    const work = coxWorkspace(40, 2);
    const at = (scale: number) => partialLikelihood(rows, Float64Array.of(scale, scale), true, work) / scale;
    // Far out only the largest risk of each set counts, and the likelihood is linear in the scale.
    expect(at(1e4)).toBeLessThan(0);
    expect(at(1e6)).toBeCloseTo(at(1e4), 3);
    expect(work.gradient.every(Number.isFinite)).toBe(true);
  });
});

describe("fitCox", () => {
  it("has no gradient at its estimate and recovers the truth", () => {
    const beta = [0.8, -0.5, 0];
    const input = study(1500, beta, 8);
    const fit = fitCox(input.data, input.X, 3);
    fit.terms.forEach(({ coefficient, standardError }, c) => {
      // Rounding of times to 1/20 biases by much less than four standard errors.
      expect(Math.abs(coefficient - beta[c])).toBeLessThan(4 * standardError);
    });
    const work = coxWorkspace(1500, 3);
    const estimate = Float64Array.from(fit.terms, (term) => term.coefficient);
    expect(partialLikelihood(sortedRows(input, 3), estimate, true, work)).toBeCloseTo(fit.logLikelihood.fitted, 8);
    for (const u of work.gradient) expect(Math.abs(u)).toBeLessThan(1e-8);
    expect(fit).toMatchObject({ converged: true, warnings: [] });
    expect(fit.likelihoodRatio.pValue).toBeLessThan(1e-20);
    expect(fit.terms[2].pValue).toBeGreaterThan(0.001);
  });

  it("has a score test that is the log-rank test for two groups without ties", () => {
    const { data } = study(60, [0], 4, 1e9);
    const labels = data.times.map((_, i) => i % 2);
    const fit = fitCox(data, Float64Array.from(labels), 1);
    expect(fit.score.statistic).toBeCloseTo(logRank(data, labels, 2).statistic, 10);
  });

  it("follows units and origin of the covariates, and not the order of the individuals", () => {
    const { data, X } = study(100, [0.5, 0.5], 6);
    const fit = fitCox(data, X, 2);
    const scaled = fitCox(
      data,
      X.map((x, e) => (e % 2 === 0 ? 1000 * x + 5 : x)),
      2,
    );
    expect(scaled.terms[0].coefficient).toBeCloseTo(fit.terms[0].coefficient / 1000, 12);
    expect(scaled.terms[1].standardError).toBeCloseTo(fit.terms[1].standardError, 10);
    expect(scaled.wald.statistic).toBeCloseTo(fit.wald.statistic, 8);
    const order = createRandom(1).permutation(100);
    const shuffled = {
      times: Array.from(order, (i) => data.times[i]),
      events: Array.from(order, (i) => data.events[i]),
    };
    const rows = Float64Array.from(Array.from(order).flatMap((i) => [X[2 * i], X[2 * i + 1]]));
    expect(fitCox(shuffled, rows, 2)).toEqual(fit);
  });

  it("agrees for Efron and Breslow where no events are tied, and not where they are", () => {
    const apart = study(50, [1], 2, 1e9);
    const tied = study(50, [1], 2, 2);
    const coefficient = ({ data, X }: typeof tied, ties: "efron" | "breslow") =>
      fitCox(data, X, 1, { ties }).terms[0].coefficient;
    expect(coefficient(apart, "breslow")).toBeCloseTo(coefficient(apart, "efron"), 12);
    expect(Math.abs(coefficient(tied, "breslow"))).toBeLessThan(Math.abs(coefficient(tied, "efron")));
  });

  it("warns when the likelihood has no maximum, and when events are few", () => {
    const data = { times: [1, 2, 3, 4, 5, 6], events: [1, 1, 1, 0, 0, 0] };
    const fit = fitCox(data, Float64Array.of(1, 1, 1, 0, 0, 0), 1);
    expect(fit).toMatchObject({ converged: false, warnings: ["few-events", "infinite-coefficient"] });
  });

  it("warns when nine tenths of one covariate follow from another, and not below that", () => {
    const { data, X } = study(400, [0.3, 0.5], 7);
    const beside = (r: number) => X.map((x, e) => (e % 2 === 0 ? x : r * X[e - 1] + Math.sqrt(1 - r * r) * x));
    expect(fitCox(data, beside(0.98), 2).warnings).toEqual(["collinear-covariates"]);
    expect(fitCox(data, beside(0.9), 2).warnings).toEqual([]);
  });

  it("refuses covariates that do not vary, follow from each other or have gaps, and no events", () => {
    const { data, X } = study(30, [1], 9);
    expect(() => fitCox(data, new Float64Array(30).fill(2), 1)).toThrow(/covariate 0 to vary/);
    const twice = Float64Array.from({ length: 60 }, (_, e) => X[e >> 1] * (e % 2 === 0 ? 1 : -3) + 1);
    expect(() => fitCox(data, twice, 2)).toThrow(/follows from the others/);
    expect(() => fitCox(data, X.slice(1), 1)).toThrow(/\[30,1\]/);
    expect(() => fitCox({ ...data, events: data.events.map(() => 0) }, X, 1)).toThrow(/at least one event/);
  });
});
