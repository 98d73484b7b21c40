/**
 * Planted errors: in every cohort one value in a hundred, at random, is multiplied by ten, five times anew; how many are told as suspect, how
 * many others are, and how many where nothing was planted. Writes docs/studies/suspect.md. Usage: npm run study:suspect
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { type Cohort, makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { type SuspectValue, suspectValues } from "../packages/core/src/evaluate/suspect-values.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { markdownTable, studyCohorts } from "./shared/cohorts.ts";

const REPLICATES = 5;
const SHARE = 0.01;
const FACTOR = 10;

/** An observation by what it is known by. */
const keyOf = ({ id, time }: Pick<SuspectValue, "id" | "time">) => JSON.stringify([id, time]);

/** The cohort with some values multiplied, and which. */
function plant(
  cohort: Cohort,
  seed: number,
): { readonly planted: Cohort; readonly wrong: ReadonlyMap<string, boolean> } {
  const { offsets, times, values, marker } = onlyMarker(cohort);
  const chosen = new Set(
    createRandom(seed)
      .permutation(times.length)
      .slice(0, Math.round(SHARE * times.length)),
  );
  const ids = cohort.ids.flatMap((id, i) => new Array<string>(offsets[i + 1] - offsets[i]).fill(id));
  const isBetween = cohort.ids.flatMap((_, i) =>
    Array.from({ length: offsets[i + 1] - offsets[i] }, (_, k) => k > 0 && offsets[i] + k + 1 < offsets[i + 1]),
  );
  const changed = values.map((value, j) => (chosen.has(j) ? FACTOR * value : value));
  return {
    // Limits of a score would tell the errors by themselves.
    planted: makeCohort({ ids, times, values: changed }, { name: marker.name, transform: marker.transform }),
    wrong: new Map([...chosen].map((j) => [keyOf({ id: ids[j], time: times[j] }), isBetween[j]])),
  };
}

const percent = (part: number, of: number) => (of === 0 ? "" : `${part} of ${of} (${Math.round((100 * part) / of)}%)`);

const rows = studyCohorts().map(({ name, cohort }) => {
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

const page = `# Suspect values

\`npm run study:suspect\` writes this page: in each cohort one value in a hundred, at random, is multiplied by ${FACTOR}, ${REPLICATES} times anew, and
\`evaluate/suspect-values.ts:suspectValues\` is asked which values are wrong with a probability of a half or more. "As it is": values told where nothing was
planted; in real cohorts some of these may be errors. Found: planted errors told, all and those between two other visits of the individual. Others: told
without being planted, on average, and how many of them are told in the cohort as it is.

${markdownTable(["cohort", "as it is", "found", "found between two visits", "others", "of these as it is"], rows)}

A value is told where the others contradict it by some four standard deviations of what they let expect. Some real
courses rise tenfold, so that an error may look like one; a score near 0 times ten is still a score. Markers on a log scale (bili, alk_phos, protime) move by
log 10 = 2.3.
`;
writeFileSync("docs/studies/suspect.md", page);
