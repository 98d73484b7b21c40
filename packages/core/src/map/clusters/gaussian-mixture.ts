/**
 * Gaussian mixture over places X [n,q]:  p(x) = Σ_g π_g N(x | μ_g, Σ_g), a second opinion to Ward's groups in which a
 * place may belong to several. Fitted by regularised EM (mixture-em.ts) from the cut of the Ward tree. The number of
 * groups, searched from one upwards, is the one with the lowest
 *   BIC = −2 log p(X) + (k(1 + q + q(q+1)/2) − 1) log n.   (docs/math/groups.md §4)
 */
import { checkOption, DtmError } from "../../errors.ts";
import { eStep, type GaussianMixture, hardMembership, mStep, problemOf, runEm } from "./mixture-em.ts";
import { canonicalOrder, checkPoints, cutTree, groupCenters, type WardTree, wardTree } from "./ward.ts";

export type { GaussianMixture } from "./mixture-em.ts";

/** BIC of one number of groups. */
export interface BicEvidence {
  readonly numGroups: number;
  readonly logLikelihood: number;
  readonly bic: number;
}

export interface GaussianMixtureFit {
  readonly mixture: GaussianMixture;
  /** Posterior share of each group in each place, rows sum to one, [n,k]. */
  readonly membership: Float64Array;
  /** The group with the largest share, [n]. */
  readonly labels: Int32Array;
  readonly logLikelihood: number;
  readonly bic: number;
  /** Every number of groups that was tried; the search ends three after the lowest BIC. */
  readonly evidence: readonly BicEvidence[];
  /** The climbing objective, one entry per iteration. */
  readonly trace: readonly number[];
  readonly converged: boolean;
}

export interface MixtureOptions {
  /** A number, or "auto" (default): the lowest BIC among 1..maxGroups. */
  readonly numGroups?: number | "auto";
  /** Default 8. */
  readonly maxGroups?: number;
  /** Ward tree of the same places, if already made. */
  readonly tree?: WardTree;
  /** EM stops when the objective grows by less than this per place. Default 1e-7. */
  readonly tolerance?: number;
  /** Default 2,000. */
  readonly maxIterations?: number;
}

/** The search ends when this many more groups have not lowered the BIC. */
const PATIENCE = 3;
const SEARCH_TOLERANCE = 1e-6;

/** A Gaussian mixture fitted to places X [n,q]; independent of the order of the places. */
export function fitGaussianMixture(
  points: Float64Array,
  numPoints: number,
  dimension: number,
  options: MixtureOptions = {},
): GaussianMixtureFit {
  const { numGroups = "auto", maxGroups = 8, tolerance = 1e-7, maxIterations = 2000 } = options;
  const [n, q] = [numPoints, dimension];
  const where = "fitGaussianMixture";
  checkPoints(points, n, q, where);
  const wanted = numGroups === "auto" ? maxGroups : numGroups;
  checkOption(
    Number.isInteger(wanted) && wanted >= 1 && (numGroups === "auto" || wanted <= n),
    `${where}: ${numGroups === "auto" ? "maxGroups" : "numGroups"}`,
    `a whole number from 1 to the ${n} places`,
    wanted,
    "Ask for fewer groups.",
  );
  const tree = options.tree ?? wardTree(points, n, q);
  const order = canonicalOrder(points, n, q);
  const problem = problemOf(points, order, q);
  const run = (k: number, stop: number) => {
    const labels = cutTree(tree, k);
    const start = firstAppearance(order.map((row) => labels[row]));
    return runEm(problem, start, k, stop, maxIterations);
  };
  const evidence: BicEvidence[] = [];
  let chosen = wanted;
  if (numGroups === "auto") {
    // Loosely fitted candidates rank as well as converged ones; EM crawls where there are too many groups.
    let best = Number.POSITIVE_INFINITY;
    const most = Math.min(wanted, countDistinct(problem.points, n, q));
    for (let k = 1; k <= most && (k === 1 || k <= chosen + PATIENCE); k++) {
      const { logLikelihood, bic } = run(k, Math.max(tolerance, SEARCH_TOLERANCE));
      evidence.push({ numGroups: k, logLikelihood, bic });
      if (bic < best) {
        best = bic;
        chosen = k;
      }
    }
  }
  const { mixture, logLikelihood, bic, trace, converged } = run(chosen, tolerance);
  if (numGroups !== "auto") evidence.push({ numGroups: chosen, logLikelihood, bic });
  const membership = mixtureMembership(mixture, points);
  const labels = largestShares(membership, mixture.numGroups);
  return { mixture, membership, labels, logLikelihood, bic, evidence, trace, converged };
}

