/**
 * Factor, solve and invert symmetric positive definite matrices in WebAssembly (packages/core/assembly/cholesky.ts): N × N blocks of
 * size p, blocks (K, J) with |K − J| > w zero. The caller writes the upper triangle of A into `matrix`, calls, and reads
 * the results where they are.
 */
import { createKernelInstance } from "./instance.ts";

/** Buffers and operations for one size. */
export interface PositiveDefiniteKernel {
  readonly order: number; // n = Np
  /** Length of a stored row: n, made even. */
  readonly stride: number;
  /** A, upper triangle, [n + 1, stride]; `factor` overwrites it with U, A = U'U, and uses the rest as scratch. */
  readonly matrix: Float64Array;
  /** A⁻¹ in full, [n + 1, stride]. */
  readonly inverse: Float64Array;
  /** Right-hand side and solution, [stride]. */
  readonly vector: Float64Array;
  /** False if A is not positive definite. */
  factor(): boolean;
  /** vector ← A⁻¹ vector, after `factor`. */
  solve(): void;
  /** Fills `inverse`, after `factor`. */
  invert(): void;
  /** log |A|, after `factor`. */
  logDeterminant(): number;
}

/** A kernel for numBlocks blocks of size p with the given half bandwidth (numBlocks − 1 or more: full matrices). */
export function positiveDefiniteKernel(numBlocks: number, p: number, halfBandwidth: number): PositiveDefiniteKernel {
  const n = numBlocks * p;
  const stride = n + (n & 1);
  const size = (n + 1) * stride;
  const instance = createKernelInstance(3 * size + stride, 4);
  const matrix = instance.doubles(size);
  const inverse = instance.doubles(size);
  const scratch = instance.doubles(size);
  const vector = instance.doubles(stride);
  const { factorBand, solveBand, invertBand } = instance.exports;
  const A = matrix.byteOffset;
  return {
    order: n,
    stride,
    matrix,
    inverse,
    vector,
    factor: () => factorBand(A, n, stride, p, halfBandwidth) === 1,
    solve: () => solveBand(A, vector.byteOffset, n, stride, p, halfBandwidth),
    invert: () => invertBand(A, scratch.byteOffset, inverse.byteOffset, n, stride, p, halfBandwidth, 1),
    logDeterminant: () => {
      let s = 0;
      for (let i = 0; i < n; i++) s += Math.log(matrix[i * stride + i]);
      return 2 * s;
    },
  };
}
