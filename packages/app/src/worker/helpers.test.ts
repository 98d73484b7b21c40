import { associate, embed, fitFpca, simulateCohort } from "@trajectory-maps/core";
import { countExceedances, type MultiplierPlan } from "@trajectory-maps/core/hosts";
import { createRandom } from "@trajectory-maps/core/models";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createHelpers, type Helpers, numHelpers, serve } from "./helpers.ts";

const open: MessagePort[] = [];
afterEach(() => {
  for (const port of open.splice(0)) port.close();
});

/** Helpers in this very thread: channels behave as they do between workers. */
function helpersOf(count: number): Helpers {
  const helpers = createHelpers();
  const channels = Array.from({ length: count }, () => new MessageChannel());
  for (const { port1 } of channels) serve(port1);
  open.push(...channels.flatMap(({ port1, port2 }) => [port1, port2]));
  helpers.seat(channels.map(({ port2 }) => port2));
  return helpers;
}

/** 60 individuals and two outcomes, one of which follows the places. */
const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 2 });
const model = fitFpca(cohort);
const placements = embed(model, cohort);
const input = () => {
  const random = createRandom(1);
  const labels = (pull: number) =>
    Uint8Array.from({ length: 60 }, (_, i) => (pull * placements.location[2 * i] + random.normal() > 0.4 ? 1 : 0));
  const outcomes = [
    { name: "near", labels: labels(1) },
    { name: "anywhere", labels: labels(0) },
  ];
  return { model, placements, cohort, outcomes };
};
let plan: MultiplierPlan;

beforeAll(async () => {
  await associate(input(), {
    draws: 9,
    count: (given, from, to) => {
      plan ??= given;
      return countExceedances(given, from, to);
    },
  });
});

const going = () => ({ aborted: false });

describe("helpers", () => {
  it("count the same draws however many they are", async () => {
    const counted = (helpers: Helpers) =>
      associate(input(), {
        draws: 199,
        shards: 8,
        count: (shared, from, to) =>
          helpers.run({ kind: "multipliers", shared, part: { from, to } }, going()) as Promise<number>,
      });
    const alone = await associate(input(), { draws: 199 });
    for (const count of [0, 1, 3]) expect(await counted(helpersOf(count))).toEqual(alone);
  });

  it("give up what was cancelled, begun or waiting, and go on with the rest", async () => {
    const helpers = helpersOf(1);
    const signal = { aborted: false };
    const given = [0, 1, 2].map((k) =>
      helpers.run({ kind: "multipliers", shared: plan, part: { from: 10 * k, to: 10 * k + 10 } }, signal),
    );
    const other = helpers.run({ kind: "multipliers", shared: plan, part: { from: 0, to: 50 } }, going());
    signal.aborted = true;
    helpers.drop();
    for (const work of given) await expect(work).rejects.toMatchObject({ code: "cancelled" });
    expect(await other).toEqual(countExceedances(plan, 0, 50));
  });

  it("stop between pieces when the engine is alone", async () => {
    const helpers = createHelpers();
    const signal = { aborted: false };
    const given = [0, 1].map((k) =>
      helpers.run({ kind: "multipliers", shared: plan, part: { from: k, to: k + 1 } }, signal),
    );
    await given[0];
    signal.aborted = true;
    await expect(given[1]).rejects.toMatchObject({ code: "cancelled" });
  });

  it("bring errors back with their codes", async () => {
    const choice = { models: ["lmm"], folds: 50, mean: "scalar", mapDimension: 2, seed: 1 } as const;
    const shared = simulateCohort("pfvc", { numIndividuals: 20, seed: 1 }).cohort;
    const failed = helpersOf(2).run({ kind: "fold", shared, part: { fold: 0, options: choice } }, going());
    await expect(failed).rejects.toMatchObject({ code: "option" });
  });
});

describe("numHelpers", () => {
  it("is one for each core, four at most, and none for one core", () => {
    expect([1, 2, 3, 4, 16, Number.NaN].map(numHelpers)).toEqual([0, 2, 3, 4, 4, 0]);
  });
});
