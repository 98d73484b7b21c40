/**
 * Time to a threshold for a placed individual: the first time at which the noise-free curve crosses it after the last
 * observation, as a distribution over posterior draws of the curve (docs/math/prediction.md §4).
 */

import { basisDomain, designMatrix } from "../../basis/bspline.ts";
import { checkGiven, checkNames, checkNumbers, checkOption, checkSeed, DtmError, optionNames } from "../../errors.ts";
import { type ModelBase, markerModel } from "../fit.ts";
import { posteriorFunctionals } from "../mixture/conditioner.ts";
import type { Placement } from "../placement.ts";
import { checkDraws, checkLevel, checkPlaced, modelThreshold } from "./checks.ts";
import { drawCoefficients } from "./draws.ts";
import { type CrossingDirection, crossingGrid, firstCrossing } from "./first-crossing.ts";

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

const CROSSING_OPTIONS = optionNames<CrossingOptions>({
  ...{ threshold: true, from: true, direction: true, probabilities: true, numDraws: true, seed: true },
});

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

/**
 * When the noise-free curve first crosses a threshold: distribution of the time.
 * @throws DtmError "extrapolation" for a start after the last time of training, "option" for a threshold out of range.
 * @example
 * const { quantiles, probabilityNone } = predictCrossing(model, someone, { threshold: 60 });
 */
export function predictCrossing(model: ModelBase, placement: Placement, options: CrossingOptions): Crossing {
  checkGiven("predictCrossing", { model, placement, options });
  checkNames("predictCrossing", options, CROSSING_OPTIONS);
  checkSeed("predictCrossing", options.seed);
  checkPlaced("predictCrossing", model, placement);
  const own = markerModel(model);
  const { threshold, probabilities = [0.05, 0.25, 0.5, 0.75, 0.95], numDraws = 4000, seed = 1 } = options;
  const [first, last] = basisDomain(own.basis);
  const level = modelThreshold("predictCrossing", model, threshold);
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
  checkNumbers("predictCrossing", "probabilities", probabilities);
  for (const probability of probabilities) checkLevel("predictCrossing", probability);
  if (from > last) {
    throw new DtmError(
      "extrapolation",
      `predictCrossing: expected a start of at most ${last} (the last training time), received ${from}. Nothing is known of later times.`,
    );
  }
  const grid = crossingGrid(own.basis, from);
  const rows = designMatrix(own.basis, grid);
  const here = posteriorFunctionals(placement.posterior, own.mean.coefficients)(rows, 0, false);
  // The median is below the threshold where less than half of the distribution is above it.
  const below = new Float64Array(2);
  here.sums(level, below);
  const direction = options.direction ?? (below[0] > 0.5 ? "up" : "down");
  const crossings = new Float64Array(numDraws);
  drawCoefficients(model, placement, { numDraws, seed }, (w, s) => {
    crossings[s] = firstCrossing(own.basis, w, level, direction, grid, rows);
  });
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
