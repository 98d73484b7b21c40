/**
 * Knots at percentiles of the pooled observation times (docs/math/basis.md): interior knots at probabilities
 * j/(d−k), j = 1..d−k−1, type-7 percentiles, every observation counted, ties included. If they are not strictly
 * increasing inside (a, b), percentiles of the distinct times are used, then equally spaced knots.
 */
import { checkOption, DtmError } from "../errors.ts";
import { roundTo } from "../numeric/rounding.ts";
import { sortedQuantile } from "../numeric/select.ts";
import type { Basis } from "./bspline.ts";

export interface BasisOptions {
  /** Number of basis functions. Default 5. */
  readonly numBasis?: number;
  /** Degree of the splines, 1 to 3. Default 2. */
  readonly degree?: number;
  /** Domain [first, last]; default the range of the times. */
  readonly domain?: readonly [number, number];
  /** Interior knots, rising inside the domain; the number of basis functions then follows. Default at percentiles. */
  readonly knots?: readonly number[];
  /** Whether fits round knots, which otherwise are times of single visits (`roundKnots`). Default true; false for models that are never shared. */
  readonly rounded?: boolean;
}

/**
 * The basis of B-splines for times: knots at their percentiles, unless others are asked for.
 * @throws DtmError "option" or "one-time".
 */
export function bsplineBasis(times: ArrayLike<number>, options: BasisOptions = {}): Basis {
  const { degree = 2, knots: given } = options;
  const { numBasis = given === undefined ? 5 : given.length + degree + 1 } = options;
  checkOption(
    Number.isInteger(degree) && degree >= 1 && degree <= 3,
    "bsplineBasis",
    "degree 1, 2 or 3",
    degree,
    "Use 2, the default, or 3 for smoother curves.",
  );
  checkOption(
    Number.isInteger(numBasis) && numBasis >= degree + 1,
    "bsplineBasis",
    `numBasis of at least degree + 1 = ${degree + 1}`,
    numBasis,
    "Use more basis functions or a lower degree.",
  );
  const sorted = Float64Array.from(times).sort();
  const [a, b] = options.domain ?? [sorted[0], sorted[sorted.length - 1]];
  if (!(b > a)) {
    throw new DtmError(
      "one-time",
      `bsplineBasis: expected a domain with first < last, received [${a}, ${b}]. A trajectory needs observations at more than one time.`,
    );
  }
  const numInterior = numBasis - degree - 1;
  if (given !== undefined) {
    const fit = given.length === numInterior && strictlyInside(Float64Array.from(given), a, b);
    const remedy = "Leave numBasis out, and name times at which the course may bend, in rising order.";
    checkOption(fit, "bsplineBasis", `${numInterior} knots rising between ${a} and ${b}`, given.join(", "), remedy);
  }
  const distinct = sorted.filter((t, j) => j === 0 || t !== sorted[j - 1]);
  const candidates = [
    ...(given === undefined ? [] : [{ placement: "given", interior: Float64Array.from(given) } as const]),
    { placement: "percentiles", interior: percentiles(sorted, numInterior) },
    { placement: "distinct-percentiles", interior: percentiles(distinct, numInterior) },
    { placement: "equal", interior: spaced(a, b, numInterior) },
  ] as const;
  const { placement, interior } =
    candidates.find((c) => strictlyInside(c.interior, a, b)) ?? candidates[candidates.length - 1];
  return { degree, numBasis, knots: clamped(a, interior, b, degree), placement };
}

/** Knots are rounded to this share of the domain or less; those between, to as much finer as keeps them apart. */
const COARSEST = 100;
const FINER = 3;

/**
 * The basis with knots that are nobody's visits where times are written finer than the rounding, the only one that fits make unless told otherwise: the first rounded down and the last up, in a step of a
 * power of ten of at most a hundredth of the domain, those between to the nearest, in that step or in a tenth or a hundredth of it; equally spaced where
 * these do not tell them apart. Exact knots are the times of single visits, the first and the last of one individual each. Times on a
 * grid as coarse as the step are round already: there the ends are the first and the last time of the table (docs/privacy.md). A domain or
 * knots that were asked for tell nothing of anybody, and stay.
 */
export function roundKnots(basis: Basis, domain?: readonly [number, number]): Basis {
  const { degree, numBasis, knots } = basis;
  const [a, b] = [knots[degree], knots[numBasis]];
  const coarsest = 10 ** Math.floor(Math.log10((b - a) / COARSEST));
  const first = domain === undefined ? outwards(a, coarsest, Math.floor) : a;
  const last = domain === undefined ? outwards(b, coarsest, Math.ceil) : b;
  const between = knots.slice(degree + 1, numBasis);
  const rounded = Array.from({ length: FINER }, (_, k) =>
    between.map((t) => roundTo(t, coarsest / 10 ** k, Math.round)),
  ).find((interior) => strictlyInside(interior, first, last));
  const isGiven = basis.placement === "given";
  const interior = isGiven ? between : (rounded ?? spaced(first, last, between.length));
  const placement = isGiven || rounded !== undefined ? basis.placement : "equal";
  return { ...basis, knots: clamped(first, interior, last, degree), placement };
}

/** A time rounded away from the others, never towards them, whatever the last digit does. */
function outwards(t: number, step: number, round: typeof Math.floor | typeof Math.ceil): number {
  const out = roundTo(t, step, round);
  const isInside = round === Math.floor ? out > t : out < t;
  return isInside ? out + (round === Math.floor ? -step : step) : out;
}

/** The full knot vector: both ends as often as the degree and once more. */
function clamped(first: number, interior: Float64Array, last: number, degree: number): Float64Array {
  const knots = new Float64Array(interior.length + 2 * (degree + 1)).fill(first, 0, degree + 1);
  knots.set(interior, degree + 1);
  return knots.fill(last, degree + 1 + interior.length);
}

function percentiles(sorted: Float64Array, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, j) => sortedQuantile(sorted, (j + 1) / (count + 1)));
}

function spaced(a: number, b: number, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, j) => a + ((b - a) * (j + 1)) / (count + 1));
}

function strictlyInside(interior: Float64Array, a: number, b: number): boolean {
  let previous = a;
  const gap = 1e-9 * (b - a);
  for (let j = 0; j <= interior.length; j++) {
    const next = j < interior.length ? interior[j] : b;
    if (!(next - previous > gap)) return false;
    previous = next;
  }
  return true;
}
