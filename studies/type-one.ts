/**
 * False positives and power of the test of outcomes on whole posteriors, at the 5 % level: two groups whose courses have
 * one law and who are seen differently, and groups that differ in level. Courses come from a map fitted to the simulated
 * PFVC cohort, on which everybody is placed. For each way of being seen a pool of individuals is drawn and placed once, and
 * studies draw from it without replacement: the pool, not the law, is then what groups have in common, which adds n/pool to
 * the variance, a hundredth at most at the sizes here. With --refit every study has a map of its own, and no pool.
 * Results: docs/studies/type-one.md.
 * Usage: npm run study:type-one [-- --studies 1000 --draws 499 --sizes 200,1000 --shares 0.1,0.5 --seed 21 --only entry
 *        --pool 50000 --effects --refit --json]
 */
import { parseArgs } from "node:util";
import { differenceMap } from "../packages/core/src/associate/difference-map.ts";
import { multiplierP } from "../packages/core/src/associate/multipliers.ts";
import { pairAuc } from "../packages/core/src/associate/pair-auc.ts";
import { MAP_KERNEL, testKernel } from "../packages/core/src/associate/place-features.ts";
import { type PosteriorFeatures, posteriorFeatures } from "../packages/core/src/associate/posterior-features.ts";
import { approximateP, scoreOf } from "../packages/core/src/associate/score-test.ts";
import { makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { fitDtm, simulateCohort, simulateFromModel } from "../packages/core/src/index.ts";
import { joinFloats, takeRows } from "../packages/core/src/numeric/matrix.ts";
import { createRandom, type Random } from "../packages/core/src/numeric/random.ts";

const { values: flags } = parseArgs({
  options: {
    studies: { type: "string", default: "1000" },
    draws: { type: "string", default: "499" },
    sizes: { type: "string", default: "200,1000" },
    shares: { type: "string", default: "0.1,0.5" },
    seed: { type: "string", default: "21" },
    only: { type: "string", default: "" },
    pool: { type: "string", default: "50000" },
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

const kernels = [testKernel(2), ...(flags.effects ? [MAP_KERNEL] : [])];

/** n individuals seen in one way: values from the law at their visits, moved by `shift`. */
function drawCohort(seen: Seen, shift: number, n: number, drawSeed: number) {
  const random = createRandom(drawSeed);
  const ids: string[] = [];
  const times: number[] = [];
  for (let i = 0; i < n; i++) {
    const visits = Array.from({ length: 1 + random.poisson(seen.visits - 1) }, () => seen.time(random));
    for (const time of visits.sort((a, b) => a - b)) {
      // Padded, so that the cohort keeps this order.
      ids.push(String(i).padStart(6, "0"));
      times.push(time);
    }
  }
  const design = makeCohort({ ids, times, values: new Float64Array(ids.length) }, marker);
  const { values } = onlyMarker(simulateFromModel(law, design, { seed: drawSeed }).cohort);
  return { ids, times, values: values.map((v) => v + shift) };
}

/** The studies of a design: features of m individuals, the first n₁ of them cases, one kernel after the other. */
type Studies = (m: number, cases: number, studySeed: number) => PosteriorFeatures[];

/** Individuals of both groups from pools, placed once on the map of the law. */
function pooledStudies({ cases, controls, shift = 0 }: Design, poolSeed: number): Studies {
  const size = Number(flags.pool);
  const [ours, others] = [
    { seen: cases, shift },
    { seen: controls, shift: 0 },
  ].map(({ seen, shift: moved }, k) =>
    posteriorFeatures(law, makeCohort(drawCohort(seen, moved, size, poolSeed + k), marker), kernels),
  );
  return (m, numCases, studySeed) => {
    const random = createRandom(studySeed);
    const pick = (n: number) => {
      const picked = new Set<number>();
      while (picked.size < n) picked.add(random.integer(size));
      return [...picked];
    };
    const [first, rest] = [pick(numCases), pick(m - numCases)];
    return ours.map((features, k) => ({
      ...features,
      rows: joinFloats([
        takeRows(features.rows, features.numFeatures, first),
        takeRows(others[k].rows, features.numFeatures, rest),
      ]),
    }));
  };
}

/** Individuals drawn for each study, and a map fitted to them. */
function refittedStudies({ cases, controls, shift = 0 }: Design): Studies {
  return (m, numCases, studySeed) => {
    const parts = [
      drawCohort(cases, shift, numCases, studySeed),
      drawCohort(controls, 0, m - numCases, studySeed + 0.5),
    ];
    const ids = parts.flatMap((part, k) => part.ids.map((id) => `${k}-${id}`));
    const times = parts.flatMap((part) => part.times);
    const cohort = makeCohort({ ids, times, values: parts.flatMap((part) => [...part.values]) }, marker);
    return posteriorFeatures(fitDtm(cohort, { seed }), cohort, kernels);
  };
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
for (const [d, design] of DESIGNS.entries()) {
  if (!design.name.includes(flags.only)) continue;
  const draw = flags.refit ? refittedStudies(design) : pooledStudies(design, seed + 2 * d);
  let row = 0;
  for (const m of flags.sizes.split(",").map(Number)) {
    for (const share of flags.shares.split(",").map(Number)) {
      const numCases = Math.round(share * m);
      const labels = Uint8Array.from({ length: m }, (_, i) => (i < numCases ? 1 : 0));
      const sums = { rejected: 0, approximate: 0, auc: 0, aucExcludes: 0, bandBroken: 0 };
      for (let k = 0; k < numStudies; k++) {
        // Seeds of their own, so that rows are independent; the same whatever other designs are run.
        const studySeed = 1000 * seed + numStudies * (44 * d + row) + k;
        const [features, fine] = draw(m, numCases, studySeed);
        const score = scoreOf(features.rows, labels);
        if ((await multiplierP(score, studySeed, { draws })) <= 0.05) sums.rejected++;
        if (approximateP(score) <= 0.05) sums.approximate++;
        if (!flags.effects) continue;
        const auc = pairAuc(features.rows, labels, studySeed);
        sums.auc += auc.value;
        if (auc.lower > 0.5 || auc.upper < 0.5) sums.aucExcludes++;
        const map = differenceMap(fine, 2, labels, { draws: 199, gridSize: 25, seed: studySeed });
        if (map.outside.some((side) => side !== 0)) sums.bandBroken++;
      }
      const shares = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / numStudies]));
      const found = { design: design.name, m, share, studies: numStudies, ...shares } as unknown as Row;
      rows.push(found);
      row++;
      if (!flags.json) process.stdout.write(`${show(found)}\n`);
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
