/**
 * Outcomes that visits make: labels drawn from the number of visits or from their last time and from nothing else, in cohorts whose
 * visits follow the course or do not, beside labels drawn from the true place. How often at the 5 % level
 *   test   the test of outcomes finds a relation;
 *   band   the difference map leaves its band somewhere, which is no test of its own and is drawn only where the test finds one (drawn);
 *   alike  the same test finds it among people seen equally often and long;   holds: test and alike, which is what a sentence says.
 * Shares: the mean of "here less elsewhere" over the studies with an outlined area, in the people who drew it and held out.
 * Individuals come from pools, as in type-one.ts. Results: docs/studies/visit-outcomes.md.
 * Usage: npm run study:visit-outcomes [-- --studies 500 --draws 199 --sizes 300,1000 --share 0.3 --seed 41 --pool 10000 --only own]
 */
import { parseArgs } from "node:util";
import { NO_ADJUSTMENT, seenEqually } from "../packages/core/src/associate/adjustment.ts";
import { outcomeContrast } from "../packages/core/src/associate/contrast.ts";
import { differenceMap } from "../packages/core/src/associate/difference-map.ts";
import { multiplierP } from "../packages/core/src/associate/multipliers.ts";
import { MAP_KERNEL, testKernel } from "../packages/core/src/associate/place-features.ts";
import { posteriorFeatures } from "../packages/core/src/associate/posterior-features.ts";
import { scoreOf } from "../packages/core/src/associate/score-test.ts";
import { makeCohort } from "../packages/core/src/cohort/cohort.ts";
import { embed } from "../packages/core/src/index.ts";
import { takeRows } from "../packages/core/src/numeric/matrix.ts";
import { meanAndSd } from "../packages/core/src/numeric/moments.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { COMES_WHEN_BAD, LEAVES_WHEN_BAD, OWN_RATE, openLaw, RETURNS_SOON, type Seen } from "./shared/seen.ts";

const { values: flags } = parseArgs({
  options: {
    studies: { type: "string", default: "500" },
    draws: { type: "string", default: "199" },
    sizes: { type: "string", default: "300,1000" },
    share: { type: "string", default: "0.3" },
    seed: { type: "string", default: "41" },
    pool: { type: "string", default: "10000" },
    only: { type: "string", default: "" },
  },
});
const [seed, draws, numStudies, poolSize, share] = [
  flags.seed,
  flags.draws,
  flags.studies,
  flags.pool,
  flags.share,
].map(Number);

const WAYS: readonly { readonly name: string; readonly seen: Seen }[] = [
  { name: "everybody at a rate of their own", seen: OWN_RATE },
  { name: "sooner after a bad value", seen: RETURNS_SOON },
  { name: "until a bad value", seen: LEAVES_WHEN_BAD },
  { name: "when the value is bad", seen: COMES_WHEN_BAD },
];
/** The log-odds of an outcome rise by this for each standard deviation of what it is drawn from; of nothing: by 0. */
const SOURCES = [
  { name: "nothing", effect: 0, of: "count" },
  { name: "number of visits", effect: 1.5, of: "count" },
  { name: "last visit", effect: 1.5, of: "last" },
  { name: "place", effect: 0.7, of: "place" },
] as const;

const { model, marker, draw } = openLaw(seed);

function openPool(seen: Seen, poolSeed: number) {
  const drawn = draw(seen, 0, poolSize, poolSeed);
  const cohort = makeCohort(drawn, marker);
  const [features, fine] = posteriorFeatures(model, cohort, [testKernel(2), MAP_KERNEL]);
  const { location, numObservations, firstTime, lastTime } = embed(model, cohort);
  const standard = (x: Float64Array) => {
    const { mean, sd } = meanAndSd(x);
    return sd > 0 ? x.map((v) => (v - mean) / sd) : x;
  };
  const sources = {
    count: standard(Float64Array.from(numObservations, Math.log)),
    last: standard(Float64Array.from(lastTime)),
    place: Float64Array.from({ length: poolSize }, (_, i) => drawn.locations[2 * i]),
  };
  return { features, fine, location, numObservations, firstTime, lastTime, sources };
}

