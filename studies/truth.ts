/**
 * What a map adds to simpler models on each cohort (docs/studies/truth.md): held-out log-likelihood and forecasts of next visits
 * against the mixed model with a mean curve, the last value carried forward beside them, coverage by visits known, and whether a
 * mean curve helps the map.
 * Usage: npm run study:truth [-- --only NAME,... --cohort NAME=FILE,COLUMN[,TRANSFORM] ...]
 */
import { writeFileSync } from "node:fs";
import { numIndividuals, numObservations } from "../packages/core/src/cohort/cohort.ts";
import { evaluateFold, summarizeFolds } from "../packages/core/src/doors/hosts.ts";
import { type ComparedModel, DEFAULT_MODELS, type PairedDifference } from "../packages/core/src/doors/study.ts";
import { modelDifference } from "../packages/core/src/evaluate/summarize-folds.ts";
import { markdownTable, studyCohorts } from "./shared/cohorts.ts";

const FOLDS = 5;
/** By the rule, as fits have it by default, in all models alike: with white noise more seems left to the map (studies/noise.ts has both). */
const NOISE = "auto";
const SHOWN: readonly (readonly [ComparedModel, string])[] = [
  ["locf", "last value"],
  ["lmm-paper", "LMM as published"],
  ["lmm", "LMM"],
  ["fpca", "FPCA"],
  ["dtm", "map"],
];

const show = ({ mean, se }: PairedDifference, digits = 2) =>
  `${mean < 0 ? "−" : "+"}${Math.abs(mean).toFixed(digits)} (${se.toFixed(digits)})`;
const percent = (share: number) => `${Math.round(100 * share)}`;

const studied = studyCohorts().map(({ name, cohort }) => {
  const run = (models: readonly ComparedModel[], mean: "scalar" | "spline") =>
    Array.from({ length: FOLDS }, (_, fold) => {
      const results = evaluateFold(cohort, fold, { models, folds: FOLDS, mean, noise: NOISE });
      process.stderr.write(`${name}: fold ${fold + 1} of ${FOLDS}, ${mean} mean\n`);
      return results;
    }).flat();
  const results = run(DEFAULT_MODELS, "scalar");
  const maps = results.filter(({ model }) => model === "dtm");
  return {
    name: `${name} (${numIndividuals(cohort)}, ${numObservations(cohort)})`,
    comparison: summarizeFolds(results, { folds: FOLDS }),
    curved: modelDifference("dtm", run(["dtm"], "spline"), "dtm", maps),
  };
});

const rows = studied.map(({ name, comparison, curved }) => {
  const scored = (model: ComparedModel) => comparison.models.find((m) => m.model === model)!;
  const difference = (model: ComparedModel) => comparison.differences.find((d) => d.model === model)!;
  const map = scored("dtm").nextVisit;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(map.crps)));
  const fixed = (x: number) => x.toFixed(digits);
  const errors = (pick: (next: typeof map) => number) => SHOWN.map(([model]) => fixed(pick(scored(model).nextVisit)));
  const covered = map.byKnown.map((known) => `${percent(known.p50)}, ${percent(known.p90)}`);
  return {
    likelihood: [name, ...["locf", "lmm-paper", "fpca", "dtm"].map((m) => show(difference(m as ComparedModel)))],
    crps: [name, ...errors(({ crps }) => crps), show(difference("dtm").nextCrps!, digits + 1)],
    mae: [name, ...errors(({ mae }) => mae)],
    later: [name, ...SHOWN.map(([model]) => fixed(scored(model).forecast.crps))],
    coverage: [name, `${percent(map.coverage.p50)}, ${percent(map.coverage.p90)}`, ...covered],
    last: [name, ...[map.last.below, map.last.above].map(percent), comparison.warnings.length > 0 ? "warned" : ""],
    verdict: `- ${name}: ${comparison.verdict}`,
    curved: [name, show(curved, 3), show(curved.nextCrps!, digits + 1)],
  };
});

const known = Math.max(...rows.map(({ coverage }) => coverage.length - 2));
const knownHead = Array.from({ length: known }, (_, k) => (k < 2 ? `${k + 1}` : `${2 ** (k - 1) + 1} to ${2 ** k}`));
const names = SHOWN.map(([, name]) => name);
const filled = (row: readonly string[], length: number) => [...row, ...new Array<string>(length - row.length).fill("")];

const page = `# What a map adds to simpler models

\`npm run study:truth\` writes this page: ${FOLDS}-fold cross-validation over individuals, seed 1, default options: noise by the rule in all
models alike, but for the mixed model as published, which has white noise. With white noise in all of them the map gains more where people differ in their
noise ([noise](noise.md)): such figures flatter it.
In brackets after a cohort its individuals and observations. LMM is the mixed model with a mean curve; values are on the scale of the model. Cohorts
beside the bundled and simulated ones were given by \`--cohort NAME=FILE,COLUMN[,TRANSFORM]\`.

## Held-out log-likelihood per individual, minus that of the LMM

Mean of paired differences (standard error); above zero is better.

${markdownTable(
  ["cohort", "last value", "LMM as published", "FPCA", "map"],
  rows.map(({ likelihood }) => likelihood),
)}

## Forecasts of the next visit from all before it

CRPS (smaller is better), and the paired difference of map and LMM (standard error; below zero the map is better):

${markdownTable(
  ["cohort", ...names, "map minus LMM"],
  rows.map(({ crps }) => crps),
)}

Mean absolute error of the median:

${markdownTable(
  ["cohort", ...names],
  rows.map(({ mae }) => mae),
)}

CRPS of the second half of the visits from the first:

${markdownTable(
  ["cohort", ...names],
  rows.map(({ later }) => later),
)}

## Coverage of the map's intervals, by visits known

Share in percent of next visits inside the 50% and the 90% interval.

${markdownTable(
  ["cohort", "all", ...knownHead],
  rows.map(({ coverage }) => filled(coverage, known + 2)),
)}

Last visits below and above the map's 90% band, in percent (5 each are expected):

${markdownTable(
  ["cohort", "below", "above", "dropout"],
  rows.map(({ last }) => last),
)}

## Verdicts

${rows.map(({ verdict }) => verdict).join("\n")}

## A mean curve in the map

The map with a mean curve minus the map with a constant mean (the default): log-likelihood per individual, above zero is better, and
CRPS of the next visit, below zero is better.

${markdownTable(
  ["cohort", "log-likelihood", "CRPS"],
  rows.map(({ curved }) => curved),
)}
`;
writeFileSync("docs/studies/truth.md", page);
process.stdout.write(page);
