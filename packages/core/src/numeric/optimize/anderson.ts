/**
 * Anderson acceleration of a fixed-point iteration x ← M(x) (Walker & Ni 2011), for EM-like algorithms whose steps shrink
 * slowly. From the last points x_j, their images M(x_j) and residuals f_j = M(x_j) − x_j, with ΔF and ΔM the differences
 * of successive residuals and images, the next point is
 *   x = M(x_k) − ΔM γ,   γ = argmin ‖f_k − ΔF γ‖² + ridge,   ‖v‖² = v'Wv.
 * The caller checks that a proposal is no worse than M(x_k) and forgets the history otherwise. Plain data throughout.
 */
import { choleskyInPlace, solveCholeskyInPlace } from "../cholesky.ts";
import { dot } from "../matrix.ts";

/** The last points and their images. */
export interface AndersonHistory {
  /** x_j and M(x_j), oldest first. */
  points: Float64Array[];
  images: Float64Array[];
}

/** W v, for a symmetric positive definite W. */
export type Metric = (vector: Float64Array) => Float64Array;

/** Relative ridge of the small least squares problem. */
const RIDGE = 1e-8;

/** An empty history. */
export function andersonHistory(): AndersonHistory {
  return { points: [], images: [] };
}

/** Forgets all steps. */
export function clearHistory(history: AndersonHistory): void {
  history.points = [];
  history.images = [];
}

/** Adds a point and its image, dropping the oldest beyond `window` differences. */
export function rememberStep(history: AndersonHistory, point: Float64Array, image: Float64Array, window: number): void {
  history.points.push(point);
  history.images.push(image);
  while (history.points.length > window + 1) {
    history.points.shift();
    history.images.shift();
  }
}

/** The accelerated point, or null without at least one difference. */
export function proposePoint(history: AndersonHistory, metric: Metric): Float64Array | null {
  const { points, images } = history;
  const count = points.length - 1;
  if (count < 1) return null;
  const residuals = points.map((x, j) => images[j].map((v, k) => v - x[k]));
  const differences = residuals.slice(1).map((f, j) => f.map((v, k) => v - residuals[j][k]));
  const A = new Float64Array(count * count);
  const b = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const weighted = metric(differences[i]);
    b[i] = dot(weighted, residuals[count]);
    for (let j = 0; j <= i; j++) A[i * count + j] = dot(weighted, differences[j]);
  }
  for (let i = 0; i < count; i++) A[i * count + i] *= 1 + RIDGE;
  if (!choleskyInPlace(A, count)) return null;
  solveCholeskyInPlace(A, count, b);
  const next = images[count].slice();
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < next.length; k++) next[k] -= b[i] * (images[i + 1][k] - images[i][k]);
  }
  return next.every(Number.isFinite) ? next : null;
}
