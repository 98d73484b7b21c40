/** The page of study:conformal. */
import { type Cohort, numIndividuals } from "../../packages/core/src/index.ts";
import { markdownTable } from "./cohorts.ts";
import {
  countCells,
  coverageCell,
  coverageOf,
  isTold,
  type Judged,
  KNOWN_WORDS,
  marginsOf,
  TIME_WORDS,
} from "./coverage.ts";

export const FOLDS = 5;
/** Of large cohorts two of the five folds are enough: 900 individuals forecast. */
const LARGE = 1000;
export const foldsOf = (cohort: Cohort) => (numIndividuals(cohort) > LARGE ? 2 : FOLDS);

export interface CohortCoverage {
  readonly name: string;
  readonly cohort: Cohort;
  readonly judged: readonly Judged[];
}

export function conformalPage(cohorts: readonly CohortCoverage[]): string {
  const named = cohorts.map(({ name, cohort, judged }) => ({
    name: foldsOf(cohort) < FOLDS ? `${name} [${foldsOf(cohort)}]` : name,
    judged,
    margins: marginsOf(judged),
  }));
  const rows = named.map(({ name, judged, margins }) => [
    `${name} (${margins[0].numIndividuals})`,
    ...margins.map(coverageCell),
    (judged.reduce((sum, { width }) => sum + width, 0) / judged.length).toFixed(2),
  ]);
  const crossed = named.flatMap(({ name, judged }) =>
    KNOWN_WORDS.map((word, k) => ({
      head: [name, word],
      cells: TIME_WORDS.map((_, h) => coverageOf(judged.filter((j) => j.known === k && j.horizon === h))),
    })).filter(({ cells }) => cells.some(isTold)),
  );
  return `# Bands that hold what they promise

\`npm run study:conformal\` writes this page (aids and sls, which are not part of this repository, by \`--cohort NAME=FILE,COLUMN\`). In
${FOLDS} folds the map, with noise by the default rule, is fitted to four fifths, calibrated by refits within them ([prediction §7](../math/prediction.md)), and its 90% bands, guarded as
users get them (§6), are held against all later visits of the others, from every number of visits known; [2] after a cohort of more than ${LARGE}
individuals says that only so many folds were run. In a cell are the percent of visits inside the map's own band and inside the calibrated one, by visits known and by
time since the last of them (thirds of the forecasts that calibrate). As the promise is, each individual in a cell weighs the same, whatever the number of its visits
there. In brackets is the standard error of the calibrated share, over the individuals forecast; that the factors come from some individuals and not from others adds to it. "of
n": fewer than 40 individuals; fewer than five are not told. In brackets after a cohort are the individuals forecast; the last column is the mean width of the calibrated
band by that of the map's own.

${markdownTable(["cohort", "all", ...KNOWN_WORDS.map((word, k) => (k === 0 ? `known ${word}` : word)), ...TIME_WORDS, "width"], rows)}

Of all cells but those of "all", ${countCells(named.flatMap(({ margins }) => margins.slice(1)))}; of those that rest on 100 individuals or more, ${countCells(
    named.flatMap(({ margins }) => margins.slice(1)).filter(({ numIndividuals: n }) => n >= 100),
  )}.

## By both

${markdownTable(
  ["cohort", "visits known", ...TIME_WORDS],
  crossed.map(({ head, cells }) => [...head, ...cells.map(coverageCell)]),
)}

Of these cells ${countCells(crossed.flatMap(({ cells }) => cells))}; of those that rest on 100 individuals or more, ${countCells(
    crossed.flatMap(({ cells }) => cells).filter(({ numIndividuals: n }) => n >= 100),
  )}.

## How to read them

The promise is for a new individual and a class: 90% or more, on average over the individuals who calibrate. A cell of n individuals shows it to about 30/√n percent at
worst: 2 with 200, 4 with 60, so a single cell of few says little, and many cells together say more. Bands rather hold too many than too few, since one individual in n + 1 is taken to lie
outside: with several visits each and 40 individuals that is up to five percent more, with 200 one. The map's own band is good on average, and too narrow on bilirubin where nine
visits or more are known; there calibration widens it. Forecasts that calibrate are asked from every number of visits: asked
from 1, 2, 3, 4, 6, 8, 12, … only, as before, the class of nine visits or more on bilirubin had the factors of everybody, and its bands held 87% (standard error 3) of the same forecasts. That cell depends
on how many individuals a class needs: with 40, the number from before, which was kept, it has factors of its own soon after the last visit; with 60, 80 or 100, tried on the same forecasts with
classes of fewer visits joined, it has not, and holds 87% again. Other cohorts hardly tell these numbers apart.
`;
}
