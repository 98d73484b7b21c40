/** The published map at the state in which a fit begins: parameters, engine and places from the linear start. */
import type { BasisStatistics } from "../../packages/core/src/basis/statistics.ts";
import type { Cohort } from "../../packages/core/src/cohort/cohort.ts";
import { gridLocations } from "../../packages/core/src/models/gp/inducing.ts";
import type { MapStart } from "../../packages/core/src/models/map-start.ts";
import { createEngine, type PaperEngine } from "../../packages/core/src/models/paper/engine.ts";
import { type GlobalParameters, packLocations } from "../../packages/core/src/models/paper/state.ts";
import { trace } from "../../packages/core/src/numeric/matrix.ts";
import { startOf } from "../cohorts.ts";

/** Parameters of the linear start with a grid of perDimension² inducing points. */
export function paperParameters(start: MapStart, statistics: BasisStatistics, perDimension: number): GlobalParameters {
  const d = statistics.basis.numBasis;
  const [marker] = start.markers;
  return {
    kernel: {
      kind: "rbf",
      signalVariance: trace(marker.covariance, d) / d,
      lengthscales: Float64Array.of(1, 1),
      jitter: 1e-6,
    },
    inducingLocations: gridLocations(2, perDimension),
    numInducing: perDimension ** 2,
    mapDimension: 2,
    numBasis: d,
    meanCoefficients: marker.mean.coefficients,
    noiseVariance: marker.noise.variance,
  };
}

/** An engine at the linear start, with full covariances of places. */
export function paperProblem(cohort: Cohort, perDimension: number): { engine: PaperEngine; theta: Float64Array } {
  const { statistics, start } = startOf(cohort);
  const parameters = paperParameters(start, statistics, perDimension);
  const options = { diagonal: false, priors: {}, sharedLengthscale: true, kernels: "wasm-simd" } as const;
  return {
    engine: createEngine(statistics, parameters, options),
    theta: packLocations({ mean: start.locationMean, covariance: start.locationCovariance }, 2, false),
  };
}
