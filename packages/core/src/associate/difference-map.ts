/**
 * Where on the map two groups differ: the smoothed difference of their average posteriors,
 *   w(x) = ψ(x)'(φ̄₁ − φ̄₀),  and the band |w(x)| ≤ c √p(x) for all places at once,  p(x) = Σ_g π_g k(x, x_g) the smoothed prior,
 * c the 95 % quantile over multipliers of the largest |w*(x)|/√p(x) within 2.25 prior sd. The band is not made of the own
 * estimated sd of w: where no case has weight that is nearly zero, and chance would break the band nearly always.
 * Colours: the local share of cases n₁a₁/(n₁a₁ + n₀a₀), a = ψ'φ̄.                   (docs/math/association.md §4)
 */
import { checkOption, DtmError } from "../errors.ts";
import { bilinear, dot, multiply, multiplyVector, takeRows, transpose } from "../numeric/matrix.ts";
import { eachSignedSum, randomSigns, type Signs } from "./multipliers.ts";
import { CASE, CONTROL } from "./outcomes.ts";
import { placeFeatures } from "./place-features.ts";
import type { PosteriorFeatures } from "./posterior-features.ts";
import { type Score, scoreOf } from "./score-test.ts";

export interface DifferenceMapOptions {
  /** Lattice points along each axis. Default 129 on the line, 49 in the plane. */
  readonly gridSize?: number;
  /** Behind the band. Default 999. */
  readonly draws?: number;
  readonly seed?: number;
  /** The share is left open where fewer individuals are near. Default 11: a map may be shared. */
  readonly minIndividuals?: number;
  /** What the difference is adjusted for, [m] each, NaN for unknown: w and the share are then those at equal covariates. */
  readonly covariates?: readonly ArrayLike<number>[];
}

/** Surfaces are [size] or [size,size], first axis slowest; NaN beyond 2.25 prior sd. */
export interface DifferenceMap {
  /** Coordinates along each axis, [size] each. */
  readonly axes: readonly Float64Array[];
  /** w, and the half-width of its simultaneous 95 % band. */
  readonly difference: Float64Array;
  readonly halfWidth: Float64Array;
  /** Local share of cases; NaN also where too few individuals are near. */
  readonly share: Float64Array;
  /** Effective number of individuals, (Σk_i)²/Σk_i² for k_i = ψ(x)'φ_i. */
  readonly individuals: Float64Array;
  /** 1 where w lies above the band, −1 where below, 0 elsewhere. */
  readonly outside: Int8Array;
  /** c. */
  readonly critical: number;
  readonly draws: number;
}

/** How far from the middle of the map the band holds, in prior sd. */
const REACH = 2.25;

/** The difference map of labels (1 case, 0 control, anything else unknown) for features of the map kernel. */
export function differenceMap(
  { rows: all, numFeatures: F, prior, kernel }: PosteriorFeatures,
  mapDimension: number,
  labels: ArrayLike<number>,
  options: DifferenceMapOptions = {},
): DifferenceMap {
  const q = mapDimension;
  const { gridSize: size = q === 1 ? 129 : 49, draws = 999, seed = 1, minIndividuals = 11, covariates = [] } = options;
  checkOption(size >= 2, "differenceMap", "a gridSize of 2 or more", size, "Take 49.");
  checkOption(draws >= 19, "differenceMap", "19 draws or more", draws, "Take 999.");
  if (q > 2) {
    throw new DtmError("no-lattice", `differenceMap: expected a map of one or two dimensions, received ${q}.`);
  }
  const known = knownWith(labels, covariates);
  const rows = takeRows(all, F, known);
  const z = known.map((i) => labels[i]);

  const { axis, places, open } = latticeOf(q, size);
  const at = placeFeatures(takeRows(places, q, open), q, kernel);
  const columns = covariates.map((column) => known.map((i) => column[i]));
  const score = scoreOf(rows, z, columns);
  const { difference, halfWidth, critical } = differenceBand(at, prior, score, draws, randomSigns(seed));
  const { share, individuals } = localShare(at, rows, z, columns.length > 0 ? score : undefined);
  const spread = (value: (p: number) => number) => {
    const out = new Float64Array(size ** q).fill(Number.NaN);
    for (const [p, k] of open.entries()) out[k] = value(p);
    return out;
  };
  return {
    axes: Array.from({ length: q }, () => axis),
    difference: spread((p) => difference[p]),
    halfWidth: spread((p) => halfWidth[p]),
    share: spread((p) => (individuals[p] >= minIndividuals ? share[p] : Number.NaN)),
    individuals: spread((p) => individuals[p]),
    outside: Int8Array.from(spread((p) => (Math.abs(difference[p]) > halfWidth[p] ? Math.sign(difference[p]) : 0))),
    critical,
    draws,
  };
}

