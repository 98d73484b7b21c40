/**
 * False alarms of the published density test, of plain permutation and of permutation within visit strata:
 *   1. one simulated cohort, labels by coin;
 *   2. studies of 150 + 150 individuals with equal courses, seen 2.2 and 8 times on average.
 * Courses come from a map fitted to the simulated PFVC cohort; individuals are placed on that map, or, with --refit, on a
 * map fitted to each study. Prints a table; JSON to stdout with --json.
 * Usage: npm run study:visit-guard [-- --labellings 2000 --studies 1000 --permutations 999 --seed 21 --refit --json]
 */
import { parseArgs } from "node:util";
import { onlyMarker } from "../packages/core/src/doors/ingest.ts";
import { modelMixture } from "../packages/core/src/doors/models.ts";
import { type Cohort, embed, fitDtm, simulateCohort, simulateFromModel } from "../packages/core/src/index.ts";
import { type AlarmCount, randomLabelStudy, unequalVisitsStudy, visitsOf } from "./visit-guard/designs.ts";

const { values: flags } = parseArgs({
  options: {
    labellings: { type: "string", default: "2000" },
    studies: { type: "string", default: "1000" },
    permutations: { type: "string", default: "999" },
    seed: { type: "string", default: "21" },
    refit: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const seed = Number(flags.seed);
const permutations = Number(flags.permutations);

const progress = (what: string, total: number) => (done: number) => {
  if (done % 50 === 0 || done === total) process.stderr.write(`${what}: ${done} of ${total}\n`);
};

const { cohort } = simulateCohort("pfvc", { seed, numIndividuals: 600 });
const model = fitDtm(cohort, { seed });
const mixture = modelMixture(model);
const place = flags.refit
  ? (study: Cohort) => embed(fitDtm(study, { seed }), study)
  : (study: Cohort) => embed(model, study, { mixture });

const labellings = Number(flags.labellings);
const places = embed(model, cohort, { mixture });
const randomLabels = await randomLabelStudy(
  { locations: places.location, mapDimension: places.mapDimension, ...visitsOf(cohort) },
  { labellings, permutations, share: 0.3, seed },
  progress("random labels", labellings),
);
const studies = Number(flags.studies);
const unequalVisits = await unequalVisitsStudy(
  (design, drawSeed) => simulateFromModel(model, design, { seed: drawSeed }).cohort,
  place,
  {
    studies,
    permutations,
    groupSize: 150,
    meanVisits: [2.2, 8],
    lastYear: 10,
    marker: onlyMarker(cohort).marker,
    seed,
  },
  progress("unequal visits", studies),
);

const results = { randomLabels, unequalVisits };
if (flags.json) {
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
} else {
  const show = ({ share, interval: [low, high], studies: n }: AlarmCount) =>
    `${(100 * share).toFixed(1)} % (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}, ${n})`.padEnd(28);
  process.stdout.write(
    `${"alarms at the 5% level".padEnd(28)}${"within visit strata".padEnd(28)}${"plain permutation".padEnd(28)}published test\n`,
  );
  for (const [name, result] of Object.entries({
    "random labels": randomLabels,
    "2.2 against 8 visits": unequalVisits,
  })) {
    process.stdout.write(
      `${name.padEnd(28)}${show(result.guarded)}${show(result.naive)}${show(result.published).trimEnd()}\n`,
    );
  }
}
