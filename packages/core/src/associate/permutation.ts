/**
 * Permutation p-values of the statistics T of kernel-features.ts: labels are shuffled, within strata if given, and
 *   p = (1 + #{T_b ≥ T}) / (B + 1).
 * `countExceedances` is a pure function of (plan, from, to), and any split of 0..B−1 between threads gives the same
 * counts.                                                                          (docs/math/association.md §4)
 */
import { checkOption, DtmError } from "../errors.ts";
import { betaQuantile } from "../numeric/beta.ts";
import { statisticOf, type TestFeatures } from "./kernel-features.ts";
import { eachLabelling, indicesOf, type Labellings, labellingsOf } from "./labellings.ts";

/** B where none is asked for. */
export const DEFAULT_PERMUTATIONS = 9999;

/** Everything a thread needs; plain data. */
export interface PermutationPlan {
  readonly features: readonly TestFeatures[];
  readonly labellings: Labellings;
  /** What T_b must reach to count: T less its rounding error; one per statistic. */
  readonly thresholds: Float64Array;
  /** Individuals in strata where labels can move. */
  readonly comparable: number;
}

export interface PermutationInput {
  /** Statistics to permute together. */
  readonly features: readonly TestFeatures[];
  /** 1 case, 0 control, [n]. */
  readonly labels: Uint8Array;
  /** Stratum of each individual, [n]; one stratum if left out. */
  readonly strata?: Int32Array;
  readonly seed?: number;
}

/** Number of permutations from..to−1 whose statistic reaches the observed one, for each statistic of the plan. */
export type ExceedanceCounter = (
  plan: PermutationPlan,
  from: number,
  to: number,
) => ArrayLike<number> | Promise<ArrayLike<number>>;

export interface PermutationOptions {
  /** B. Default 9,999. */
  readonly permutations?: number;
  /** Looks after 250, 500, 1,000, ... permutations and stops when every p-value is clearly above 0.05. Default false. */
  readonly earlyStop?: boolean;
  /** Runs a range of permutations; a pool of threads can stand in. Default `countExceedances`. */
  readonly count?: ExceedanceCounter;
  /** Into how many ranges the work between two looks is cut and handed out at once. Default 1. */
  readonly shards?: number;
}

/** A permutation p-value with the interval that its finite number of permutations leaves. */
export interface PermutationTest {
  readonly pValue: number;
  /** 95 % Clopper–Pearson interval of the p-value that infinitely many permutations would give. */
  readonly interval: readonly [number, number];
  readonly permutations: number;
}

/** Statistics closer than this share of their size are ties, which count as reached. */
const TIE = 1e-12;
/** An early stop needs the interval of every p-value above this level, */
const STOP_LEVEL = 0.05;
/** with high confidence, because it is looked at repeatedly. */
const STOP_CONFIDENCE = 0.999;

/** Prepares permutations of labels; refuses labels of one class. */
export function planPermutations({ features, labels, strata, seed = 1 }: PermutationInput): PermutationPlan {
  const n = labels.length;
  if ((strata ?? labels).length !== n || features.length === 0 || features.some((f) => f.n !== n)) {
    throw new DtmError(
      "shape",
      `planPermutations: expected labels, strata and statistics of one number of individuals, received ${n} labels, ` +
        `${(strata ?? labels).length} strata, ${features.map((f) => f.n).join(", ") || "no"} in statistics.`,
    );
  }
  const cases = labels.reduce((s, label) => s + label, 0);
  if (cases === 0 || cases === n) {
    throw new DtmError(
      "one-class",
      `planPermutations: expected cases and controls, received ${cases} cases among ${n}; nothing can be compared.`,
    );
  }
  // The smaller class is marked: T is the same for both, the work is less.
  const marks = 2 * cases <= n ? labels : labels.map((label) => 1 - label);
  const members = indicesOf(marks, 1);
  const thresholds = Float64Array.from(features, (f) => {
    const T = statisticOf(f)(members);
    return T - TIE * (T + (1 / cases + 1 / (n - cases)) * f.diagonal);
  });
  const labellings = labellingsOf(marks, strata, seed);
  let comparable = 0;
  for (const [s, marked] of labellings.marked.entries()) {
    const size = labellings.starts[s + 1] - labellings.starts[s];
    if (marked > 0 && marked < size) comparable += size;
  }
  return { features, labellings, thresholds, comparable };
}

/** The counter that runs in the calling thread. */
export function countExceedances(plan: PermutationPlan, from: number, to: number): Int32Array {
  const { features, thresholds } = plan;
  const counts = new Int32Array(features.length);
  const statistics = features.map(statisticOf);
  eachLabelling(plan.labellings, from, to, (members) => {
    for (const [f, statistic] of statistics.entries()) if (statistic(members) >= thresholds[f]) counts[f]++;
  });
  return counts;
}

/** Runs a plan: one result per statistic. */
export async function runPermutations(
  plan: PermutationPlan,
  options: PermutationOptions = {},
): Promise<readonly PermutationTest[]> {
  const { permutations = DEFAULT_PERMUTATIONS, earlyStop = false, count = countExceedances, shards = 1 } = options;
  checkOption(
    Number.isInteger(permutations) && permutations >= 1,
    "permutations",
    "a whole number from 1",
    permutations,
    "Take 999 or 9,999.",
  );
  const counts = new Float64Array(plan.features.length);
  let done = 0;
  for (const look of earlyStop ? lookSchedule(permutations) : [permutations]) {
    const size = Math.ceil((look - done) / shards);
    const ranges = Array.from({ length: shards }, (_, s) => [done + s * size, Math.min(done + (s + 1) * size, look)]);
    const parts = await Promise.all(ranges.filter(([a, b]) => a < b).map(([a, b]) => count(plan, a, b)));
    for (const part of parts) for (let f = 0; f < counts.length; f++) counts[f] += part[f];
    done = look;
    if (counts.every((c) => shareInterval(c, done, STOP_CONFIDENCE)[0] > STOP_LEVEL)) break;
  }
  return plan.features.map((_, f) => ({
    pValue: (1 + counts[f]) / (1 + done),
    interval: shareInterval(counts[f], done, 0.95),
    permutations: done,
  }));
}

function lookSchedule(permutations: number): number[] {
  const looks: number[] = [];
  for (let look = 250; look < permutations; look *= 2) looks.push(look);
  return [...looks, permutations];
}

/** Clopper–Pearson interval of a share from `count` of `total`. */
export function shareInterval(count: number, total: number, confidence: number): readonly [number, number] {
  const tail = (1 - confidence) / 2;
  return [
    count === 0 ? 0 : betaQuantile(tail, count, total - count + 1),
    count === total ? 1 : betaQuantile(1 - tail, count + 1, total - count),
  ];
}
