/**
 * The frame of the kernel's eigenvectors. Whitened values v = L_C⁻¹u/√α depend on the order of the inducing points, and
 * differently at each ℓ; those of this frame do not:
 *   U v = D^(−½) E'u/√α,   C + εI = L_C L_C' = E D E',   U = D^(−½) E'L_C  orthogonal.
 * On a regular grid E and D are Kronecker products of those of one axis, whose eigenvectors are even or odd, so a mirror
 * image of a map only turns signs of U v, and values at different ℓ may be compared and combined. O(p³).
 */
import { choleskyInPlace } from "../../numeric/cholesky.ts";
import { multiply, multiplyTransposed, transpose } from "../../numeric/matrix.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";

/**
 * U [p,p] at length-scale ℓ for a grid of `perAxis` places along each axis, given squared distances |z_j − z_k|² [p,p]
 * (the last axis runs fastest) and jitter ε.
 */
export function kernelFrame(
  inducingDistances: Float64Array,
  perAxis: number,
  jitter: number,
  ell: number,
): Float64Array {
  const g = perAxis;
  const p = Math.round(Math.sqrt(inducingDistances.length));
  const precision = 1 / (ell * ell);
  const L = inducingDistances.map((square) => Math.exp(-0.5 * square * precision));
  // The first places lie along one axis.
  const axis = Float64Array.from({ length: g * g }, (_, e) => L[Math.abs(Math.floor(e / g) - (e % g))]);
  for (let j = 0; j < p; j++) L[j * p + j] += jitter;
  choleskyInPlace(L, p);
  const one = symmetricEigen(axis, g);
  // Signs by a positive first entry: a Gaussian kernel on a line is totally positive, so none is zero.
  const V = one.vectors.map((v, e) => (one.vectors[e % g] < 0 ? -v : v));
  let E: Float64Array = V;
  let D: Float64Array = one.values;
  while (D.length < p) {
    E = kronecker(E, D.length, V, g);
    const shorter = D;
    D = Float64Array.from({ length: shorter.length * g }, (_, e) => shorter[Math.floor(e / g)] * one.values[e % g]);
  }
  return multiply(transpose(E, p, p), L, p, p, p).map(
    (u, e) => u / Math.sqrt(Math.max(D[Math.floor(e / p)], 0) + jitter),
  );
}

function kronecker(A: Float64Array, n: number, B: Float64Array, m: number): Float64Array {
  const size = n * m;
  return Float64Array.from({ length: size * size }, (_, e) => {
    const [i, j] = [Math.floor(e / size), e % size];
    return A[Math.floor(i / m) * n + Math.floor(j / m)] * B[(i % m) * m + (j % m)];
  });
}

/** U v for each block of p entries of v. */
export function toFrame(v: Float64Array, U: Float64Array): Float64Array {
  const p = Math.round(Math.sqrt(U.length));
  return multiplyTransposed(v, U, v.length / p, p, p);
}

/** U'v for each block of p entries of v. */
export function fromFrame(v: Float64Array, U: Float64Array): Float64Array {
  const p = Math.round(Math.sqrt(U.length));
  return multiply(v, U, v.length / p, p, p);
}

/** Ξ [n,n], whitened where the frame was `before`, as it is where the frame is `after`: W Ξ_kl W', W = U₂'U₁. */
export function carryCovariance(
  covariance: Float64Array,
  n: number,
  before: Float64Array,
  after: Float64Array,
): Float64Array {
  const p = Math.round(Math.sqrt(before.length));
  const W = multiply(transpose(after, p, p), before, p, p, p);
  const block = new Float64Array(p * p);
  const out = new Float64Array(n * n);
  for (let k = 0; k < n; k += p) {
    // Blocks below the diagonal are those above, transposed.
    for (let l = k; l < n; l += p) {
      for (let i = 0; i < p; i++) block.set(covariance.subarray((k + i) * n + l, (k + i) * n + l + p), i * p);
      const carried = multiply(W, multiplyTransposed(block, W, p, p, p), p, p, p);
      for (let i = 0; i < p; i++) {
        for (let j = 0; j < p; j++) {
          out[(k + i) * n + l + j] = carried[i * p + j];
          out[(l + j) * n + k + i] = carried[i * p + j];
        }
      }
    }
  }
  return out;
}
