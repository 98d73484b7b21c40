/**
 * The orientation rule (docs/math/orientation.md): the likelihood does not change when the map is turned or mirrored,
 * so one rule fixes the picture for refits, seeds and row orders. With F̂ = E[f(x) x'] the linear part of the map and
 * Ḡ = Σ G_i / N the average weight of the observed times, the axes are the principal directions of Ḡ^{1/2} F̂
 * (eigenvectors of F̂'ḠF̂, largest first). Signs: along axis 1 the mean level rises; along axis 2 the late change
 * minus the early change falls; along further axes the largest loading is positive.
 * Several markers are added, each in units of the variance of its courses, v = Tr ḠΣ; signs are those of the first marker that has a tenth
 * of the largest loading.
 */
import { type Basis, basisDomain, evaluateBasis } from "../basis/bspline.ts";
import { bilinear, multiply, multiplyVector, symmetrizeInPlace, transpose } from "../numeric/matrix.ts";
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";

/** F̂ = Σ_g π_g f̄(x_g) x_g', [d,q], from node places [Γ,q], log weights [Γ] and map means [Γ,d]. */
export function linearPart(
  locations: Float64Array,
  logWeights: Float64Array,
  means: Float64Array,
  d: number,
  q: number,
): Float64Array {
  const F = new Float64Array(d * q);
  for (let g = 0; g < logWeights.length; g++) {
    const weight = Math.exp(logWeights[g]);
    for (let k = 0; k < d; k++) {
      for (let c = 0; c < q; c++) F[k * q + c] += weight * means[g * d + k] * locations[g * q + c];
    }
  }
  return F;
}

/** What is read of one marker. */
export interface OrientedMarker {
  readonly F: Float64Array; // F̂ [d,q]
  readonly gram: Float64Array; // Ḡ [d,d]
  readonly basis: Basis;
  /** v: variance of its courses between individuals, averaged over the observed times. */
  readonly variance: number;
}

/** The orthogonal matrix Q [q,q] of a map of one marker or several: a place x of the fit is shown as Q'x. */
export function orientMarkers(markers: readonly OrientedMarker[], q: number): Float64Array {
  const weighted = new Float64Array(q * q);
  for (const { F, gram, basis, variance } of markers) {
    const d = basis.numBasis;
    const own = multiply(multiply(transpose(F, d, q), gram, q, d, d), F, q, d, q);
    for (let e = 0; e < q * q; e++) weighted[e] += own[e] / variance;
  }
  symmetrizeInPlace(weighted, q);
  const Q = symmetricEigen(weighted, q).vectors;
  for (let c = 0; c < q; c++) {
    const loadings = markers.map(({ F, basis }) => multiplyVector(F, column(Q, q, c), basis.numBasis, q));
    const sizes = markers.map(({ gram, variance }, k) =>
      Math.sqrt(bilinear(loadings[k], gram, loadings[k]) / variance),
    );
    const leading = sizes.findIndex((size) => size >= 0.1 * Math.max(...sizes));
    const { gram, basis } = markers[Math.max(leading, 0)];
    const sign = signRule(loadings[Math.max(leading, 0)], c, gram, basis);
    if (sign < 0) for (let r = 0; r < q; r++) Q[r * q + c] = -Q[r * q + c];
  }
  return Q;
}

/** A number that must be positive along the shown axis; `loading` is the curve's change per unit of it, [d]. */
function signRule(loading: Float64Array, axis: number, gram: Float64Array, basis: Basis): number {
  const d = loading.length;
  let largest = 0;
  for (const v of loading) if (Math.abs(v) > Math.abs(largest)) largest = v;
  let rule = largest;
  if (axis === 0) {
    // Mean over the observed times: 1'Ḡ loading, since the basis sums to one.
    rule = multiplyVector(gram, loading, d, d).reduce((s, v) => s + v, 0);
  } else if (axis === 1) {
    const [a, b] = basisDomain(basis);
    const at = (t: number): number => {
      const row = new Float64Array(d);
      evaluateBasis(basis, t, row);
      return row.reduce((s, v, k) => s + v * loading[k], 0);
    };
    const middle = at(0.5 * (a + b));
    rule = -(at(b) - middle - (middle - at(a)));
  }
  // A rule that is zero to rounding decides nothing: fall back on the largest loading.
  return Math.abs(rule) > 1e-9 * Math.abs(largest) ? rule : largest;
}

function column(Q: Float64Array, q: number, c: number): Float64Array {
  return Float64Array.from({ length: q }, (_, r) => Q[r * q + c]);
}

/** Q'x: from the fit's frame to the shown one. */
export function showLocation(orientation: Float64Array, x: Float64Array, q: number): Float64Array {
  const out = new Float64Array(q);
  for (let c = 0; c < q; c++) for (let r = 0; r < q; r++) out[c] += orientation[r * q + c] * x[r];
  return out;
}

/** Qx: from the shown frame back to the fit's. */
export function fitLocation(orientation: Float64Array, shown: Float64Array, q: number): Float64Array {
  return multiplyVector(orientation, shown, q, q);
}

/** Q'SQ: a covariance shown. */
export function showCovariance(orientation: Float64Array, S: Float64Array, q: number): Float64Array {
  return multiply(multiply(transpose(orientation, q, q), S, q, q, q), orientation, q, q, q);
}
