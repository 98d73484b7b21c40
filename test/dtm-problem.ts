/** Small simulated problems of the recommended map, for tests. */
import { expect } from "vitest";
import { bsplineBasis } from "../packages/core/src/basis/knots.ts";
import type { CohortStatistics } from "../packages/core/src/basis/statistics.ts";
import { basisStatistics } from "../packages/core/src/basis/statistics.ts";
import { type CohortColumns, makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { batchIteration, startBatch } from "../packages/core/src/models/dtm/batch.ts";
import { createEngine, type MapEngine, startAnchors, tabulateMap } from "../packages/core/src/models/dtm/engine.ts";
import type { DtmModel } from "../packages/core/src/models/dtm/model.ts";
import { packParameters, unpackParameters } from "../packages/core/src/models/dtm/parameters.ts";
import { fitDtmFrom, resumeDtm, startDtm } from "../packages/core/src/models/dtm/run.ts";
import { type DtmOptions, dtmSettings } from "../packages/core/src/models/dtm/settings.ts";
import { startingPlaces } from "../packages/core/src/models/dtm/starting-places.ts";
import { copyState, type DtmState, firstState } from "../packages/core/src/models/dtm/state.ts";
import { linearStart } from "../packages/core/src/models/linear/start.ts";
import type { MapStart } from "../packages/core/src/models/map-start.ts";
import { firstNoise, type NoiseKind } from "../packages/core/src/noise/noise.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { scrambledHost } from "./shard-host.ts";

/**
 * Three groups of courses that no linear model holds (falling, late falling, flat), with levels and noise, whose log variance may
 * differ between individuals.
 */
export function columnsOf(numIndividuals: number, seed = 1, noiseSpread = 0): CohortColumns {
  const random = createRandom(seed);
  const unsteady = createRandom(seed + 1000);
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < numIndividuals; i++) {
    const group = random.integer(3);
    const level = 80 + 8 * random.normal();
    const n = 1 + random.integer(7);
    const sd = 3 * Math.exp(0.5 * noiseSpread * unsteady.normal());
    for (let j = 0; j < n; j++) {
      const t = 10 * random.uniform();
      const fall = group === 0 ? 3 * t : group === 1 ? 7 * Math.max(0, t - 5) : 0;
      ids.push(`P${String(i).padStart(4, "0")}`);
      times.push(t);
      values.push(level - fall + sd * random.normal());
    }
  }
  return { ids, times, values };
}

/** A cohort, its statistics and a start from the linear models. */
export function problemOf(
  columns: CohortColumns,
  mapDimension = 2,
  mean: "scalar" | "spline" = "scalar",
  noise: NoiseKind = "white",
) {
  const cohort = makeCohort(columns);
  const basis = bsplineBasis(onlyMarker(cohort).times);
  const statistics = basisStatistics(cohort, basis, { noise: firstNoise(noise) });
  return { cohort, statistics, start: linearStart([statistics], { mapDimension, mean }) };
}

/** Small and quick: a coarse lattice, nine inducing points, one start. */
export const quick = { nodes: { step: 0.5 }, inducing: { perDimension: 3 }, restarts: 0 } as const;

/** Expects a fit to have the same bits whole, from a snapshot after three steps, and spread over shards. */
export function expectSameBits(statistics: CohortStatistics, start: MapStart, options: DtmOptions): void {
  const whole = startDtm(statistics, start, options);
  for (let k = 0; k < 3; k++) whole.step();
  const snapshot = structuredClone(whole.snapshot());
  while (!whole.step().done);
  const expected = timeless(whole.finish());
  const resumed = resumeDtm(statistics, snapshot);
  while (!resumed.step().done);
  expect(timeless(resumed.finish())).toEqual(expected);
  expect(timeless(fitDtmFrom(statistics, start, { ...options, shards: scrambledHost(3) }))).toEqual(expected);
}

/** A model without the time it took. */
export const timeless = (model: DtmModel): DtmModel => ({ ...model, record: { ...model.record, milliseconds: {} } });

/** Engine and state of a quick fit after some iterations. */
export function stateAfter(
  iterations: number,
  { statistics, start }: Pick<ReturnType<typeof problemOf>, "statistics" | "start">,
  options: DtmOptions,
): { engine: MapEngine; state: DtmState } {
  const settings = dtmSettings({ ...quick, ...options }, start, statistics.numIndividuals);
  const engine = createEngine([statistics], startAnchors(start), settings);
  const state = firstState(start, settings);
  startBatch(engine, state, startingPlaces(start, 0, 2, 1));
  while (state.iteration < iterations) batchIteration(engine, state);
  return { engine, state };
}

/** A state whose k-th packed parameter has moved, with its node table in the engine. */
export function movedState(engine: MapEngine, state: DtmState, k: number, by: number): DtmState {
  const moved = copyState(state);
  const x = packParameters(engine, state);
  x[k] += by;
  unpackParameters(engine, x, moved);
  tabulateMap(engine, moved);
  return moved;
}
