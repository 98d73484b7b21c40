/**
 * Expected kernel features of q(x) = N(m,S): the few numbers per individual from which ψ1 [p] and Ψ2 [p,p] follow by
 * fixed linear maps,   ψ1 = C1 · first,   Ψ2 = C2 · second.
 * Weights on ψ1, Ψ2 are collapsed onto the features once per global state (C1', C2'), sums over individuals are
 * gathered in features and expanded once (docs/math/local-step.md §2).
 */
import type { Place } from "./chain-rule.ts";
import type { MomentOrder } from "./nodes.ts";
import type { FeaturePlaces } from "./wasm-local.ts";

export interface Features {
  readonly numFirst: number;
  readonly numSecond: number;
  /** Where the features are, for kernels that know this kind of them; null for others. */
  readonly places: FeaturePlaces | null;
  /** out[f·stride + k] = scale · (C1'A)_fk for A [p,d]. */
  collapseFirst(A: Float64Array, d: number, scale: number, out: Float64Array, stride: number): void;
  /** out[f·stride + column] += scale · (C2'B)_f for the p×p matrix at B[at..]. */
  collapseSecond(B: Float64Array, at: number, scale: number, out: Float64Array, stride: number, column: number): void;
  /** out[f·stride + column] += scale · v_f, where E[k(x,x)] = constant + v'second; the constant is the caller's. */
  collapseVariance(scale: number, out: Float64Array, stride: number, column: number): void;
  /** The features of a place. */
  values(place: Place, first: Float64Array, second: Float64Array): void;
  /** Cube D of F = w1'first + w2'second and its derivatives in m; the same tensors serve S (derivatives.ts). */
  derivatives(place: Place, w1: Float64Array, w2: Float64Array, order: MomentOrder, D: Float64Array): void;
  /** out [p,d] = C1 · (first d columns of sums [numFirst,stride]). */
  expandFirst(sums: Float64Array, stride: number, d: number, out: Float64Array): void;
  /** The p×p matrix at out[at..] = C2 · (column of sums [numSecond,stride]). */
  expandSecond(sums: Float64Array, stride: number, column: number, out: Float64Array, at: number): void;
}
