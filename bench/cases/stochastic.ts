/** Minibatches over 100,000 individuals on one thread: time per individual and epoch, and numeric state. */
import { statisticsColumns } from "../../packages/core/src/basis/statistics.ts";
import { type DtmRun, startDtm } from "../../packages/core/src/models/fit-models.ts";
import { prepareCohort } from "../../packages/core/src/models/prepare.ts";
import { alone, type BenchCase } from "../case.ts";
import { registry } from "../cohorts.ts";
import { cpuOf } from "../measure.ts";

const EPOCHS = 5;
/** Fits of which the least time counts. */
const ROUNDS = 3;

export const stochastic: BenchCase = {
  name: "stochastic",
  about: "published map by minibatches, m = 100,000, five epochs, one thread",
  run: async ({ quick, say }) => {
    const m = quick ? 5000 : 100_000;
    const cohort = registry(m);
    const columns = statisticsColumns(prepareCohort(cohort).statistics);
    const bytes = columns.reduce((sum, column) => sum + column.byteLength, 0);
    say("linear start");
    let [epochs, places] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
      const run = startDtm(cohort, { kind: "dtm-paper", schedule: "svi", epochs: EPOCHS });
      epochs = Math.min(epochs, (await cpuOf(() => stepWhile(run, "map"))).cpu);
      places = Math.min(places, (await cpuOf(() => stepWhile(run, "places"))).cpu);
    }
    const state = 5 + 5; // θ and where it started
    return [
      alone(`published map by minibatches, m = ${m}, per individual and epoch`, "us", (epochs * 1e6) / (m * EPOCHS), {
        goal: 10,
        note: `CPU time; the last places, each from several starts, ${((places * 1e6) / m).toFixed(1)} us each`,
      }),
      alone("numeric state per individual after ingest", "B", bytes / m + 8 * state, {
        goal: 240,
        note: "statistics, place and where it started; whatever the number of visits",
      }),
    ];
  },
};

/** Steps until the fit leaves the stage. */
function stepWhile(run: DtmRun, stage: string): void {
  for (;;) {
    const progress = run.step();
    if (progress.done || progress.stage !== stage) return;
  }
}
