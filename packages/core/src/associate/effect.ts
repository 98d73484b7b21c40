/**
 * Effect sizes. How well places tell an outcome: the AUC of the local share of cases, leave-pair-out.
 * With the kernel k of the permutation test (one pooled bandwidth H = S) the share at a place is
 * s_i = (C_i + p₀)/(N_i + 1): weighted cases C, weighted individuals N, and one pseudo-individual with the overall share
 * p₀. For each case i and control j both shares are computed without i and j; the AUC is the mean of
 * [s_i > s_j] + ½[s_i = s_j]. Given the others, i and j are then treated alike, so that its mean over all labellings is ½
 * exactly. (Leaving out one at a time would pull it far below ½ where nothing is to be found, because a case always
 * misses a case, and the more so the wider the kernel.)
 * Interval: jackknife over 20 random groups, which are left out of the shares and of the comparison alike, on the logit
 * scale. DeLong's variance takes the classifier as given and excludes ½ three times too often.
 *                                                                                  (docs/math/association.md §6)
 */
import { squaredDistance } from "../numeric/matrix.ts";
import { drawSubsetInPlace, openStream } from "../numeric/random.ts";
import { normalQuantile } from "../numeric/special.ts";
import { type KernelFeatures, kernelSums } from "./kernel-features.ts";
import { indicesOf } from "./labellings.ts";

/** An estimate with its interval. */
export interface Estimate {
  readonly value: number;
  readonly lower: number;
  readonly upper: number;
}

export interface ShareAuc {
  /** Over pairs of a case and a control. */
  readonly auc: Estimate;
  /** Over such pairs of one stratum; undefined if there is none. */
  readonly withinStrata?: Estimate;
}

const NUM_GROUPS = 20;
/** Beyond this many pairs every s-th control is compared with a case, a different set for each. */
const MAX_PAIRS = 100_000;

/**
 * AUC of the local share for places z [n,q] in bandwidths with their Gaussian kernel, labels [n] (1 case), strata [n];
 * `seed` deals out the groups of the jackknife.
 */
export function shareAuc(
  z: Float64Array,
  gauss: KernelFeatures,
  labels: Uint8Array,
  strata: Int32Array,
  seed = 1,
): ShareAuc {
  const n = labels.length;
  const q = z.length / n;
  const cases = indicesOf(labels, 1);
  const controls = indicesOf(labels, 0);
  const groups = randomGroups([cases, controls], n, seed);
  const sums = groupSums(gauss, labels, groups, n);
  const prior = (cases.length - 1) / Math.max(1, n - 2);
  const all = createTally();
  const within = createTally();
  const stride = Math.ceil((cases.length * controls.length) / MAX_PAIRS);
  for (const [order, i] of cases.entries()) {
    for (let c = order % stride; c < controls.length; c += stride) {
      const j = controls[c];
      const k = Math.exp(-0.5 * squaredDistance(z, i, j, q));
      const same = strata[i] === strata[j];
      // Entry NUM_GROUPS stands for nobody left out.
      for (let g = 0; g <= NUM_GROUPS; g++) {
        if (g === groups[i] || g === groups[j]) continue;
        const a = (g * n + i) * 2;
        const b = (g * n + j) * 2;
        const si = (sums[a + 1] - 1 + prior) / (sums[a] - k);
        const sj = (sums[b + 1] - k + prior) / (sums[b] - k);
        const win = si > sj ? 1 : si === sj ? 0.5 : 0;
        all.pairs[g]++;
        all.wins[g] += win;
        if (same) {
          within.pairs[g]++;
          within.wins[g] += win;
        }
      }
    }
  }
  const certain = Math.min(cases.length, controls.length) > 2;
  const auc = tallyEstimate(all, certain) ?? { value: 0.5, lower: 0, upper: 1 };
  return { auc, withinStrata: tallyEstimate(within, certain) };
}

/** AUC of given scores [n] for labels [n]: the share of case–control pairs in which the case scores higher. */
export function scoreAuc(scores: ArrayLike<number>, labels: Uint8Array): number {
  const order = Int32Array.from(labels.keys()).sort((a, b) => scores[a] - scores[b]);
  let cases = 0;
  let rankSum = 0;
  for (let k = 0; k < order.length; ) {
    let end = k;
    while (end < order.length && scores[order[end]] === scores[order[k]]) end++;
    // Equal scores share the mean of their ranks.
    for (let l = k; l < end; l++) {
      if (labels[order[l]] === 1) {
        cases++;
        rankSum += (k + end + 1) / 2;
      }
    }
    k = end;
  }
  return (rankSum - (cases * (cases + 1)) / 2) / (cases * (order.length - cases));
}

/** Deals the members of each class out to the groups at random, [n]. */
function randomGroups(classes: readonly Int32Array[], n: number, seed: number): Int32Array {
  const groups = new Int32Array(n);
  for (const [c, members] of classes.entries()) {
    const shuffled = members.slice();
    drawSubsetInPlace(openStream(seed, c), shuffled, 0, shuffled.length, shuffled.length);
    for (const [k, i] of shuffled.entries()) groups[i] = k % NUM_GROUPS;
  }
  return groups;
}

/**
 * N_i + 1 − 1 and C_i without each group, and with everyone in the last place: [groups+1,n,2]. Each counts i itself (k = 1)
 * unless its group is left out; the 1 of the pseudo-individual and that of i cancel in N.
 */
