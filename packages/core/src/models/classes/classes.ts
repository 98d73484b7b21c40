/**
 * Latent classes of curves, the cluster-based alternative to a map (docs/math/classes.md): individual i belongs to class
 * k with probability π_k and then follows that class's curve with independent noise,
 *   y_i | k ~ N(B_i b_k, σ²I).
 * EM from the sufficient statistics; the number of classes by BIC = −2ℓ + (K(d+1)) log m. O(m K d²) per iteration.
 */
import { type BasisStatistics, residualStatistics, unpackGram } from "../../basis/statistics.ts";
import { type Cohort, onlyMarker } from "../../cohort/cohort.ts";
import { checkOption } from "../../errors.ts";
import { learnNoise, type Noise, noiseConstants, noiseLevel } from "../../noise/noise.ts";
import { choleskyInPlace, solveCholeskyInPlace } from "../../numeric/cholesky.ts";
import { createRandom, type Random } from "../../numeric/random.ts";
import { logSumExp } from "../../numeric/special.ts";
import { checkCancelled, type FitControl, type ModelBase, now } from "../fit.ts";
import { type PrepareOptions, prepareCohort } from "../prepare.ts";
import { fitRecord } from "../run.ts";

export interface ClassesModel extends Omit<ModelBase, "mapDimension" | "orientation"> {
  readonly kind: "classes";
  readonly numClasses: number; // K
  /** π_k, [K], largest first. */
  readonly weights: Float64Array;
  /** Deviations b_k − β of the class curves from the mean function, [K,d]. */
  readonly curves: Float64Array;
  /** BIC of each number of classes tried, from one class on. */
  readonly criteria: readonly number[];
}

export interface ClassesOptions extends PrepareOptions, FitControl {
  /** A number of classes, or "auto" (by BIC). Default "auto". */
  readonly numClasses?: number | "auto";
  /** Most classes tried with "auto". Default 12. */
  readonly maxClasses?: number;
  /** Random starts per number of classes. Default 4. */
  readonly starts?: number;
}

interface Fit {
  readonly weights: Float64Array;
  readonly curves: Float64Array;
  readonly noise: Noise;
  readonly logLikelihood: number;
  readonly trace: readonly number[];
  readonly converged: boolean;
}

const MAX_ITERATIONS = 500;
const TOLERANCE = 1e-8;

/** Fits latent classes of curves. */
export function fitClasses(cohort: Cohort, options: ClassesOptions = {}): ClassesModel {
  const { numClasses = "auto", maxClasses = 12, starts = 4, seed = 1, onProgress, signal } = options;
  const begun = now();
  const { statistics, warnings } = prepareCohort(cohort, options);
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const most = numClasses === "auto" ? Math.min(maxClasses, Math.floor(m / 2)) : numClasses;
  checkOption(Number.isInteger(most) && most >= 1 && most <= m, "fitClasses", `1 to ${m} classes`, most, "Use fewer.");
  const random = createRandom(seed);
  const criteria: number[] = [];
  let best: { fit: Fit; K: number; bic: number } | null = null;
  for (let K = numClasses === "auto" ? 1 : most; K <= most; K++) {
    let fit: Fit | null = null;
    for (let s = 0; s < (K === 1 ? 1 : starts); s++) {
      checkCancelled(signal);
      const trial = runEm(statistics, startResponsibilities(statistics, K, random), K);
      if (fit === null || trial.logLikelihood > fit.logLikelihood) fit = trial;
    }
    if (fit === null) break;
    const bic = -2 * fit.logLikelihood + K * (d + 1) * Math.log(m);
    criteria.push(bic);
    onProgress?.({ stage: "latent classes", iteration: K, maxIterations: most, value: fit.logLikelihood });
    if (best === null || bic < best.bic) best = { fit, K, bic };
    // Two more classes without a better criterion: the rest will not pay either.
    else if (K >= best.K + 2) break;
  }
  const { fit, K } = best!;
  const order = Int32Array.from({ length: K }, (_, k) => k).sort((a, b) => fit.weights[b] - fit.weights[a] || a - b);
  const curves = new Float64Array(K * d);
  order.forEach((k, r) => {
    curves.set(fit.curves.subarray(k * d, (k + 1) * d), r * d);
  });
  return {
    kind: "classes",
    markers: [
      {
        marker: onlyMarker(cohort).marker,
        basis: statistics.basis,
        mean: { kind: "scalar", coefficients: new Float64Array(d).fill(statistics.center) },
        noise: fit.noise,
        center: statistics.center,
      },
    ],
    numClasses: K,
    weights: Float64Array.from(order, (k) => fit.weights[k]),
    curves,
    criteria,
    record: fitRecord(statistics, {
      options: { model: "classes", numClasses, maxClasses, starts, numBasis: d, degree: statistics.basis.degree },
      seed,
      trace: fit.trace,
      iterations: fit.trace.length,
      converged: fit.converged,
      verdict: fit.converged
        ? `Converged with ${K} classes: the gain fell below ${TOLERANCE} of the log-likelihood.`
        : `Stopped after ${MAX_ITERATIONS} iterations with ${K} classes before the gain fell below the tolerance.`,
      warnings,
      milliseconds: { "latent classes": now() - begun },
    }),
  };
}

