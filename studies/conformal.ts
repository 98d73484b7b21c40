/**
 * Do calibrated bands hold 90%? In five folds a model is fitted to four fifths, calibrated by refits within them
 * (`calibrateByRefits`), and its bands are held against all later visits of the others, each individual weighing the same.
 * Writes docs/studies/conformal.md. Usage: npm run study:conformal
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { forecastBands, guardedForecaster, visitsAfter } from "../packages/core/src/evaluate/forecast.ts";
import { type Cohort, fitDtm, splitCohort } from "../packages/core/src/index.ts";
import { forecastGuard } from "../packages/core/src/models/forecast-guard.ts";
import { calibrateByRefits } from "../packages/core/src/study/calibration.ts";
import { studyCohorts } from "./shared/cohorts.ts";
import { type CohortCoverage, conformalPage, FOLDS, foldsOf } from "./shared/conformal-page.ts";
import { type Judged, judge } from "./shared/coverage.ts";

function studied(cohort: Cohort): Judged[] {
  return splitCohort(cohort, FOLDS)
    .slice(0, foldsOf(cohort))
    .flatMap(({ train, test }, fold) => {
      const model = fitDtm(train);
      const guarded = guardedForecaster(model, forecastGuard(model, train));
      const bands = forecastBands(
        test,
        visitsAfter(test, () => true),
        guarded,
        0.9,
      );
      process.stderr.write(`fold ${fold + 1}\n`);
      return judge(calibrateByRefits(model, train)[0], bands, fold);
    });
}

const cohorts = studyCohorts().map(({ name, cohort }): CohortCoverage => {
  process.stderr.write(`${name}\n`);
  return { name, cohort, judged: studied(cohort) };
});
const page = conformalPage(cohorts);
writeFileSync("docs/studies/conformal.md", page);
process.stdout.write(page);
