/** The local objective of the published map in WebAssembly (packages/core/assembly/local.ts): one individual at a time. */
import { openKernels } from "./layout.ts";
import { LOCAL } from "./layouts.ts";

/** Kernels for a grid of counts [2] inducing places, P local parameters, d coefficients and the band of G. */
export function openLocalKernel(counts: ArrayLike<number>, numParameters: number, numBasis: number, numBand: number) {
  const [rows, columns] = [counts[0], counts[1]];
  const { buffers, run } = openKernels(LOCAL, { numParameters, rows, columns, numBasis, numBand });
  const load = (theta: Float64Array, offset: number): void => {
    for (let k = 0; k < numParameters; k++) buffers.theta[k] = theta[offset + k];
  };
  return {
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
    /** Adds weight · features × statistics at θ to the sums; false, and nothing added, beyond the grid's range. */
    accumulate: (theta: Float64Array, offset: number, weight: number): boolean => {
      load(theta, offset);
      return run.sumLocal(weight) === 1;
    },
  };
}

export type LocalKernel = ReturnType<typeof openLocalKernel>;
