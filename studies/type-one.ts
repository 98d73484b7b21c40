/**
 * False positives and power of the test of outcomes on whole posteriors, at the 5 % level: two groups whose courses have
 * one law and who are seen differently, and groups that differ in level. Courses come from a map fitted to the simulated
 * PFVC cohort, on which everybody is placed. For each way of being seen a pool of individuals is drawn and placed once, and
 * studies draw from it without replacement: the pool, not the law, is then what groups have in common, which adds n/pool to
 * the variance, a hundredth at most at the sizes here. With --refit every study has a map of its own, and no pool.
 * Results: docs/studies/type-one.md.
 * Usage: npm run study:type-one [-- --studies 1000 --draws 499 --sizes 200,1000 --shares 0.1,0.5 --seed 21 --only entry
 *        --pool 50000 --effects --visits --refit --json]
 */
import { parseArgs } from "node:util";
import { NO_ADJUSTMENT, seenEqually } from "../packages/core/src/associate/adjustment.ts";
import { differenceMap } from "../packages/core/src/associate/difference-map.ts";
import { multiplierP } from "../packages/core/src/associate/multipliers.ts";
import { pairAuc } from "../packages/core/src/associate/pair-auc.ts";
import { MAP_KERNEL, testKernel } from "../packages/core/src/associate/place-features.ts";
import { type PosteriorFeatures, posteriorFeatures } from "../packages/core/src/associate/posterior-features.ts";
import { approximateP, scoreOf } from "../packages/core/src/associate/score-test.ts";
import { type Cohort, makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { fitDtm, type Placements } from "../packages/core/src/index.ts";
import { joinFloats, takeRows } from "../packages/core/src/numeric/matrix.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { openLaw } from "./shared/seen.ts";
import { DESIGNS, type Design, drawTwoGroups } from "./shared/two-groups.ts";

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
    visits: { type: "boolean", default: false },
    refit: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const seed = Number(flags.seed);
const draws = Number(flags.draws);
const numStudies = Number(flags.studies);

const law = openLaw(seed);
const { model, marker, draw: drawCohort } = law;

const kernels = [testKernel(2), ...(flags.effects ? [MAP_KERNEL] : [])];

/** The studies of a design: features of m individuals, the first n₁ of them cases, one kernel after the other, and their visits. */
type Studies = (
  m: number,
  cases: number,
  studySeed: number,
) => { readonly features: PosteriorFeatures[]; readonly visits: Visits };

type Visits = Pick<Placements, "numObservations" | "firstTime" | "lastTime">;

/** Number, first and last time of everybody's visits. */
function visitsOf(cohort: Cohort): Visits {
  const { offsets, times } = onlyMarker(cohort);
  const each = Array.from({ length: offsets.length - 1 }, (_, i) => i);
  return {
    numObservations: Int32Array.from(each, (i) => offsets[i + 1] - offsets[i]),
    firstTime: Float64Array.from(each, (i) => times[offsets[i]]),
    lastTime: Float64Array.from(each, (i) => times[offsets[i + 1] - 1]),
  };
}

/** Individuals of both groups from pools, placed once on the map of the law. */
function pooledStudies({ cases, controls, shift = 0 }: Design, poolSeed: number): Studies {
  const size = Number(flags.pool);
  const [ours, others] = [
    { seen: cases, shift },
    { seen: controls, shift: 0 },
  ].map(({ seen, shift: moved }, k) => {
    const cohort = makeCohort(drawCohort(seen, moved, size, poolSeed + k), marker);
    return { features: posteriorFeatures(model, cohort, kernels), visits: visitsOf(cohort) };
  });
  return (m, numCases, studySeed) => {
    const random = createRandom(studySeed);
    const pick = (n: number) => {
      const picked = new Set<number>();
      while (picked.size < n) picked.add(random.integer(size));
      return [...picked];
    };
    const [first, rest] = [pick(numCases), pick(m - numCases)];
    const both = (of: keyof Visits) => [
      ...first.map((i) => ours.visits[of][i]),
      ...rest.map((i) => others.visits[of][i]),
    ];
    const features = ours.features.map((own, k) => ({
      ...own,
      rows: joinFloats([
        takeRows(own.rows, own.numFeatures, first),
        takeRows(others.features[k].rows, own.numFeatures, rest),
      ]),
    }));
    const visits = {
      numObservations: Int32Array.from(both("numObservations")),
      firstTime: Float64Array.from(both("firstTime")),
      lastTime: Float64Array.from(both("lastTime")),
    };
    return { features, visits };
  };
}

/** Individuals drawn for each study, and a map fitted to them. */
function refittedStudies(design: Design): Studies {
  return (m, numCases, studySeed) => {
    const cohort = drawTwoGroups(law, design, m, numCases, studySeed);
    return { features: posteriorFeatures(fitDtm(cohort, { seed }), cohort, kernels), visits: visitsOf(cohort) };
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
  /** Shares found among people seen equally often too, and in which the number of visits goes with the place. */
  readonly holds: number;
  readonly follow: number;
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
      const sums = { rejected: 0, approximate: 0, auc: 0, aucExcludes: 0, bandBroken: 0, holds: 0, follow: 0 };
      for (let k = 0; k < numStudies; k++) {
        // Seeds of their own, so that rows are independent; the same whatever other designs are run.
        const studySeed = 1000 * seed + numStudies * (44 * d + row) + k;
        const { features: made, visits } = draw(m, numCases, studySeed);
        const [features, fine] = made;
        const score = scoreOf(features.rows, labels);
        const isFound = (await multiplierP(score, studySeed, { draws })) <= 0.05;
        if (isFound) sums.rejected++;
        if (flags.visits) {
          const columns = seenEqually(NO_ADJUSTMENT, visits).columns.map(({ values }) => values);
          const alike = scoreOf(features.rows, labels, columns);
          if (isFound && (await multiplierP(alike, studySeed, { draws })) <= 0.05) sums.holds++;
          const control = scoreOf(features.rows, Float64Array.from(visits.numObservations, Math.log));
          if (approximateP(control) <= 0.05) sums.follow++;
        }
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

function show({ design, m, share, rejected, approximate, auc, aucExcludes, bandBroken, holds, follow }: Row): string {
  const percent = (x: number) => `${(100 * x).toFixed(1)} %`.padStart(7);
  const effects = flags.effects
    ? `  AUC ${auc.toFixed(3)}, interval without 0.5 ${percent(aucExcludes)}, band broken ${percent(bandBroken)}`
    : "";
  const seen = flags.visits ? `  seen equally often ${percent(holds)}, visits follow ${percent(follow)}` : "";
  return `${design.padEnd(50)}m ${String(m).padStart(5)}  cases ${percent(share)}  p <= 0.05 in ${percent(rejected)}  approximate ${percent(approximate)}${effects}${seen}`;
}
