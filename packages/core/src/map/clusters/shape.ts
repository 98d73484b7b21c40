/**
 * The shape of a course in at most two pieces. On the scale of the model (so that noise has one size σ), with trapezoid
 * weights over the given times:
 *   one line     y(t) ≈ a + b t;
 *   two pieces   y(t) ≈ a + b t + c (t − h)₊, h between 15% and 85% of the span, least squares over 71 places of h.
 * Two pieces are used where one line misses by more than 0.2σ (root mean square) and two miss by at most 0.7 of that. The
 * fit only finds the turn h, which is then moved to a round time; what is said of a piece is read off the course:
 *   stable         max y − min y < σ within the piece, and its ends do not differ by both σ/4 and a quarter of the first value,
 *                  nor by both σ/2 and 15% of it;
 *   falls, rises   |y(end) − y(start)| is at least half of max y − min y, slowly if it is below σ;
 *   varies         else.
 * The shares are of the value in the marker's unit, where values are above 0: within a noise that is large beside a low value a
 * course may double. Without a way back to that unit σ alone decides.
 * Two pieces that say the same become one.   (docs/math/groups.md §5)
 */
import { cholesky, solveCholeskyInPlace } from "../../numeric/cholesky.ts";
import { courseAt } from "./courses.ts";

export type Direction = "stable" | "falls" | "rises" | "varies";

/** A piece of a course, on the scale of the model: the course at its ends, and its lowest and highest value. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
  readonly low: number;
  readonly high: number;
  readonly direction: Direction;
}

/** One line describes a course that it misses by less than this, in sd of the noise; a median is that much smoother. */
const LINE_MISSES = 0.2;
/** A change of this many sd of the noise is spoken of: what one measurement can show. */
export const LEAST_CHANGE = 1;

/** From these shares of the noise and of the value on, a change within the noise is one. */
const CHANGES_WITHIN = [
  { noise: 0.25, value: 0.25 },
  { noise: 0.5, value: 0.15 },
] as const;

export interface ShapeOptions {
  /** Turns are moved to a multiple of it. Default not moved. */
  readonly step?: number;
  /** From the scale of the model to the marker's unit. */
  readonly toValue?: (y: number) => number;
}

/** One or two pieces that describe y at increasing times. */
export function piecesOf(
  times: ArrayLike<number>,
  y: ArrayLike<number>,
  sigma: number,
  { step = 0, toValue }: ShapeOptions = {},
): Piece[] {
  const first = times[0];
  const last = times[times.length - 1];
  const span = last - first;
  const piece = (from: number, to: number) => pieceOf(times, y, { sigma, toValue }, from, to);
  const weights = trapezoidWeights(times);
  const line = lineMisses(times, y, weights, null);
  if (line <= LINE_MISSES * sigma || times.length < 4) return [piece(first, last)];

  let best = line;
  let hinge = first;
  for (let j = 0; j <= 70; j++) {
    const h = first + (0.15 + 0.01 * j) * span;
    const misses = lineMisses(times, y, weights, h);
    if (misses < best) {
      best = misses;
      hinge = h;
    }
  }
  if (best > 0.7 * line) return [piece(first, last)];
  const turn = step > 0 ? Number((Math.round(hinge / step) * step).toPrecision(12)) : hinge;
  const [a, b] = [piece(first, turn), piece(turn, last)];
  if (a.direction !== b.direction) return [a, b];
  // Equal directions are told apart only where one piece is twice as steep.
  const ratio = Math.abs(slopeOf(b) / slopeOf(a));
  const moves = a.direction === "falls" || a.direction === "rises";
  return moves && (ratio >= 2 || ratio <= 0.5) ? [a, b] : [piece(first, last)];
}

/** Change per unit of time from end to end. */
export function slopeOf({ from, to, start, end }: Piece): number {
  return (end - start) / (to - from);
}

/** Whether a piece that falls or rises does so by less than one measurement can show. */
export function isSlow({ start, end }: Piece, sigma: number): boolean {
  return Math.abs(end - start) < LEAST_CHANGE * sigma;
}

/**
 * The kind of a course in words: one direction, two that differ ("falls rises"), or one with most of its change early or
 * late: "falls late" is stable and then falls, or falls faster later.
 */
export function kindOf([a, b]: readonly Piece[]): string {
  if (b === undefined) return a.direction;
  const moves = ({ direction }: Piece) => direction === "falls" || direction === "rises";
  if (a.direction === b.direction)
    return `${a.direction} ${Math.abs(slopeOf(b)) > Math.abs(slopeOf(a)) ? "late" : "early"}`;
  if (a.direction === "stable" && moves(b)) return `${b.direction} late`;
  if (b.direction === "stable" && moves(a)) return `${a.direction} early`;
  return `${a.direction} ${b.direction}`;
}

interface Scale extends Pick<ShapeOptions, "toValue"> {
  readonly sigma: number;
}

function pieceOf(times: ArrayLike<number>, y: ArrayLike<number>, scale: Scale, from: number, to: number): Piece {
  const [start, end] = [courseAt(times, y, from), courseAt(times, y, to)];
  let [low, high] = [Math.min(start, end), Math.max(start, end)];
  for (let j = 0; j < times.length; j++) {
    if (times[j] < from || times[j] > to) continue;
    low = Math.min(low, y[j]);
    high = Math.max(high, y[j]);
  }
  const moves = 2 * Math.abs(end - start) >= high - low ? (end < start ? "falls" : "rises") : "varies";
  const isStable = high - low < LEAST_CHANGE * scale.sigma && !changesWithin(start, end, scale);
  return { from, to, start, end, low, high, direction: isStable ? "stable" : moves };
}

/** Whether a change within the noise is one that its numbers show. */
function changesWithin(start: number, end: number, { sigma, toValue }: Scale): boolean {
  if (toValue === undefined) return false;
  const [first, last] = [toValue(start), toValue(end)];
  const [noises, shares] = [Math.abs(end - start) / sigma, Math.abs(last / first - 1)];
  return first > 0 && last > 0 && CHANGES_WITHIN.some(({ noise, value }) => noises >= noise && shares > value);
}

/** Root mean square by which least squares on 1, t and, with a hinge h, (t − h)₊ miss y. */
function lineMisses(times: ArrayLike<number>, y: ArrayLike<number>, weights: Float64Array, hinge: number | null) {
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
  let squares = 0;
  for (let j = 0; j < times.length; j++) {
    const x = row(times[j]);
    let fitted = 0;
    for (let r = 0; r < p; r++) fitted += b[r] * x[r];
    squares += weights[j] * (y[j] - fitted) ** 2;
  }
  return Math.sqrt(squares);
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
