/**
 * Knots at percentiles of the pooled observation times (docs/math/basis.md): interior knots at probabilities
 * j/(d−k), j = 1..d−k−1, type-7 percentiles, every observation counted, ties included. If they are not strictly
 * increasing inside (a, b), percentiles of the distinct times are used, then equally spaced knots.
 */
import { checkOption, DtmError } from "../errors.ts";
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
  const knots = new Float64Array(numBasis + degree + 1);
  knots.fill(a, 0, degree + 1);
  knots.set(interior, degree + 1);
  knots.fill(b, numBasis);
  return { degree, numBasis, knots, placement };
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
