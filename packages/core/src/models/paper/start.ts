/** Where a fit of the published model starts: hyperparameters and places from the linear models. */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { checkOption } from "../../errors.ts";
import { noiseLevel } from "../../noise/noise.ts";
import { identity, trace } from "../../numeric/matrix.ts";
import { placeInducing } from "../gp/inducing.ts";
import type { Kernel } from "../gp/kernel.ts";
import { stableKernel } from "../gp/stable-kernel.ts";
import type { MapStart } from "../map-start.ts";
import type { DtmPaperSettings } from "./options.ts";
import { type GlobalParameters, packLocations } from "./state.ts";

/** Parameters, θ [m,P] and warnings at the start. */
export interface PaperStart {
  readonly parameters: GlobalParameters;
  readonly theta: Float64Array;
  readonly warnings: readonly string[];
}

/** Places as `startPlaces` says; μ (or β), σ², α = Tr Σ/d of the linear mixed model and ℓ = 1 unless given. */
export function paperStart(statistics: BasisStatistics, start: MapStart, settings: DtmPaperSettings): PaperStart {
  const m = statistics.numIndividuals;
  const d = statistics.basis.numBasis;
  const { mapDimension: q, diagonalLocations, startSd, jitter } = settings;
  const [marker] = start.markers;
  const fpca = settings.startPlaces === "fpca";
  const places = fpca ? start.locationMean : start.scores!;
  const covariance = fpca ? start.locationCovariance : new Float64Array(m * q * q);
  for (let i = 0; i < m && !fpca; i++) covariance.set(identity(q, startSd ** 2), i * q * q);
  // E ‖f(x)‖² is αd for the RBF kernel and αdq for the linear one.
  const signalVariance =
    settings.signalVariance ?? trace(marker.covariance, d) / (settings.kernel === "rbf" ? d : d * q);
  checkOption(
    signalVariance > 0,
    "fitDtmPaper",
    "individuals that differ (Tr Σ above 0 in the linear mixed model)",
    signalVariance,
    "Give signalVariance.",
  );
  const { locations: Z, count: p } = placeInducing(settings.inducing, q, places, settings.seed, "fitDtmPaper");
  const wanted: Kernel =
    settings.kernel === "rbf"
      ? { kind: "rbf", signalVariance, lengthscales: Float64Array.from(settings.lengthscales), jitter }
      : { kind: "linear", signalVariance, jitter };
  const { kernel, warning } = stableKernel(wanted, Z, p, q);
  return {
    parameters: {
      kernel,
      inducingLocations: Z,
      numInducing: p,
      mapDimension: q,
      numBasis: d,
      meanCoefficients: marker.mean.coefficients.slice(),
      noiseVariance: noiseLevel(marker.noise),
    },
    theta: packLocations({ mean: places, covariance }, q, diagonalLocations),
    warnings: warning === null ? [] : [warning],
  };
}
