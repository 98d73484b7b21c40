/**
 * First time at which a curve b(t)'w crosses a threshold after a given time. Curves are piecewise polynomials of the
 * spline's degree, so each knot interval is searched on a fine grid and the crossing refined by false position.
 */
import { type Basis, basisDomain, evaluateActive } from "../../basis/bspline.ts";
import { functionalMean } from "../mixture/curve-distribution.ts";

export type CrossingDirection = "up" | "down";

const PER_INTERVAL = 24;

/** Search times: from `from` to the end of the domain, knots included, `PER_INTERVAL` steps per knot interval. */
export function crossingGrid(basis: Basis, from: number): Float64Array {
  const [first, last] = basisDomain(basis);
  const start = Math.max(from, first);
  const breaks = [start];
  for (const knot of basis.knots) if (knot > breaks[breaks.length - 1] && knot <= last) breaks.push(knot);
  const times: number[] = [start];
  for (let k = 1; k < breaks.length; k++) {
    for (let j = 1; j <= PER_INTERVAL; j++) {
      times.push(j === PER_INTERVAL ? breaks[k] : breaks[k - 1] + ((breaks[k] - breaks[k - 1]) * j) / PER_INTERVAL);
    }
  }
  return Float64Array.from(times);
}

/**
 * First t ≥ grid[0] with the curve at or beyond the threshold in the given direction; grid[0] if it is there already,
 * infinity if it does not get there by the end of the domain. `rows` are basis rows at the grid, [T,d].
 */
export function firstCrossing(
  basis: Basis,
  coefficients: Float64Array,
  threshold: number,
  direction: CrossingDirection,
  grid: Float64Array,
  rows: Float64Array,
): number {
  const d = basis.numBasis;
  const sign = direction === "up" ? 1 : -1;
  const active = new Float64Array(basis.degree + 1);
  const beyond = (t: number): number => {
    const first = evaluateActive(basis, t, active);
    let s = 0;
    for (let j = 0; j <= basis.degree; j++) s += active[j] * coefficients[first + j];
    return sign * (s - threshold);
  };
  let before = 0;
  for (let k = 0; k < grid.length; k++) {
    const here = sign * (functionalMean(rows, k * d, coefficients, 0, d) - threshold);
    if (here >= 0) return k === 0 ? grid[0] : root(beyond, grid[k - 1], before, grid[k], here);
    before = here;
  }
  return Number.POSITIVE_INFINITY;
}

/** Where f, below 0 at a and not at b, comes to 0, to 2⁻⁴⁰ of the bracket: false position with the Illinois rule. */
function root(f: (t: number) => number, a: number, fa: number, b: number, fb: number): number {
  const enough = (b - a) * 2 ** -40;
  let last = b;
  // Which end stayed: its value is halved when it stays again, or the other would creep towards it.
  let stayed = "";
  for (let step = 0; step < 60 && fb > 0; step++) {
    const t = Math.min(b, Math.max(a, a - (fa * (b - a)) / (fb - fa)));
    const v = f(t);
    if (Math.abs(t - last) <= enough) return t;
    last = t;
    if (v >= 0) {
      [b, fb] = [t, v];
      if (stayed === "a") fa /= 2;
      stayed = "a";
    } else {
      [a, fa] = [t, v];
      if (stayed === "b") fb /= 2;
      stayed = "b";
    }
  }
  return b;
}
