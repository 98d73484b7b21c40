import { parseArgs } from "node:util";
import { placeShifts } from "../../packages/core/src/associate/covariate-test.ts";
import { testKernel } from "../../packages/core/src/associate/place-features.ts";
import { posteriorFeatures } from "../../packages/core/src/associate/posterior-features.ts";
import { makeCohort, onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import { fitDtm, simulateCohort, simulateFromModel } from "../../packages/core/src/index.ts";
import { takeRows } from "../../packages/core/src/numeric/matrix.ts";
import { createRandom, type Random } from "../../packages/core/src/numeric/random.ts";

export const { values: flags } = parseArgs({
  options: {
    studies: { type: "string", default: "500" },
    nulls: { type: "string", default: "2000" },
    draws: { type: "string", default: "199" },
    sizes: { type: "string", default: "200,1000" },
    shares: { type: "string", default: "0.5,0.1" },
    pool: { type: "string", default: "20000" },
    seed: { type: "string", default: "31" },
    design: { type: "string", default: "" },
    only: { type: "string", default: "" },
    cohort: { type: "string", multiple: true, default: [] },
  },
});
export const seed = Number(flags.seed);
export const draws = Number(flags.draws);
export const sizes = flags.sizes.split(",").map(Number);
export const isWanted = (part: string) => part.includes(flags.only);
export const say = (text: string) => void process.stdout.write(`${text}\n`);
export const percent = (count: number, of: number) => ((100 * count) / of).toFixed(1);

export const { cohort: source } = simulateCohort("pfvc", { seed, numIndividuals: 600 });
export const law = fitDtm(source, { seed });
export const { marker } = onlyMarker(source);
export const kernel = testKernel(2);

/** Individuals seen in one way: features of whole posteriors, posterior means, true places. */
export interface Pool {
  readonly size: number;
  readonly rows: Float64Array; // [m,F]
  readonly shifts: Float64Array; // [m,2]
  readonly visits: ArrayLike<number>;
  readonly truth: Float64Array; // [m,2]
}

/** 1 + Poisson visits, uniform over ten years; `leaves` ends a record after an observed value of the lowest three tenths. */
export function drawPool(meanVisits: number, poolSeed: number, leaves = false): Pool {
  const size = Number(flags.pool);
  const random = createRandom(poolSeed);
  const ids: string[] = [];
  const times: number[] = [];
  for (let i = 0; i < size; i++) {
    const own = Array.from({ length: 1 + random.poisson(meanVisits - 1) }, () => 10 * random.uniform());
    for (const time of own.sort((a, b) => a - b)) {
      ids.push(String(i).padStart(6, "0"));
      times.push(time);
    }
  }
  const design = makeCohort({ ids, times, values: new Float64Array(ids.length) }, marker);
  const { cohort, locations } = simulateFromModel(law, design, { seed: poolSeed });
  const { values } = onlyMarker(cohort);
  const low = values.slice().sort()[Math.floor(0.3 * values.length)];
  const isKept = ids.map(() => true);
  for (let k = 1; leaves && k < ids.length; k++) {
    isKept[k] = ids[k] !== ids[k - 1] || (isKept[k - 1] && values[k - 1] > low);
  }
  const kept = Array.from(ids.keys()).filter((k) => isKept[k]);
  const seen = makeCohort(
    { ids: kept.map((k) => ids[k]), times: kept.map((k) => times[k]), values: kept.map((k) => values[k]) },
    marker,
  );
  const [{ rows }] = posteriorFeatures(law, seen, [kernel]);
  const { shifts } = placeShifts(law, seen);
  const { offsets } = onlyMarker(seen);
  const visits = Int32Array.from({ length: size }, (_, i) => offsets[i + 1] - offsets[i]);
  return { size, rows, shifts, visits, truth: locations };
}

export const POOLS = {
  usual: drawPool(4, seed + 1),
  rarely: drawPool(2, seed + 2),
  often: drawPool(8, seed + 3),
  leaving: drawPool(6, seed + 4, true),
  staying: drawPool(6, seed + 5),
};
export type Seen = keyof typeof POOLS;
export const POOL_NAMES = Object.keys(POOLS) as Seen[];

/** One individual of a study: where it is in which pool, and its covariates. */
export interface Drawn {
  readonly seen: Seen;
  readonly at: number;
  readonly c: number;
  readonly label: number;
}

export interface Design {
  readonly name: string;
  readonly correlation: number;
  readonly isTwoValued?: boolean;
  /** Log-odds of the outcome, or log-hazard, beside its constant. */
  readonly effect: (c: number, x: Float64Array) => number;
  /** How an individual is seen, by outcome and covariate. */
  readonly seen: (label: number, c: number) => Seen;
  /** Columns of noise beside the covariate. */
  readonly others?: number;
  readonly isTime?: boolean;
}

export const usual = (): Seen => "usual";
export const DESIGNS: readonly Design[] = [
  { name: "number, visits alike", correlation: 0.6, effect: (c) => c, seen: usual },
  { name: "strong", correlation: 0.8, effect: (c) => 2 * c, seen: usual },
  { name: "curved", correlation: 0.6, effect: (c) => 0.8 * (c * c - 1), seen: usual },
  { name: "two levels", correlation: 0.6, isTwoValued: true, effect: (c) => 1.5 * c, seen: usual },
  {
    name: "number, cases seen 8 times, others 2",
    correlation: 0.6,
    effect: (c) => c,
    seen: (label) => (label === 1 ? "often" : "rarely"),
  },
  {
    name: "number, seen 8 times above its mean, 2 below",
    correlation: 0.6,
    effect: (c) => c,
    seen: (_, c) => (c > 0 ? "often" : "rarely"),
  },
  { name: "number beside five columns of noise", correlation: 0.6, effect: (c) => c, seen: usual, others: 5 },
  {
    name: "time to event, hazard by the covariate",
    correlation: 0.6,
    effect: (c) => 0.7 * c,
    seen: usual,
    isTime: true,
  },
  { name: "power: place x₂ tells too", correlation: 0.6, effect: (c, x) => c + 0.6 * x[1], seen: usual },
  { name: "power: place x₁ tells too", correlation: 0.6, effect: (c, x) => c + 0.6 * x[0], seen: usual },
];

/** The covariate given the true place. */
export function covariateOf(x: Float64Array, { correlation: r, isTwoValued }: Design, random: Random): number {
  const c = r * x[0] + Math.sqrt(1 - r * r) * random.normal();
  return isTwoValued ? (c > 0 ? 1 : 0) : c;
}

/** m individuals of whom a share are cases; of a time to an event whoever comes. */
export function drawStudy(design: Design, m: number, share: number, random: Random): Drawn[] {
  const names = [...new Set([design.seen(0, -1), design.seen(0, 1), design.seen(1, -1), design.seen(1, 1)])];
  const wanted = [m - Math.round(share * m), Math.round(share * m)];
  const constant = Math.log(share / (1 - share));
  const drawn: Drawn[] = [];
  while (drawn.length < m) {
    // A pool at random, kept if the individual would be seen in this way: the law of everyone is what it should be.
    const seen = names[random.integer(names.length)];
    const pool = POOLS[seen];
    const at = random.integer(pool.size);
    const x = pool.truth.subarray(2 * at, 2 * at + 2);
    const c = covariateOf(x, design, random);
    const eta = design.effect(c, x);
    const label = design.isTime
      ? -Math.log(1 - random.uniform()) / Math.exp(eta)
      : random.uniform() < 1 / (1 + Math.exp(-eta - constant))
        ? 1
        : 0;
    if (design.seen(label, c) !== seen) continue;
    if (!design.isTime && wanted[label]-- <= 0) continue;
    drawn.push({ seen, at, c, label });
  }
  return drawn;
}

export function rowsOf(drawn: readonly Drawn[], of: "rows" | "shifts"): Float64Array {
  const width = POOLS.usual[of].length / POOLS.usual.size;
  const out = new Float64Array(drawn.length * width);
  for (const [i, { seen, at }] of drawn.entries()) out.set(takeRows(POOLS[seen][of], width, [at]), i * width);
  return out;
}
