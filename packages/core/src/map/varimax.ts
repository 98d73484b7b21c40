/**
 * Varimax rotation (Kaiser 1958) of loadings F [d,q]: the orthogonal T for which the squared entries of Z = F T vary
 * most within columns, so that each factor speaks of few basis functions,
 *   max_T V(Z),   V(Z) = Σ_c ( Σ_r z_rc⁴ − (Σ_r z_rc²)² / d ).
 * Fixed point of T ← polar factor of F'( Z³ − Z diag(Z'Z)/d ), Z³ entry by entry, from T = I: the iteration of R's
 * `varimax`, which therefore ends in the same signs and order of columns. That iteration can stand still off the
 * maximum (perfect simple structure, evenly shared, is the known case); where turning pairs of columns by Kaiser's
 * angle still raises V by more than 1% of it, those turns are taken instead.   (docs/math/groups.md §6)
 */
import { checkOption, DtmError } from "../errors.ts";
import { identity, multiply, transpose, turnColumnsInPlace } from "../numeric/matrix.ts";
import { polarFactor } from "../numeric/polar.ts";

export interface VarimaxOptions {
  /** Kaiser's normalisation: rows are scaled to length one while rotating. Default true. */
  readonly normalize?: boolean;
  /** Stops when the criterion's bound grows by less than this share. Default 1e-14; R's own default is 1e-5. */
  readonly tolerance?: number;
}

export interface Varimax {
  /** F T, [d,q]. */
  readonly loadings: Float64Array;
  /** T, [q,q], T'T = I: scores x, as rows, become x T. */
  readonly rotation: Float64Array;
  readonly iterations: number;
  readonly converged: boolean;
}

const MAX_ITERATIONS = 1000;

/** Loadings F [d,q] turned to simple structure, and the rotation that did it. */
export function varimax(
  loadings: Float64Array,
  numRows: number,
  numFactors: number,
  { normalize = true, tolerance = 1e-14 }: VarimaxOptions = {},
): Varimax {
  const [d, q] = [numRows, numFactors];
  if (d < 1 || q < 1 || loadings.length !== d * q || !loadings.every(Number.isFinite)) {
    throw new DtmError(
      "shape",
      `varimax: expected finite loadings [d,q], received ${loadings.length} numbers for d = ${d}, q = ${q}.`,
    );
  }
  checkOption(tolerance >= 0, "varimax: tolerance", "a number not below 0", tolerance, "Try 1e-14.");
  const F = normalize ? unitRows(loadings, d, q) : loadings;
  const Ft = transpose(F, d, q);
  const Z = new Float64Array(d * q);
  const target = new Float64Array(d * q);
  let T = identity(q);
  let bound = 0;
  let iterations = 0;
  let converged = q === 1;
  while (!converged && iterations < MAX_ITERATIONS) {
    multiply(F, T, d, q, q, Z);
    for (let c = 0; c < q; c++) {
      let mean = 0;
      for (let r = 0; r < d; r++) mean += (Z[r * q + c] * Z[r * q + c]) / d;
      for (let r = 0; r < d; r++) target[r * q + c] = Z[r * q + c] ** 3 - Z[r * q + c] * mean;
    }
    const { rotation, sum } = polarFactor(multiply(Ft, target, q, d, q), q);
    T = rotation;
    converged = sum < bound * (1 + tolerance) || sum === 0;
    bound = sum;
    iterations++;
  }
  const turned = turnPairs(multiply(F, T, d, q, q, Z), T, d, q);
  if (turned.gain > 0.01 * turned.criterion) T = turned.rotation;
  return { loadings: multiply(loadings, T, d, q, q), rotation: T, iterations, converged };
}

/**
 * Kaiser's planar turns of Z = F T until none moves: for columns x, y with u = x² − y², v = 2xy, the angle is
 *   φ = ¼ atan2( 2(Σuv − ΣuΣv/d), Σ(u² − v²) − ((Σu)² − (Σv)²)/d ).
 * Overwrites Z; returns T times the turns, V(Z) and by how much it rose.
 */
function turnPairs(Z: Float64Array, T: Float64Array, d: number, q: number) {
  const before = criterionOf(Z, d, q);
  const rotation = T.slice();
  let largest = 1;
  for (let sweep = 0; sweep < 100 && largest > 1e-12; sweep++) {
    largest = 0;
    for (let a = 0; a < q; a++) {
      for (let b = a + 1; b < q; b++) {
        let [A, B, C, D] = [0, 0, 0, 0];
        for (let r = 0; r < d; r++) {
          const [x, y] = [Z[r * q + a], Z[r * q + b]];
          const [u, v] = [x * x - y * y, 2 * x * y];
          A += u;
          B += v;
          C += u * u - v * v;
          D += 2 * u * v;
        }
        const angle = 0.25 * Math.atan2(D - (2 * A * B) / d, C - (A * A - B * B) / d);
        largest = Math.max(largest, Math.abs(angle));
        // Columns x, y become x cos φ + y sin φ and y cos φ − x sin φ.
        const [c, s] = [Math.cos(angle), -Math.sin(angle)];
        turnColumnsInPlace(Z, d, q, a, b, c, s);
        turnColumnsInPlace(rotation, q, q, a, b, c, s);
      }
    }
  }
  const criterion = criterionOf(Z, d, q);
  return { rotation, criterion, gain: criterion - before };
}

/** V(Z). */
function criterionOf(Z: Float64Array, d: number, q: number): number {
  let V = 0;
  for (let c = 0; c < q; c++) {
    let squares = 0;
    for (let r = 0; r < d; r++) squares += Z[r * q + c] ** 2 / d;
    for (let r = 0; r < d; r++) V += (Z[r * q + c] ** 2 - squares) ** 2;
  }
  return V;
}

/** Rows divided by their length; a row of zeros stays. */
function unitRows(F: Float64Array, d: number, q: number): Float64Array {
  const out = F.slice();
  for (let r = 0; r < d; r++) {
    let s = 0;
    for (let c = 0; c < q; c++) s += F[r * q + c] * F[r * q + c];
    if (s > 0) for (let c = 0; c < q; c++) out[r * q + c] /= Math.sqrt(s);
  }
  return out;
}
