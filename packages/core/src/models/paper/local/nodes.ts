/**
 * What the local objective needs of a set of places z_n: weighted sums of a Gaussian bump and its moments.
 *
 * Moments are stored in a cube of 5^q numbers, one per monomial: Σ w e u_1^i u_2^j u_3^k is at index 25i + 5j + k for
 * q = 3, 5i + j for q = 2, i for q = 1, so that multiplying a monomial by u_c adds the stride 5^(q−1−c) to its index.
 * Derivative tensors use the same cube: ∂^(i+j) F/∂m_1^i ∂m_2^j is at 5i + j. Only total orders up to 4 are used.
 */

/** 2: enough for the gradient; 4: enough for the Hessian. */
export type MomentOrder = 2 | 4;

export interface Nodes {
  readonly numNodes: number;
  /** out_n = scale · exp(−½ u'Ru), u = m − z_n; m [q], R [q,q]. */
  values(m: Float64Array, R: Float64Array, scale: number, out: Float64Array): void;
  /** moments = Σ_n w_n exp(−½ u'Ru) · (monomials of u, total order ≤ order), u = m − z_n; w [numNodes]. */
  moments(w: Float64Array, m: Float64Array, R: Float64Array, order: MomentOrder, moments: Float64Array): void;
}

/** Number of cells of a cube. */
export function cubeSize(q: number): number {
  return 5 ** q;
}

/** How far each coordinate moves the index in a cube, [q]. */
export function cubeStrides(q: number): Int32Array {
  return Int32Array.from({ length: q }, (_, c) => 5 ** (q - 1 - c));
}
