/** dtm compare of several markers: one map, a map for each, the mixed model of all, and one for each. */
import type { Cohort } from "@trajectory-maps/core";
import {
  type SeveralComparison,
  type SeveralFold,
  type SeveralOptions,
  summarizeSeveral,
} from "@trajectory-maps/core/study";
import type { Pool } from "../threads/pool.ts";
import type { Context } from "./command.ts";
import { inOrder } from "./study-parts.ts";

/** Cross-validation of models of several markers, folds shared among threads. */
export function compareMarkersOn(
  cohort: Cohort,
  options: SeveralOptions & { readonly folds: number; readonly repeats: number },
  pool: Pool,
  { talk }: Context,
): Promise<SeveralComparison> {
  const { folds, repeats } = options;
  const total = folds * repeats;
  return talk.during(`${folds}-fold cross-validation`, async (onProgress) => {
    let done = 0;
    const evaluate = async (fold: number) => {
      const result = (await pool.run({ kind: "several-fold", shared: cohort, part: { fold, options } })) as SeveralFold;
      onProgress({ stage: "folds", iteration: ++done, maxIterations: total, value: Number.NaN });
      return result;
    };
    const tasks = Array.from({ length: total }, (_, fold) => fold);
    return summarizeSeveral(await inOrder(tasks, pool.jobs, evaluate), repeats);
  });
}
