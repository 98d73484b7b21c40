/**
 * The precision of inducing coefficients in WebAssembly (packages/core/assembly/inducing.ts and cholesky.ts): blocks of
 * sums in, factor, solution and blocks of second moments out. Matrices are d × d blocks of order p within a band.
 */
import { createKernelInstance } from "./instance.ts";

/** Buffers and operations for one size and band. */
export interface InducingKernel {
  /** Length of a stored row of `inverse`: dp, made even. */
  readonly stride: number;
  /** Ω_kl, [numBand,p,p], and K, [p,p]: what the precision is made of. */
  readonly gram: Float64Array;
  readonly prior: Float64Array;
  /** Right-hand side and solution, [dp]. */
  readonly vector: Float64Array;
  /** C = Λ⁻¹ in full, rows of `stride`; filled only where asked for. */
  readonly inverse: Float64Array;
  /** T_kl = sym(C_kl + a_k a_l'), a the solution, [numBand,p,p]. */
  readonly moments: Float64Array;
  /** Λ = I ⊗ prior + weight · gram, factored; false if it is not positive definite. */
  factor(weight: number): boolean;
  /** vector ← Λ⁻¹ vector, then `moments` and, if asked for, `inverse`. */
  solve(withInverse: boolean): void;
  /** log |Λ|, after `factor`. */
  logDeterminant(): number;
}

/** A kernel for d coefficients, p places and the band entries (row, column), row ≤ column. */
export function inducingKernel(
  d: number,
  p: number,
  bandRow: ArrayLike<number>,
  bandColumn: ArrayLike<number>,
): InducingKernel {
  const n = d * p;
  const ld = n + (n & 1);
  const size = (n + 1) * ld;
  const numBand = bandRow.length;
  let w = 0;
  for (let e = 0; e < numBand; e++) w = Math.max(w, bandColumn[e] - bandRow[e]);
  const { exports, doubles, integers } = createKernelInstance(3 * size + ld + (2 * numBand + 1) * p * p + numBand, 9);
  const [matrix, inverse, scratch] = [doubles(size), doubles(size), doubles(size)];
  const vector = doubles(ld);
  const gram = doubles(numBand * p * p);
  const moments = doubles(numBand * p * p);
  const prior = doubles(p * p);
  const rows = integers(numBand);
  const columns = integers(numBand);
  rows.set(bandRow);
  columns.set(bandColumn);
  const A = matrix.byteOffset;
  const band = [rows.byteOffset, columns.byteOffset, numBand] as const;
  return {
    stride: ld,
    gram,
    prior,
    vector: vector.subarray(0, n),
    inverse,
    moments,
    factor: (weight) => {
      exports.fillPrecision(A, n, ld, p, gram.byteOffset, prior.byteOffset, weight, ...band);
      return exports.factorBand(A, n, ld, p, w) === 1;
    },
    solve: (withInverse) => {
      exports.solveBand(A, vector.byteOffset, n, ld, p, w);
      exports.invertBand(A, scratch.byteOffset, inverse.byteOffset, n, ld, p, w, withInverse ? 1 : 0);
      const sign = withInverse ? 1 : -1;
      exports.momentBlocks(inverse.byteOffset, ld, p, sign, vector.byteOffset, ...band, moments.byteOffset);
    },
    logDeterminant: () => {
      let s = 0;
      for (let i = 0; i < n; i++) s += Math.log(matrix[i * ld + i]);
      return 2 * s;
    },
  };
}
