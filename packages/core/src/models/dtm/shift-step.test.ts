import { describe, expect, it } from "vitest";
import { columnsOf, expectSameBits, movedState, problemOf, quick } from "../../../../../test/dtm-problem.ts";
import type { CodedCovariates } from "../../cohort/coding.ts";
import { createRandom } from "../../numeric/random.ts";
import { localShards } from "../shards.ts";
import { batchIteration, startBatch } from "./batch.ts";
import { createEngine, startAnchors } from "./engine.ts";
import { latticeNodes } from "./nodes.ts";
import { packParameters } from "./parameters.ts";
import { expectBound } from "./passes.ts";
import { momentsOfPowers, placePriors, shiftInformation, shiftScores } from "./place-shift.ts";
import { fitDtmFrom, startDtm } from "./run.ts";
import { dtmSettings } from "./settings.ts";
import { dtmShards } from "./shards.ts";
import { shiftSlope } from "./shift-step.ts";
import { slopeLearning, slopesAt } from "./slope.ts";
import { startingPlaces } from "./starting-places.ts";
import { firstState } from "./state.ts";

const { statistics, start, cohort } = problemOf(columnsOf(120, 3));
const m = statistics.numIndividuals;
const random = createRandom(11);
/** The level of each individual, with noise, and a covariate that means nothing; both centred and scaled. */
const raw = cohort.ids.map((_, i) => {
  const { offsets, values } = cohort.markers[0];
  return values[offsets[i]] + 6 * random.normal();
});
const [mean, sd] = (() => {
  const average = raw.reduce((s, v) => s + v, 0) / m;
  return [average, Math.sqrt(raw.reduce((s, v) => s + (v - average) ** 2, 0) / m)];
})();
const covariates = Float64Array.from({ length: 2 * m }, (_, e) =>
  e % 2 === 0 ? (raw[e / 2] - mean) / sd : random.normal(),
);

const columns = ["level", "nothing"].map((name, covariate) => ({ name, covariate, level: null, center: 0, scale: 1 }));
const coded: CodedCovariates = {
  coding: {
    covariates: columns.map(({ name }) => ({ name, kind: "number", effect: "places", levels: [], hasUnknown: false })),
    columns,
    missing: "complete",
  },
  values: covariates,
};

function stateWith(iterations: number, learn = true) {
  const settings = dtmSettings({ ...quick, learn }, start, m);
  const shards = localShards(dtmShards).open([statistics]);
  const engine = createEngine([statistics], startAnchors(start), settings, undefined, shards, covariates);
  const state = firstState(start, settings, 2);
  startBatch(engine, state, startingPlaces(start, 0, 2, 1));
  while (state.iteration < iterations) batchIteration(engine, state);
  return { engine, state };
}

describe("priors of places with covariates", () => {
  it("are N(Φz, I) away from the rim of the lattice", () => {
    const nodes = latticeNodes(2, { step: 0.25 });
    const shift = Float64Array.of(0.5, 0, -0.3, 0.2);
    const { means, covariances, terms } = placePriors(nodes, shift, Float64Array.of(1, 0, 0.4, -1));
    expect(Array.from(terms)).toEqual([0.5, -0.3, 0.2, expect.closeTo(-0.32, 12)]);
    terms.forEach((v, e) => {
      expect(means[e]).toBeCloseTo(v, 2);
    });
    expect(covariances[0]).toBeCloseTo(1, 1);
    expect(covariances[1]).toBeCloseTo(0, 2);
  });

  it("have moments from powers", () => {
    const { means, covariances } = momentsOfPowers(Float64Array.of(1, 2, 3, 4, 9), 2);
    expect(Array.from(means)).toEqual([1, 2]);
    expect(Array.from(covariances)).toEqual([2, 2, 2, 5]);
  });
});

describe("the shift of places", () => {
  it("has the score and, with the observed information, the curvature that differences of the bound give", () => {
    const { engine, state } = stateWith(6);
    const n = packParameters(engine, state).length;
    const at = (changes: readonly (readonly [number, number])[]) => {
      let moved = state;
      for (const [k, by] of changes) moved = movedState(engine, moved, n - 4 + k, by);
      return expectBound(engine, moved, null, null);
    };
    expectBound(engine, state, null, slopeLearning(engine, state));
    const { gradient } = shiftSlope(engine, state.shift!, null);
    const all = slopesAt(engine, state);
    expect(all.at(-1)!.gradient).toEqual(gradient);
    const prior = placePriors(engine.nodes, state.shift!, covariates);
    const posterior = momentsOfPowers(engine.placeMoments, 2);
    const observed = shiftInformation(
      prior.covariances.map((v, e) => v - posterior.covariances[e]),
      covariates,
      2,
    );
    const total = new Float64Array(4);
    shiftScores(prior, posterior, covariates, 2).forEach((s, e) => {
      total[e % 4] += s;
    });
    const h = 1e-3;
    const middle = at([]);
    for (let k = 0; k < 4; k++) {
      const [up, down] = [at([[k, h]]), at([[k, -h]])];
      expect(Math.abs(total[k] - (up - down) / (2 * h))).toBeLessThan(1e-4 * (1 + Math.abs(total[k])));
      expect(Math.abs(observed[k * 5] + (up - 2 * middle + down) / (h * h))).toBeLessThan(2e-3 * observed[k * 5]);
      for (let l = 0; l < k; l++) {
        const mixed =
          at([
            [k, h],
            [l, h],
          ]) -
          at([
            [k, h],
            [l, -h],
          ]) -
          at([
            [k, -h],
            [l, h],
          ]) +
          at([
            [k, -h],
            [l, -h],
          ]);
        expect(Math.abs(observed[k * 4 + l] + mixed / (4 * h * h))).toBeLessThan(3e-3 * observed[k * 5]);
      }
    }
  });

  it("is found where there is one, and the bound never falls and gains by it", () => {
    const with2 = fitDtmFrom([statistics], start, { ...quick, covariates: coded });
    const without = fitDtmFrom([statistics], start, quick);
    const { trace } = with2.record;
    for (let k = 1; k < trace.length; k++)
      expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1] - 1e-8 * Math.abs(trace[k]));
    expect(with2.record.converged).toBe(true);
    expect(with2.bound).toBeGreaterThan(without.bound + 10);
    const length = (c: number) => Math.hypot(with2.shift!.loadings[c], with2.shift!.loadings[2 + c]);
    expect(length(0)).toBeGreaterThan(0.4);
    expect(length(1)).toBeLessThan(0.7 * length(0));
    expect(without.shift).toBeUndefined();
  });

  it("starts at none and stays there where nothing is learned", () => {
    const { state, engine } = stateWith(3, false);
    expect(Array.from(state.shift!)).toEqual([0, 0, 0, 0]);
    const plain = startDtm([statistics], start, { ...quick, learn: false });
    for (let k = 0; k < 3; k++) plain.step();
    expect(engine.bound).toBeCloseTo(plain.snapshot().state.trace.at(-1)!, 8);
  });

  it.each([{ ...quick }, { ...quick, schedule: "svi", maxIterations: 6, batchSize: 40 }] as const)(
    "is the same bit for bit after a snapshot and in shards: %j",
    (options) => {
      const given = { ...options, covariates: coded };
      expectSameBits([statistics], start, given);
    },
  );
});
