/**
 * Permutation p-values of two-sample statistics on places x [n,q]: labels are shuffled, within strata if given, and
 *   p = (1 + #{T_b ≥ T}) / (B + 1).
 * "kde": a'Ka with one Gaussian kernel for the pooled sample (wide-kernel.ts has the one that is used); "energy": the
 * energy distance. Permutation b draws from its own random stream, so that any split of 0..B−1 between threads gives the
 * same counts: `countExceedances` is a pure function of (plan, from, to).            (docs/math/association.md §4)
 */
import { checkOption, DtmError } from "../errors.ts";
import { betaQuantile } from "../numeric/beta.ts";
import { cholesky, logDetFromCholesky } from "../numeric/cholesky.ts";
import { trace } from "../numeric/matrix.ts";
import { LOG_2PI } from "../numeric/special.ts";
import { flipSubset, listBits, openDraws } from "../numeric/subset-draws.ts";
import { selectBandwidth } from "./bandwidth.ts";
import {
  energyMatrix,
  energyPlane,
  energyProjections,
  evaluate,
  formWorkspace,
  gaussGrid,
  gaussMatrix,
  type QuadraticForm,
  termSize,
} from "./quadratic-form.ts";
import { columnMeans, describeSample, type Sample, sampleCovariance, whitenRows } from "./sample.ts";

export type PermutationStatistic = "kde" | "energy";

/** Individuals up to which kernels are held as matrices; above, on a lattice or in slices, which is then also faster. */
export const MATRIX_LIMIT = 500;

/** B where none is asked for. */
export const DEFAULT_PERMUTATIONS = 9999;

/** A Gaussian kernel fitted to pooled places. */
export interface PooledKernel {
  /** Places in bandwidths, [n,q]: the kernel is exp(−½|z_i − z_j|²) times `peak`. */
  readonly z: Float64Array;
  readonly peak: number;
  /** H [q,q]. */
  readonly bandwidth: Float64Array;
}

/** Everything a thread needs; plain data. */
export interface PermutationPlan {
  readonly forms: readonly QuadraticForm[];
  /** Individuals grouped by stratum, [n]; stratum s is starts[s]..starts[s+1]−1. */
  readonly order: Int32Array;
  readonly starts: Int32Array;
  /** Individuals to mark in each stratum. */
  readonly marked: Int32Array;
  readonly seed: number;
  /** T of the labels as given, and what T_b must reach to count (T less its rounding error); one per form. */
  readonly observed: Float64Array;
  readonly thresholds: Float64Array;
  /** Individuals in strata where labels can move. */
  readonly comparable: number;
}

export interface PermutationInput {
  /** Statistics to permute together, from `kdeForm` and `energyForm`. */
  readonly forms: readonly QuadraticForm[];
  /** 1 case, 0 control, [n]. */
  readonly labels: Uint8Array;
  /** Stratum of each individual, [n]; one stratum if left out. */
  readonly strata?: Int32Array;
  readonly seed?: number;
}

/** Number of permutations from..to−1 whose statistic reaches the observed one, for each form of the plan. */
export type ExceedanceCounter = (
  plan: PermutationPlan,
  from: number,
  to: number,
) => ArrayLike<number> | Promise<ArrayLike<number>>;

export interface EarlyStop {
  /** Stop once the interval of every p-value excludes this. Default 0.05. */
  readonly level?: number;
  /** "above": go on to the end while a p-value may be small, for p-values to be adjusted later. Default "both". */
  readonly sides?: "above" | "both";
  /** Confidence of that interval; high, because it is looked at repeatedly. Default 0.999. */
  readonly confidence?: number;
}

export interface PermutationOptions {
  /** B. Default 9,999. */
  readonly permutations?: number;
  /** Looks after 250, 500, 1,000, ... permutations and stops when all are decided. Default false. */
  readonly earlyStop?: boolean | EarlyStop;
  /** Confidence of the reported interval. Default 0.95. */
  readonly confidence?: number;
  /** Runs a range of permutations; a pool of threads can stand in. Default `countExceedances`. */
  readonly count?: ExceedanceCounter;
  /** Into how many ranges the work between two looks is cut and handed out at once. Default 1. */
  readonly shards?: number;
}

