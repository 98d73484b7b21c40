import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { type CohortStatistics, selectStatistics, statisticsBlock } from "../basis/statistics.ts";
import { DEFAULT_MARKER } from "../cohort/marker.ts";
import { addToPairs, roundPairs, sumPairs } from "../numeric/pair-sum.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { prepareMarkers } from "./choose-noise.ts";
import type { DtmModel } from "./dtm/model.ts";
import { type MapQuestion, mapQuestion } from "./dtm/question.ts";
import { type FitLatticeOptions, fitDtmStatistics } from "./fit-models.ts";
import { fitLmmStatistics } from "./linear/lmm.ts";
import { type LinearModels, linearModels } from "./linear-models.ts";
import { createShardWorker } from "./shard-worker.ts";
import { type Elsewhere, type NodeCells, type ShardHost, statisticsBlocks } from "./shards.ts";
import { type Exchange, spreadShards } from "./spread.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 90, seed: 3 });
const options: FitLatticeOptions = { mapDimension: 1, maxIterations: 12, restarts: 1 };

/** A round: what the places gave, and the sum once all have. */
interface Round {
  readonly what: string;
  readonly state: string | undefined;
  readonly given: Float64Array[];
}

/** Individuals of each place; those of the cohort are divided at these. */
function divided(statistics: CohortStatistics, cuts: readonly number[]): CohortStatistics[] {
  const ends = [...cuts, statistics[0].numIndividuals];
  return ends.map((to, k) =>
    statistics.map((own) => {
      const block = statisticsBlock(own, { from: cuts[k - 1] ?? 0, to });
      const visits = block.visits.reduce((sum, n) => sum + n, 0);
      return { ...block, numObservations: visits };
    }),
  );
}

class Waiting extends Error {}

/** What `fit` makes of the statistics of every place, each started anew until all sums it asks for are there. */
function fitSpread<M>(
  places: readonly CohortStatistics[],
  fit: (statistics: CohortStatistics, shards: ShardHost) => M,
) {
  const rounds: Round[] = [];
  const models: (M | undefined)[] = places.map(() => undefined);
  const go = (place: number): void => {
    let k = 0;
    const exchange: Exchange = (sums, what, state) => {
      const round = rounds[k] ?? { what, state, given: [] };
      rounds[k++] = round;
      expect([what, state]).toEqual([round.what, round.state]);
      if (round.given[place] === undefined) round.given[place] = sums.slice();
      else expect(sums).toEqual(round.given[place]);
      if (round.given.filter(Boolean).length < places.length) throw new Waiting();
      const pairs = new Float64Array(sums.length);
      for (const own of round.given) addToPairs(pairs, own);
      return roundPairs(pairs);
    };
    const shards = spreadShards({ place, numPlaces: places.length }, { exchange });
    try {
      models[place] = fit(places[place], shards);
    } catch (error) {
      if (!(error instanceof Waiting)) throw error;
    }
  };
  while (models.some((model) => model === undefined)) for (const place of places.keys()) go(place);
  return { models: models as M[], rounds };
}

/** The largest relative difference of what two models say. */
function difference(a: DtmModel, b: DtmModel): number {
  const [own, other] = [a.markers[0], b.markers[0]];
  return Math.max(
    relativeError(own.mean.coefficients, other.mean.coefficients),
    relativeError(own.map.inducingMean, other.map.inducingMean),
    relativeError(own.residual.covariance, other.residual.covariance),
    relativeError(a.orientation, b.orientation),
  );
}

/** All numbers of an answer, in its order. */
function numbers(of: unknown): number[] {
  if (typeof of === "number") return [of];
  if (of instanceof Float64Array) return [...of];
  return of == null ? [] : Object.values(of).flatMap(numbers);
}

/** A fit of a map, from linear models that are known. */
function fitMap(linear: LinearModels, given: FitLatticeOptions = options) {
  return (statistics: CohortStatistics, shards?: ShardHost): DtmModel =>
    fitDtmStatistics({ markers: [DEFAULT_MARKER], statistics }, { ...given, linear, shards });
}

