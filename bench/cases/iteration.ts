/** What an iteration of the recommended map costs with noise levels and with several markers, against white noise and one marker. */

import { startDtm } from "../../packages/core/src/models/dtm/run.ts";
import { linearStart } from "../../packages/core/src/models/linear/start.ts";
import { prepareCohort } from "../../packages/core/src/models/prepare.ts";
import { firstNoise } from "../../packages/core/src/noise/noise.ts";
import { against, type BenchCase, type Row } from "../case.ts";
import { registry } from "../cohorts.ts";
import { cpuOf } from "../measure.ts";

/** Iterations before the clock starts, when steps are those of the rest of the fit, and iterations timed. */
const WARM = 14;
const TIMED = 12;

export const iteration: BenchCase = {
  name: "iteration",
  about: "an iteration of the map: noise levels against white noise, K markers against one",
  run: async ({ quick, say }) => {
    const m = quick ? 1000 : 12_000;
    const cohort = registry(m);
    const rounds = quick ? 1 : 3;
    const seconds = async (noise: "white" | "level", K: number): Promise<number> => {
      say(`${noise} noise, ${K} markers`);
      const { statistics } = prepareCohort(cohort, {}, firstNoise(noise));
      const one = linearStart([statistics], { mapDimension: 2 });
      const start = { ...one, markers: Array.from({ length: K }, () => one.markers[0]) };
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < rounds; round++) {
        const run = startDtm(
          start.markers.map(() => statistics),
          start,
          { restarts: 0, nodes: { step: 0.4 } },
        );
        for (let k = 0; k < WARM; k++) run.step();
        const { cpu } = await cpuOf(() => {
          for (let k = 0; k < TIMED; k++) run.step();
        });
        least = Math.min(least, cpu / TIMED);
      }
      return least;
    };
    const white = await seconds("white", 1);
    const level = await seconds("level", 1);
    const rows: Row[] = [
      against(`iteration of the map with noise levels, m = ${m}`, "ms", 1e3 * level, "white noise", 1e3 * white, {
        goal: 1.5,
        note: "CPU time on one thread, average of 12 iterations",
      }),
    ];
    for (const K of [2, 3]) {
      const own = await seconds("white", K);
      rows.push(
        against(`iteration of the map of ${K} markers, m = ${m}`, "ms", 1e3 * own, `${K} times one`, 1e3 * K * white, {
          goal: 1.1,
        }),
      );
    }
    return rows;
  },
};
