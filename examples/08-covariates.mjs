/** Covariates of the PBC cohort: stage shifts places, sex and treatment move the mean course; a forecast for a described person. */
import { fitDtm, placeIndividual, predict } from "@trajectory-maps/core";
import { codeCovariates, readSubjects, withCovariates } from "@trajectory-maps/core/ingest";
import { covariateEffects, modelFor } from "@trajectory-maps/core/models";
import { isMain, readPbc, subjectsText } from "./pbc.mjs";

export async function run(print = console.log) {
  const { cohort } = readPbc();
  const { table } = readSubjects(subjectsText());
  const covariates = codeCovariates(table, cohort.ids, {
    covariates: [
      { name: "stage_baseline" },
      { name: "sex", effect: "level" },
      { name: "treatment", reference: "placebo", effect: "level" },
    ],
  });
  // Coarse nodes, to be quick.
  const model = fitDtm(withCovariates(cohort, covariates), { nodes: { step: 0.5 }, restarts: 0 });
  const { shifts, effects } = covariateEffects(model);
  for (const { covariate, length, test } of shifts) {
    print(`${covariate}: places shifted by ${length.toFixed(2)} per unit, p ${test.pValue.toPrecision(2)}`);
  }
  for (const { covariate, level, reference, estimate, lower, upper } of effects) {
    const range = `95% CI ${lower.toFixed(2)} to ${upper.toFixed(2)}`;
    print(`${covariate} ${level} against ${reference}: ${estimate.toFixed(2)} in log bilirubin (${range})`);
  }

  // The same first visit in an early and in a late stage.
  const forecasts = [1, 4].map((stage_baseline) => {
    const own = modelFor(model, { stage_baseline, sex: "f", treatment: "placebo" });
    const someone = placeIndividual(own, { times: [0], values: [1.4] });
    return predict(own, someone, [5]).median[0];
  });
  print(`bilirubin at year 5: ${forecasts[0].toFixed(1)} from stage 1, ${forecasts[1].toFixed(1)} from stage 4`);
  return { model, shifts, effects, forecasts };
}

if (isMain(import.meta.url)) await run();
