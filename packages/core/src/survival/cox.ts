/**
 * Cox proportional hazards regression: hazard(t | x) = h0(t) exp(x'β), β by Newton's method on the partial likelihood
 * (partial-likelihood.ts), step halved where it would fall. Covariates are centred and scaled inside and the answers
 * scaled back. Tests of β = 0 on p degrees of freedom:
 *   likelihood ratio  2(ℓ(β̂) − ℓ(0)),   Wald  β̂'I(β̂)β̂,   score  U(0)'I(0)⁻¹U(0).   (docs/math/survival.md §3)
 */
import { checkOption, DtmError } from "../errors.ts";
import { choleskyInPlace, invertFromCholesky, solveCholeskyInPlace, solveLowerInPlace } from "../numeric/cholesky.ts";
import { bilinear, dot } from "../numeric/matrix.ts";
import { chisquareUpper, normalQuantile } from "../numeric/special.ts";
import { type Concordance, concordance } from "./concordance.ts";
import { sortRows, standardizeInPlace } from "./cox-rows.ts";
import { checkFollowUp, type FollowUp } from "./follow-up.ts";
import { type CoxRows, type CoxWorkspace, coxWorkspace, partialLikelihood } from "./partial-likelihood.ts";

export interface CoxOptions {
  /** How events at one time are handled. Default "efron". */
  readonly ties?: "efron" | "breslow";
  /** Of the intervals. Default 0.95. */
  readonly level?: number;
}

/** One covariate's coefficient. */
export interface CoxTerm {
  readonly coefficient: number;
  readonly standardError: number;
  readonly hazardRatio: number;
  /** Interval of the hazard ratio. */
  readonly lower: number;
  readonly upper: number;
  readonly pValue: number;
}

export interface ChiSquareTest {
  readonly statistic: number;
  readonly degrees: number;
  readonly pValue: number;
}

export interface CoxFit {
  readonly terms: readonly CoxTerm[];
  readonly covariance: Float64Array; // of the coefficients [p,p]
  readonly logLikelihood: { readonly null: number; readonly fitted: number };
  readonly likelihoodRatio: ChiSquareTest;
  readonly wald: ChiSquareTest;
  readonly score: ChiSquareTest;
  readonly concordance: Concordance;
  readonly numIndividuals: number;
  readonly numEvents: number;
  readonly ties: "efron" | "breslow";
  readonly iterations: number;
  readonly converged: boolean;
  /**
   * Codes: `few-events` (fewer than ten per covariate), `infinite-coefficient` (the likelihood has no maximum), `collinear-covariates`
   * (a variance is ten times what it would be beside independent covariates, or more).
   */
  readonly warnings: readonly string[];
}

const MAX_ITERATIONS = 60;
/** Nine tenths of the information on a coefficient are shared with the others. */
const MOST_INFLATION = 10;

