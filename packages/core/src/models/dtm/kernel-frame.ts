/**
 * The frame of the kernel's eigenvectors. Whitened values v = L_C⁻¹u/√α depend on the order of the inducing places, and
 * differently at each ℓ; those of this frame do not:
 *   U v = D^(−½) E'u/√α,   C + εI = L_C L_C' = E D E',   U = D^(−½) E'L_C  orthogonal.
 * On a regular grid E and D are Kronecker products of those of one axis, whose eigenvectors are even or odd, so a mirror
 * image of a map only turns signs of U v, and values at different ℓ may be compared and combined. O(p³).
 */
import { choleskyInPlace } from "../../numeric/cholesky.ts";
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
  let size = g;
  while (size < p) {
    E = kronecker(E, size, V, g);
    const shorter = D;
    D = Float64Array.from({ length: size * g }, (_, e) => shorter[Math.floor(e / g)] * one.values[e % g]);
    size *= g;
  }
  const U = new Float64Array(p * p);
  for (let i = 0; i < p; i++) {
    for (let a = 0; a < p; a++) {
      const e = E[i * p + a];
      for (let j = 0; j <= i; j++) U[a * p + j] += e * L[i * p + j];
    }
  }
  for (let a = 0; a < p; a++) {
    const scale = 1 / Math.sqrt(Math.max(D[a], 0) + jitter);
    for (let j = 0; j < p; j++) U[a * p + j] *= scale;
  }
  return U;
}

function kronecker(A: Float64Array, n: number, B: Float64Array, m: number): Float64Array {
  const size = n * m;
  const out = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      out[i * size + j] = A[Math.floor(i / m) * n + Math.floor(j / m)] * B[(i % m) * m + (j % m)];
    }
  }
  return out;
}

/** U v for each block of p entries of v. */
export function toFrame(v: Float64Array, U: Float64Array): Float64Array {
  const p = Math.round(Math.sqrt(U.length));
  const out = new Float64Array(v.length);
  for (let block = 0; block < v.length; block += p) {
    for (let a = 0; a < p; a++) {
      let s = 0;
      for (let j = 0; j < p; j++) s += U[a * p + j] * v[block + j];
      out[block + a] = s;
    }
  }
  return out;
}

/** U'v for each block of p entries of v. */
export function fromFrame(v: Float64Array, U: Float64Array): Float64Array {
  const p = Math.round(Math.sqrt(U.length));
  const out = new Float64Array(v.length);
  for (let block = 0; block < v.length; block += p) {
    for (let a = 0; a < p; a++) {
      for (let j = 0; j < p; j++) out[block + j] += U[a * p + j] * v[block + a];
    }
  }
  return out;
}

/** Ξ [n,n], whitened where the frame was `before`, as it is where the frame is `after`: W Ξ_kl W', W = U₂'U₁. */
export function carryCovariance(
  covariance: Float64Array,
  n: number,
  before: Float64Array,
  after: Float64Array,
): Float64Array {
  const p = Math.round(Math.sqrt(before.length));
  const W = new Float64Array(p * p);
  for (let a = 0; a < p; a++) {
    for (let i = 0; i < p; i++) {
      const u = after[a * p + i];
      for (let j = 0; j < p; j++) W[i * p + j] += u * before[a * p + j];
    }
  }
  // Block by block, those below the diagonal as mirror images.
  const out = new Float64Array(n * n);
  const half = new Float64Array(p * p);
  for (let row = 0; row < n; row += p) {
    for (let column = row; column < n; column += p) {
      for (let i = 0; i < p; i++) {
        const from = (row + i) * n + column;
        for (let b = 0; b < p; b++) {
          let s = 0;
          for (let j = 0; j < p; j++) s += covariance[from + j] * W[b * p + j];
          half[b * p + i] = s; // (Ξ_kl W')'
        }
      }
      for (let a = 0; a < p; a++) {
        for (let b = 0; b < p; b++) {
          let s = 0;
          for (let i = 0; i < p; i++) s += W[a * p + i] * half[b * p + i];
          out[(row + a) * n + column + b] = s;
          out[(column + b) * n + row + a] = s;
        }
      }
    }
  }
  return out;
}