/** Responsibilities from K random individuals' levels and slopes: each individual goes to the nearest. */
function startResponsibilities(statistics: BasisStatistics, K: number, random: Random): Float64Array {
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const r = new Float64Array(m * K);
  // A ridge fit per individual: (G + I)⁻¹ B'(y − center).
  const W = new Float64Array(m * d);
  const G = new Float64Array(d * d);
  for (let i = 0; i < m; i++) {
    unpackGram(statistics, i, G);
    for (let k = 0; k < d; k++) G[k * d + k] += 1;
    const w = statistics.cross.slice(i * d, (i + 1) * d);
    choleskyInPlace(G, d);
    solveCholeskyInPlace(G, d, w);
    W.set(w, i * d);
  }
  const centers = random.permutation(m).slice(0, K);
  for (let i = 0; i < m; i++) {
    let nearest = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let k = 0; k < K; k++) {
      let s = 0;
      for (let a = 0; a < d; a++) s += (W[i * d + a] - W[centers[k] * d + a]) ** 2;
      if (s < least) {
        least = s;
        nearest = k;
      }
    }
    for (let k = 0; k < K; k++) r[i * K + k] = (k === nearest ? 0.9 : 0) + 0.1 / K;
  }
  return r;
}

/** EM from responsibilities r [m,K] (overwritten). Curves are deviations from the pooled mean. */
function runEm(statistics: BasisStatistics, r: Float64Array, K: number): Fit {
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const weights = new Float64Array(K);
  const curves = new Float64Array(K * d);
  const scores = new Float64Array(K);
  const zero = new Float64Array(d).fill(statistics.center);
  const g = new Float64Array(m * d);
  const rho = Float64Array.from({ length: m }, (_, i) => residualStatistics(statistics, i, zero, g, i * d));
  const grams = new Float64Array(m * d * d);
  for (let i = 0; i < m; i++) unpackGram(statistics, i, grams.subarray(i * d * d, (i + 1) * d * d));
  const misfit = new Float64Array(m * K);
  const trace: number[] = [];
  let { noise } = statistics;
  let converged = false;
  for (let iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
    // M step: weighted least squares per class, then the pooled noise.
    let total = 0;
    for (let k = 0; k < K; k++) weights[k] = fitCurve(k);
    for (let i = 0; i < m; i++) {
      for (let k = 0; k < K; k++) {
        misfit[i * K + k] = squaredMisfit(i, k);
        total += r[i * K + k] * misfit[i * K + k];
      }
    }
    noise = learnNoise(noise, total, statistics.numObservations, Number.MIN_VALUE);
    const s2 = noiseLevel(noise);
    // E step.
    const constant = noiseConstants(noise, statistics);
    let logLikelihood = 0;
    for (let i = 0; i < m; i++) {
      for (let k = 0; k < K; k++) scores[k] = Math.log(weights[k]) - (0.5 * misfit[i * K + k]) / s2;
      const norm = logSumExp(scores);
      for (let k = 0; k < K; k++) r[i * K + k] = Math.exp(scores[k] - norm);
      logLikelihood += norm + constant(i);
    }
    trace.push(logLikelihood);
    const gain = logLikelihood - (trace[trace.length - 2] ?? Number.NEGATIVE_INFINITY);
    if (gain < TOLERANCE * (1 + Math.abs(logLikelihood))) {
      converged = true;
      break;
    }
  }
  return { weights, curves, noise, logLikelihood: trace[trace.length - 1], trace, converged };

  function fitCurve(k: number): number {
    const A = new Float64Array(d * d);
    const b = new Float64Array(d);
    let mass = 0;
    for (let i = 0; i < m; i++) {
      const w = r[i * K + k];
      mass += w;
      for (let a = 0; a < d; a++) b[a] += w * g[i * d + a];
      for (let a = 0; a < d * d; a++) A[a] += w * grams[i * d * d + a];
    }
    // A class that covers only part of the time span keeps the pooled mean elsewhere.
    let scale = 0;
    for (let a = 0; a < d; a++) scale = Math.max(scale, A[a * d + a]);
    for (let a = 0; a < d; a++) A[a * d + a] += 1e-6 * scale + Number.MIN_VALUE;
    if (choleskyInPlace(A, d)) {
      solveCholeskyInPlace(A, d, b);
      curves.set(b, k * d);
    }
    return Math.max(mass / m, Number.MIN_VALUE);
  }

  /** ‖y_i − B_i b_k‖² = ρ − 2g'b + b'Gb. */
  function squaredMisfit(i: number, k: number): number {
    let s = rho[i];
    for (let a = 0; a < d; a++) {
      let t = 0;
      for (let c = 0; c < d; c++) t += grams[(i * d + a) * d + c] * curves[k * d + c];
      s += curves[k * d + a] * (t - 2 * g[i * d + a]);
    }
    return Math.max(s, 0);
  }
}