/** Cox regression of follow-up on covariates X [n,p]; independent of the order of the individuals. */
export function fitCox(
  followUp: FollowUp,
  covariates: Float64Array,
  numCovariates: number,
  { ties = "efron", level = 0.95 }: CoxOptions = {},
): CoxFit {
  const n = followUp.times.length;
  const p = numCovariates;
  checkFollowUp(followUp, "fitCox");
  checkOption(level > 0 && level < 1, "fitCox: level", "a share between 0 and 1", level, "Try 0.95.");
  if (p < 1 || covariates.length !== n * p || !covariates.every(Number.isFinite)) {
    throw new DtmError(
      "shape",
      `fitCox: expected finite covariates [${n},${p}], received ${covariates.length} numbers. Leave gaps out.`,
    );
  }
  const rows = sortRows(followUp, covariates, n, p);
  const scales = standardizeInPlace(rows);
  const numEvents = rows.events.reduce((a, b) => a + b, 0);
  if (numEvents === 0) {
    throw new DtmError("no-information", "fitCox: expected at least one event, received none. Follow longer.");
  }
  const work = coxWorkspace(n, p);
  const efron = ties === "efron";
  const fit = maximize(rows, efron, work);

  // Back to the covariates' own scale: β_c = γ_c / s_c.
  const covariance = fit.covariance;
  for (let a = 0; a < p; a++) for (let b = 0; b < p; b++) covariance[a * p + b] /= scales[a] * scales[b];
  const z = normalQuantile(0.5 + 0.5 * level);
  const terms = Array.from(fit.beta, (gamma, c) => {
    const coefficient = gamma / scales[c];
    const standardError = Math.sqrt(covariance[c * p + c]);
    return {
      coefficient,
      standardError,
      hazardRatio: Math.exp(coefficient),
      lower: Math.exp(coefficient - z * standardError),
      upper: Math.exp(coefficient + z * standardError),
      pValue: chisquareUpper((coefficient / standardError) ** 2, 1),
    };
  });
  const warnings: string[] = [];
  if (numEvents < 10 * p) warnings.push("few-events");
  if (!fit.converged) warnings.push("infinite-coefficient");
  else if (fit.inflation >= MOST_INFLATION) warnings.push("collinear-covariates");
  return {
    terms,
    covariance,
    logLikelihood: { null: fit.logLikelihoodAtZero, fitted: fit.logLikelihood },
    likelihoodRatio: chiSquare(2 * (fit.logLikelihood - fit.logLikelihoodAtZero), p),
    wald: chiSquare(fit.wald, p),
    score: chiSquare(fit.score, p),
    concordance: concordance(rows, work.linear),
    numIndividuals: n,
    numEvents,
    ties,
    iterations: fit.iterations,
    converged: fit.converged,
    warnings,
  };
}

/** Newton's method from β = 0 on standardised covariates; leaves x'β̂ in the workspace. */
function maximize(rows: CoxRows, efron: boolean, work: CoxWorkspace) {
  const { p } = rows;
  const { gradient, information } = work;
  let beta = new Float64Array(p);
  let logLikelihood = partialLikelihood(rows, beta, efron, work);
  const logLikelihoodAtZero = logLikelihood;
  const L = new Float64Array(p * p);
  const factor = () => {
    L.set(information);
    return choleskyInPlace(L, p);
  };
  if (!factor() || leastPivot(L, p) < 1e-6 * Math.sqrt(rows.n)) {
    throw new DtmError(
      "collinear",
      `fitCox: expected ${p} covariates that vary independently while individuals are at risk; at least one follows ` +
        "from the others. Leave one out.",
    );
  }
  const half = gradient.slice();
  solveLowerInPlace(L, p, half);
  const score = dot(half, half);

  let iterations = 0;
  let converged = false;
  let step = new Float64Array(p);
  for (; iterations < MAX_ITERATIONS && !converged; iterations++) {
    if (!factor()) break;
    step = gradient.slice();
    solveCholeskyInPlace(L, p, step);
    const before = logLikelihood;
    const from = beta;
    const slack = 1e-13 * (1 + Math.abs(before));
    for (let shrink = 1; ; shrink *= 0.5) {
      beta = from.map((b, c) => b + shrink * step[c]);
      logLikelihood = partialLikelihood(rows, beta, efron, work);
      if (logLikelihood >= before - slack || shrink < 1e-8) break;
    }
    converged = Math.abs(logLikelihood - before) <= 1e-12 * (1 + Math.abs(before));
  }
  // A likelihood that stands still while β still walks has its maximum at infinity.
  if (step.some((s) => Math.abs(s) > 1e-3)) converged = false;
  const wald = bilinear(beta, information, beta);
  const covariance = factor() ? invertFromCholesky(L, p) : new Float64Array(p * p).fill(Number.NaN);
  const inflation = Math.max(...beta.map((_, c) => covariance[c * p + c] * information[c * p + c]));
  return { beta, logLikelihood, logLikelihoodAtZero, score, wald, covariance, inflation, iterations, converged };
}

function leastPivot(L: Float64Array, p: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let c = 0; c < p; c++) least = Math.min(least, L[c * p + c]);
  return least;
}

/** A statistic with its p-value. */
export function chiSquare(statistic: number, degrees: number): ChiSquareTest {
  return { statistic, degrees, pValue: chisquareUpper(statistic, degrees) };
}
