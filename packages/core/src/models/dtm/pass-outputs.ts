/** What passes over individuals leave behind; shared by the TypeScript and the WebAssembly kernels. */

/** What a pass over individuals writes beside the bound. */
export interface ExpectationOutputs {
  /** Σ_i r_ig (g̃_i, G̃_i), added to; [K,Γ]. */
  readonly nodeSums?: Float64Array;
  /** Σ_g r_ig × node table, by position in the pass; [count,K]. */
  readonly moments?: Float64Array;
  /** c_i + λ_i by position in the pass; [count]. */
  readonly contributions?: Float64Array;
}

/** Sums over individuals from which the updates follow. */
export interface MaximizationSums {
  numIndividuals: number;
  numObservations: number;
  readonly gram: Float64Array; // Σ G [d,d]
  readonly cross: Float64Array; // Σ g [d]
  readonly fitted: Float64Array; // Σ G E w [d]
  sumSquares: number; // Σ ρ
  crossFitted: number; // Σ g'E w
  quadratic: number; // Σ ⟨G, E ww'⟩
  readonly residualMoment: Float64Array; // Σ E ee' [d,d]
}
