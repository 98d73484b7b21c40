/**
 * A limit of detection: of log bilirubin the lowest 35% of the training values are hidden, and the later visits of held-out individuals are
 * forecast from the earlier ones, of which those below the limit are hidden too. Four ways: whole values, the limit for a value, half of
 * it, and values below the limit as that. Writes docs/studies/limits.md. Usage: npm run study:limits
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { type Cohort, makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { applyTransform } from "../packages/core/src/cohort/marker.ts";
import { splitCohort } from "../packages/core/src/cohort/split.ts";
import { logBeyond } from "../packages/core/src/evaluate/censored-scores.ts";
import { laterVisits, modelForecaster } from "../packages/core/src/evaluate/forecast.ts";
import { fitLmm } from "../packages/core/src/models/fit-models.ts";
import { mixtureLogDensity, mixtureQuantile } from "../packages/core/src/models/mixture/normal-mixture.ts";
import { markdownTable, studyCohorts } from "./shared/cohorts.ts";

const FOLDS = 5;
const SHARE = 0.35;
/** A log score below this is no forecast. */
const FAILED = -1000;
const WAYS = ["whole values", "the limit", "half the limit", "below the limit"] as const;
type Way = (typeof WAYS)[number];

/** The cohort with what lies below the limit told in one way. */
function told({ ids, markers: [series] }: Cohort, limit: number, way: Way): Cohort {
  const { offsets, times, values, marker } = series;
  const instead = way === "half the limit" ? limit / 2 : limit;
  const owners = ids.flatMap((id, i) => new Array<string>(offsets[i + 1] - offsets[i]).fill(id));
  const seen = values.map((value) => (value < limit && way !== "whole values" ? instead : value));
  const censored = values.map((value) => (value < limit ? -1 : 0));
  return makeCohort({ ids: owners, times, values: seen, ...(way === "below the limit" && { censored }) }, marker);
}

/** Of one forecast: its log score, error of the median, and whether the value lies below the limit. */
interface Scored {
  readonly score: number;
  readonly error: number;
  readonly isBelow: boolean;
  readonly probability: number;
}

function scoreFold(train: Cohort, test: Cohort, way: Way, noise: "white" | "level"): Scored[] {
  const limit = onlyMarker(train).values.slice().sort()[Math.floor(SHARE * onlyMarker(train).values.length)];
  const model = fitLmm(told(train, limit, way), { noise });
  const { offsets, values, marker } = onlyMarker(test);
  const atLimit = applyTransform(marker.transform, limit);
  const tasks = laterVisits(test);
  const forecast = modelForecaster(model)(told(test, limit, way), tasks);
  return tasks.flatMap(({ individual, from, to }, task) => {
    const distribution = forecast(task);
    return Array.from({ length: to - from }, (_, k) => {
      const j = offsets[individual] + from + k;
      const y = applyTransform(marker.transform, values[j]);
      const value = distribution(j);
      const isBelow = values[j] < limit;
      const probability = Math.exp(logBeyond(value, atLimit, -1));
      const score = isBelow ? Math.log(probability) : mixtureLogDensity(value, y);
      return { score, error: mixtureQuantile(value, 0.5) - y, isBelow, probability };
    });
  });
}

const { cohort } = studyCohorts().find(({ name }) => name === "pbc bili")!;
const folds = splitCohort(cohort, FOLDS);
const mean = (x: readonly number[]) => x.reduce((sum, v) => sum + v, 0) / x.length;
const signed = (v: number) => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(2)}`;
const rows = (["white", "level"] as const).flatMap((noise) =>
  WAYS.map((way) => {
    const all = folds.flatMap(({ train, test }) => scoreFold(train, test, way, noise));
    const below = all.filter(({ isBelow }) => isBelow);
    const above = all.filter(({ isBelow }) => !isBelow);
    const failed = mean(all.map(({ score }) => score)) < FAILED;
    const score = (of: readonly Scored[]) =>
      failed
        ? "fails"
        : mean(of.map((one) => one.score))
            .toFixed(3)
            .replace("-", "−");
    const error = (of: readonly Scored[]) => (failed ? "" : signed(mean(of.map((one) => one.error))));
    const share = (of: number) => `${Math.round(100 * of)}%`;
    const expected = `${share(mean(all.map(({ probability }) => probability)))} (${share(below.length / all.length)})`;
    const row = [
      noise,
      way,
      score(all),
      score(above),
      score(below),
      error(below),
      error(above),
      failed ? "" : expected,
    ];
    process.stderr.write(`${row.join(" | ")}\n`);
    return row;
  }),
);

const header = [
  "noise",
  "below the limit",
  "log score",
  "of values above",
  "of values below",
  "error below",
  "error above",
  "P(below)",
];
const page = `# Limits of detection

\`npm run study:limits\` writes this page. Of log bilirubin (pbc) the lowest ${100 * SHARE}% of the training values are hidden, ${FOLDS} folds; a mixed model forecasts the
later half of the visits of those held out from the earlier half, of which values below the limit are hidden too. The log score of a forecast is its log-density at the value or,
below the limit, the log-probability to be there. Errors are those of medians about the true values, in log units; P(below) is the mean probability to be below, and in brackets the share that
was.

${markdownTable(header, rows)}

With white noise the order of log scores is whole values, half of the limit, below the limit, the limit: a number has to be guessed right, and half of the limit is one by luck of this marker, whose lower
tail is shorter than a Gaussian's, so that hidden values are expected too low, and too often (38 to 39% where 27% were). The limit taken for a value forecasts values above it as well as whole
values do, and hidden ones too high. With noise levels, the default of a map of one marker, the limit loses 0.5 and half of the limit fails, because whoever is always below
seems to be measured without noise; values taken as below a limit keep the fit whole. What is expected below a limit is shown as that, with its probability, not as a number.
`;
writeFileSync("docs/studies/limits.md", page);
