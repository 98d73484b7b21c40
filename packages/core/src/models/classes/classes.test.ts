import { describe, expect, it } from "vitest";
import { designMatrix } from "../../basis/bspline.ts";
import { type Cohort, makeCohort, onlyMarker } from "../../cohort/cohort.ts";
import { noiseLevel } from "../../noise/noise.ts";
import { choleskyInPlace, logDetFromCholesky, solveLowerInPlace } from "../../numeric/cholesky.ts";
import { createRandom } from "../../numeric/random.ts";
import { logSumExp } from "../../numeric/special.ts";
import { markerModel } from "../fit.ts";
import { fitLmm } from "../linear-models.ts";
import { logLikelihoods } from "../mixture/conditioner.ts";
import { modelMixture } from "../model.ts";
import { modelStatistics } from "../new-individuals.ts";
import { type ClassesModel, fitClasses } from "./classes.ts";

/** Two classes, rising and falling, with random level, slope and bend, and noise. */
function twoClasses(numIndividuals: number, seed: number): { cohort: Cohort; rising: Map<string, boolean> } {
  const random = createRandom(seed);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  const rising = new Map<string, boolean>();
  for (let i = 0; i < numIndividuals; i++) {
    const id = `p${String(i).padStart(4, "0")}`;
    const rises = random.uniform() < 0.3;
    rising.set(id, rises);
    const [level, slope, bend] = [2 * random.normal(), 0.2 * random.normal(), 3 * random.normal()];
    for (let j = 0; j < 3 + Math.floor(5 * random.uniform()); j++) {
      const t = 10 * random.uniform();
      rows.ids.push(id);
      rows.times.push(t);
      rows.values.push(50 + level + bend * Math.sin(t) + ((rises ? 1.5 : -1) + slope) * t + random.normal());
    }
  }
  return { cohort: makeCohort(rows), rising };
}

/** log p(y_i) = log Σ_k π_k N(y_i; B_i b_k, B_iΣB_i' + σ²I), each covariance written out, n by n. */
function denseLogLikelihoods(model: ClassesModel, cohort: Cohort): Float64Array {
  const { basis, mean, noise } = markerModel(model);
  const { offsets, times, values } = onlyMarker(cohort);
  const d = basis.numBasis;
  const L = model.covarianceFactor;
  return Float64Array.from(cohort.ids, (_, i) => {
    const [from, n] = [offsets[i], offsets[i + 1] - offsets[i]];
    const B = designMatrix(basis, times.subarray(from, from + n));
    const V = new Float64Array(n * n);
    for (let a = 0; a < n; a++) {
      for (let b = 0; b < n; b++) {
        if (a === b) V[a * n + b] += noiseLevel(noise);
        for (let c = 0; c < d; c++) {
          let [left, right] = [0, 0];
          for (let k = 0; k < d; k++) {
            left += B[a * d + k] * L[k * d + c];
            right += B[b * d + k] * L[k * d + c];
          }
          V[a * n + b] += left * right;
        }
      }
    }
    expect(choleskyInPlace(V, n)).toBe(true);
    const terms = model.weights.map((weight, k) => {
      const r = Float64Array.from({ length: n }, (_, a) => {
        let fitted = 0;
        for (let c = 0; c < d; c++) fitted += B[a * d + c] * (mean.coefficients[c] + model.curves[k * d + c]);
        return values[from + a] - fitted;
      });
      solveLowerInPlace(V, n, r);
      const squares = r.reduce((sum, v) => sum + v * v, 0);
      return Math.log(weight) - 0.5 * (n * Math.log(2 * Math.PI) + logDetFromCholesky(V, n) + squares);
    });
    return logSumExp(terms);
  });
}

const sum = (x: Float64Array) => x.reduce((a, b) => a + b, 0);

describe("latent classes with random effects", () => {
  const { cohort, rising } = twoClasses(300, 1);
  const model = fitClasses(cohort, { effects: "shared", numClasses: 2, seed: 1 });

  it("have the likelihood of dense covariances, in the fit and in scoring", () => {
    const dense = denseLogLikelihoods(model, cohort);
    const own = logLikelihoods(modelMixture(model), modelStatistics(model, cohort)[0], "typescript");
    own.forEach((v, i) => {
      expect(Math.abs(v - dense[i])).toBeLessThan(1e-8 * (1 + Math.abs(dense[i])));
    });
    expect(Math.abs(model.record.trace.at(-1)! / sum(dense) - 1)).toBeLessThan(1e-8);
  });

  it("with one class are the linear mixed model with a mean curve", () => {
    const one = fitClasses(cohort, { effects: "shared", numClasses: 1 });
    const lmm = fitLmm(cohort, { mean: "spline", priors: "none" });
    const at = sum(denseLogLikelihoods(one, cohort));
    // At the parameters of the mixed model the likelihoods are one and the same.
    const same: ClassesModel = {
      ...one,
      markers: lmm.markers,
      curves: new Float64Array(one.curves.length),
      covarianceFactor: lmm.covarianceFactor,
    };
    const [ours, theirs] = [same, lmm].map((m) => logLikelihoods(modelMixture(m), modelStatistics(m, cohort)[0]));
    ours.forEach((v, i) => {
      expect(Math.abs(v - theirs[i])).toBeLessThan(1e-8 * (1 + Math.abs(v)));
    });
    // And both fits find the same maximum; fits stop when an iteration gains less than 1e-9 of it.
    expect(Math.abs(at / sum(theirs) - 1)).toBeLessThan(1e-6);
    expect(at).toBeLessThan(sum(theirs) + 1e-6 * Math.abs(at));
  });

  it("never lose likelihood, and find the classes that are there", () => {
    const { trace } = model.record;
    for (let k = 1; k < trace.length; k++) expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1]);
    const share = [...rising.values()].filter(Boolean).length / 300;
    expect(Math.abs(model.weights[1] - share)).toBeLessThan(0.08);
    expect(Math.abs(Math.sqrt(noiseLevel(markerModel(model).noise)) - 1)).toBeLessThan(0.1);
    expect(fitClasses(cohort, { effects: "shared", maxClasses: 3, starts: 2 }).numClasses).toBe(2);
  });

  it("without effects are curves with independent noise", () => {
    const plain = fitClasses(cohort, { numClasses: 3, seed: 1 });
    expect(plain.covarianceFactor.every((v) => v === 0)).toBe(true);
    const dense = sum(denseLogLikelihoods(plain, cohort));
    expect(Math.abs(plain.record.trace.at(-1)! / dense - 1)).toBeLessThan(1e-8);
    expect(plain.record.trace.at(-1)!).toBeLessThan(model.record.trace.at(-1)!);
  });
});
