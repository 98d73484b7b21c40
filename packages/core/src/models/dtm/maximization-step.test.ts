import { describe, expect, it } from "vitest";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { identity } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { meanDesign } from "../mean.ts";
import { type IndividualModel, individualStatistics, packedStride, residualRoot } from "./individual-statistics.ts";
import { createMaximizationSums, maximizationSums, meanShift, remainingSquares } from "./maximization-step.ts";
import { residualObjective, residualStep, stepBetween, trialTaus } from "./residual-step.ts";

const { statistics } = randomCohort({ numIndividuals: 12, seed: 21 });
const d = statistics.basis.numBasis;
const m = 12;
const stride = packedStride(d);

/** Moments of random maps: f̄ random, R̄ = f̄f̄' + S. */
function randomMoments(seed: number): Float64Array {
  const random = createRandom(seed);
  const moments = new Float64Array(m * stride);
  for (let i = 0; i < m; i++) {
    const f = Float64Array.from({ length: d }, () => 2 * random.normal());
    let e = i * stride + d;
    for (let k = 0; k < d; k++) {
      moments[i * stride + k] = f[k];
      for (let l = k; l < d; l++) moments[e++] = k === l ? -0.5 * (f[k] * f[k] + 0.3) : -f[k] * f[l];
    }
  }
  return moments;
}

/** Q = Σ_i E log N(y_i | μ + B_i f_i, V_i), which EM must not lower. */
function objective(model: IndividualModel, moments: Float64Array): number {
  let total = 0;
  for (let i = 0; i < m; i++) {
    const { constant, row } = individualStatistics(statistics, i, model);
    total += constant;
    for (let e = 0; e < stride; e++) total += row[e] * moments[i * stride + e];
  }
  return total;
}

describe("the maximisation step", () => {
  for (const mean of ["scalar", "spline"] as const) {
    for (const residual of [0, 0.5]) {
      it(`raises Q step by step to a stationary point (${mean} mean, Σ_e = ${residual} I)`, () => {
        const moments = randomMoments(3);
        let model: IndividualModel = {
          mean: new Float64Array(d).fill(15),
          noise: whiteNoise(9),
          residualRoot: residual === 0 ? null : residualRoot(identity(d, residual), d),
        };
        let last = objective(model, moments);
        let gain = Number.POSITIVE_INFINITY;
        for (let step = 0; step < 200; step++) {
          const sums = maximizationSums(statistics, model, moments);
          const shift = meanShift(meanDesign(mean, d), sums);
          const noise = whiteNoise(remainingSquares(sums, shift) / sums.numObservations);
          model = { ...model, mean: model.mean.map((v, k) => v + shift[k]), noise };
          const value = objective(model, moments);
          gain = value - last;
          expect(gain).toBeGreaterThanOrEqual(-1e-10 * Math.abs(value));
          last = value;
        }
        expect(gain).toBeLessThan(1e-6);
        // Stationary: no small move of σ² or of the level gains.
        for (const factor of [0.99, 1.01]) {
          expect(objective({ ...model, noise: whiteNoise(model.noise.variance * factor) }, moments)).toBeLessThan(last);
        }
        for (const shift of [-0.05, 0.05]) {
          expect(objective({ ...model, mean: model.mean.map((v) => v + shift) }, moments)).toBeLessThan(last);
        }
      });
    }
  }

  it("raises Q with a free residual covariance as well", () => {
    const moments = randomMoments(5);
    let model: IndividualModel = {
      mean: new Float64Array(d).fill(20),
      noise: whiteNoise(2),
      residualRoot: residualRoot(identity(d, 0.2), d),
    };
    let last = objective(model, moments);
    for (let step = 0; step < 30; step++) {
      const sums = maximizationSums(statistics, model, moments);
      const covariance = sums.residualMoment.map((v) => v / m);
      model = { ...model, residualRoot: residualRoot(covariance, d) };
      const value = objective(model, moments);
      expect(value).toBeGreaterThan(last - 1e-9);
      last = value;
    }
  });

  it("leaves mean coefficients alone that no observation determines", () => {
    const sums = createMaximizationSums(2);
    sums.numObservations = 3;
    sums.gram.set([3, 0, 0, 0]);
    sums.cross.set([6, 0]);
    expect(Array.from(meanShift(meanDesign("spline", 2), sums))).toEqual([2, 0]);
  });
});

describe("residualStep", () => {
  it("never lowers Q, stays below the cap and finds the maximum in a few steps", () => {
    const moments = randomMoments(7);
    const model: IndividualModel = { mean: new Float64Array(d).fill(20), noise: whiteNoise(1), residualRoot: null };
    const root = residualRoot(identity(d), d);
    const Q = (tau: number) => {
      const scaled = root.map((v) => Math.sqrt(tau) * v);
      return residualObjective(statistics, { ...model, residualRoot: scaled }, moments);
    };
    for (const cap of [0.2, Number.POSITIVE_INFINITY]) {
      let tau = 0.1;
      let h = 0.3;
      let value = Q(tau);
      for (let step = 0; step < 25; step++) {
        const found = residualStep(Q, tau, h, cap);
        expect(found.value).toBeGreaterThanOrEqual(value);
        expect(found.tau).toBeLessThanOrEqual(cap);
        ({ tau, trialDistance: h, value } = found);
      }
      if (cap === 0.2) expect(tau).toBe(0.2);
      else for (const factor of [0.9, 1.1]) expect(Q(tau * factor)).toBeLessThan(value);
    }
  });

  it("climbs a parabola to its vertex in one step when it is near", () => {
    const found = residualStep((tau) => -((Math.log(tau) + 2) ** 2), Math.exp(-2.2), 0.3, 1);
    expect(Math.log(found.tau)).toBeCloseTo(-2, 10);
    expect(found.trialDistance).toBeCloseTo(0.2, 10);
  });

  it("needs no more than three values of Q, between which it takes a parabola", () => {
    const parabola = (tau: number) => 3 - (Math.log(tau) + 2) ** 2;
    for (const [tau, cap] of [
      [Math.exp(-2.2), 1],
      [0.2, 0.2],
    ]) {
      const values = trialTaus(tau, 0.3, cap).map(parabola);
      const [known, exact] = [stepBetween(values, tau, 0.3, cap), residualStep(parabola, tau, 0.3, cap)];
      expect(known.tau).toBeCloseTo(exact.tau, 10);
      expect(known.trialDistance).toBeCloseTo(exact.trialDistance, 10);
    }
  });

  it("shrinks its trial distance when nothing improves", () => {
    const found = residualStep((tau) => -Math.abs(Math.log(tau) + 1), Math.exp(-1), 0.3, 10);
    expect(found.tau).toBe(Math.exp(-1));
    expect(found.trialDistance).toBe(0.15);
  });
});
