/**
 * How well places, as known from these records, tell an outcome: the AUC with the pair left out, the share of pairs of a
 * case i and a control j with
 *   d_ij = (φ_i − φ_j)'(mean φ of the other cases − mean φ of the other controls) > 0,   d_ij = 0 counting half.
 * Given the others, i and j are treated alike, so that its mean is about ½ where there is nothing; leaving out only the
 * individual that is judged would pull it below. Interval: jackknife over 20 random groups, left out of means and pairs
 * alike, on the logit scale.                                                       (docs/math/association.md §5)
 */
import { drawSubsetInPlace, openStream } from "../numeric/random.ts";
import { normalQuantile } from "../numeric/special.ts";

/** An estimate with its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly lower: number;
  readonly upper: number;
}

const NUM_GROUPS = 20;
/** Beyond this many pairs every s-th control is compared with a case, a different set for each. */
const MAX_PAIRS = 100_000;

/** The AUC of features [n,F] for labels [n] (1 case, 0 control), two or more of each; `seed` deals out the groups. */
export function pairAuc(features: Float64Array, labels: ArrayLike<number>, seed = 1): Estimate {
  const n = labels.length;
  const F = features.length / n;
  const everyone = Array.from({ length: n }, (_, i) => i);
  const classes = [0, 1].map((label) => Int32Array.from(everyone.filter((i) => labels[i] === label)));
  const [controls, cases] = classes;
  const groups = randomGroups(classes, n, NUM_GROUPS, seed);
  const { counts, products } = groupProducts(features, labels, groups, n, F);
  const wins = new Float64Array(NUM_GROUPS + 1);
  const pairs = new Float64Array(NUM_GROUPS + 1);
  const own = (i: number, j: number) => {
    let s = 0;
    for (let f = 0; f < F; f++) s += features[i * F + f] * features[j * F + f];
    return s;
  };
  const squares = everyone.map((i) => own(i, i));
  const stride = Math.ceil((cases.length * controls.length) / MAX_PAIRS);
  for (const [order, i] of cases.entries()) {
    for (let c = order % stride; c < controls.length; c += stride) {
      const j = controls[c];
      const ij = own(i, j);
      // Entry NUM_GROUPS stands for nobody left out.
      for (let g = 0; g <= NUM_GROUPS; g++) {
        if (g === groups[i] || g === groups[j]) continue;
        const [n0, n1] = [counts[2 * g], counts[2 * g + 1]];
        const [a, b] = [2 * (g * n + i), 2 * (g * n + j)];
        const toCases = (products[a + 1] - squares[i] - (products[b + 1] - ij)) / (n1 - 1);
        const toControls = (products[a] - ij - (products[b] - squares[j])) / (n0 - 1);
        const d = toCases - toControls;
        pairs[g]++;
        wins[g] += d > 0 ? 1 : d === 0 ? 0.5 : 0;
      }
    }
  }
  const value = wins[NUM_GROUPS] / pairs[NUM_GROUPS];
  const without = wins.subarray(0, NUM_GROUPS).map((w, g) => w / pairs[g]);
  if (Math.min(cases.length, controls.length) < 3 || !without.every(Number.isFinite)) {
    return { value, lower: 0, upper: 1 };
  }
  const mean = without.reduce((s, v) => s + v, 0) / NUM_GROUPS;
  const variance = ((NUM_GROUPS - 1) / NUM_GROUPS) * without.reduce((s, v) => s + (v - mean) ** 2, 0);
  return logitInterval(value, Math.sqrt(variance), pairs[NUM_GROUPS]);
}

/** Deals the members of each class out to groups at random, [n]. */
export function randomGroups(classes: readonly Int32Array[], n: number, numGroups: number, seed: number): Int32Array {
  const groups = new Int32Array(n);
  for (const [c, members] of classes.entries()) {
    const shuffled = members.slice();
    drawSubsetInPlace(openStream(seed, c), shuffled, 0, shuffled.length, shuffled.length);
    for (const [k, i] of shuffled.entries()) groups[i] = k % numGroups;
  }
  return groups;
}

/**
 * Without each group, and with everyone in the last place: numbers of controls and cases, [groups+1,2], and φ_i's products
 * with the sums of controls and of cases, [groups+1,n,2].
 */
function groupProducts(features: Float64Array, labels: ArrayLike<number>, groups: Int32Array, n: number, F: number) {
  const counts = new Float64Array((NUM_GROUPS + 1) * 2);
  const sums = new Float64Array((NUM_GROUPS + 1) * 2 * F);
  for (let g = 0; g <= NUM_GROUPS; g++) {
    for (let i = 0; i < n; i++) {
      if (groups[i] === g) continue;
      const at = 2 * g + labels[i];
      counts[at]++;
      for (let f = 0; f < F; f++) sums[at * F + f] += features[i * F + f];
    }
  }
  const products = new Float64Array((NUM_GROUPS + 1) * n * 2);
  for (let g = 0, to = 0; g <= NUM_GROUPS; g++) {
    for (let i = 0; i < n; i++) {
      for (let label = 0; label < 2; label++) {
        const at = (2 * g + label) * F;
        let s = 0;
        for (let f = 0; f < F; f++) s += features[i * F + f] * sums[at + f];
        products[to++] = s;
      }
    }
  }
  return { counts, products };
}

/** 95 % interval on the logit scale; an AUC of 0 or 1 counts as half a pair away from it. */
export function logitInterval(value: number, error: number, pairs: number): Estimate {
  const inside = Math.min(1 - 0.5 / pairs, Math.max(0.5 / pairs, value));
  const reach = (normalQuantile(0.975) * error) / (inside * (1 - inside));
  const logit = Math.log(inside / (1 - inside));
  const back = (v: number) => 1 / (1 + Math.exp(-v));
  return { value, lower: Math.min(value, back(logit - reach)), upper: Math.max(value, back(logit + reach)) };
}
