/** The ten-fold comparison of models at the paper's size, through the built program on two threads. */
import { alone, type BenchCase } from "../case.ts";
import { registry, writeVisits } from "../cohorts.ts";
import { runDtm } from "../peers.ts";

export const compare: BenchCase = {
  name: "compare",
  about: "ten-fold comparison of LMM, FPCA and DTM at m = 2,323, two threads",
  run: async ({ quick }) => {
    const path = writeVisits(quick ? registry(200) : registry(), "compare.csv");
    const folds = quick ? "3" : "10";
    const run = await runDtm(["compare", path, "--models", "lmm,fpca,dtm", "--folds", folds, "-j", "2", "--json"]);
    return [
      alone(`comparison of LMM, FPCA and DTM, ${folds} folds, two threads`, "s", run.wall, {
        goal: 20,
        note: `on a quiet machine; ${run.cpu.toFixed(1)} s of CPU time`,
      }),
    ];
  },
};
