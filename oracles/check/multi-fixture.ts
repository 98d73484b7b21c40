import type { BasisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { referenceCovariance } from "../../packages/core/src/models/dtm/state.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { trace } from "../../packages/core/src/numeric/matrix.ts";
import { flatten, type Nested } from "./checker.ts";
import type { MultiFixture } from "./multi.ts";
import { kernelProblems, type MultiProblem } from "./multi-problem.ts";

export type Row = readonly number[];

/** The blocks of the file that are checked here. */
export interface MultiMapFixture extends MultiFixture {
  readonly nodes: readonly Row[];
  readonly log_prior: Row;
  readonly inducing: readonly Row[];
  readonly sep: {
    readonly start: {
      readonly tau: Row;
      readonly alpha: Row;
      readonly ell: Row;
      readonly s2: Row;
      readonly coef: readonly Row[];
      readonly responsibilities: Nested;
    };
    readonly Sref: readonly Nested[];
    readonly absorbed: readonly { readonly G: Nested; readonly g: Nested; readonly c: Row; readonly C: Nested }[];
    readonly kernel: readonly { readonly a: Nested; readonly kt: Row }[];
    readonly u: readonly {
      readonly phi: number;
      readonly dphi_dlogalpha: Row;
      readonly dphi_dlogell: Row;
      readonly logdet: number;
      readonly c: Row;
      readonly mean_move: Row;
      readonly nu: Row;
      readonly trace_Xi: number;
      readonly kl: number;
    }[];
    readonly estep: {
      readonly bound: number;
      readonly responsibilities: Nested;
      readonly f: readonly Nested[];
      readonly R: readonly Nested[];
    };
    readonly effects: {
      readonly columns: Row;
      readonly scores: Nested;
      readonly complete: Nested;
      readonly observed: Nested;
      readonly after_step: { readonly coef: Nested; readonly bound: number; readonly gain: number };
    };
    readonly mstep: { readonly s2: Row; readonly tau: Row; readonly h: Row };
    readonly after: {
      readonly bounds: Row;
      readonly s2: Row;
      readonly tau: Row;
      readonly coef: Nested;
      readonly last_bound: number;
      readonly share: Row;
    };
    readonly predict: {
      readonly node_log_density: Nested;
      readonly log_likelihood: Row;
      readonly place_mean: Nested;
      readonly place_variance: Nested;
      readonly forecast1_given_both: Row;
      readonly forecast1_given_own: Row;
      readonly marker2_given_marker1: Row;
      readonly basis_at_3: Nested;
    };
  };
  readonly shift: {
    readonly Phi: readonly Row[];
    readonly s2: Row;
    readonly mean: readonly Row[];
    readonly Sigma: Nested;
    readonly log_prior: Nested;
    readonly bound: number;
    readonly scores: Nested;
    readonly complete: Nested;
    readonly observed: Nested;
    readonly Phi_after: Nested;
    readonly bound_after: number;
  };
}

/** First trial distance of τ. */
export const FIRST_DISTANCE = 0.3;

export function problemOf(
  fixture: MultiMapFixture,
  statistics: readonly BasisStatistics[],
  Sigma: Nested,
): Omit<MultiProblem, "form" | "logPrior"> {
  const q = fixture.nodes[0].length;
  const starts = markerBlocks(flatten(Sigma), statistics);
  return {
    statistics,
    z: flatten(fixture.z),
    kernels: kernelProblems(statistics, flatten(fixture.nodes), flatten(fixture.inducing), q),
    references: starts.map((covariance, k) => {
      const coefficients = new Float64Array(statistics[k].basis.numBasis);
      return referenceCovariance({ mean: { kind: "scalar", coefficients }, noise: whiteNoise(1), covariance });
    }),
    alpha: starts.map((covariance, k) => {
      const d = statistics[k].basis.numBasis;
      return trace(covariance, d) / d;
    }),
    ell: fixture.sep.start.ell,
  };
}

/** Diagonal blocks of Σ, marker by marker. */
export function markerBlocks(Sigma: Float64Array, statistics: readonly BasisStatistics[]): Float64Array[] {
  const D = Math.round(Math.sqrt(Sigma.length));
  let from = 0;
  return statistics.map(({ basis: { numBasis: d } }) => {
    const at = from;
    from += d;
    return Float64Array.from({ length: d * d }, (_, e) => Sigma[(at + Math.floor(e / d)) * D + at + (e % d)]);
  });
}
