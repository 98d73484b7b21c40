/**
 * Other starts for the mixed model. Where its covariance loses rank the likelihood of a small cohort can have several
 * maxima, and a reduced-rank model, though nested, may climb higher. From the fit of rank r the leading r−1, r−2, ...
 * directions are fitted alone and the result is handed back to the mixed model (docs/math/linear.md §5).
 */
import { withoutBreakdown } from "../../errors.ts";
import type { FitControl } from "../fit.ts";
import { leadingStart, numericalRank } from "./canonical.ts";
import { isNoiseless, maximizeCovariance, maximizeLoadings } from "./em.ts";
import { fitLinear, type LinearFit } from "./fit-linear.ts";
import type { LinearSettings } from "./settings.ts";
import type { StandardProblem } from "./standardize.ts";

const STAGE = "linear mixed model, other starts";

/** The better of `fit` and the maxima reached from `restarts` lower ranks; a warning tells of a better one. */
export function restartFromLowerRanks(
  problem: StandardProblem,
  settings: LinearSettings,
  control: FitControl,
  restarts: number,
  fit: LinearFit,
): LinearFit {
  const d = problem.numCoefficients;
  const rank = numericalRank(fit.parameters.factor, d, d);
  if (restarts === 0 || rank === d || isNoiseless(problem, fit.parameters)) return fit;
  let best = fit;
  let spent = 0;
  for (let q = rank - 1; q >= Math.max(1, rank - restarts); q--) {
    const few = { ...settings, maxEmIterations: 3 };
    // Another start is a chance, no duty: where values have no noise at all it may break down.
    const climbed = withoutBreakdown(() => {
      const lower = fitLinear(problem, leadingStart(fit.parameters, q), maximizeLoadings, STAGE, few, control);
      const start = leadingStart(lower.parameters, d);
      const rest = { ...settings, maxEmIterations: 0 };
      return { lower, again: fitLinear(problem, start, maximizeCovariance, STAGE, rest, control) };
    });
    if (climbed === undefined) continue;
    const { lower, again } = climbed;
    spent += lower.iterations + again.iterations;
    // A climb to vanishing noise is no better maximum, but none at all.
    const higher = again.logLikelihood > best.logLikelihood + 10 * settings.tolerance;
    if (higher && !isNoiseless(problem, again.parameters)) best = again;
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
