/**
 * Do calibrated bands hold 90%? In five folds a model is fitted to four fifths, calibrated by refits within them
 * (`calibrateByRefits`), and its bands are held against all later visits of the others, each individual weighing the same.
 * Writes docs/studies/conformal.md. Usage: npm run study:conformal
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import {
  type ForecastBand,
  forecastBands,
  guardedForecaster,
  visitsAfter,
} from "../packages/core/src/evaluate/forecast.ts";
import { type Cohort, fitDtm, splitCohort } from "../packages/core/src/index.ts";
import { calibrationFactors, classOf, type ForecastCalibration } from "../packages/core/src/models/conformal.ts";
import { forecastGuard } from "../packages/core/src/models/forecast-guard.ts";
import { calibrateByRefits } from "../packages/core/src/study/calibration.ts";
import { markdownTable, studyCohorts } from "./shared/cohorts.ts";

const FOLDS = 5;
const KNOWN_FROM = [1, 2, 3, 5, 9];
const LEVEL = 0.9;

interface Judged {
  /** One over the visits of the individual. */
  readonly weight: number;
  readonly known: number;
  readonly horizon: number;
  readonly own: boolean;
  readonly calibrated: boolean;
  /** Width of the calibrated band by that of the model's own. */
  readonly width: number;
}

function judge(calibration: ForecastCalibration, bands: readonly ForecastBand[]): Judged[] {
  const visits = new Map<number, number>();
  for (const { individual } of bands) visits.set(individual, (visits.get(individual) ?? 0) + 1);
  return bands.map(({ individual, known, horizon, value, median, lower, upper }) => {
    const factors = calibrationFactors(calibration, known, horizon, LEVEL);
    const [down, up] = [factors.lower * (median - lower), factors.upper * (upper - median)];
    return {
      weight: 1 / (visits.get(individual) ?? 1),
      known,
      horizon: classOf(calibration.horizonFrom, horizon),
      own: value >= lower && value <= upper,
      calibrated: value >= median - down && value <= median + up,
      width: (down + up) / (upper - lower),
    };
  });
}

function studied(cohort: Cohort): Judged[] {
  return splitCohort(cohort, FOLDS).flatMap(({ train, test }) => {
    const model = fitDtm(train);
    const bands = forecastBands(
      test,
      visitsAfter(test, () => true),
      guardedForecaster(model, forecastGuard(model, train)),
      LEVEL,
    );
    return judge(calibrateByRefits(model, train)[0], bands);
  });
}

/** Own and calibrated coverage in percent; nothing of few. */
function coverage(judged: readonly Judged[]): string {
  const total = judged.reduce((sum, { weight }) => sum + weight, 0);
  if (total < 5) return "";
  const share = (inside: (j: Judged) => boolean) =>
    Math.round((100 * judged.filter(inside).reduce((sum, { weight }) => sum + weight, 0)) / total);
  return `${share(({ own }) => own)}, ${share(({ calibrated }) => calibrated)}`;
}

const rows = studyCohorts().map(({ name, cohort }) => {
  const judged = studied(cohort);
  const width = judged.reduce((sum, j) => sum + j.width, 0) / judged.length;
  const cells = [
    name,
    coverage(judged),
    ...KNOWN_FROM.map((_, k) => coverage(judged.filter(({ known }) => classOf(KNOWN_FROM, known) === k))),
    ...[0, 1, 2].map((h) => coverage(judged.filter(({ horizon }) => horizon === h))),
    width.toFixed(2),
  ];
  process.stderr.write(`${cells.join(" | ")}\n`);
  return cells;
});
const page = `# Bands that hold what they promise

\`npm run study:conformal\` writes this page (aids and sls, which are not part of this repository, by \`--cohort NAME=FILE,COLUMN\`). In
${FOLDS} folds the map is fitted to four fifths, calibrated by refits within them ([prediction §7](../math/prediction.md)), and its 90% bands, guarded as users get them (§6), are held
against all later visits of the others, from every number of visits known; each individual weighs the same. Percent of visits inside
the map's own band and the calibrated one, by visits known and by time since the last of them; the last column is the mean width of the
calibrated band by that of the map's own. Fewer than five individuals' worth of visits are not told.

${markdownTable(["cohort", "all", "known 1", "2", "3 to 4", "5 to 8", "9 or more", "soon", "later", "late", "width"], rows)}
`;
writeFileSync("docs/studies/conformal.md", page);
process.stdout.write(page);
