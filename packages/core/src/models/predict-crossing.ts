/**
 * Time to a threshold for a placed individual: the first time at which the noise-free curve crosses it after the last
 * observation, as a distribution over posterior draws of the curve (docs/math/prediction.md §4).
 */
import { basisDomain, designMatrix } from "../basis/bspline.ts";
import { applyTransform } from "../cohort/marker.ts";
import { checkOption, DtmError } from "../errors.ts";
import { createRandom } from "../numeric/random.ts";
import type { ModelBase } from "./fit.ts";
import { type CrossingDirection, crossingGrid, firstCrossing } from "./mixture/crossing.ts";
import { coefficientSampler } from "./mixture/place.ts";
import { mixtureQuantile } from "./mixture/quantiles.ts";
import type { Placement } from "./placement.ts";
import { checkDraws, checkLevel, valueDistribution } from "./predict.ts";

export interface CrossingOptions {
  /** Value on the marker's original scale. */
  readonly threshold: number;
  /** Start of the search; default the last observation (or the first training time without any). */
  readonly from?: number;
  /** Default: away from the side on which the median curve is at `from`. */
  readonly direction?: CrossingDirection;
  /** Default 0.05, 0.25, 0.5, 0.75, 0.95. */
  readonly probabilities?: readonly number[];
  readonly numDraws?: number;
  readonly seed?: number;
}

export interface Crossing {
  readonly threshold: number;
  readonly from: number;
  readonly direction: CrossingDirection;
  /** Quantiles of the time of the first crossing; null where that share has not crossed by the last training time. */
  readonly quantiles: readonly { readonly probability: number; readonly time: number | null }[];
  /** Probability that the curve is beyond the threshold at `from` already. */
  readonly probabilityAlready: number;
  /** Probability of no crossing within the training times. */
  readonly probabilityNone: number;
}

/** When the noise-free curve first crosses a threshold: distribution of the time. */
export function predictCrossing(model: ModelBase, placement: Placement, options: CrossingOptions): Crossing {
  const { threshold, probabilities = [0.05, 0.25, 0.5, 0.75, 0.95], numDraws = 4000, seed = 1 } = options;
  const [first, last] = basisDomain(model.basis);
  const level = applyTransform(model.marker.transform, threshold);
  checkOption(
    Number.isFinite(level),
    "predictCrossing",
    `a threshold in the domain of transform "${model.marker.transform}"`,
    threshold,
    "Give the threshold on the marker's original scale.",
  );
  checkDraws("predictCrossing", numDraws);
  const from = options.from ?? Math.max(placement.lastTime, first);
  checkOption(Number.isFinite(from), "predictCrossing", "a finite start", from, "Leave `from` out for the last visit.");
  checkOption(
    options.direction === undefined || options.direction === "up" || options.direction === "down",
    "predictCrossing",
    'direction "up" or "down"',
    options.direction,
    "Leave it out to look away from the present side.",
  );
  for (const probability of probabilities) checkLevel("predictCrossing", probability);
  if (from > last) {
    throw new DtmError(
      "extrapolation",
      `predictCrossing: expected a start of at most ${last} (the last training time), received ${from}. Nothing is known of later times.`,
    );
  }
  const d = model.basis.numBasis;
  const grid = crossingGrid(model.basis, from);
  const rows = designMatrix(model.basis, grid);
  const here = valueDistribution(model, placement, rows, 0, 0);
  const direction = options.direction ?? (mixtureQuantile(here, 0.5) < level ? "up" : "down");
  const sampler = coefficientSampler(placement.posterior, d);
  const random = createRandom(seed);
  const w = new Float64Array(d);
  const crossings = new Float64Array(numDraws);
  for (let s = 0; s < numDraws; s++) {
    sampler.draw(random, w, 0);
    for (let k = 0; k < d; k++) w[k] += model.mean.coefficients[k];
    crossings[s] = firstCrossing(model.basis, w, 0, level, direction, grid, rows);
  }
  crossings.sort();
  const reached = crossings.filter((t) => Number.isFinite(t)).length;
  return {
    threshold,
    from,
    direction,
    quantiles: probabilities.map((probability) => {
      const time = crossings[Math.min(numDraws - 1, Math.floor(probability * numDraws))];
      return { probability, time: Number.isFinite(time) ? time : null };
    }),
    probabilityAlready: crossings.filter((t) => t <= grid[0]).length / numDraws,
    probabilityNone: 1 - reached / numDraws,
  };
}
