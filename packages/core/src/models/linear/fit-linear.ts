/**
 * The fit that LMM and FPCA share: EM steps (monotone, asserted), then quasi-Newton to the maximum, on the standard
 * scale. Says in words how it ended.
 */

import type { BasisStatistics } from "../../basis/statistics.ts";
import { DEFAULT_MARKER, type Marker } from "../../cohort/marker.ts";
import { checkOption } from "../../errors.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { identity } from "../../numeric/matrix.ts";
import { chooseKernels } from "../../wasm/instance.ts";
import { checkCancelled, type FitControl, type Json, LIBRARY_VERSION, type ModelBase, now } from "../fit.ts";
import { type MeanKind, numUndetermined } from "../mean.ts";
import { numericalRank } from "./canonical.ts";
import { type LinearProblem, type MaximizationStep, runEm } from "./em.ts";
import type { LowRankParameters } from "./low-rank.ts";
import { maximizeLikelihood } from "./quasi-newton.ts";
import type { StandardProblem } from "./standardize.ts";

/** Options of all linear fits. */
export interface LinearOptions {
  /** Constant population mean (published) or mean curve. Default "scalar". */
  readonly mean?: MeanKind;
  /** EM as published, or a few EM steps and then quasi-Newton to the maximum. Default "em+quasi-newton". */
  readonly algorithm?: "em" | "em+quasi-newton";
  /** EM steps at most. Default 500 for "em", 20 before quasi-Newton. */
  readonly maxEmIterations?: number;
  /** EM stops when a step gains less than this times 1 + |ℓ|. Default 1e-7. */
  readonly emTolerance?: number;
  /** Quasi-Newton stops when a round of steps gains less than this in log-likelihood. Default 1e-6. */
  readonly tolerance?: number;
  /** Quasi-Newton evaluations at most. Default 1000. */
  readonly maxEvaluations?: number;
}

/** What fits of statistics take beside: of the cohort they were taken from. */
export interface StatisticsFitOptions extends LinearOptions, FitControl {
  readonly marker?: Marker;
  /** Warnings to put first in the record (from preparing the cohort). */
  readonly warnings?: readonly string[];
}

export type LinearSettings = Required<LinearOptions>;

/** Options with defaults filled in and ranges checked. */
export function linearSettings(options: LinearOptions, where: string): LinearSettings {
  const { mean = "scalar", algorithm = "em+quasi-newton", emTolerance = 1e-7, tolerance = 1e-6 } = options;
  const { maxEmIterations = algorithm === "em" ? 500 : 20, maxEvaluations = 1000 } = options;
  const check = (holds: boolean, expected: string, received: unknown) =>
    checkOption(holds, where, expected, received, "");
  check(mean === "scalar" || mean === "spline", 'mean "scalar" or "spline"', mean);
  check(algorithm === "em" || algorithm === "em+quasi-newton", 'algorithm "em" or "em+quasi-newton"', algorithm);
  for (const [name, value] of Object.entries({ maxEmIterations, maxEvaluations })) {
    check(Number.isInteger(value) && value >= 0, `${name} a whole number of 0 or more`, value);
  }
  for (const [name, value] of Object.entries({ emTolerance, tolerance })) {
    check(value >= 0 && Number.isFinite(value), `${name} of 0 or more`, value);
  }
  return { mean, algorithm, emTolerance, tolerance, maxEmIterations, maxEvaluations };
}

/** σ² is kept above this share of the variance of the values: beyond it likelihoods grow without bound. */
const MIN_NOISE_VARIANCE = 1e-8;

/** Whether the noise (standard scale) fell to its lower limit: the likelihood then has no maximum. */
export function isNoiseless(parameters: LowRankParameters): boolean {
  return parameters.noiseVariance <= MIN_NOISE_VARIANCE * 1.0001;
}

export interface LinearFit {
  /** On the standard scale. */
  readonly parameters: LowRankParameters;
  /** Log-likelihood of the values as given. */
  readonly logLikelihood: number;
  readonly trace: readonly number[];
  readonly iterations: number;
  readonly converged: boolean;
  readonly verdict: string;
  readonly warnings: readonly string[];
  readonly milliseconds: { readonly em: number; readonly quasiNewton: number };
}

