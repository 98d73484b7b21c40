/**
 * The fit that LMM and FPCA share: EM steps (monotone, asserted), then quasi-Newton to the maximum, on the standard
 * scale. Says in words how it ended.
 */

import { cohortSizes } from "../../basis/cohort-sums.ts";
import type { BasisStatistics } from "../../basis/statistics.ts";
import { DEFAULT_MARKER } from "../../cohort/marker.ts";
import { spreadWarnings } from "../../noise/words.ts";
import { identity } from "../../numeric/matrix.ts";
import { chooseKernels } from "../../wasm/instance.ts";
import { checkCancelled, type FitControl, type Json, LIBRARY_VERSION, type ModelBase, now } from "../fit.ts";
import { numUndetermined } from "../mean.ts";
import { numericalRank } from "./canonical.ts";
import { type Climb, isNoiseless, type LinearProblem, type MaximizationStep, runEm } from "./em.ts";
import { maximizeLikelihood } from "./quasi-newton.ts";
import type { LinearSettings, StatisticsFitOptions } from "./settings.ts";
import { type LinearParameters, splitRows } from "./stack.ts";

/** A climb on the standard scale, with log-likelihoods of the values as given, and how it ended. */
export interface LinearFit extends Climb {
  readonly verdict: string;
  readonly warnings: readonly string[];
  readonly milliseconds: { readonly em: number; readonly quasiNewton: number };
}

/** Maximises the likelihood from `start` (standard scale). `stage` names the model in progress reports. */
export function fitLinear(
  problem: LinearProblem,
  start: LinearParameters,
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
  const em = runEm(problem, start, maximize, settings, report);
  const emEnded = now();
  const quasiNewton = polish
    ? maximizeLikelihood(problem, em.parameters, settings, (evaluations, best) =>
        report(em.iterations + evaluations, best),
      )
    : null;
  const { parameters, logLikelihood, converged } = quasiNewton ?? em;
  return {
    parameters,
    logLikelihood: logLikelihood + logLikelihoodShift,
    trace: [...em.trace, ...(quasiNewton?.trace ?? [])].map((v) => v + logLikelihoodShift),
    iterations: em.iterations + (quasiNewton?.iterations ?? 0),
    converged,
    verdict: describeEnd(parameters, settings, converged, em.iterations, quasiNewton?.iterations),
    warnings: [...linearWarnings(problem, parameters), ...parameters.noises.flatMap(spreadWarnings)],
    milliseconds: { em: emEnded - began, quasiNewton: now() - emEnded },
  };
}

const PRIOR_WORDS = { weak: "With weak priors on noise and covariance.", none: "Maximum likelihood." } as const;

function describeEnd(
  { factor, rank: allowed, meanCoefficients }: LinearParameters,
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
  const end = `${lost} ${PRIOR_WORDS[settings.priors]}`;
  if (evaluations === undefined) {
    const limit = `${settings.emTolerance}·(1 + |log-likelihood|)`;
    return converged
      ? `Converged: EM step ${emSteps} gained less than ${limit}.${end}`
      : `Stopped after ${emSteps} EM steps, each gaining more than ${limit}; quasi-Newton would go on to the maximum.${end}`;
  }
  return converged
    ? `Converged: after ${emSteps} EM steps and ${evaluations} quasi-Newton evaluations a round of steps gained less than ${settings.tolerance} in log-likelihood.${end}`
    : `Stopped after ${emSteps} EM steps and ${evaluations} quasi-Newton evaluations, the limit set, before the maximum was reached.${end}`;
}

/** What parameters on the standard scale give to warn of; it concerns whatever starts from them too. */
export function linearWarnings(problem: LinearProblem, parameters: LinearParameters): string[] {
  const { mean, gram } = problem;
  const warnings: string[] = [];
  if (isNoiseless(problem, parameters)) {
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
  statistics: readonly BasisStatistics[],
  parameters: LinearParameters,
  fit: LinearFit,
  settings: LinearSettings & { readonly [key: string]: Json },
  mapDimension: number,
  { markers = [], seed = 1, warnings = [], kernels }: StatisticsFitOptions,
  began: number,
): ModelBase {
  const { trace, iterations, converged, verdict } = fit;
  const means = splitRows(statistics, parameters.meanCoefficients);
  const parts = statistics.map(({ basis, center }, k) => ({
    marker: markers[k] ?? DEFAULT_MARKER,
    basis,
    mean: { kind: settings.mean, coefficients: means[k] },
    noise: parameters.noises[k],
    center,
  }));
  // Of several markers a list, of one its own.
  const each = (values: readonly Json[]): Json => (values.length === 1 ? values[0] : values);
  return {
    markers: parts,
    mapDimension,
    orientation: identity(mapDimension),
    record: {
      version: LIBRARY_VERSION,
      options: {
        ...settings,
        noise: each(parts.map(({ noise }) => noise.kind)),
        numBasis: each(parts.map(({ basis }) => basis.numBasis)),
        degree: each(parts.map(({ basis }) => basis.degree)),
      },
      seed,
      ...cohortSizes(statistics),
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
