/**
 * ψ1 alone, with the diagonal of its derivative in S: what the gradients by μ and log ℓ need beside the data sums.
 *   v_j = P1(m − z_j),   ∂(h'ψ1)/∂S_cc = ½ Σ_j h_j ψ1_j (v_jc² − (P1)_cc).
 */
import { choleskyInPlace, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import type { RbfKernel } from "../gp/kernel.ts";

/** Buffers for p inducing places in q dimensions. */
export interface FirstPsi {
  readonly psi1: Float64Array; // [p]
  /** Σ_j h_j ψ1_j v_jc² − (P1)_cc Σ_j h_j ψ1_j, halved, [q]. */
  readonly slopes: Float64Array;
  readonly P1: Float64Array; // [q,q]
  readonly scratch: Float64Array; // [q,q]
  readonly inverseScratch: Float64Array; // [q,q]
  readonly delta: Float64Array; // [q]
}

export function createFirstPsi(p: number, q: number): FirstPsi {
  return {
    psi1: new Float64Array(p),
    slopes: new Float64Array(q),
    P1: new Float64Array(q * q),
    scratch: new Float64Array(q * q),
    inverseScratch: new Float64Array(q * q),
    delta: new Float64Array(q),
  };
}

/** Fills ψ1 of N(m, S) and the slopes for weights h [p]. */
export function fillFirstPsi(
  kernel: RbfKernel,
  Z: Float64Array,
  p: number,
  q: number,
  m: Float64Array,
  S: Float64Array,
  h: Float64Array,
  out: FirstPsi,
): void {
  const { psi1, slopes, P1, scratch, inverseScratch, delta } = out;
  const { lengthscales } = kernel;
  for (let e = 0; e < q * q; e++) scratch[e] = S[e];
  let logD = 0;
  for (let c = 0; c < q; c++) {
    scratch[c * q + c] += lengthscales[c] * lengthscales[c];
    logD += 2 * Math.log(lengthscales[c]);
    slopes[c] = 0;
  }
  choleskyInPlace(scratch, q);
  const scale = kernel.signalVariance * Math.exp(-0.5 * (logDetFromCholesky(scratch, q) - logD));
  invertFromCholesky(scratch, q, P1, inverseScratch);
  let total = 0;
  for (let j = 0; j < p; j++) {
    let quadratic = 0;
    for (let c = 0; c < q; c++) delta[c] = m[c] - Z[j * q + c];
    for (let c = 0; c < q; c++) {
      let v = 0;
      for (let b = 0; b < q; b++) v += P1[c * q + b] * delta[b];
      quadratic += v * delta[c];
    }
    const value = scale * Math.exp(-0.5 * quadratic);
    psi1[j] = value;
    const a = h[j] * value;
    total += a;
    for (let c = 0; c < q; c++) {
      let v = 0;
      for (let b = 0; b < q; b++) v += P1[c * q + b] * delta[b];
      slopes[c] += 0.5 * a * v * v;
    }
  }
  for (let c = 0; c < q; c++) slopes[c] -= 0.5 * total * P1[c * q + c];
}
