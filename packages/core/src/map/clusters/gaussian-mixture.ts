/**
 * Gaussian mixture over places X [n,q]:  p(x) = Σ_g π_g N(x | μ_g, Σ_g), a second opinion to Ward's groups in which a
 * place may belong to several. Fitted by regularised EM (mixture-em.ts) from the cut of the Ward tree. The number of
 * groups, searched from one upwards, is the one with the lowest
 *   BIC = −2 log p(X) + (k(1 + q + q(q+1)/2) − 1) log n.   (docs/math/groups.md §4)
 */
import { checkOption, DtmError } from "../../errors.ts";
import { choleskyInPlace } from "../../numeric/cholesky.ts";
import { takeRows } from "../../numeric/matrix.ts";
import { type ProductRule, productRule } from "../../numeric/quadrature.ts";
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

/** Some of the Gaussians of a mixture, in the order given; weights are shares of those. */
export function takeGaussians(
  { dimension: q, ...mixture }: GaussianMixture,
  chosen: readonly number[],
): GaussianMixture {
  const rows = Int32Array.from(chosen);
  const weights = takeRows(mixture.weights, 1, rows);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return {
    numGroups: rows.length,
    dimension: q,
    weights: weights.map((weight) => weight / total),
    means: takeRows(mixture.means, q, rows),
    covariances: takeRows(mixture.covariances, q * q, rows),
  };
}

/** A mixture as files hold it: the same numbers in lists. */
export interface WrittenMixture extends Pick<GaussianMixture, "numGroups" | "dimension"> {
  readonly weights: readonly number[];
  readonly means: readonly number[];
  readonly covariances: readonly number[];
}

export function writeMixture({ numGroups, dimension, ...lists }: GaussianMixture): WrittenMixture {
  const [weights, means, covariances] = [[...lists.weights], [...lists.means], [...lists.covariances]];
  return { numGroups, dimension, weights, means, covariances };
}

/**
 * The mixture of a file.
 * @throws DtmError "shape" unless it has as many numbers as its groups and dimensions need.
 */
export function readMixture(written: WrittenMixture): GaussianMixture {
  const { numGroups: k, dimension: q } = written;
  const list = (name: "weights" | "means" | "covariances", length: number) => {
    const numbers = Float64Array.from(written[name]);
    if (numbers.length !== length || !numbers.every(Number.isFinite)) {
      throw new DtmError(
        "shape",
        `readMixture: expected ${length} ${name}, received ${numbers.length} or other than numbers.`,
      );
    }
    return numbers;
  };
  return {
    numGroups: k,
    dimension: q,
    weights: list("weights", k),
    means: list("means", k * q),
    covariances: list("covariances", k * q * q),
  };
}

/** Points of the quadrature along each axis, and places that are taken together. */
const POINTS = 5;
const PLACES_AT_ONCE = 512;
/** Axes up to which the product rule is taken; beyond, ±√q along each, exact for polynomials of degree three. */
const MOST_AXES = 3;

/**
 * Posterior shares of the groups at places X [n,q], [n,k]. With `covariances` S [n,q,q] a place is known only as
 * N(x_i, S_i), its posterior, and its share is what the groups have of it on average,
 *   ∫ N(x | x_i, S_i) share_g(x) dx,   share_g(x) ∝ π_g N(x | μ_g, Σ_g):
 * vague places spread over groups. (Not π_g N(x_i | μ_g, Σ_g + S_i): N(x_i, S_i) has its prior already, and with the
 * groups as a second one small groups would have nobody.)
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
  const rule = q <= MOST_AXES ? productRule(POINTS, q) : starRule(q);
  const P = rule.weights.length;
  const around = new Float64Array(Math.min(n, PLACES_AT_ONCE) * P * q);
  const there = new Float64Array(Math.min(n, PLACES_AT_ONCE) * P * k);
  const root = new Float64Array(q * q);
  for (let first = 0; first < n; first += PLACES_AT_ONCE) {
    const here = Math.min(PLACES_AT_ONCE, n - first);
    for (let i = 0; i < here; i++) {
      const at = first + i;
      root.set(covariances.subarray(at * q * q, (at + 1) * q * q));
      // A place without variance is a point.
      if (!choleskyInPlace(root, q)) root.fill(0);
      spreadInto(rule, points.subarray(at * q, (at + 1) * q), root, around.subarray(i * P * q, (i + 1) * P * q));
    }
    eStep(mixture, around.subarray(0, here * P * q), here * P, there);
    for (let e = 0; e < here * P; e++) {
      const row = (first + Math.floor(e / P)) * k;
      const weight = rule.weights[e % P];
      for (let g = 0; g < k; g++) shares[row + g] += weight * there[e * k + g];
    }
  }
  return shares;
}

/** Points x + Lz [P,q] of the nodes z of a rule; L [q,q] is lower triangular. */
function spreadInto({ points: z, weights }: ProductRule, x: Float64Array, L: Float64Array, out: Float64Array): void {
  const q = x.length;
  for (let p = 0; p < weights.length; p++) {
    for (let c = 0; c < q; c++) {
      let sum = x[c];
      for (let b = 0; b <= c; b++) sum += L[c * q + b] * z[p * q + b];
      out[p * q + c] = sum;
    }
  }
}

/** ±√q along each of q axes, 2q points of one weight. */
function starRule(q: number): ProductRule {
  const points = new Float64Array(2 * q * q);
  for (let p = 0; p < 2 * q; p++) points[p * q + (p >> 1)] = (p % 2 === 0 ? 1 : -1) * Math.sqrt(q);
  return { points, weights: new Float64Array(2 * q).fill(1 / (2 * q)) };
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
