/** Do outcomes differ over the map? Tested on whole posteriors: visits may differ between those with and without one. */
import { associate, embed, fitFpca, fitLmm } from "@trajectory-maps/core";
import { readOutcomes, readSubjects } from "@trajectory-maps/core/ingest";
import { isMain, readPbc, subjectsText } from "./pbc.mjs";

export async function run(print = console.log) {
  const { cohort } = readPbc();
  const { table } = readSubjects(subjectsText());
  const { outcomes } = readOutcomes(["death", "ascites_ever", "treatment=D-penicillamine"], table, cohort.ids);

  const placed = (model) => ({ model, placements: embed(model, cohort) });
  const study = placed(fitFpca(cohort, { rank: 2 }));
  const baselines = [placed(fitLmm(cohort))];
  const result = await associate({ ...study, cohort, baselines, outcomes }, { draws: 999, seed: 1 });
  for (const { outcome, cases, controls, p, adjusted, effect } of result.outcomes) {
    print(
      `${outcome}: ${cases} cases, ${controls} controls, p ${p.toFixed(3)}, Holm ${adjusted.holm.toFixed(3)}, AUC ${effect.auc.value.toFixed(2)}`,
    );
  }
  return result;
}

if (isMain(import.meta.url)) await run();
