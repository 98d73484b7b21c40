/** One new individual: placed on a fitted map, recommended or published, and predicted. */

import { fitDtm } from "../../packages/core/src/models/fit-models.ts";
import { modelMixture } from "../../packages/core/src/models/model.ts";
import { placeIndividual } from "../../packages/core/src/models/place.ts";
import { predict } from "../../packages/core/src/models/predict.ts";
import { alone, type BenchCase } from "../case.ts";
import { registry } from "../cohorts.ts";
import { chunkOf, interleave, preparedChunk } from "../measure.ts";

/** A few visits of a person who declines. */
const HISTORY = { times: [0.5, 1.2, 2.1, 3.4], values: [88, 84, 77, 71] };
const COURSE = Float64Array.from({ length: 41 }, (_, k) => k / 4);

export const oneIndividual: BenchCase = {
  name: "one",
  about: "one new individual placed and predicted",
  run: async ({ quick }) => {
    const model = fitDtm(registry(500), { noise: "white", maxIterations: 40 });
    // What does not depend on the individual is made once per model.
    const mixture = modelMixture(model);
    // Placed anew each time: whatever is kept of a placement for a second question must not be left out of the first.
    const place = () => placeIndividual(model, HISTORY, { mixture });
    const time = await interleave(
      [
        { name: "next", chunk: chunkOf(() => void predict(model, place(), [4])) },
        { name: "course", chunk: chunkOf(() => void predict(model, place(), COURSE)) },
      ],
      quick ? 15 : 60,
    );
    // With noise levels a component is a node with a level: 33 times as many.
    const levels = fitDtm(registry(500), { noise: "level", maxIterations: 40 });
    const levelMixture = modelMixture(levels);
    const placeLevel = () => placeIndividual(levels, HISTORY, { mixture: levelMixture });
    const levelTime = await interleave(
      [
        { name: "next", chunk: chunkOf(() => void predict(levels, placeLevel(), [4])) },
        { name: "course", chunk: chunkOf(() => void predict(levels, placeLevel(), COURSE)) },
      ],
      quick ? 5 : 20,
    );
    // The published map has a finer lattice, and its local step beside the exact place. Tables are kept from the first call on.
    const published = fitDtm(registry(500), { kind: "dtm-paper", schedule: "paper" });
    let there = placeIndividual(published, HISTORY);
    const publishedTime = await interleave(
      [
        { name: "next", chunk: chunkOf(() => void predict(published, placeIndividual(published, HISTORY), [4])) },
        {
          name: "course",
          chunk: preparedChunk(
            () => {
              there = placeIndividual(published, HISTORY);
            },
            () => void predict(published, there, COURSE),
          ),
        },
      ],
      quick ? 5 : 30,
    );
    return [
      alone("one individual placed and predicted at the next visit", "ms", time("next") / 1e6, { goal: 1 }),
      alone("one individual placed, course of 41 times with bands", "ms", time("course") / 1e6, { goal: 5 }),
      alone("one individual placed and predicted at the next visit, noise levels", "ms", levelTime("next") / 1e6),
      alone("one individual placed, course of 41 times with bands, noise levels", "ms", levelTime("course") / 1e6),
      alone("the same under the published map, next visit", "ms", publishedTime("next") / 1e6),
      alone("the same under the published map, 41 times from a place", "ms", publishedTime("course") / 1e6),
    ];
  },
};