/** A permutation p-value with the interval that its finite number of permutations leaves. */
export interface PermutationTest {
  readonly statistic: number;
  readonly pValue: number;
  /** Clopper–Pearson interval of the p-value that infinitely many permutations would give. */
  readonly interval: readonly [number, number];
  readonly exceedances: number;
  readonly permutations: number;
  readonly stoppedEarly: boolean;
}

/** The pooled kernel of places x [n,q]: closed-form plug-in bandwidth. */
export function pooledKernel(x: Float64Array, q: number): PooledKernel {
  const sample = describeSample(x, q, "places");
  return kernelAt(sample, selectBandwidth(sample, "closed-form").matrix);
}

function kernelAt(sample: Sample, bandwidth: Float64Array): PooledKernel {
  const { n, d } = sample;
  const L = cholesky(bandwidth, d, "pooled bandwidth");
  const z = whitenRows(sample.x, n, d, L);
  return { z, peak: Math.exp(-0.5 * (d * LOG_2PI + logDetFromCholesky(L, d))), bandwidth };
}

/** The pooled-bandwidth density statistic of n places. `hold` overrides how the kernel is held. */
export function kdeForm(kernel: PooledKernel, n: number, hold?: "matrix" | "lattice"): QuadraticForm {
  const q = kernel.z.length / n;
  const form = (hold ?? holdFor(n, q)) === "matrix" ? gaussMatrix : gaussGrid;
  return form(kernel.z, n, q, kernel.peak);
}

/** The energy distance of places x [n,q], in their own units. */
export function energyForm(x: Float64Array, n: number, hold?: "matrix" | "lattice"): QuadraticForm {
  const q = x.length / n;
  if ((hold ?? holdFor(n, q)) === "matrix") return energyMatrix(x, n, q);
  return q === 2 ? energyPlane(x, n, meanSpread(x, n, q)) : energyProjections(x, n, q === 1 ? 1 : 3);
}

/** Root of the mean variance of the coordinates; 1 if all places are one. */
function meanSpread(x: Float64Array, n: number, q: number): number {
  const S = sampleCovariance(x, n, q, columnMeans(x, n, q));
  return Math.sqrt(trace(S, q) / q) || 1;
}

/** Lattices and slices end at three dimensions. */
function holdFor(n: number, q: number): "matrix" | "lattice" {
  return n <= MATRIX_LIMIT || q > 3 ? "matrix" : "lattice";
}

/** Prepares permutations of labels; refuses labels of one class. */
export function planPermutations(input: PermutationInput): PermutationPlan {
  const { forms, labels, seed = 1 } = input;
  const n = labels.length;
  const strata = input.strata ?? new Int32Array(n);
  if (strata.length !== n || forms.length === 0 || forms.some((form) => form.n !== n)) {
    throw new DtmError(
      "shape",
      `planPermutations: expected labels, strata and statistics of one number of individuals, received ${n} labels, ` +
        `${strata.length} strata, ${forms.map((form) => form.n).join(", ") || "no"} in statistics.`,
    );
  }
  let cases = 0;
  for (const label of labels) cases += label;
  if (cases === 0 || cases === n) {
    throw new DtmError(
      "one-class",
      `planPermutations: expected cases and controls, received ${cases} cases among ${n}; nothing can be compared.`,
    );
  }
  // The smaller class is marked: T is the same for both, the work is less.
  const mark = 2 * cases <= n ? 1 : 0;
  const order = Int32Array.from({ length: n }, (_, i) => i).sort((a, b) => strata[a] - strata[b] || a - b);
  const starts: number[] = [];
  const marked: number[] = [];
  for (let k = 0; k < n; k++) {
    if (k === 0 || strata[order[k]] !== strata[order[k - 1]]) {
      starts.push(k);
      marked.push(0);
    }
    if (labels[order[k]] === mark) marked[marked.length - 1]++;
  }
  starts.push(n);
  const members = order.filter((i) => labels[i] === mark);
  const observed = new Float64Array(forms.length);
  const thresholds = new Float64Array(forms.length);
  for (const [f, form] of forms.entries()) {
    const work = formWorkspace(form);
    observed[f] = evaluate(form, members, members.length, work);
    thresholds[f] = observed[f] - TIE * termSize(form, members, members.length, work);
  }
  let comparable = 0;
  for (let s = 0; s < marked.length; s++) {
    const size = starts[s + 1] - starts[s];
    if (marked[s] > 0 && marked[s] < size) comparable += size;
  }
  return {
    forms,
    order,
    starts: Int32Array.from(starts),
    marked: Int32Array.from(marked),
    seed,
    observed,
    thresholds,
    comparable,
  };
}

