/**
 * The fit that LMM and FPCA share: EM steps (monotone, asserted), then quasi-Newton to the maximum, on the standard
 * scale. Says in words how it ended.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { checkOption } from "../../errors.ts";
import { chooseKernels, type KernelKind } from "../../wasm/instance.ts";
import { checkCancelled, type FitControl, type FitRecord, type Json, LIBRARY_VERSION, now } from "../fit.ts";
import { numericalRank } from "./canonical.ts";
import { type EmStepper, runEm } from "./em.ts";
import type { LowRankParameters } from "./low-rank.ts";
import type { MeanKind, MeanProblem } from "./mean.ts";
import { createPasses } from "./passes.ts";
import { maximizeLikelihood } from "./quasi-newton.ts";
import type { Standardized } from "./standardize.ts";

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

export type LinearSettings = Required<LinearOptions>;

/** Options with defaults filled in and ranges checked. */
export function linearSettings(options: LinearOptions, where: string): LinearSettings {
  const { mean = "scalar", algorithm = "em+quasi-newton", emTolerance = 1e-7, tolerance = 1e-6 } = options;
  const { maxEmIterations = algorithm === "em" ? 500 : 20, maxEvaluations = 1000 } = options;
  checkOption(mean === "scalar" || mean === "spline", where, 'mean "scalar" or "spline"', mean, "");
  checkOption(
    algorithm === "em" || algorithm === "em+quasi-newton",
    where,
    'algorithm "em" or "em+quasi-newton"',
    algorithm,
    "",
  );
  for (const [name, value] of [
    ["maxEmIterations", maxEmIterations],
    ["maxEvaluations", maxEvaluations],
  ] as const) {
    checkOption(Number.isInteger(value) && value >= 0, where, `${name} a whole number of 0 or more`, value, "");
  }
  for (const [name, value] of [
    ["emTolerance", emTolerance],
    ["tolerance", tolerance],
  ] as const) {
    checkOption(value >= 0 && Number.isFinite(value), where, `${name} of 0 or more`, value, "");
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
  /** Kernels of the quasi-Newton evaluations. */
  readonly kernels: KernelKind;
  readonly milliseconds: { readonly em: number; readonly quasiNewton: number };
}

/** Maximises the likelihood from `start` (standard scale). `stage` names the model in progress reports. */
export function fitLinear(
  standard: Standardized,
  start: LowRankParameters,
  mean: MeanProblem,
  step: EmStepper,
  stage: string,
  settings: LinearSettings,
  control: FitControl,
): LinearFit {
  const { statistics, logLikelihoodShift } = standard;
  const began = now();
  const polish = settings.algorithm === "em+quasi-newton";
  const maxIterations = settings.maxEmIterations + (polish ? settings.maxEvaluations : 0);
  const report = (iteration: number, value: number): void => {
    checkCancelled(control.signal);
    control.onProgress?.({ stage, iteration, maxIterations, value: value + logLikelihoodShift });
  };
  checkCancelled(control.signal);
  // EM alone is the published algorithm and keeps to its plain form.
  const passes = polish ? createPasses(statistics, start.rank, mean.gram, control) : undefined;
  const em = runEm(step, statistics, start, mean, {
    maxIterations: settings.maxEmIterations,
    tolerance: settings.emTolerance,
    logLikelihoodShift,
    minNoiseVariance: MIN_NOISE_VARIANCE,
    passes,
    onStep: report,
  });
  const emSteps = em.trace.length - 1;
  const emEnded = now();
  const quasiNewton = polish
    ? maximizeLikelihood(statistics, em.parameters, mean, {
        maxRounds: 20,
        maxEvaluations: settings.maxEvaluations,
        tolerance: settings.tolerance,
        minNoiseVariance: MIN_NOISE_VARIANCE,
        passes,
        onEvaluation: (evaluations, best) => report(emSteps + evaluations, best),
      })
    : undefined;
  const parameters = quasiNewton?.parameters ?? em.parameters;
  const converged = quasiNewton?.converged ?? em.converged;
  const trace = [...em.trace, ...(quasiNewton?.trace ?? [])].map((v) => v + logLikelihoodShift);
  return {
    parameters,
    logLikelihood: (quasiNewton?.logLikelihood ?? em.logLikelihood) + logLikelihoodShift,
    trace,
    iterations: emSteps + (quasiNewton?.evaluations ?? 0),
    converged,
    verdict: describeEnd(statistics, parameters, settings, converged, emSteps, quasiNewton?.evaluations),
    warnings: linearWarnings(parameters, mean),
    kernels: polish ? chooseKernels(control.kernels) : "typescript",
    milliseconds: { em: emEnded - began, quasiNewton: now() - emEnded },
  };
}

function describeEnd(
  statistics: BasisStatistics,
  parameters: LowRankParameters,
  settings: LinearSettings,
  converged: boolean,
  emSteps: number,
  evaluations: number | undefined,
): string {
  const d = statistics.basis.numBasis;
  const rank = numericalRank(parameters.factor, d, parameters.rank);
  const lost =
    rank < parameters.rank
      ? ` The covariance has rank ${rank} of ${parameters.rank}: individuals vary in fewer directions than allowed.`
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

function linearWarnings(parameters: LowRankParameters, mean: MeanProblem): string[] {
  const warnings: string[] = [];
  if (isNoiseless(parameters)) {
    warnings.push(
      "The noise variance fell to its lower limit (1e-8 of the variance of the values): the curves pass through the observations, and the likelihood has no maximum.",
    );
  }
  if (mean.numUndetermined > 0) {
    warnings.push(
      `${mean.numUndetermined} of ${mean.numFree} mean coefficients are not determined by the observed times; the solution of least norm was taken.`,
    );
  }
  return warnings;
}

/** The record of a linear fit. */
export function linearRecord(
  statistics: BasisStatistics,
  fit: LinearFit,
  options: { readonly [key: string]: Json },
  seed: number,
  warnings: readonly string[],
  milliseconds: { readonly [stage: string]: number },
): FitRecord {
  return {
    version: LIBRARY_VERSION,
    options,
    seed,
    numIndividuals: statistics.numIndividuals,
    numObservations: statistics.numObservations,
    trace: fit.trace,
    iterations: fit.iterations,
    converged: fit.converged,
    verdict: fit.verdict,
    warnings: [...warnings, ...fit.warnings],
    kernels: fit.kernels,
    milliseconds: { ...milliseconds, ...fit.milliseconds },
  };
}
