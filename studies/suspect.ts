/**
 * Planted errors: in every cohort one value in a hundred, at random, is multiplied by ten, five times anew; how many are told as suspect, how
 * many others are, and how many where nothing was planted; and how far places and forecasts move with errors left in and with suspect values
 * removed. Writes docs/studies/suspect.md. Usage: npm run study:suspect
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { type Cohort, onlyMarker, selectIndividuals } from "../packages/core/src/cohort/cohort.ts";
import { suspectValues } from "../packages/core/src/evaluate/suspect-values.ts";
import { markdownTable, studyCohorts } from "./shared/cohorts.ts";
import { FACTOR, type Harm, harmOf, keyOf, mean, plant } from "./shared/planted-errors.ts";

const REPLICATES = 5;
/** Individuals that the second table takes of larger cohorts: six maps are fitted to each. */
const MOST = 500;

const percent = (part: number, of: number) => (of === 0 ? "" : `${part} of ${of} (${Math.round((100 * part) / of)}%)`);

const cohorts = studyCohorts();
const rows = cohorts.map(({ name, cohort }) => {
  const clean = suspectValues(cohort);
  const before = new Set(clean.map(keyOf));
  const counts = { found: 0, planted: 0, foundBetween: 0, plantedBetween: 0, others: 0, known: 0 };
  for (let r = 1; r <= REPLICATES; r++) {
    const { planted, wrong } = plant(cohort, r);
    const told = suspectValues(planted).map(keyOf);
    const between = (key: string) => wrong.get(key) === true;
    counts.found += told.filter((key) => wrong.has(key)).length;
    counts.foundBetween += told.filter(between).length;
    counts.planted += wrong.size;
    counts.plantedBetween += [...wrong.keys()].filter(between).length;
    counts.others += told.filter((key) => !wrong.has(key)).length;
    counts.known += told.filter((key) => !wrong.has(key) && before.has(key)).length;
  }
  const row = [
    name,
    `${clean.length} of ${onlyMarker(cohort).times.length}`,
    percent(counts.found, counts.planted),
    percent(counts.foundBetween, counts.plantedBetween),
    (counts.others / REPLICATES).toFixed(1),
    (counts.known / REPLICATES).toFixed(1),
  ];
  process.stderr.write(`${row.join(" | ")}\n`);
  return row;
});

/** Means over the affected: shift and error with errors left in and suspect values removed. */
function harmRow(name: string, cohort: Cohort): string[] {
  const some = Int32Array.from(cohort.ids.keys()).slice(0, MOST);
  const part = selectIndividuals(cohort, some);
  const treatments = harmOf(part, 1);
  const pooled = (k: number, of: keyof Harm) => treatments[k][1][of];
  const errors = (of: keyof Harm) => [0, 1, 2].map((k) => mean(pooled(k, of)).toPrecision(3));
  const row = [
    ...[name, String(pooled(0, "shift").length)],
    ...[1, 2].map((k) => mean(pooled(k, "shift")).toFixed(2)),
    ...errors("error"),
    ...errors("errorOfOthers"),
  ];
  process.stderr.write(`${row.join(" | ")}\n`);
  return row;
}

const harms = cohorts.map(({ name, cohort }) => harmRow(name, cohort));

const page = `# Suspect values

\`npm run study:suspect\` writes this page: in each cohort one value in a hundred, at random, is multiplied by ${FACTOR}, ${REPLICATES} times anew, and
\`evaluate/suspect-values.ts:suspectValues\` is asked which values are wrong with a probability of a half or more. "As it is": values told where nothing was
planted; in real cohorts some of these may be errors. Found: planted errors told, all and those between two other visits of the individual. Others: told
without being planted, on average, and how many of them are told in the cohort as it is.

${markdownTable(["cohort", "as it is", "found", "found between two visits", "others", "of these as it is"], rows)}

## What they do

Errors planted once in at most ${MOST} individuals of each cohort; each half of them is placed and forecast by a map of the other, with white noise. Shift: how far the place of a held-out
individual with errors is from where it is without, on the map without errors, in standard deviations of its region, with errors left in and
with suspect values removed; on average over the affected, of whom there are so many. Error: mean absolute error of forecasts of the second half of the visits, as it was, from
the first, on the scale of the model, of individuals with an error in the first half and of all others, with maps fitted to others treated alike: never planted, left in, suspect
values removed.

${markdownTable(["cohort", "affected", "shift: left in", "removed", "error: never planted", "left in", "removed", "others: never planted", "left in", "removed"], harms)}

## How to read them

A value is told where the others contradict it by some four standard deviations of what they let expect. Some real
courses rise tenfold, so that an error may look like one; a score near 0 times ten is still a score. Markers on a log scale (bili, alk_phos, protime) move by
log 10 = 2.3.
`;
writeFileSync("docs/studies/suspect.md", page);
