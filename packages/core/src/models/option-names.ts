/** Names of the options of fits, so that a slip is told: one list for all of them, as what one ignores another may read. */
import { checkNames, checkSeed } from "../errors.ts";

const FIT_OPTIONS = [
  "algorithm",
  "basis",
  "batchSize",
  "cap",
  "columns",
  "covariates",
  "degree",
  "diagonalLocations",
  "domain",
  "effects",
  "emTolerance",
  "epochs",
  "inducing",
  "jitter",
  "kernel",
  "kernels",
  "kind",
  "knots",
  "learn",
  "lengthscale",
  "lengthscalePerDimension",
  "linear",
  "lmm",
  "mapDimension",
  "maxEmIterations",
  "maxEvaluations",
  "maxIterations",
  "mean",
  "nodes",
  "noise",
  "numBasis",
  "onProgress",
  "priors",
  "rank",
  "residual",
  "restarts",
  "rounded",
  "sampleSize",
  "schedule",
  "seed",
  "shards",
  "signal",
  "signalVariance",
  "startPlaces",
  "startSd",
  "statistics",
  "stepSize",
  "tolerance",
] as const;

type NameOf<Options> = Options extends unknown ? keyof Options : never;

/** Refuses a seed that is no whole number, and options that no fit has, with the nearest that one has. The compiler refuses a type of options with names not listed here. */
export function checkFitNames<Options extends object>(
  where: string,
  options: Exclude<NameOf<Options>, (typeof FIT_OPTIONS)[number]> extends never ? Options : never,
): void {
  checkNames(where, options, FIT_OPTIONS);
  checkSeed(where, (options as { readonly seed?: unknown }).seed);
}
