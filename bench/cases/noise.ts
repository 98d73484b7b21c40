/** What noise of individual levels and serial correlation costs on the shape of a registry: fits and places against white noise. */
import type { Cohort } from "../../packages/core/src/cohort/cohort.ts";
import { fitDtm } from "../../packages/core/src/models/fit-models.ts";
import { fitLinear } from "../../packages/core/src/models/linear-models.ts";
import { embedPlaces } from "../../packages/core/src/models/place.ts";
import type { NoiseKind } from "../../packages/core/src/noise/noise.ts";
import { against, type BenchCase } from "../case.ts";
import { unequalRegistry } from "../cohorts.ts";
import { cpuOf } from "../measure.ts";

export const noise: BenchCase = {
  name: "noise",
  about: "noise of individual levels, and serial, against white noise: 12,000 individuals with 10 visits, one thread",
  run: async ({ quick, say }) => {
    const cohort = unequalRegistry(quick ? 500 : 12_000);
    const measured = async (kind: NoiseKind) => {
      say(`${kind} noise`);
      return fitSeconds(cohort, kind);
    };
    const white = await measured("white");
    const level = await measured("level");
    const both = await measured("level+serial");
    const note = "CPU time, one thread";
    const row = (what: string, stage: "linear" | "map" | "places", own: typeof white, goal: number) =>
      against(what, "s cpu", own[stage], "white noise", white[stage], { goal, note });
    return [
      row("linear models with noise levels", "linear", level, 2),
      row("map with noise levels, from start to end", "map", level, 1.5),
      row("everybody placed, with noise levels", "places", level, 2.5),
      row("map with levels and serial correlation, from start to end", "map", both, 1.5),
    ];
  },
};

/** CPU seconds of the linear models, of a whole fit with them, and of placing everybody. */
async function fitSeconds(cohort: Cohort, kind: NoiseKind) {
  const linear = await cpuOf(() => fitLinear(cohort, { noise: kind }));
  const map = await cpuOf(() => fitDtm(cohort, { noise: kind, restarts: 0 }));
  const places = await cpuOf(() => embedPlaces(map.value, cohort));
  return { linear: linear.cpu, map: map.cpu, places: places.cpu };
}
