/**
 * False positives and power of the test of outcomes on whole posteriors, at the 5 % level: two groups whose courses have
 * one law and who are seen differently, and groups that differ in level. Courses come from a map fitted to the simulated
 * PFVC cohort; individuals are placed on that map or, with --refit, on a map fitted to each study. Results: docs/studies/type-one.md.
 * Usage: npm run study:type-one [-- --studies 1000 --draws 499 --sizes 200,1000 --shares 0.1,0.5 --seed 21 --only entry
 *        --effects --refit --json]
 */
import { parseArgs } from "node:util";
import { differenceMap } from "../packages/core/src/associate/difference-map.ts";
import { multiplierP } from "../packages/core/src/associate/multipliers.ts";
import { pairAuc } from "../packages/core/src/associate/pair-auc.ts";
import { MAP_KERNEL, testKernel } from "../packages/core/src/associate/place-features.ts";
import { posteriorFeatures } from "../packages/core/src/associate/posterior-features.ts";
import { approximateP, scoreOf } from "../packages/core/src/associate/score-test.ts";
import { makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { fitDtm, simulateCohort, simulateFromModel } from "../packages/core/src/index.ts";
import { createRandom, type Random } from "../packages/core/src/numeric/random.ts";

const { values: flags } = parseArgs({
  options: {
    studies: { type: "string", default: "1000" },
    draws: { type: "string", default: "499" },
    sizes: { type: "string", default: "200,1000" },
    shares: { type: "string", default: "0.1,0.5" },
    seed: { type: "string", default: "21" },
    only: { type: "string", default: "" },
    effects: { type: "boolean", default: false },
    refit: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const seed = Number(flags.seed);
const draws = Number(flags.draws);
const numStudies = Number(flags.studies);

/** How a group is seen: mean number of visits (1 + Poisson), and the time of a visit. */
interface Seen {
  readonly visits: number;
  readonly time: (random: Random) => number;
}

interface Design {
  readonly name: string;
  readonly cases: Seen;
  readonly controls: Seen;
  /** Added to the values of cases. */
  readonly shift?: number;
}

const between =
  (from: number, to: number) =>
  (random: Random): number =>
    from + (to - from) * random.uniform();
const usual: Seen = { visits: 4, time: between(0, 10) };
const [rarely, often] = [2, 8].map((visits): Seen => ({ ...usual, visits }));

const DESIGNS: readonly Design[] = [
  { name: "visits alike", cases: usual, controls: usual },
  { name: "2 against 8 visits", cases: rarely, controls: often },
  { name: "8 against 2 visits", cases: often, controls: rarely },
  { name: "follow-up 4 against 10 years", cases: { ...usual, time: between(0, 4) }, controls: usual },
  { name: "follow-up 7 against 10 years", cases: { ...usual, time: between(0, 7) }, controls: usual },
  { name: "entry at year 5 against 0", cases: { ...usual, time: between(5, 10) }, controls: usual },
  {
    name: "spacing: early against late",
    cases: { ...usual, time: (random) => 10 * random.uniform() ** 2 },
    controls: { ...usual, time: (random) => 10 * (1 - random.uniform() ** 2) },
  },
  { name: "power: level -5, visits alike", cases: usual, controls: usual, shift: -5 },
  { name: "power: level -8, 8 against 2 visits", cases: often, controls: rarely, shift: -8 },
];

const { cohort: source } = simulateCohort("pfvc", { seed, numIndividuals: 600 });
const law = fitDtm(source, { seed });
const { marker } = onlyMarker(source);

/** One study: values from the law at visits of the design; the last n₁ individuals are cases. */
function drawStudy({ cases, controls, shift = 0 }: Design, m: number, share: number, studySeed: number) {
  const random = createRandom(studySeed);
  const labels = Uint8Array.from({ length: m }, (_, i) => (i < m - Math.round(share * m) ? 0 : 1));
  const ids: string[] = [];
  const times: number[] = [];
  const moved: number[] = [];
  labels.forEach((label, i) => {
    const seen = label === 1 ? cases : controls;
    const visits = Array.from({ length: 1 + random.poisson(seen.visits - 1) }, () => seen.time(random));
    for (const time of visits.sort((a, b) => a - b)) {
      // Padded, so that the cohort keeps this order.
      ids.push(String(i).padStart(6, "0"));
      times.push(time);
      moved.push(label === 1 ? shift : 0);
    }
  });
  const design = makeCohort({ ids, times, values: new Float64Array(ids.length) }, marker);
  const { values } = onlyMarker(simulateFromModel(law, design, { seed: studySeed }).cohort);
  return { cohort: makeCohort({ ids, times, values: values.map((v, k) => v + moved[k]) }, marker), labels };
}

interface Row {
  readonly design: string;
  readonly m: number;
  readonly share: number;
  readonly studies: number;
  /** Shares of studies with p ≤ 0.05, by multipliers and by the approximation. */
  readonly rejected: number;
  readonly approximate: number;
  /** Mean AUC, shares of AUC intervals that exclude ½ and of difference maps that leave their band. */
  readonly auc: number;
  readonly aucExcludes: number;
  readonly bandBroken: number;
}

const rows: Row[] = [];
for (const design of DESIGNS.filter(({ name }) => name.includes(flags.only))) {
  for (const m of flags.sizes.split(",").map(Number)) {
    for (const share of flags.shares.split(",").map(Number)) {
      const sums = { rejected: 0, approximate: 0, auc: 0, aucExcludes: 0, bandBroken: 0 };
      for (let k = 0; k < numStudies; k++) {
        // Seeds of their own, so that rows are independent.
        const { cohort, labels } = drawStudy(design, m, share, seed + numStudies * rows.length + k);
        const model = flags.refit ? fitDtm(cohort, { seed }) : law;
        const [features, wide] = posteriorFeatures(model, cohort, [
          testKernel(2),
          ...(flags.effects ? [MAP_KERNEL] : []),
        ]);
        const score = scoreOf(features.rows, labels);
        if ((await multiplierP(score, seed + k, { draws })) <= 0.05) sums.rejected++;
        if (approximateP(score) <= 0.05) sums.approximate++;
        if (!flags.effects) continue;
        const auc = pairAuc(features.rows, labels, seed + k);
        sums.auc += auc.value;
        if (auc.lower > 0.5 || auc.upper < 0.5) sums.aucExcludes++;
        const map = differenceMap(wide, 2, labels, { draws: 199, gridSize: 25, seed: seed + k });
        if (map.outside.some((side) => side !== 0)) sums.bandBroken++;
      }
      const shares = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / numStudies]));
      const row = { design: design.name, m, share, studies: numStudies, ...shares } as unknown as Row;
      rows.push(row);
      if (!flags.json) process.stdout.write(`${show(row)}\n`);
    }
  }
}
if (flags.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);

function show({ design, m, share, rejected, approximate, auc, aucExcludes, bandBroken }: Row): string {
  const percent = (x: number) => `${(100 * x).toFixed(1)} %`.padStart(7);
  const effects = flags.effects
    ? `  AUC ${auc.toFixed(3)}, interval without 0.5 ${percent(aucExcludes)}, band broken ${percent(bandBroken)}`
    : "";
  return `${design.padEnd(38)}m ${String(m).padStart(5)}  cases ${percent(share)}  p <= 0.05 in ${percent(rejected)}  approximate ${percent(approximate)}${effects}`;
}
