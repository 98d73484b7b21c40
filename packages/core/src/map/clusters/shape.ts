/**
 * The shape of a course in at most two straight pieces. On the scale of the model (so that noise has one size σ), with
 * trapezoid weights over the given times:
 *   one line     y(t) ≈ a + b t;
 *   two pieces   y(t) ≈ a + b t + c (t − h)₊, h between 15% and 85% of the span, least squares over 71 places of h.
 * Two pieces are used where one line misses by more than 0.2σ (root mean square) and two miss by at most 0.7 of that.
 * A piece is level if its slope is under 0.6σ a year (a tenth of the span where the unit of time is unknown) and its
 * change under 1.5σ. Two pieces that say the same become one.   (docs/math/groups.md §5)
 */
import { cholesky, solveCholeskyInPlace } from "../../numeric/cholesky.ts";

export type Direction = "stable" | "falls" | "rises";

/** A straight piece of a course; values and slope on the scale of the model. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
  readonly slope: number;
  readonly direction: Direction;
}

/** One line describes a course that it misses by less than this, in sd of the noise; a median is that much smoother. */
const LINE_MISSES = 0.2;
/** A change of this many sd of the noise is spoken of; medians of many members show less, but it would say little. */
export const LEAST_CHANGE = 1.5;

/** Years in one unit of time, or undefined for a unit we do not know. */
export function yearsPer(timeUnit: string): number | undefined {
  const years: Readonly<Record<string, number>> = { year: 1, month: 1 / 12, week: 7 / 365.25, day: 1 / 365.25 };
  return years[timeUnit];
}

/** One or two pieces that describe y at increasing times; `timeUnit` in the singular. */
export function piecesOf(times: ArrayLike<number>, y: ArrayLike<number>, sigma: number, timeUnit: string): Piece[] {
  const first = times[0];
  const last = times[times.length - 1];
  const span = last - first;
  const steepest = 0.6 * sigma * (yearsPer(timeUnit) ?? 10 / span);
  const directionOf = (slope: number, length: number): Direction => {
    if (Math.abs(slope) < steepest && Math.abs(slope) * length < LEAST_CHANGE * sigma) return "stable";
    return slope < 0 ? "falls" : "rises";
  };
  const weights = trapezoidWeights(times);
  const line = fitLine(times, y, weights, null);
  const whole = pieceOf(line.at, first, last, directionOf);
  if (line.rms <= LINE_MISSES * sigma || times.length < 4) return [whole];

  let best = line;
  let hinge = first;
  for (let j = 0; j <= 70; j++) {
    const h = first + (0.15 + 0.01 * j) * span;
    const fit = fitLine(times, y, weights, h);
    if (fit.rms < best.rms) {
      best = fit;
      hinge = h;
    }
  }
  if (best.rms > 0.7 * line.rms) return [whole];
  const pieces = [pieceOf(best.at, first, hinge, directionOf), pieceOf(best.at, hinge, last, directionOf)];
  const [a, b] = pieces;
  if (a.direction !== b.direction) return pieces;
  // Equal directions are told apart only where one piece is twice as steep.
  const ratio = Math.abs(b.slope) / Math.abs(a.slope);
  const twice = ratio >= 2 || ratio <= 0.5;
  return a.direction !== "stable" && twice ? pieces : [whole];
}

function pieceOf(
  at: (t: number) => number,
  from: number,
  to: number,
  directionOf: (slope: number, length: number) => Direction,
): Piece {
  const start = at(from);
  const end = at(to);
  const slope = (end - start) / (to - from);
  return { from, to, start, end, slope, direction: directionOf(slope, to - from) };
}

/** Weighted least squares of y on 1, t and, with a hinge h, (t − h)₊. */
function fitLine(times: ArrayLike<number>, y: ArrayLike<number>, weights: Float64Array, hinge: number | null) {
  const p = hinge === null ? 2 : 3;
  const middle = 0.5 * (times[0] + times[times.length - 1]);
  const half = 0.5 * (times[times.length - 1] - times[0]);
  const row = (t: number) => [1, (t - middle) / half, hinge === null ? 0 : Math.max(0, t - hinge) / half];
  const A = new Float64Array(p * p);
  const b = new Float64Array(p);
  for (let j = 0; j < times.length; j++) {
    const x = row(times[j]);
    for (let r = 0; r < p; r++) {
      b[r] += weights[j] * x[r] * y[j];
      for (let c = 0; c < p; c++) A[r * p + c] += weights[j] * x[r] * x[c];
    }
  }
  // A hinge beyond the last but one time leaves no column of its own; a little ridge keeps the system solvable.
  for (let r = 0; r < p; r++) A[r * p + r] += 1e-10;
  solveCholeskyInPlace(cholesky(A, p), p, b);
  const at = (t: number): number => {
    const x = row(t);
    let s = 0;
    for (let r = 0; r < p; r++) s += b[r] * x[r];
    return s;
  };
  let squares = 0;
  for (let j = 0; j < times.length; j++) squares += weights[j] * (y[j] - at(times[j])) ** 2;
  return { at, rms: Math.sqrt(squares) };
}

/** Share of the span that each time stands for; they sum to one. */
function trapezoidWeights(times: ArrayLike<number>): Float64Array {
  const n = times.length;
  const weights = new Float64Array(n);
  for (let j = 0; j + 1 < n; j++) {
    const half = (0.5 * (times[j + 1] - times[j])) / (times[n - 1] - times[0]);
    weights[j] += half;
    weights[j + 1] += half;
  }
  return weights;
}
