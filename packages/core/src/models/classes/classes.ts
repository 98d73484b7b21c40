/**
 * Latent classes of curves, the cluster-based alternative to a map (docs/math/classes.md): individual i belongs to class
 * k with probability π_k and then follows that class's curve, with or without an effect of its own that has the same
 * covariance in all classes (the model of lcmm),
 *   y_i | k ~ N(B_i b_k, B_iΣB_i' + σ²I).
 * EM from the sufficient statistics (em.ts); the number of classes by BIC.
 */
import { type BasisStatistics, unpackGram } from "../../basis/statistics.ts";
import { type Cohort, onlyMarker } from "../../cohort/cohort.ts";
import { checkOption } from "../../errors.ts";
import { withLevel } from "../../noise/noise.ts";
import { choleskyInPlace, solveCholeskyInPlace } from "../../numeric/cholesky.ts";
import { identity } from "../../numeric/matrix.ts";
import { createRandom, type Random } from "../../numeric/random.ts";
import { compensatedSum } from "../../numeric/sum.ts";
import { prepareFit } from "../choose-noise.ts";
import { checkCancelled, type FitControl, type ModelBase, now } from "../fit.ts";
import type { PrepareOptions } from "../prepare.ts";
import { fitRecord } from "../run.ts";
import { type ClassFit, classProblem, MAX_ITERATIONS, runEm, TOLERANCE } from "./em.ts";

export interface ClassesModel extends Omit<ModelBase, "mapDimension" | "orientation"> {
  readonly kind: "classes";
  readonly numClasses: number; // K
  /** π_k, [K], largest first. */
  readonly weights: Float64Array;
  /** Deviations b_k − β of the class curves from the mean function, [K,d]. */
  readonly curves: Float64Array;
  /** L [d,d] with Σ = LL', the covariance of the individual's effect in every class; zero without effects. */
  readonly covarianceFactor: Float64Array;
  /** BIC of each number of classes tried, from one class on. */
  readonly criteria: readonly number[];
}

export interface ClassesOptions extends Omit<PrepareOptions, "noise">, FitControl {
  /** Whether individuals deviate from the curve of their class: not at all, or by an effect of shared covariance. Default "none". */
  readonly effects?: "none" | "shared";
  /** A number of classes, or "auto" (by BIC). Default "auto". */
  readonly numClasses?: number | "auto";
  /** Most classes tried with "auto". Default 12. */
  readonly maxClasses?: number;
  /** Random starts per number of classes. Default 4. */
  readonly starts?: number;
}

/** Fits latent classes of curves. */
export function fitClasses(cohort: Cohort, options: ClassesOptions = {}): ClassesModel {
  const { effects = "none", numClasses = "auto", maxClasses = 12, starts = 4, seed = 1, onProgress, signal } = options;
  const begun = now();
  const { statistics, warnings } = prepareFit(cohort, options);
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const most = numClasses === "auto" ? Math.min(maxClasses, Math.floor(m / 2)) : numClasses;
  checkOption(Number.isInteger(most) && most >= 1 && most <= m, "fitClasses", `1 to ${m} classes`, most, "Use fewer.");
  const random = createRandom(seed);
  const problem = classProblem(statistics);
  const criteria: number[] = [];
  const numCovariances = effects === "none" ? 0 : (d * (d + 1)) / 2;
  // One class first: its effect and noise are where the others start from.
  const single = runEm(problem, new Float64Array(m).fill(1), effectStart(statistics, effects));
  let best: { fit: ClassFit; K: number; bic: number } | null = null;
  for (let K = numClasses === "auto" ? 1 : most; K <= most; K++) {
    let fit = K === 1 ? single : null;
    for (let s = 0; K > 1 && s < starts; s++) {
      checkCancelled(signal);
      const trial = runEm(problem, startResponsibilities(statistics, K, random), single);
      if (fit === null || trial.logLikelihood > fit.logLikelihood) fit = trial;
    }
    if (fit === null) break;
    const bic = -2 * fit.logLikelihood + (K * (d + 1) + numCovariances) * Math.log(m);
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
    covarianceFactor: fit.factor ?? new Float64Array(d * d),
    criteria,
    record: fitRecord([statistics], {
      options: {
        model: "classes",
        effects,
        numClasses,
        maxClasses,
        starts,
        numBasis: d,
        degree: statistics.basis.degree,
      },
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

/** A first guess: half of the variance about the pooled mean to the individual, if it has an effect, the rest to noise. */
function effectStart({ basis, numObservations, noise, sumSquares }: BasisStatistics, effects: "none" | "shared") {
  if (effects === "none") return { factor: null, noise };
  const half = (0.5 * compensatedSum(sumSquares)) / numObservations;
  return { factor: identity(basis.numBasis, Math.sqrt(half)), noise: withLevel(noise, half) };
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
