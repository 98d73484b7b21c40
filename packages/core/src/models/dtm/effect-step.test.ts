import { describe, expect, it } from "vitest";
import { columnsOf, expectSameBits, movedState, problemOf, quick } from "../../../../../test/dtm-problem.ts";
import type { Covariates } from "../../covariates/covariates.ts";
import { createRandom } from "../../numeric/random.ts";
import type { MapStart } from "../map-start.ts";
import { meanCovariates } from "../mean.ts";
import { localShards } from "../shards.ts";
import { batchIteration, startBatch } from "./batch.ts";
import { createEngine, startAnchors } from "./engine.ts";
import { packParameters } from "./parameters.ts";
import { expectBound } from "./passes.ts";
import { fitDtmFrom, startDtm } from "./run.ts";
import { dtmSettings } from "./settings.ts";
import { dtmShards } from "./shards.ts";
import { slopeLearning, slopesAt } from "./slope.ts";
import { startingPlaces } from "./starting-places.ts";
import { firstState } from "./state.ts";

const { statistics, start: plain, cohort } = problemOf(columnsOf(120, 3));
const m = statistics.numIndividuals;
const random = createRandom(11);
const raw = cohort.ids.map((_, i) => {
  const { offsets, values } = cohort.markers[0];
  return values[offsets[i]] + 6 * random.normal();
});
const average = raw.reduce((s, v) => s + v, 0) / m;
const sd = Math.sqrt(raw.reduce((s, v) => s + (v - average) ** 2, 0) / m);
const columns = ["level", "nothing"].map((name, covariate) => ({ name, covariate, level: null, center: 0, scale: 1 }));

/** The level of each individual, with noise, and a covariate that means nothing, with these effects. */
function covariatesWith(...effects: readonly ("level" | "level-and-rate" | "places")[]): Covariates {
  return {
    coding: {
      covariates: columns.map(({ name }, c) => ({
        ...{ name, kind: "number", levels: [], hasUnknown: false },
        effect: effects[c],
      })),
      columns,
      missing: "complete",
    },
    ids: cohort.ids,
    individuals: Int32Array.from(cohort.ids, (_, i) => i),
    values: Float64Array.from({ length: 2 * m }, (_, e) =>
      e % 2 === 0 ? (raw[e / 2] - average) / sd : Math.cos(3 * e + 1),
    ),
    leftOut: [],
    warnings: [],
  };
}

const coded = covariatesWith("level-and-rate", "level-and-rate");
/** A start with effects of 0. */
function startWith(numEffects: number): MapStart {
  return { ...plain, markers: plain.markers.map((own) => ({ ...own, effects: new Float64Array(numEffects) })) };
}
const start = startWith(4);

function stateWith(iterations: number) {
  const settings = dtmSettings(quick, start, m);
  const shards = localShards(dtmShards).open([statistics]);
  const inMean = meanCovariates(coded);
  const engine = createEngine([statistics], startAnchors(start), settings, undefined, shards, null, inMean);
  const state = firstState(start, settings);
  startBatch(engine, state, startingPlaces(start, 0, 2, 1));
  while (state.iteration < iterations) batchIteration(engine, state);
  return { engine, state };
}

describe("effects in the mean of the map", () => {
  it("have the slope that differences of the bound give", () => {
    const { engine, state } = stateWith(6);
    expectBound(engine, state, null, slopeLearning(engine, state));
    const { gradient } = slopesAt(engine, state).at(-1)!;
    expect(gradient.length).toBe(4);
    const n = packParameters(engine, state).length;
    const h = 1e-4;
    gradient.forEach((slope, k) => {
      const [up, down] = [h, -h].map((by) => expectBound(engine, movedState(engine, state, n - 4 + k, by), null, null));
      expect(Math.abs(slope - (up - down) / (2 * h))).toBeLessThan(1e-4 * (1 + Math.abs(slope)));
    });
  });

  it("are found where there are any, and the bound never falls and gains by them", () => {
    const fitted = fitDtmFrom([statistics], start, { ...quick, covariates: coded });
    const without = fitDtmFrom([statistics], plain, quick);
    const { trace } = fitted.record;
    for (let k = 1; k < trace.length; k++)
      expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1] - 1e-8 * Math.abs(trace[k]));
    expect(fitted.record.converged).toBe(true);
    expect(fitted.bound).toBeGreaterThan(without.bound + 10);
    const effects = fitted.markers[0].effects!;
    expect(Math.abs(effects[0])).toBeGreaterThan(3 * Math.abs(effects[2]));
    expect(Math.abs(effects[0])).toBeGreaterThan(3 * Math.sqrt(fitted.effects!.covariance[0]));
    expect(without.effects).toBeUndefined();
  });

  it.each([{ ...quick }, { ...quick, schedule: "svi", maxIterations: 6, batchSize: 40 }] as const)(
    "are the same bit for bit after a snapshot and in shards, beside a shift of places: %j",
    (options) => {
      const given = { ...options, covariates: covariatesWith("level", "places") };
      expectSameBits([statistics], startWith(1), given);
    },
  );

  it("are refused in two forms, and without a start of their own", () => {
    const two = covariatesWith("level", "level-and-rate");
    expect(() => startDtm([statistics], start, { ...quick, covariates: two })).toThrow(/one form/);
    expect(() => startDtm([statistics], plain, { ...quick, covariates: coded })).toThrow(/4 effects at the start/);
  });
});
