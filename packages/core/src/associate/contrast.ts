/**
 * What a difference map comes to in shares: of those placed where the difference leaves its band, how many have the outcome, and how
 * many elsewhere. The band was drawn where the labels differ most, so that the shares of the same people flatter; held out, cases and
 * others are dealt out to ten folds, and each is counted by the area that the other nine draw,
 *   R_f = { x : ± w₋f(x) > c √p(x) },   w₋f the difference without fold f, the band that of everybody.
 * Somebody stands at the posterior mean of the place, as drawn on the map; shares are not adjusted for covariates.
 *                                                                                  (docs/math/association.md §4)
 */
import type { Placements } from "../models/placement.ts";
import { dot, multiplyVector, takeRows } from "../numeric/matrix.ts";
import { type Rate, rateAmong } from "../numeric/rate.ts";
import { type DifferenceMap, knownWith, latticeOf } from "./difference-map.ts";
import { CASE, CONTROL } from "./outcomes.ts";
import { randomGroups } from "./pair-auc.ts";
import { placeFeatures } from "./place-features.ts";
import type { PosteriorFeatures } from "./posterior-features.ts";
import { labelResidual, weightedSum } from "./score-test.ts";

/** Shares of people placed in an area and of all others. */
export interface AreaShares {
  readonly here: Rate;
  readonly elsewhere: Rate;
}

export interface OutcomeContrast extends AreaShares {
  /** 1: more have it in the area than chance allows; −1: fewer. */
  readonly side: 1 | -1;
  /** Middle of the area as drawn, [q]; null where the area does not hold its own middle. */
  readonly centre: Float64Array | null;
  /** The same of the area as drawn, counted in the people who drew it. */
  readonly drawn: AreaShares;
}

const NUM_FOLDS = 10;
/** Fewer people, as drawn or held out, are no area to speak of. */
const LEAST_THERE = 5;

/** The contrast of a difference map of labels [m]: of places with more cases, else of those with fewer; null where none stands out. */
export function outcomeContrast(
  { rows: all, numFeatures: F, kernel }: PosteriorFeatures,
  { location, mapDimension: q }: Pick<Placements, "location" | "mapDimension">,
  labels: ArrayLike<number>,
  map: DifferenceMap,
  covariates: readonly ArrayLike<number>[] = [],
  seed = 1,
): OutcomeContrast | null {
  if (!map.outside.some((side) => side !== 0)) return null;
  const size = map.axes[0].length;
  const { places, open } = latticeOf(q, size);
  const node = (i: number) => nodeAt(location.subarray(i * q, (i + 1) * q), map.axes);
  const at = placeFeatures(takeRows(places, q, open), q, kernel);

  // In one order, whatever that of the individuals, so that folds are the same.
  const known = knownWith(labels, covariates).sort((i, j) => {
    let difference = labels[i] - labels[j];
    for (let c = 0; c < q && difference === 0; c++) difference = location[i * q + c] - location[j * q + c];
    return difference;
  });
  const classes = [CONTROL, CASE].map((label) =>
    Int32Array.from(known.keys()).filter((k) => labels[known[k]] === label),
  );
  const folds = randomGroups(classes, known.length, Math.min(NUM_FOLDS, ...classes.map((c) => c.length)), seed);
  const sides = Array.from({ length: Math.max(...folds) + 1 }, (_, f) => {
    const others = known.filter((_, k) => folds[k] !== f);
    const residual = labelResidual(
      others.map((i) => labels[i]),
      covariates.map((column) => others.map((i) => column[i])),
    );
    const sum = weightedSum(residual, takeRows(all, F, others), others.length, F);
    const scale = 1 / dot(residual, residual);
    const out = new Int8Array(map.outside.length);
    for (const [p, w] of multiplyVector(at, sum, open.length, F).entries()) {
      const k = open[p];
      if (Math.abs(w) * scale > map.halfWidth[k]) out[k] = Math.sign(w);
    }
    return out;
  });
  for (const side of [1, -1] as const) {
    const share = (isHere: (i: number, k: number) => boolean): AreaShares => ({
      here: rateAmong(
        labels,
        known.filter((i, k) => isHere(i, k)),
      ),
      elsewhere: rateAmong(
        labels,
        known.filter((i, k) => !isHere(i, k)),
      ),
    });
    const drawn = share((i) => map.outside[node(i)] === side);
    const held = share((i, k) => sides[folds[k]][node(i)] === side);
    if (Math.min(drawn.here.known, held.here.known) < LEAST_THERE) continue;
    return { side, centre: centreOf(map, side), ...held, drawn };
  }
  return null;
}

/** Position of the node nearest to a place; −1 beyond the lattice. */
function nodeAt(place: Float64Array, axes: readonly Float64Array[]): number {
  let at = 0;
  for (const [c, axis] of axes.entries()) {
    const n = axis.length;
    const k = Math.round(((place[c] - axis[0]) / (axis[n - 1] - axis[0])) * (n - 1));
    if (!(k >= 0 && k < n)) return -1;
    at = at * n + k;
  }
  return at;
}

/** Middle of the area, nodes weighted by the individuals near them. */
function centreOf({ axes, outside, individuals }: DifferenceMap, side: number): Float64Array | null {
  const n = axes[0].length;
  const centre = new Float64Array(axes.length);
  let total = 0;
  for (const [k, own] of outside.entries()) {
    if (own !== side) continue;
    total += individuals[k];
    for (let c = axes.length - 1, rest = k; c >= 0; c--, rest = Math.floor(rest / n)) {
      centre[c] += individuals[k] * axes[c][rest % n];
    }
  }
  const middle = centre.map((v) => v / total);
  return outside[nodeAt(middle, axes)] === side ? middle : null;
}
