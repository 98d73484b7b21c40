/** Options of the linear fits, with defaults filled in and ranges checked at the door. */
import type { Marker } from "../../cohort/marker.ts";
import { checkOption, DtmError } from "../../errors.ts";
import type { FitControl, PriorChoice } from "../fit.ts";
import type { MeanKind } from "../mean.ts";
import { MOST_COEFFICIENTS } from "./stack.ts";

/** Options of all linear fits. */
export interface LinearOptions {
  /** Constant population mean (published) or mean curve. Default "scalar". */
  readonly mean?: MeanKind;
  /** Weak priors on noise and covariance, or none. Default "none"; fits of a cohort take weak ones. */
  readonly priors?: PriorChoice;
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
  /** One for each of the statistics. */
  readonly markers?: readonly Marker[];
  /** Warnings to put first in the record (from preparing the cohort). */
  readonly warnings?: readonly string[];
}

export type LinearSettings = Required<LinearOptions>;

/** Options with defaults filled in and ranges checked. */
export function linearSettings(options: LinearOptions, where: string): LinearSettings {
  const {
    mean = "scalar",
    priors = "none",
    algorithm = "em+quasi-newton",
    emTolerance = 1e-7,
    tolerance = 1e-6,
  } = options;
  const { maxEmIterations = algorithm === "em" ? 500 : 20, maxEvaluations = 1000 } = options;
  const check = (holds: boolean, expected: string, received: unknown) =>
    checkOption(holds, where, expected, received, "");
  check(mean === "scalar" || mean === "spline", 'mean "scalar" or "spline"', mean);
  check(priors === "weak" || priors === "none", 'priors "weak" or "none"', priors);
  check(algorithm === "em" || algorithm === "em+quasi-newton", 'algorithm "em" or "em+quasi-newton"', algorithm);
  for (const [name, value] of Object.entries({ maxEmIterations, maxEvaluations })) {
    check(Number.isInteger(value) && value >= 0, `${name} a whole number of 0 or more`, value);
  }
  for (const [name, value] of Object.entries({ emTolerance, tolerance })) {
    check(value >= 0 && Number.isFinite(value), `${name} of 0 or more`, value);
  }
  return { mean, priors, algorithm, emTolerance, tolerance, maxEmIterations, maxEvaluations };
}

/** Refuses markers with more coefficients together than a joint fit can take. */
export function checkSize(where: string, d: number): void {
  if (d <= MOST_COEFFICIENTS) return;
  throw new DtmError(
    "basis-too-large",
    `${where}: expected at most ${MOST_COEFFICIENTS} basis functions of all markers together, received ${d}. Take fewer markers, or fewer functions for each.`,
  );
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
