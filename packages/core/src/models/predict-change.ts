/**
 * Small questions about the noise-free curve f of a placed individual, answered under its posterior:
 *   P(f(t) < c)               exact: Σ_k w_k Φ((c − m_k)/s_k) on the scale of the model, which keeps order;
 *   f(t₁) − f(t₀)             exact mixture for an untransformed marker, by draws otherwise;
 *   f_a(t) − f_b(t)           by draws, the two individuals being independent given the model.
 * (docs/math/prediction.md)
 */
import { designMatrix } from "../basis/bspline.ts";
import { applyTransform } from "../cohort/marker.ts";
import { checkOption } from "../errors.ts";
import { sortedQuantile } from "../numeric/select.ts";
import type { ModelBase } from "./fit.ts";
import { mixtureCdf } from "./mixture/normal-mixture.ts";
import { mixtureQuantile } from "./mixture/quantiles.ts";
import type { Placement } from "./placement.ts";
import { checkLevel, drawCurves, valueDistribution } from "./predict.ts";

export interface ChangeOptions {
  /** Probability inside the interval. Default 0.9. */
  readonly level?: number;
  /** Draws, where draws are needed. Default 4000. */
  readonly numDraws?: number;
  readonly seed?: number;
}

/** Median and central interval of one number, on the marker's original scale. */
export interface Interval {
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
}

/** Added to the seed of the second individual of a difference, whose draws must not follow those of the first. */
const SECOND = 7919;

/** Probability that the curve is below the threshold (original scale) at each time, [T]. */
export function predictBelow(
  model: ModelBase,
  placement: Placement,
  times: ArrayLike<number>,
  threshold: number,
): Float64Array {
  const { transform } = model.marker;
  const level = applyTransform(transform, threshold);
  checkOption(
    Number.isFinite(level),
    "predictBelow",
    `a threshold in the domain of transform "${transform}"`,
    threshold,
    "Give the threshold on the marker's original scale.",
  );
  const rows = designMatrix(model.basis, times);
  return Float64Array.from({ length: times.length }, (_, t) =>
    mixtureCdf(valueDistribution(model, placement, rows, t, 0), level),
  );
}

/** Change of the curve from one time to another. */
export function predictChange(
  model: ModelBase,
  placement: Placement,
  from: number,
  to: number,
  options: ChangeOptions = {},
): Interval {
  const { level = 0.9, numDraws = 4000, seed = 1 } = options;
  checkLevel("predictChange", level);
  if (model.marker.transform !== "identity") {
    const draws = drawCurves(model, placement, [from, to], { numDraws, seed });
    return summarize(
      Float64Array.from({ length: numDraws }, (_, s) => draws[2 * s + 1] - draws[2 * s]),
      level,
    );
  }
  const d = model.basis.numBasis;
  const rows = designMatrix(model.basis, [from, to]);
  const change = Float64Array.from({ length: d }, (_, k) => rows[d + k] - rows[k]);
  const value = valueDistribution(model, placement, change, 0, 0);
  return {
    median: mixtureQuantile(value, 0.5),
    lower: mixtureQuantile(value, 0.5 * (1 - level)),
    upper: mixtureQuantile(value, 0.5 * (1 + level)),
  };
}

/** Curve of the first individual minus that of the second at each time. */
export function predictDifference(
  model: ModelBase,
  first: Placement,
  second: Placement,
  times: ArrayLike<number>,
  options: ChangeOptions = {},
): Interval[] {
  const { level = 0.9, numDraws = 4000, seed = 1 } = options;
  checkLevel("predictDifference", level);
  const a = drawCurves(model, first, times, { numDraws, seed });
  const b = drawCurves(model, second, times, { numDraws, seed: seed + SECOND });
  const T = times.length;
  return Array.from({ length: T }, (_, t) =>
    summarize(
      Float64Array.from({ length: numDraws }, (_, s) => a[s * T + t] - b[s * T + t]),
      level,
    ),
  );
}

function summarize(draws: Float64Array, level: number): Interval {
  draws.sort();
  return {
    median: sortedQuantile(draws, 0.5),
    lower: sortedQuantile(draws, 0.5 * (1 - level)),
    upper: sortedQuantile(draws, 0.5 * (1 + level)),
  };
}