function groupSums(gauss: KernelFeatures, labels: Uint8Array, groups: Int32Array, n: number): Float64Array {
  const sums = new Float64Array((NUM_GROUPS + 1) * n * 2);
  for (let g = 0; g < NUM_GROUPS; g++) {
    const members = indicesOf(groups, g);
    const weight = kernelSums(gauss, members);
    const caseWeight = kernelSums(
      gauss,
      members.filter((i) => labels[i] === 1),
    );
    for (let i = 0; i < n; i++) {
      sums[(g * n + i) * 2] = weight[i];
      sums[(g * n + i) * 2 + 1] = caseWeight[i];
    }
  }
  const everyone = NUM_GROUPS * n * 2;
  for (let g = 0; g < NUM_GROUPS; g++) for (let k = 0; k < 2 * n; k++) sums[everyone + k] += sums[g * n * 2 + k];
  for (let g = 0; g < NUM_GROUPS; g++) {
    for (let k = 0; k < 2 * n; k++) sums[g * n * 2 + k] = sums[everyone + k] - sums[g * n * 2 + k];
  }
  return sums;
}

/** Pairs compared and won, without each group and, last, with everyone. */
interface Tally {
  readonly pairs: Float64Array;
  readonly wins: Float64Array;
}

function createTally(): Tally {
  return { pairs: new Float64Array(NUM_GROUPS + 1), wins: new Float64Array(NUM_GROUPS + 1) };
}

/** Undefined without pairs; with too few individuals to leave some out the interval is everything. */
function tallyEstimate({ pairs, wins }: Tally, certain: boolean): Estimate | undefined {
  if (pairs[NUM_GROUPS] === 0) return undefined;
  const value = wins[NUM_GROUPS] / pairs[NUM_GROUPS];
  const without = wins.subarray(0, NUM_GROUPS).map((w, g) => w / pairs[g]);
  if (!certain || !without.every(Number.isFinite)) return { value, lower: 0, upper: 1 };
  return logitInterval(value, Math.sqrt(jackknifeVariance(without)), pairs[NUM_GROUPS]);
}

/** Variance of an estimate from its values without each part, [n]. */
function jackknifeVariance(values: Float64Array): number {
  const n = values.length;
  const mean = values.reduce((s, v) => s + v, 0) / n;
  return ((n - 1) / n) * values.reduce((s, v) => s + (v - mean) ** 2, 0);
}

/** 95 % interval on the logit scale; an AUC of 0 or 1 counts as half a pair away from it. */
function logitInterval(value: number, error: number, pairs: number): Estimate {
  const inside = Math.min(1 - 0.5 / pairs, Math.max(0.5 / pairs, value));
  const reach = (normalQuantile(0.975) * error) / (inside * (1 - inside));
  const logit = Math.log(inside / (1 - inside));
  const back = (v: number) => 1 / (1 + Math.exp(-v));
  return { value, lower: Math.min(value, back(logit - reach)), upper: Math.max(value, back(logit + reach)) };
}

/**
 * How far apart the places of two classes are: the energy coefficient (2A − B − C)/2A, with A the mean distance between
 * classes, B and C the mean distances within them over i ≠ j. 0 for equal laws, at most 1; free of units. From the energy
 * kernel of the places; 95 % interval by a two-sample jackknife, cut at 0 and 1; undefined with fewer than three in a class.
 */
export function energyCoefficient(energy: KernelFeatures, labels: Uint8Array): Estimate | undefined {
  const cases = indicesOf(labels, 1);
  const controls = indicesOf(labels, 0);
  const n1 = cases.length;
  const n2 = controls.length;
  if (n1 < 3 || n2 < 3) return undefined;
  const toCases = distanceSums(energy, cases);
  const toControls = distanceSums(energy, controls);
  let within1 = 0;
  let within2 = 0;
  let between = 0;
  for (const i of cases) {
    within1 += toCases[i];
    between += toControls[i];
  }
  for (const j of controls) within2 += toControls[j];
  const value = coefficient(within1, within2, between, n1, n2);
  const withoutCase = Float64Array.from(cases, (i) =>
    coefficient(within1 - 2 * toCases[i], within2, between - toControls[i], n1 - 1, n2),
  );
  const withoutControl = Float64Array.from(controls, (j) =>
    coefficient(within1, within2 - 2 * toControls[j], between - toCases[j], n1, n2 - 1),
  );
  const spread = Math.sqrt(jackknifeVariance(withoutCase) + jackknifeVariance(withoutControl));
  const reach = spread * normalQuantile(0.975);
  const cut = (v: number) => Math.min(1, Math.max(0, v));
  return { value: cut(value), lower: cut(value - reach), upper: cut(value + reach) };
}

/** The coefficient from sums of distances over ordered pairs within classes and over pairs between them. */
function coefficient(within1: number, within2: number, between: number, n1: number, n2: number): number {
  const A = between / (n1 * n2);
  if (!(A > 0)) return 0;
  return (2 * A - within1 / (n1 * (n1 - 1)) - within2 / (n2 * (n2 - 1))) / (2 * A);
}

/** Σ_j |x_i − x_j| over members, for everyone: |x_i − x_j| = ½K_ii + ½K_jj − K_ij for the energy kernel K. */
function distanceSums(energy: KernelFeatures, members: Int32Array): Float64Array {
  const { n, rank, rows, rest } = energy;
  const half = rest.map((v) => 0.5 * v);
  for (let i = 0; i < n; i++) for (let r = 0; r < rank; r++) half[i] += 0.5 * rows[i * rank + r] ** 2;
  const sum = members.reduce((s, j) => s + half[j], 0);
  return kernelSums(energy, members).map((k, i) => members.length * half[i] + sum - k);
}
