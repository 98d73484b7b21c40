/**
 * The log-rank test that k groups have one hazard. At each time t_j with d_j events among n_j at risk, n_gj of them in
 * group g, the events of a group are hypergeometric under the hypothesis:
 *   E_g = Σ_j d_j n_gj/n_j,
 *   V_gh = Σ_j d_j (n_j − d_j)/(n_j − 1) · n_gj/n_j (δ_gh − n_hj/n_j),
 *   χ² = (O − E)' V⁻ (O − E)   with k − 1 degrees of freedom (one group left out).   (docs/math/survival.md §2)
 */
import { DtmError } from "../errors.ts";
import { choleskyInPlace, solveLowerInPlace } from "../numeric/cholesky.ts";
import { chisquareUpper } from "../numeric/special.ts";
import { checkFollowUp, type FollowUp, tiesOf } from "./follow-up.ts";

export interface LogRank {
  readonly statistic: number; // χ²
  readonly degrees: number;
  readonly pValue: number;
  /** Individuals, observed and expected events of each group, [k]. */
  readonly sizes: readonly number[];
  readonly observed: readonly number[];
  readonly expected: readonly number[];
  readonly variance: Float64Array; // V [k,k]
}

/** Log-rank test of groups 0..k−1; individuals labelled below 0 are left out. */
export function logRank(followUp: FollowUp, labels: ArrayLike<number>, numGroups: number): LogRank {
  const { times, events } = followUp;
  const k = numGroups;
  const order = Int32Array.from(times, (_, i) => i)
    .filter((i) => labels[i] >= 0 && labels[i] < k)
    .sort((a, b) => times[a] - times[b]);
  const of = (x: ArrayLike<number>) => Float64Array.from(order, (i) => x[i]);
  checkFollowUp({ times: of(times), events: of(events) }, "logRank");
  const atRisk = new Float64Array(k); // n_gj
  for (const i of order) atRisk[labels[i]]++;
  const sizes = Array.from(atRisk);
  if (k < 2 || sizes.includes(0)) {
    throw new DtmError(
      "option",
      `logRank: expected at least two groups, none empty; received sizes ${sizes.join(", ")}.`,
    );
  }
  const observed = new Array<number>(k).fill(0);
  const expected = new Array<number>(k).fill(0);
  const variance = new Float64Array(k * k);
  let n = order.length;
  for (const ending of tiesOf(order, followUp)) {
    const dying = ending.filter((i) => events[i] === 1);
    const d = dying.length;
    const spread = n > 1 ? (d * (n - d)) / (n - 1) : 0;
    for (const i of dying) observed[labels[i]]++;
    for (let g = 0; g < k && d > 0; g++) {
      const share = atRisk[g] / n;
      expected[g] += d * share;
      for (let h = 0; h < k; h++) variance[g * k + h] += spread * share * ((g === h ? 1 : 0) - atRisk[h] / n);
    }
    for (const i of ending) atRisk[labels[i]]--;
    n -= ending.length;
  }
  const { statistic, degrees } = quadraticForm(observed, expected, variance, k);
  return { statistic, degrees, pValue: chisquareUpper(statistic, degrees), sizes, observed, expected, variance };
}

/** (O − E)' V⁻ (O − E) over the groups that were ever at risk of an event, the last of them left out. */
function quadraticForm(observed: readonly number[], expected: readonly number[], variance: Float64Array, k: number) {
  const kept = Array.from({ length: k }, (_, g) => g).filter((g) => expected[g] > 0);
  const p = Math.max(0, kept.length - 1);
  const V = new Float64Array(p * p);
  const u = new Float64Array(p);
  for (let a = 0; a < p; a++) {
    u[a] = observed[kept[a]] - expected[kept[a]];
    for (let b = 0; b < p; b++) V[a * p + b] = variance[kept[a] * k + kept[b]];
  }
  if (p === 0 || !choleskyInPlace(V, p)) {
    throw new DtmError(
      "no-information",
      "logRank: expected events while several groups were at risk, received none. Follow longer, or join groups.",
    );
  }
  solveLowerInPlace(V, p, u);
  let statistic = 0;
  for (let a = 0; a < p; a++) statistic += u[a] * u[a];
  return { statistic, degrees: p };
}
