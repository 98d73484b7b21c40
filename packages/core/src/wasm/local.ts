/** The local objective of the published map in WebAssembly (packages/core/assembly/local.ts): one individual at a time. */
import type { NewtonOptions } from "../numeric/optimize/newton.ts";
import { openKernels } from "./layout.ts";
import { LOCAL } from "./layouts.ts";

/** Kernels for a grid of counts [2] inducing points, P local parameters, d coefficients and the band of G. */
export function openLocalKernel(counts: Int32Array, numParameters: number, numBasis: number, numBand: number) {
  const [rows, columns] = [counts[0], counts[1]];
  const { buffers, run } = openKernels(LOCAL, { numParameters, rows, columns, numBasis, numBand });
  const load = (theta: Float64Array, offset: number): void => {
    for (let k = 0; k < numParameters; k++) buffers.theta[k] = theta[offset + k];
  };
  return {
    counts,
    buffers,
    /** Fills the weights from the tables and the individual's statistics. */
    weigh: () => run.weighLocal(),
    /** J without its constant, with gradient [P] and Hessian [P,P] where given; NaN beyond the grid's range. */
    evaluate: (
      theta: Float64Array,
      offset: number,
      gradient: Float64Array | null,
      hessian: Float64Array | null,
    ): number => {
      load(theta, offset);
      if (run.evaluateLocal(hessian === null ? 2 : 4) === 0) return Number.NaN;
      if (gradient !== null) for (let k = 0; k < numParameters; k++) gradient[k] = buffers.gradient[k];
      if (hessian !== null) for (let k = 0; k < numParameters ** 2; k++) hessian[k] = buffers.hessian[k];
      return buffers.value[0];
    },
    /** Maximises J from θ in place by conjugate gradients; leaves J in `value` and returns the evaluations used, 0 beyond the grid's range. */
    climb: (theta: Float64Array, offset: number, constant: number, options: NewtonOptions): number => {
      load(theta, offset);
      const evaluations = run.climbLocal(constant, options.gradientTolerance, options.maxEvaluations);
      if (evaluations > 0) for (let k = 0; k < numParameters; k++) theta[offset + k] = buffers.theta[k];
      return evaluations;
    },
    /** Adds weight · features × statistics at θ to the sums; false, and nothing added, beyond the grid's range. */
    accumulate: (theta: Float64Array, offset: number, weight: number): boolean => {
      load(theta, offset);
      return run.sumLocal(weight) === 1;
    },
  };
}

export type LocalKernel = ReturnType<typeof openLocalKernel>;