describe("a cohort that is spread", () => {
  it.each(["white", "level"] as const)("has the map of the cohort in one place: %s noise", (noise) => {
    const { statistics } = prepareMarkers(cohort, { noise });
    // Few passes: places start anew at every round, so that time grows with the square of the rounds.
    const given = { ...options, maxIterations: 6 };
    const fit = fitMap(linearModels([DEFAULT_MARKER], statistics, [], { mapDimension: 1 }), given);
    // The same parts in one place: sums are added by part.
    const ends = [20, 55, 90];
    const together = statistics.map((own) => ({ ...own, ends }));
    const pooled = fit(together, spreadShards({ place: 0, numPlaces: 1 }));
    const { models, rounds } = fitSpread(divided(statistics, ends.slice(0, 2)), fit);
    // Numbers added in another order lead steps that are not yet at their end a little elsewhere.
    expect(relativeError([fit(statistics).bound], [pooled.bound])).toBeLessThan(1e-7);
    for (const model of models) {
      expect(relativeError([model.bound], [pooled.bound])).toBeLessThan(1e-14);
      expect(difference(model, pooled)).toBeLessThan(1e-13);
      expect({ ...model, record: null }).toEqual({ ...models[0], record: null });
      expect(model.record.numIndividuals).toBe(90);
      expect(model.record.numObservations).toBe(pooled.record.numObservations);
      expect(model.record.verdict).toBe(pooled.record.verdict);
      expect(model.record.starts?.map(({ name }) => name)).toEqual(pooled.record.starts?.map(({ name }) => name));
    }
    expect(rounds[0].given.map((counts) => [...counts])).toEqual([
      [20, 0, 0, 0, 0, 0],
      [0, 35, 0, 0, 0, 0],
      [0, 0, 35, 0, 0, 0],
    ]);
  });

  it.each(["white", "level", "serial"] as const)(
    "has the linear models of the cohort in one place: %s noise",
    (noise) => {
      const { statistics } = prepareMarkers(cohort, { noise });
      const few = { maxEmIterations: 5, maxEvaluations: 5, priors: "weak" } as const;
      const fit = (own: CohortStatistics, shards: ShardHost) =>
        fitLmmStatistics(shards.open(own).statistics, { ...few, shards });
      const together = statistics.map((own) => ({ ...own, ends: [50, 90] }));
      const pooled = fit(together, spreadShards({ place: 0, numPlaces: 1 }));
      const { models } = fitSpread(divided(statistics, [50]), fit);
      const [last, plain] = [pooled, fitLmmStatistics(statistics, few)].map(({ record }) => record.trace.at(-1)!);
      expect(relativeError([last], [plain])).toBeLessThan(1e-9);
      for (const model of models) {
        expect(model.record.trace).toHaveLength(pooled.record.trace.length);
        expect(relativeError(model.record.trace, pooled.record.trace)).toBeLessThan(1e-12);
        expect(relativeError(model.covarianceFactor, pooled.covarianceFactor)).toBeLessThan(1e-10);
        expect(relativeError(model.scoreLoadings, pooled.scoreLoadings)).toBeLessThan(1e-9);
        expect(model.record.numObservations).toBe(pooled.record.numObservations);
      }
    },
  );

  it("lets a place look at how single individuals stand out before it hands out sums", () => {
    const { statistics } = prepareMarkers(cohort, { noise: "level" });
    const linear = linearModels([DEFAULT_MARKER], statistics, [], { mapDimension: 1 });
    const seen: NodeCells[] = [];
    const shards = spreadShards({ place: 0, numPlaces: 1 }, { inspect: (cells) => seen.push(cells) });
    fitMap(linear, { ...options, restarts: 0, maxIterations: 2 })(statistics, shards);
    expect(seen.length).toBeGreaterThan(1);
    for (const { people, largest } of seen) {
      expect(people.reduce((sum, n) => sum + n, 0)).toBeCloseTo(90, 8);
      expect(largest.every((r, g) => r > 0 && r <= 1 && r <= people[g])).toBe(true);
    }
  });

  it.each([
    ["white", "capped", true],
    ["level", "capped", false],
    ["white", "full", false],
  ] as const)("asks shards elsewhere for rounds that they can make: %s noise, %s residual", (noise, residual, can) => {
    const { statistics } = prepareMarkers(cohort, { noise });
    const together = statistics.map((own) => ({ ...own, ends: [20, 90] }));
    const linear = linearModels([DEFAULT_MARKER], statistics, [], { mapDimension: 1 });
    const fit = fitMap(linear, { ...options, restarts: 0, residual });
    const asked: MapQuestion[] = [];
    const work = createShardWorker();
    const elsewhere: Elsewhere = (name, state) => {
      const question = mapQuestion(name, state);
      if (question === undefined) return undefined;
      asked.push(question);
      const parts = statisticsBlocks(together).map((block) => ({ ...block, visited: null }));
      const terms = parts.map((part) => Float64Array.from(numbers(work(together, name, state, part))));
      return roundPairs(sumPairs(terms));
    };
    const here = spreadShards({ place: 0, numPlaces: 1 });
    const model = fit(together, spreadShards({ place: 0, numPlaces: 1 }, { elsewhere }));
    expect({ ...model, record: null }).toEqual({ ...fit(together, here), record: null });
    expect(asked.length > 10).toBe(can);
    const short = spreadShards({ place: 0, numPlaces: 1 }, { elsewhere: () => new Float64Array(3) });
    expect(() => fit(together, short)).toThrow(/expected \d+ sums of a pass, received 3/);
  });

  it("refuses what needs rows of others", () => {
    const { statistics } = prepareMarkers(cohort, { noise: "white" });
    const shards = spreadShards({ place: 0, numPlaces: 1 });
    const [own] = shards.open(statistics).statistics;
    expect(own.whole?.numIndividuals).toBe(90);
    expect(() => selectStatistics(own, [1, 2])).toThrow(/spread.*sample/);
    const prepared = { markers: [DEFAULT_MARKER], statistics: [own] };
    const linear = linearModels([DEFAULT_MARKER], statistics, [], { mapDimension: 1 });
    expect(() => fitDtmStatistics(prepared, { ...options, linear, shards, schedule: "svi" })).toThrow(
      /schedule "batch"/,
    );
  });
});
