/**
 * The kernel matrix K of the inducing points with its factor, raising the jitter where rounding demands it:
 * K = α(C + εI) is positive definite in exact arithmetic, but close places can make the factorisation fail. ε is then
 * multiplied by 10, up to 1e-2, and a warning says so. Within one optimisation ε must stay fixed, because the bound
 * depends on it: choose it once with `stableKernel` and factor with `factorKernel` afterwards.
 */
import { DtmError } from "../../errors.ts";
import { choleskyInPlace, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { type Kernel, kernelMatrix } from "./kernel.ts";

/** K = L L' and what is read of it, all [p,p]. */
export interface KernelFactor {
  readonly matrix: Float64Array; // K
  readonly cholesky: Float64Array; // L
  readonly inverseCholesky: Float64Array; // L⁻¹
  readonly inverse: Float64Array; // K⁻¹
  readonly logDet: number; // log |K|
}

const MAX_JITTER = 1e-2;

/** K, L, L⁻¹, K⁻¹ and log|K|, or null if rounding leaves K without a factor. */
export function factorKernel(kernel: Kernel, Z: Float64Array, p: number, q: number): KernelFactor | null {
  const matrix = kernelMatrix(kernel, Z, p, q);
  const L = matrix.slice();
  if (!choleskyInPlace(L, p)) return null;
  const inverseCholesky = new Float64Array(p * p);
  const inverse = invertFromCholesky(L, p, new Float64Array(p * p), inverseCholesky);
  return { matrix, cholesky: L, inverseCholesky, inverse, logDet: logDetFromCholesky(L, p) };
}

/** The kernel with the smallest jitter, at least its own, that makes K factorable; `warning` is null if it is its own. */
export function stableKernel<K extends Kernel>(
  kernel: K,
  Z: Float64Array,
  p: number,
  q: number,
): { readonly kernel: K; readonly warning: string | null } {
  let jitter = kernel.jitter;
  for (;;) {
    const trial = { ...kernel, jitter };
    if (factorKernel(trial, Z, p, q) !== null) {
      const warning =
        jitter === kernel.jitter
          ? null
          : `The jitter of the kernel matrix was raised from ${kernel.jitter} to ${jitter}: inducing points are close for the length-scale.`;
      return { kernel: trial, warning };
    }
    // From no jitter the ladder starts at 1e-10.
    jitter = jitter > 0 ? 10 * jitter : 1e-10;
    if (jitter > MAX_JITTER * (1 + 1e-9)) {
      throw new DtmError(
        "not-positive-definite",
        `Expected a positive definite kernel matrix of the ${p} inducing points, received one that fails even with jitter ${MAX_JITTER}. Use fewer inducing points or spread them.`,
      );
    }
  }
}