/**
 * The mixture with the moments of given groups (one M-step): soft membership for a Ward cut. Labels below 0 are none.
 * @throws DtmError "shape", "not-finite" or "empty-group".
 */
export function mixtureFromLabels(
  points: Float64Array,
  dimension: number,
  labels: ArrayLike<number>,
  numGroups: number,
): GaussianMixture {
  const [n, q, k] = [labels.length, dimension, numGroups];
  checkPoints(points, n, q, "mixtureFromLabels");
  const order = canonicalOrder(points, n, q);
  const sorted = order.map((row) => labels[row]);
  for (let g = 0; g < k; g++) {
    if (!sorted.includes(g)) {
      throw new DtmError(
        "empty-group",
        `mixtureFromLabels: expected members in each of ${k} groups, group ${g} has none.`,
      );
    }
  }
  const problem = problemOf(points, order, q);
  return mStep(problem, hardMembership(sorted, k), k, groupCenters(problem.points, q, sorted, k));
}

/**
 * Posterior shares of the groups at places X [n,q], [n,k]. With `covariances` S [n,q,q] a place is known only as
 * N(x_i, S_i), and its share is that of N(x_i | μ_g, Σ_g + S_i): vague places spread over groups.
 */
export function mixtureMembership(
  mixture: GaussianMixture,
  points: Float64Array,
  covariances?: Float64Array,
): Float64Array {
  const { numGroups: k, dimension: q } = mixture;
  const n = points.length / q;
  checkPoints(points, n, q, "mixtureMembership");
  if (covariances !== undefined && covariances.length !== n * q * q) {
    throw new DtmError(
      "shape",
      `mixtureMembership: expected covariances [${n},${q},${q}], received ${covariances.length} numbers.`,
    );
  }
  const shares = new Float64Array(n * k);
  if (covariances === undefined) {
    eStep(mixture, points, n, shares);
    return shares;
  }
  const sum = new Float64Array(k * q * q);
  for (let i = 0; i < n; i++) {
    for (let e = 0; e < sum.length; e++) sum[e] = mixture.covariances[e] + covariances[i * q * q + (e % (q * q))];
    const here = shares.subarray(i * k, (i + 1) * k);
    eStep({ ...mixture, covariances: sum }, points.subarray(i * q, (i + 1) * q), 1, here);
  }
  return shares;
}

/** How many different rows sorted points [n,q] have. */
function countDistinct(sorted: Float64Array, n: number, q: number): number {
  let count = 1;
  for (let i = 1; i < n; i++) {
    let same = true;
    for (let c = 0; c < q; c++) same &&= sorted[i * q + c] === sorted[(i - 1) * q + c];
    if (!same) count++;
  }
  return count;
}

/** The same groups, numbered 0.. in order of first appearance. */
function firstAppearance(labels: Int32Array): Int32Array {
  const seen = new Map<number, number>();
  return labels.map((label) => {
    if (!seen.has(label)) seen.set(label, seen.size);
    return seen.get(label)!;
  });
}

/** The group with the largest share of each row of shares [n,k]; the first of equals, [n]. */
export function largestShares(shares: Float64Array, k: number): Int32Array {
  return Int32Array.from({ length: shares.length / k }, (_, i) => {
    let best = 0;
    for (let g = 1; g < k; g++) if (shares[i * k + g] > shares[i * k + best]) best = g;
    return best;
  });
}
