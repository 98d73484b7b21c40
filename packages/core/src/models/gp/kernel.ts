/**
 * Covariance functions of the map f (docs/math/dtm.md §1):
 *   rbf:    k(x,z) = α exp(−½ Σ_c (x_c − z_c)²/ℓ_c²),   equal ℓ_c give the isotropic kernel of the paper
 *   linear: k(x,z) = α x'z,                             the linear model the paper starts from
 * The kernel matrix of the inducing points carries a jitter relative to α, so that it scales exactly with α:
 *   K = α (C + ε I).
 */

export interface RbfKernel {
  readonly kind: "rbf";
  /** α. */
  readonly signalVariance: number;
  /** ℓ_c, [q]. */
  readonly lengthscales: Float64Array;
  /** ε. Default 1e-6. */
  readonly jitter: number;
}

export interface LinearKernel {
  readonly kind: "linear";
  readonly signalVariance: number;
  readonly jitter: number;
}

export type Kernel = RbfKernel | LinearKernel;

/** An isotropic RBF kernel for q dimensions. */
export function rbfKernel(q: number, signalVariance: number, lengthscale: number, jitter = 1e-6): RbfKernel {
  return { kind: "rbf", signalVariance, lengthscales: new Float64Array(q).fill(lengthscale), jitter };
}

/** k(X_n, Z_j) as [n,p]; rows of X [n,q] and Z [p,q] are places. */
export function kernelCross(
  kernel: Kernel,
  X: Float64Array,
  n: number,
  Z: Float64Array,
  p: number,
  q: number,
  out: Float64Array = new Float64Array(n * p),
): Float64Array {
  const alpha = kernel.signalVariance;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < p; j++) {
      let s = 0;
      if (kernel.kind === "rbf") {
        for (let c = 0; c < q; c++) {
          const u = (X[i * q + c] - Z[j * q + c]) / kernel.lengthscales[c];
          s += u * u;
        }
        out[i * p + j] = alpha * Math.exp(-0.5 * s);
      } else {
        for (let c = 0; c < q; c++) s += X[i * q + c] * Z[j * q + c];
        out[i * p + j] = alpha * s;
      }
    }
  }
  return out;
}

/** K = α(C + εI) of the inducing points, [p,p]. */
export function kernelMatrix(
  kernel: Kernel,
  Z: Float64Array,
  p: number,
  q: number,
  out: Float64Array = new Float64Array(p * p),
): Float64Array {
  kernelCross(kernel, Z, p, Z, p, q, out);
  for (let j = 0; j < p; j++) out[j * p + j] += kernel.signalVariance * kernel.jitter;
  return out;
}

/** k(x,x) at place n of X. */
export function kernelVariance(kernel: Kernel, X: Float64Array, n: number, q: number): number {
  if (kernel.kind === "rbf") return kernel.signalVariance;
  let s = 0;
  for (let c = 0; c < q; c++) s += X[n * q + c] * X[n * q + c];
  return kernel.signalVariance * s;
}