/** Maximises the likelihood from `start` (standard scale). `stage` names the model in progress reports. */
export function fitLinear(
  problem: StandardProblem,
  start: LowRankParameters,
  maximize: MaximizationStep,
  stage: string,
  settings: LinearSettings,
  control: FitControl,
): LinearFit {
  const { logLikelihoodShift } = problem;
  const began = now();
  const polish = settings.algorithm === "em+quasi-newton";
  const maxIterations = settings.maxEmIterations + (polish ? settings.maxEvaluations : 0);
  const report = (iteration: number, value: number): void => {
    checkCancelled(control.signal);
    control.onProgress?.({ stage, iteration, maxIterations, value: value + logLikelihoodShift });
  };
  checkCancelled(control.signal);
  const em = runEm(problem, start, maximize, {
    maxIterations: settings.maxEmIterations,
    tolerance: settings.emTolerance,
    logLikelihoodShift,
    minNoiseVariance: MIN_NOISE_VARIANCE,
    onStep: report,
  });
  const emSteps = em.trace.length - 1;
  const emEnded = now();
  const quasiNewton = polish
    ? maximizeLikelihood(problem, em.parameters, {
        maxRounds: 20,
        maxEvaluations: settings.maxEvaluations,
        tolerance: settings.tolerance,
        minNoiseVariance: MIN_NOISE_VARIANCE,
        onEvaluation: (evaluations, best) => report(emSteps + evaluations, best),
      })
    : undefined;
  const { parameters, logLikelihood, converged } = quasiNewton ?? em;
  return {
    parameters,
    logLikelihood: logLikelihood + logLikelihoodShift,
    trace: [...em.trace, ...(quasiNewton?.trace ?? [])].map((v) => v + logLikelihoodShift),
    iterations: emSteps + (quasiNewton?.evaluations ?? 0),
    converged,
    verdict: describeEnd(parameters, settings, converged, emSteps, quasiNewton?.evaluations),
    warnings: linearWarnings(problem, parameters),
    milliseconds: { em: emEnded - began, quasiNewton: now() - emEnded },
  };
}

function describeEnd(
  { factor, rank: allowed, meanCoefficients }: LowRankParameters,
  settings: LinearSettings,
  converged: boolean,
  emSteps: number,
  evaluations: number | undefined,
): string {
  const rank = numericalRank(factor, meanCoefficients.length, allowed);
  const lost =
    rank < allowed
      ? ` The covariance has rank ${rank} of ${allowed}: individuals vary in fewer directions than allowed.`
      : "";
  if (evaluations === undefined) {
    const limit = `${settings.emTolerance}·(1 + |log-likelihood|)`;
    return converged
      ? `Converged: EM step ${emSteps} gained less than ${limit}.${lost}`
      : `Stopped after ${emSteps} EM steps, each gaining more than ${limit}; quasi-Newton would go on to the maximum.${lost}`;
  }
  return converged
    ? `Converged: after ${emSteps} EM steps and ${evaluations} quasi-Newton evaluations a round of steps gained less than ${settings.tolerance} in log-likelihood.${lost}`
    : `Stopped after ${emSteps} EM steps and ${evaluations} quasi-Newton evaluations, the limit set, before the maximum was reached.${lost}`;
}

/** What parameters on the standard scale give to warn of; it concerns whatever starts from them too. */
export function linearWarnings({ mean, gram }: LinearProblem, parameters: LowRankParameters): string[] {
  const warnings: string[] = [];
  if (isNoiseless(parameters)) {
    warnings.push(
      "The noise variance fell to its lower limit (1e-8 of the variance of the values): the curves pass through the observations, and the likelihood has no maximum.",
    );
  }
  const open = numUndetermined(mean, gram);
  if (open > 0) {
    warnings.push(
      `${open} of ${mean.numColumns} mean coefficients are not determined by the observed times; the solution of least norm was taken.`,
    );
  }
  return warnings;
}

/** What a fitted linear model has in common with others. `parameters` on the scale of the values, `settings` as recorded. */
export function linearBase(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  fit: LinearFit,
  settings: LinearSettings & { readonly [key: string]: Json },
  mapDimension: number,
  { marker = DEFAULT_MARKER, seed = 1, warnings = [], kernels }: StatisticsFitOptions,
  began: number,
): ModelBase {
  const { basis, numIndividuals, numObservations, center } = statistics;
  const { trace, iterations, converged, verdict } = fit;
  return {
    basis,
    marker,
    mean: { kind: settings.mean, coefficients: parameters.meanCoefficients },
    noise: whiteNoise(parameters.noiseVariance),
    center,
    mapDimension,
    orientation: identity(mapDimension),
    record: {
      version: LIBRARY_VERSION,
      options: { ...settings, numBasis: basis.numBasis, degree: basis.degree },
      seed,
      numIndividuals,
      numObservations,
      trace,
      iterations,
      converged,
      verdict,
      warnings: [...warnings, ...fit.warnings],
      kernels: chooseKernels(kernels),
      milliseconds: { total: now() - began, ...fit.milliseconds },
    },
  };
}

/** Refuses a number of components that the basis cannot hold. */
export function checkComponents(where: string, name: string, q: number, d: number): void {
  checkOption(
    Number.isInteger(q) && q >= 1 && q <= d,
    where,
    `${name} from 1 to ${d} (the size of the basis)`,
    q,
    name === "rank" ? "Use a smaller rank or a larger basis." : "Use a smaller map or a larger basis.",
  );
}
