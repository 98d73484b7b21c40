/**
 * Small cohorts: 10, 20 and 50 individuals cut from larger ones at random, three cuts each; held-out scores and coverage of the
 * mixed model and of the map in five folds. Writes docs/studies/small.md. Usage: npm run study:small
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { selectIndividuals } from "../packages/core/src/cohort/cohort.ts";
import { evaluateFold } from "../packages/core/src/evaluate/compare.ts";
import { centralCoverage } from "../packages/core/src/evaluate/forecast.ts";
import type { Cohort } from "../packages/core/src/index.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { markdownTable, studyCohorts } from "./shared/cohorts.ts";

const SIZES = [10, 20, 50];
const CUTS = 3;
const FOLDS = 5;

function cutOf(cohort: Cohort, size: number, seed: number): Cohort {
  return selectIndividuals(cohort, createRandom(seed).permutation(cohort.ids.length).slice(0, size).sort());
}

/** Scores of a model over all cuts of a size. */
function scoresOf(cohort: Cohort, size: number) {
  const results = Array.from({ length: CUTS }, (_, c) => cutOf(cohort, size, c + 1)).flatMap((cut) =>
    Array.from({ length: FOLDS }, (_, fold) =>
      evaluateFold(cut, fold, { models: ["lmm", "dtm"], folds: FOLDS }),
    ).flat(),
  );
  return ["lmm", "dtm"].map((model) => {
    const own = results.filter((result) => result.model === model);
    const likelihood = own.flatMap(({ logLikelihood }) => [...logLikelihood]);
    const pit = Float64Array.from(own.flatMap(({ next }) => [...next.pit]));
    const finite = likelihood.filter(Number.isFinite).length;
    const mean = likelihood.reduce((sum, v) => sum + v, 0) / likelihood.length;
    return [
      `${finite} of ${likelihood.length}`,
      mean.toFixed(2),
      Math.min(...likelihood).toFixed(1),
      `${Math.round(100 * centralCoverage(pit, 0.5))}, ${Math.round(100 * centralCoverage(pit, 0.9))}`,
    ];
  });
}

const rows = studyCohorts().flatMap(({ name, cohort }) =>
  SIZES.map((size) => {
    const [lmm, dtm] = scoresOf(cohort, size);
    process.stderr.write(`${name}, ${size}: ${lmm.join(" | ")} || ${dtm.join(" | ")}\n`);
    return [name, String(size), ...lmm, ...dtm];
  }),
);
const page = `# Small cohorts

\`npm run study:small\` (here with \`-- --only bili,albumin,pfvc,aids\`) writes this page: ${CUTS} random cuts of each size (aids, which is not part of this repository, by \`--cohort
NAME=FILE,COLUMN\`), ${FOLDS}-fold cross-validation over their individuals, default options (weak priors). Held-out scores: how many are finite, mean
log-likelihood per individual, the lowest of one individual, and the share in percent of next visits inside the 50% and the 90%
interval. LMM is the mixed model with a mean curve.

${markdownTable(
  ["cohort", "individuals", ...["LMM", "map"].flatMap((m) => [`${m}: finite`, "mean", "lowest", "50%, 90%"])],
  rows,
)}
`;
writeFileSync("docs/studies/small.md", page);
process.stdout.write(page);
