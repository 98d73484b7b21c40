/**
 * Clamped B-spline basis of degree k and size d on [a, b] (docs/math/basis.md). The complete basis is used, so it sums
 * to one on the domain; only k+1 functions are nonzero at any time.
 *
 * Knots κ_0..κ_{d+k}: a repeated k+1 times, interior knots, b repeated k+1 times. Cox–de Boor recursion:
 *   N_{j,0} = 1{κ_j ≤ t < κ_{j+1}},
 *   N_{j,r} = (t−κ_j)/(κ_{j+r}−κ_j) N_{j,r−1} + (κ_{j+r+1}−t)/(κ_{j+r+1}−κ_{j+1}) N_{j+1,r−1},   0/0 := 0.
 * Times outside [a, b] are clamped: constant extrapolation.
 */

export interface Basis {
  readonly degree: number;
  readonly numBasis: number;
  /** Full clamped knot vector, [numBasis + degree + 1]. */
  readonly knots: Float64Array;
  /** How the interior knots were placed. */
  readonly placement: "percentiles" | "distinct-percentiles" | "equal" | "given";
}

/** First and last time of the basis's domain. */
export function basisDomain(basis: Basis): readonly [number, number] {
  return [basis.knots[basis.degree], basis.knots[basis.numBasis]];
}

/** ξ_j, the mean of knots j+1 … j+degree, [d] (Greville abscissae): Σ_j ξ_j b_j(t) = t on the domain. */
export function grevilleAbscissae({ degree, numBasis, knots }: Basis): Float64Array {
  return Float64Array.from({ length: numBasis }, (_, j) => {
    const inner = knots.subarray(j + 1, j + 1 + degree);
    return inner.reduce((sum, t) => sum + t, 0) / degree;
  });
}

/** The knot interval s with κ_s ≤ t < κ_{s+1}; t = b belongs to the last non-empty one. */
function findInterval(basis: Basis, t: number): number {
  const { degree, numBasis, knots } = basis;
  for (let s = degree; s < numBasis; s++) if (t < knots[s + 1]) return s;
  let s = numBasis - 1;
  while (s > degree && knots[s] === knots[s + 1]) s--;
  return s;
}

/**
 * Writes the degree+1 nonzero functions at t (clamped to the domain) to out[offset..] and returns the index of the
 * first: b_{first+j}(t) = out[offset+j].
 */
export function evaluateActive(basis: Basis, time: number, out: Float64Array, offset = 0): number {
  const { degree: k, numBasis, knots } = basis;
  const t = Math.min(Math.max(time, knots[k]), knots[numBasis]);
  const s = findInterval(basis, t);
  out[offset] = 1;
  for (let r = 1; r <= k; r++) {
    // In place: out[j] holds N_{s-r+1+j, r-1}; carry is the part that belongs to the next function.
    let carry = 0;
    for (let j = 0; j < r; j++) {
      const right = knots[s + 1 + j];
      const left = knots[s + 1 + j - r];
      const width = right - left;
      const share = width > 0 ? out[offset + j] / width : 0;
      out[offset + j] = carry + (right - t) * share;
      carry = (t - left) * share;
    }
    out[offset + r] = carry;
  }
  return s - k;
}

/** Writes all numBasis functions at t to out[offset..]. */
export function evaluateBasis(basis: Basis, time: number, out: Float64Array, offset = 0): void {
  const active = new Float64Array(basis.degree + 1);
  const first = evaluateActive(basis, time, active);
  for (let j = 0; j < basis.numBasis; j++) out[offset + j] = 0;
  for (let j = 0; j <= basis.degree; j++) out[offset + first + j] = active[j];
}

/**
 * Writes the first derivatives b_j'(t) to out[offset..]; zero outside the domain, where curves are constant.
 *   b_j' = k ( N_{j,k−1}/(κ_{j+k}−κ_j) − N_{j+1,k−1}/(κ_{j+k+1}−κ_{j+1}) ).
 * At the two ends the derivative from inside is given.
 */
export function evaluateDerivative(basis: Basis, time: number, out: Float64Array, offset = 0): void {
  const { degree: k, numBasis: d, knots } = basis;
  for (let j = 0; j < d; j++) out[offset + j] = 0;
  if (time < knots[k] || time > knots[d]) return;
  const lower: Basis = { degree: k - 1, numBasis: d - 1, knots: knots.subarray(1, d + k), placement: basis.placement };
  const active = new Float64Array(k);
  const first = evaluateActive(lower, time, active);
  for (let j = 0; j < k; j++) {
    // N_{i,k−1} on the full knots is function i−1 of the lower-degree basis on the inner knots.
    const i = first + j + 1;
    const width = knots[i + k] - knots[i];
    if (width <= 0) continue;
    const slope = (k * active[j]) / width;
    out[offset + i] += slope;
    out[offset + i - 1] -= slope;
  }
}

/** Design matrix with rows b(t), row-major [n,d]; with `derivative`, rows b'(t). */
export function designMatrix(basis: Basis, times: ArrayLike<number>, derivative = false): Float64Array {
  const d = basis.numBasis;
  const B = new Float64Array(times.length * d);
  for (let n = 0; n < times.length; n++) {
    if (derivative) evaluateDerivative(basis, times[n], B, n * d);
    else evaluateBasis(basis, times[n], B, n * d);
  }
  return B;
}
