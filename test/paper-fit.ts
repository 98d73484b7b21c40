/** Whole fits of the published model with the places of those it was fitted to, for tests and the oracle. */
import type { BasisStatistics } from "../packages/core/src/basis/statistics.ts";
import type { MapStart } from "../packages/core/src/models/map-start.ts";
import type { DtmPaperModel } from "../packages/core/src/models/paper/model.ts";
import type { DtmPaperOptions } from "../packages/core/src/models/paper/options.ts";
import { type DtmPaperSnapshot, startDtmPaper } from "../packages/core/src/models/paper/run.ts";
import { type LocationPosterior, unpackLocations } from "../packages/core/src/models/paper/state.ts";
import { completeRun } from "../packages/core/src/models/run.ts";

export interface DtmPaperFit {
  readonly model: DtmPaperModel;
  /** q(x_i) in the order of the statistics, in the fit's frame. */
  readonly locations: LocationPosterior;
}

export function fitDtmPaperStatistics(
  statistics: BasisStatistics,
  start: MapStart,
  options: DtmPaperOptions = {},
): DtmPaperFit {
  const run = startDtmPaper(statistics, start, options);
  const model = completeRun(run);
  return { model, locations: locationsOf(run.snapshot()) };
}

/** q(x_i) of everybody as a run stood, in the fit's frame. */
export function locationsOf({ state, inputs }: DtmPaperSnapshot): LocationPosterior {
  const { mapDimension: q, diagonalLocations } = inputs.settings;
  return unpackLocations(state.theta, q, diagonalLocations);
}