/** Statistics closer than this share of their terms are ties, which count as reached. */
const TIE = 1e-12;

/** The counter that runs in the calling thread. */
export function countExceedances(plan: PermutationPlan, from: number, to: number): Int32Array {
  const { forms, thresholds } = plan;
  const counts = new Int32Array(forms.length);
  eachPermutation(plan, from, to, (_, values) => {
    for (let f = 0; f < forms.length; f++) if (values[f] >= thresholds[f]) counts[f]++;
  });
  return counts;
}

/** T_b of permutations from..to−1, for each form: [to−from,forms]; for looking at the null distribution. */
export function permutationStatistics(plan: PermutationPlan, from: number, to: number): Float64Array {
  const out = new Float64Array((to - from) * plan.forms.length);
  eachPermutation(plan, from, to, (b, values) => out.set(values, (b - from) * plan.forms.length));
  return out;
}

function eachPermutation(
  plan: PermutationPlan,
  from: number,
  to: number,
  visit: (b: number, values: Float64Array) => void,
): void {
  const { forms, order, starts, marked, seed } = plan;
  const work = forms.map(formWorkspace);
  const values = new Float64Array(forms.length);
  const shuffled = new Int32Array(order.length);
  // One bit per individual.
  const isMarked = new Int32Array(Math.ceil(order.length / 32));
  const state = new Int32Array(4);
  const members = new Int32Array(order.length);
  // In each stratum the smaller side is drawn; where that is the unmarked, everyone is marked to begin with.
  const drawn = marked.map((m, s) => Math.min(m, starts[s + 1] - starts[s] - m));
  const before = new Int32Array(isMarked.length);
  for (let s = 0; s < marked.length; s++) {
    if (drawn[s] < marked[s])
      for (const i of order.subarray(starts[s], starts[s + 1])) before[i >>> 5] ^= 1 << (i & 31);
  }
  for (let b = from; b < to; b++) {
    openDraws(seed, b, state);
    shuffled.set(order);
    isMarked.set(before);
    for (let s = 0; s < drawn.length; s++) {
      flipSubset(state, shuffled, starts[s], starts[s + 1], drawn[s], isMarked);
    }
    // Ascending, so that the passes over the tables of the forms run forward, which memory likes.
    const count = listBits(isMarked, members);
    for (let f = 0; f < forms.length; f++) values[f] = evaluate(forms[f], members, count, work[f]);
    visit(b, values);
  }
}

/** Runs a plan: one result per form. */
export async function runPermutations(
  plan: PermutationPlan,
  options: PermutationOptions = {},
): Promise<readonly PermutationTest[]> {
  const { permutations = DEFAULT_PERMUTATIONS, earlyStop = false, confidence = 0.95 } = options;
  const { count = countExceedances, shards = 1 } = options;
  checkOption(
    Number.isInteger(permutations) && permutations >= 1,
    "permutations",
    "a whole number from 1",
    permutations,
    "Take 999 or 9,999.",
  );
  const rule = typeof earlyStop === "object" ? earlyStop : {};
  const { level = 0.05, sides = "both", confidence: certainty = 0.999 } = rule;
  const looks = earlyStop === false ? [permutations] : lookSchedule(permutations);
  const counts = new Float64Array(plan.forms.length);
  let done = 0;
  for (const look of looks) {
    const size = Math.ceil((look - done) / shards);
    const ranges = Array.from({ length: shards }, (_, s) => [done + s * size, Math.min(done + (s + 1) * size, look)]);
    const parts = await Promise.all(ranges.filter(([a, b]) => a < b).map(([a, b]) => count(plan, a, b)));
    for (const part of parts) for (let f = 0; f < counts.length; f++) counts[f] += part[f];
    done = look;
    const decided = counts.every((c) => {
      const [low, high] = shareInterval(c, done, certainty);
      return low > level || (sides === "both" && high < level);
    });
    if (decided) break;
  }
  return plan.forms.map((_, f) => ({
    statistic: plan.observed[f],
    pValue: (1 + counts[f]) / (1 + done),
    interval: shareInterval(counts[f], done, confidence),
    exceedances: counts[f],
    permutations: done,
    stoppedEarly: done < permutations,
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
