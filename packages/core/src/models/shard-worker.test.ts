import { describe, expect, it } from "vitest";
import { quick } from "../../../../test/dtm-problem.ts";
import { randomCohort } from "../../../../test/random-cohort.ts";
import { scrambledHost } from "../../../../test/shard-host.ts";
import { makeCohort } from "../cohort/cohort.ts";
import { createRandom } from "../numeric/random.ts";
import { type FitDtmOptions, fitDtm } from "./fit-models.ts";
import { embed } from "./place.ts";
import { createShardWorker } from "./shard-worker.ts";
import { shardBlocks } from "./shards.ts";

/** Individuals with two to five visits, more than one block of them. */
function cohortOf(m: number) {
  const random = createRandom(11);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < m; i++) {
    const [level, bend] = [random.normal(), random.normal()];
    for (let j = 0; j < 2 + (i % 4); j++) {
      const t = 10 * random.uniform();
      rows.ids.push(`p${1000 + i}`);
      rows.times.push(t);
      rows.values.push(3 * level + 2 * bend * Math.cos(t / 3) + 0.5 * random.normal());
    }
  }
  return makeCohort(rows);
}

describe("shards", () => {
  const cohort = cohortOf(700);
  const CASES: readonly (readonly [string, FitDtmOptions])[] = [
    ["a map by whole passes", { ...quick, maxIterations: 12 }],
    [
      "a map by minibatches and a sample",
      { ...quick, schedule: "svi", maxIterations: 5, sampleSize: 600, batchSize: 300 },
    ],
    [
      "a map with a free residual, in plain TypeScript",
      { ...quick, residual: "full", maxIterations: 5, kernels: "typescript" },
    ],
    ["the published map by minibatches", { kind: "dtm-paper", schedule: "svi", batchSize: 350, epochs: 2 }],
    ["the published map as published", { kind: "dtm-paper", schedule: "paper", batchSize: 300, epochs: 1 }],
  ];
  it.each(CASES)("give the same bits wherever they are worked on: %s", (_, options) => {
    const timeless = <T extends { record: object }>(model: T) => ({
      ...model,
      record: { ...model.record, milliseconds: 0 },
    });
    const here = fitDtm(cohort, options);
    for (const numWorkers of [1, 3]) {
      const there = fitDtm(cohort, { ...options, shards: scrambledHost(numWorkers) });
      expect(timeless(there)).toEqual(timeless(here));
    }
    if (here.kind === "dtm") {
      expect(embed(here, cohort, { shards: scrambledHost(2) })).toEqual(embed(here, cohort));
    }
  });
});

describe("a worker", () => {
  it("refuses work it does not know by name", () => {
    const { statistics } = randomCohort({ numIndividuals: 3, seed: 1 });
    expect(() => createShardWorker()([statistics], "dtm-expekt", {}, {})).toThrow(/dtm-expect.*received "dtm-expekt"/);
  });
});

describe("shardBlocks", () => {
  it.each([1, 255, 256, 257, 9_000, 131_072, 1_000_000])("hands out %i individuals once, in order", (m) => {
    const blocks = shardBlocks(m);
    expect(blocks[0].from).toBe(0);
    expect(blocks.at(-1)?.to).toBe(m);
    for (let b = 1; b < blocks.length; b++) expect(blocks[b].from).toBe(blocks[b - 1].to);
    expect(Math.max(...blocks.map(({ from, to }) => to - from))).toBeLessThanOrEqual(4096);
  });
});