/** Positions of those with a label of 1 or 0 and every covariate. */
export function knownWith(labels: ArrayLike<number>, covariates: readonly ArrayLike<number>[]): number[] {
  const isKnown = (i: number) => covariates.every((column) => !Number.isNaN(column[i]));
  return Array.from(labels, (_, i) => i).filter((i) => (labels[i] === CASE || labels[i] === CONTROL) && isKnown(i));
}

/** The lattice of a map: its axis, its points [size^q,q], first axis slowest, and which of them lie within reach. */
export function latticeOf(q: number, size: number) {
  const axis = Float64Array.from({ length: size }, (_, k) => REACH * ((2 * k) / (size - 1) - 1));
  const places = q === 1 ? axis : Float64Array.from([...axis].flatMap((x) => [...axis].flatMap((y) => [x, y])));
  const open = Array.from({ length: size ** q }, (_, k) => k).filter(
    (k) => Math.hypot(...places.subarray(k * q, (k + 1) * q)) <= REACH * (1 + 1e-9),
  );
  return { axis, places, open };
}

/** w and c √p at places with features `at` [P,F], for the score of two groups. */
export function differenceBand(at: Float64Array, prior: Float64Array, score: Score, draws: number, signs: Signs) {
  const { n, numFeatures: F, residual, errors } = score;
  const P = at.length / F;
  // S is n₁n₀/m times the difference of means, and |a|² is n₁n₀/m.
  const scale = 1 / dot(residual, residual);
  const difference = multiplyVector(at, score.sum, P, F).map((v) => v * scale);
  const root = multiplyVector(at, prior, P, F).map((v) => Math.sqrt(Math.max(v, 0)));
  const largest = new Float64Array(draws);
  const plan = { n, numFeatures: F, rows: errors, weights: [residual] };
  eachSignedSum(plan, signs, 0, draws, (sums, offset, b) => {
    for (let p = 0; p < P; p++) {
      let w = 0;
      for (let f = 0; f < F; f++) w += at[p * F + f] * sums[offset + f];
      largest[b] = Math.max(largest[b], (Math.abs(w) * scale) / root[p]);
    }
  });
  largest.sort();
  const critical = largest[Math.min(draws, Math.ceil(0.95 * (draws + 1))) - 1];
  return { difference, halfWidth: root.map((v) => critical * v), critical };
}

/**
 * Share of cases among individuals weighted by k_i = ψ'φ_i, and their effective number, [P] each. Adjusted, the sums over cases
 * and controls are moved apart, by as much each, until their means differ by β = S/|a|², the difference at equal covariates.
 */
function localShare(at: Float64Array, rows: Float64Array, z: readonly number[], adjusted?: Score) {
  const F = rows.length / z.length;
  const P = at.length / F;
  const sumOf = (label: number) => {
    const out = new Float64Array(F);
    for (const [i, v] of z.entries()) if (v === label) for (let f = 0; f < F; f++) out[f] += rows[i * F + f];
    return out;
  };
  const sums = [sumOf(CASE), sumOf(CONTROL)];
  if (adjusted !== undefined) {
    const n = [CASE, CONTROL].map((label) => z.filter((v) => v === label).length);
    const [each, norm2] = [(n[0] * n[1]) / z.length, dot(adjusted.residual, adjusted.residual)];
    for (let f = 0; f < F; f++) {
      const more = each * (adjusted.sum[f] / norm2 - (sums[0][f] / n[0] - sums[1][f] / n[1]));
      sums[0][f] += more;
      sums[1][f] -= more;
    }
  }
  const [cases, controls] = sums.map((sum) => multiplyVector(at, sum, P, F).map((v) => Math.max(v, 0)));
  const squares = multiply(transpose(rows, z.length, F), rows, F, z.length, F);
  const individuals = cases.map((c, p) => {
    const psi = at.subarray(p * F, (p + 1) * F);
    return (c + controls[p]) ** 2 / bilinear(psi, squares, psi);
  });
  return { share: cases.map((c, p) => c / (c + controls[p])), individuals };
}
