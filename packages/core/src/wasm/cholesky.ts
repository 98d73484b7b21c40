/** Positive definite systems in WebAssembly (packages/core/assembly/cholesky.ts). */
import { openKernels } from "./layout.ts";
import { POSITIVE } from "./layouts.ts";

/** Writes Λ⁻¹c and Λ⁻¹ for a symmetric Λ [n,n] and c [n]; returns log|Λ|, NaN if Λ is not positive definite. */
export type PositiveSolver = (
  precision: Float64Array,
  linear: Float64Array,
  solution: Float64Array,
  inverse: Float64Array,
) => number;

/** A solver for matrices of order n. */
export function wasmPositiveSolver(n: number): PositiveSolver {
  const stride = n + (n & 1);
  const { buffers, run } = openKernels(POSITIVE, { order: n, stride });
  const { matrix, vector } = buffers;
  return (precision, linear, solution, inverse) => {
    for (let i = 0; i < n; i++) matrix.set(precision.subarray(i * n, (i + 1) * n), i * stride);
    if (run.factorPositive() === 0) {
      solution.fill(Number.NaN);
      inverse.fill(Number.NaN);
      return Number.NaN;
    }
    vector.set(linear);
    run.solvePositive();
    run.invertPositive();
    solution.set(vector.subarray(0, n));
    let logDeterminant = 0;
    for (let i = 0; i < n; i++) {
      inverse.set(buffers.inverse.subarray(i * stride, i * stride + n), i * n);
      logDeterminant += 2 * Math.log(matrix[i * stride + i]);
    }
    return logDeterminant;
  };
}
