/**
 * Other starts for the mixed model. Where its covariance loses rank the likelihood of a small cohort can have several
 * maxima, and a reduced-rank model, though nested, may climb higher. From the fit of rank r the leading r−1, r−2, ...
 * directions are fitted alone and the result is handed back to the mixed model (docs/math/linear.md §5).
 */
import type { FitControl } from "../fit.ts";
import { canonicalFactor, numericalRank } from "./canonical.ts";
import { fpcaEmStep, lmmEmStep } from "./em.ts";
import { fitLinear, isNoiseless, type LinearFit, type LinearSettings } from "./fit-linear.ts";
import type { LowRankParameters } from "./low-rank.ts";
import type { MeanProblem } from "./mean.ts";
import type { Standardized } from "./standardize.ts";

/** Leading q eigenvectors of Σ = LL' times square roots of eigenvalues, with mean and noise of the mixed model. */
export function leadingStart(lmm: LowRankParameters, d: number, q: number): LowRankParameters {
  return { ...lmm, factor: withColumns(canonicalFactor(lmm.factor, d, lmm.rank), d, lmm.rank, q), rank: q };
}

/** The better of `fit` and the maxima reached from `restarts` lower ranks; a warning tells of a better one. */
export function restartFromLowerRanks(
  standard: Standardized,
  mean: MeanProblem,
  settings: LinearSettings,
  control: FitControl,
  restarts: number,
  fit: LinearFit,
): LinearFit {
  const d = standard.statistics.basis.numBasis;
  const rank = numericalRank(fit.parameters.factor, d, d);
  if (rank === d || isNoiseless(fit.parameters)) return fit;
  const stage = "linear mixed model, other starts";
  let best = fit;
  let spent = 0;
  for (let q = rank - 1; q >= Math.max(1, rank - restarts); q--) {
    const few = { ...settings, maxEmIterations: 3 };
    const lower = fitLinear(standard, leadingStart(fit.parameters, d, q), mean, fpcaEmStep, stage, few, control);
    const start = { ...lower.parameters, factor: withColumns(lower.parameters.factor, d, q, d), rank: d };
    const again = fitLinear(standard, start, mean, lmmEmStep, stage, { ...settings, maxEmIterations: 0 }, control);
    spent += lower.iterations + again.iterations;
    // A climb to vanishing noise is no better maximum, but none at all.
    const higher = again.logLikelihood > best.logLikelihood + 10 * settings.tolerance;
    if (higher && !isNoiseless(again.parameters)) best = again;
  }
  if (best === fit) return { ...fit, iterations: fit.iterations + spent };
  const gain = best.logLikelihood - fit.logLikelihood;
  return {
    ...best,
    trace: [...fit.trace, best.logLikelihood],
    iterations: fit.iterations + spent,
    warnings: [
      ...best.warnings,
      `The likelihood has several maxima: a start of lower rank ended ${gain.toPrecision(2)} higher in log-likelihood and was kept.`,
    ],
    milliseconds: fit.milliseconds,
  };
}

/** F [d,r] cut or padded with zeros to q columns. */
function withColumns(F: Float64Array, d: number, r: number, q: number): Float64Array {
  const out = new Float64Array(d * q);
  for (let k = 0; k < d; k++) for (let a = 0; a < Math.min(r, q); a++) out[k * q + a] = F[k * r + a];
  return out;
}