const log = (text: string) => void process.stdout.write(`${text}\n`);
const percent = (x: number) => `${((100 * x) / numStudies).toFixed(1)}`;
log("| visits | outcome drawn from | m | test | band | drawn | alike | holds | shares as drawn | held out |");
log("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
for (const [w, { name, seen }] of WAYS.entries()) {
  if (!name.includes(flags.only)) continue;
  const pool = openPool(seen, seed + w);
  for (const [s, source] of SOURCES.entries()) {
    for (const m of flags.sizes.split(",").map(Number)) {
      const sums = { test: 0, band: 0, drawn: 0, alike: 0, holds: 0 };
      const areas = { count: 0, drawn: 0, held: 0 };
      for (let k = 0; k < numStudies; k++) {
        const studySeed = 1000 * seed + numStudies * (100 * w + 10 * s + (m === 300 ? 0 : 1)) + k;
        const random = createRandom(studySeed);
        const members = [...random.permutation(poolSize).subarray(0, m)];
        const signal = members.map((i) => source.effect * pool.sources[source.of][i]);
        const b0 = interceptFor(signal);
        const labels = Uint8Array.from(signal, (v) => (random.uniform() < expit(b0 + v) ? 1 : 0));
        const rowsOf = ({ rows, numFeatures }: typeof pool.fine) => takeRows(rows, numFeatures, members);
        const pick = (x: ArrayLike<number>) => Float64Array.from(members, (i) => x[i]);
        const rows = rowsOf(pool.features);
        const visits = seenEqually(NO_ADJUSTMENT, {
          numObservations: Int32Array.from(members, (i) => pool.numObservations[i]),
          firstTime: pick(pool.firstTime),
          lastTime: pick(pool.lastTime),
        });
        const p = async (columns: readonly Float64Array[]) =>
          multiplierP(scoreOf(rows, labels, columns), studySeed, { draws });
        const test = (await p([])) <= 0.05;
        const alike = (await p(visits.columns.map(({ values }) => values))) <= 0.05;
        const fine = { ...pool.fine, rows: rowsOf(pool.fine) };
        const map = differenceMap(fine, 2, labels, { draws: 199, gridSize: 25, seed: studySeed });
        const band = map.outside.some((side) => side !== 0);
        sums.test += Number(test);
        sums.alike += Number(alike);
        sums.holds += Number(test && alike);
        sums.band += Number(band);
        sums.drawn += Number(test && band);
        if (!test) continue;
        const location = takeRows(pool.location, 2, members);
        const contrast = outcomeContrast(fine, { location, mapDimension: 2 }, labels, map, [], studySeed);
        if (contrast === null) continue;
        areas.count++;
        areas.drawn += contrast.side * (contrast.drawn.here.share - contrast.drawn.elsewhere.share);
        areas.held += contrast.side * (contrast.here.share - contrast.elsewhere.share);
      }
      const mean = (sum: number) => (areas.count < 10 ? "" : (sum / areas.count).toFixed(3));
      const shares = Object.values(sums).map(percent).join(" | ");
      log(`| ${name} | ${source.name} | ${m} | ${shares} | ${mean(areas.drawn)} | ${mean(areas.held)} |`);
    }
  }
}

/** b₀ with the mean risk asked for. */
function interceptFor(signal: readonly number[]): number {
  let [low, high] = [-20, 20];
  for (let step = 0; step < 50; step++) {
    const middle = 0.5 * (low + high);
    const risk = signal.reduce((sum, v) => sum + expit(middle + v), 0) / signal.length;
    if (risk < share) low = middle;
    else high = middle;
  }
  return 0.5 * (low + high);
}

function expit(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
