/** The fixtures of the recommended model (grid_*.json), and their data in the form the fit's own functions read. */

import { type BasisStatistics, basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import {
  type IndividualModel,
  packedStride,
  residualRoot,
} from "../../packages/core/src/models/dtm/individual-statistics.ts";
import { inducingWorkspace } from "../../packages/core/src/models/dtm/inducing-posterior.ts";
import type { KernelProblem, KernelSolution } from "../../packages/core/src/models/dtm/kernel-step.ts";
import { nodeGeometry } from "../../packages/core/src/models/dtm/node-kernel.ts";
import { inducingLayout } from "../../packages/core/src/models/dtm/pairs.ts";
import { rbfKernel } from "../../packages/core/src/models/gp/kernel.ts";
import type { SparseMap } from "../../packages/core/src/models/gp/sparse-map.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { fixtureBasis, fixtureCohort, flatten, type Nested } from "./checker.ts";

type Row = readonly number[];
type Matrix = readonly Row[];

/** A grid_*.json as it is written. */
export interface GridFixture {
  readonly d: number;
  readonly q: number;
  readonly degree: number;
  readonly knots: Row;
  readonly mean: "scalar" | "spline";
  readonly ids: Row;
  readonly t: Row;
  readonly y: Row;
  readonly B: Matrix;
  readonly n: Row;
  readonly G: Nested;
  readonly B1: Matrix;
  readonly X: Matrix;
  readonly logw: Row;
  readonly Z: Matrix;
  readonly eps: number;
  readonly mu: number | Row;
  readonly s2: number;
  readonly alpha: number;
  readonly ell: number;
  readonly cap: number;
  readonly tau: number;
  readonly Sref: Matrix;
  readonly Se: Matrix | null;
  readonly stats: {
    readonly g: Matrix;
    readonly rho: Row;
    readonly Gt: Nested;
    readonly gt: Matrix;
    readonly c: Row;
    readonly C: Nested | null;
  };
  readonly kernel: {
    readonly Lc: Matrix;
    readonly A: Matrix;
    readonly ktilde: Row;
    readonly dA_dlogell: Matrix;
  };
  readonly r0: Matrix;
  readonly global: {
    readonly nodeG: Nested;
    readonly nodeg: Matrix;
    readonly Lambda: Matrix;
    readonly c: Row;
    readonly v: Row;
    readonly Xi: Matrix;
    readonly logdetLambda: number;
    readonly phi: number;
    readonly dphi_dlogalpha: number;
    readonly dphi_dlogell: number;
    readonly kl: number;
  };
  readonly estep: {
    readonly mean: Matrix;
    readonly cov: Nested;
    readonly r: Matrix;
    readonly Li: Row;
    readonly F: number;
  };
  readonly mstep: {
    readonly fbar: Matrix;
    readonly Rbar: Nested;
    readonly mu: number | Row;
    readonly s2: number;
    readonly Se: Matrix | null;
    readonly tau: number | null;
  };
  readonly tau_step?: {
    readonly mu: number | Row;
    readonly s2: number;
    readonly tau_old: number;
    readonly h_old: number;
    readonly logtau_tried: Row;
    readonly Q: Row;
    readonly tau_new: number;
    readonly h_new: number;
    readonly Q_new: number;
  };
  readonly after: {
    readonly trace: Row;
    readonly mu: number | Row;
    readonly s2: number;
    readonly Se: Matrix | null;
    readonly r: Matrix;
  };
  readonly kernel_opt: {
    readonly alpha: number;
    readonly ell: number;
    readonly phi: number;
    readonly F: number;
  };
  readonly predict: GridPrediction;
}

/** Its `predict` block. */
export interface GridPrediction {
  readonly ids: Row;
  readonly t: Row;
  readonly y: Row;
  readonly alpha: number;
  readonly ell: number;
  readonly v: Row;
  readonly Xi: Matrix;
  readonly mu: number | Row;
  readonly s2: number;
  readonly Se: Matrix | null;
  readonly node_mean: Matrix;
  readonly node_cov: Nested;
  readonly cond: Matrix;
  readonly ll: Row;
  readonly post_mean: Matrix;
  readonly post_cov: Nested;
  readonly forecast_sub: Row;
  readonly forecast_logdens: Row;
  readonly forecast_pit: Row;
  readonly forecast_joint: Row;
}

/** A fixture's data in our own form. */
export interface GridProblem {
  readonly fixture: GridFixture;
  readonly statistics: BasisStatistics;
  readonly nodes: Float64Array; // [Γ,q]
  readonly inducing: Float64Array; // [p,q]
  readonly kernel: KernelProblem;
  readonly stride: number; // K
}

/** Reads a fixture into our own form. */
export function gridProblem(fixture: GridFixture): GridProblem {
  const { d, q } = fixture;
  const statistics = statisticsOf(fixture, fixture);
  const nodes = flatten(fixture.X);
  const inducing = flatten(fixture.Z);
  const geometry = nodeGeometry(nodes, inducing, q, fixture.eps);
  const layout = inducingLayout(d, geometry);
  const stride = packedStride(d);
  const nodeSums = new Float64Array(stride * geometry.numNodes);
  const kernel = { geometry, layout, nodeSums, workspace: inducingWorkspace(layout) };
  return { fixture, statistics, nodes, inducing, kernel, stride };
}

/** Statistics of a block of observations under the fixture's basis. */
export function statisticsOf(
  fixture: GridFixture,
  data: { readonly ids: Row; readonly t: Row; readonly y: Row },
  center?: number,
): BasisStatistics {
  return basisStatistics(fixtureCohort(data.ids, data.t, data.y), fixtureBasis(fixture.knots, fixture.degree), {
    center,
  });
}

/** A fixture's mean, a number or coefficients, as coefficients [d]. */
export function meanCoefficients(mu: number | Row, d: number): Float64Array {
  return typeof mu === "number" ? new Float64Array(d).fill(mu) : Float64Array.from(mu);
}

/** The mean as the fixture writes it. */
export function meanAsListed(fixture: GridFixture, mean: Float64Array): Float64Array {
  return fixture.mean === "scalar" ? mean.slice(0, 1) : mean;
}

/** Parameters of the individuals from listed ones. */
export function individualModel(
  fixture: GridFixture,
  mu: number | Row,
  s2: number,
  Se: Matrix | null,
): IndividualModel {
  return {
    mean: meanCoefficients(mu, fixture.d),
    noise: whiteNoise(s2),
    residualRoot: Se === null ? null : residualRoot(flatten(Se), fixture.d),
  };
}

/** The map of a solution, in the form that models have. */
export function sparseMap(problem: GridProblem, solution: KernelSolution): SparseMap {
  const { alpha, ell } = { alpha: solution.kernel.signalVariance, ell: solution.kernel.lengthscale };
  return {
    kernel: rbfKernel(problem.fixture.q, alpha, ell, problem.fixture.eps),
    mapDimension: problem.fixture.q,
    numInducing: problem.kernel.layout.numInducing,
    numBasis: problem.fixture.d,
    inducingLocations: problem.inducing,
    inducingMean: solution.posterior.mean,
    inducingCovariance: solution.posterior.covariance,
  };
}
