/**
 * What every optimiser of this folder maximises: returns f(x) and writes its gradient.
 * A value that is not finite means "outside the domain"; line searches then step back.
 */
export type Objective = (x: Float64Array, gradient: Float64Array) => number;

/** Why an optimiser stopped. */
export type StopReason = "gradient" | "gain" | "no-ascent" | "iterations";

export interface OptimizeResult {
  readonly x: Float64Array;
  readonly value: number;
  readonly gradient: Float64Array;
  readonly iterations: number;
  readonly evaluations: number;
  readonly reason: StopReason;
}

/** max_k |g_k| */
export function maxAbs(g: Float64Array): number {
  let m = 0;
  for (let k = 0; k < g.length; k++) m = Math.max(m, Math.abs(g[k]));
  return m;
}
