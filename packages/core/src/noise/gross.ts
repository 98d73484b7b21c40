/**
 * Gross errors (docs/math/noise.md §5): a visit is wrong with probability ε, and then its white variance is c = 400 times larger,
 * W_j = 1/c (standard deviation × 20). In a fit q(wrong_j) is a factor of its own; of one individual all subsets of a few
 * candidates are summed over exactly.
 */
import { bilinear, dot } from "../numeric/matrix.ts";
import type { PrecisionMoments } from "./levels.ts";
import { filterVisits, inverseRows, type SerialCorrelation, type VisitRows, whitenedProducts } from "./serial.ts";

/** c. */
export const GROSS_FACTOR = 400;
/** Log odds above which a visit is a candidate, how many there are at most, and how many are looked at in each round. */
const CANDIDATE_LOG_ODDS = -4;
const MOST_CANDIDATES = 5;
const NUM_SCREENED = 4;

/**
 * ε²_j, the expected squared white error of each visit in units of its variance, [n]. Rows of Z are (b, …, y): with U and D
 * of `inverseRows`, d_j = κ/W_j, u_j = U^y_j − U^B_jβ and moments Σ_k q_k/s_k (1, E w, E ww'),
 *   ε²_j = [d_j²(M⁰u_j² − 2u_jU^B_jM¹ + U^B_jM²U^B_j') + d_j − d_j²D_j]/κ.
 * No fit takes gross errors yet: the definition of such a step, held against an independent implementation (oracles/check/noise.ts).
 */
export function whiteErrors(
  visits: VisitRows,
  noise: SerialCorrelation,
  mean: Float64Array,
  { total, first, second }: PrecisionMoments,
): Float64Array {
  const d = mean.length;
  const { rows: U, diagonal } = inverseRows(filterVisits(visits, noise));
  const c = U.length / diagonal.length;
  const kappa = noise.whiteShare;
  return diagonal.map((D, j) => {
    const UB = U.subarray(j * c, j * c + d);
    const u = U[(j + 1) * c - 1] - dot(UB, mean);
    const v = kappa / (visits.weights?.[j] ?? 1);
    const square = total * u * u - 2 * u * dot(UB, first) + bilinear(UB, second, UB);
    return Math.max((v * v * square + v - v * v * D) / kappa, 0);
  });
}

/** What is believed of the visits after one step. */
export interface GrossStep {
  readonly probability: Float64Array; // q(wrong) [n]
  readonly weights: Float64Array; // W [n]
  /** What the visits add to the bound. */
  readonly correction: number;
}

/**
 * q_j = logistic(log ε/(1 − ε) − ½ log c + ½ε²_j(1 − 1/c)),  W_j = 1 − q_j + q_j/c, and
 * Σ [q log ε + (1 − q) log(1 − ε) − q log q − (1 − q) log(1 − q) − ½q log c − ½ log W].
 * A definition like `whiteErrors`, which no fit uses yet.
 */
export function grossStep(errors: Float64Array, epsilon: number): GrossStep {
  const c = GROSS_FACTOR;
  const odds = Math.log(epsilon / (1 - epsilon)) - 0.5 * Math.log(c);
  const probability = errors.map((e) => 1 / (1 + Math.exp(-(odds + 0.5 * e * (1 - 1 / c)))));
  const weights = probability.map((q) => 1 - q + q / c);
  const entropy = (q: number) => (q > 0 ? -q * Math.log(q) : 0);
  const correction = probability.reduce((sum, q, j) => {
    const prior = q * Math.log(epsilon) + (1 - q) * Math.log1p(-epsilon);
    return sum + prior + entropy(q) + entropy(1 - q) - 0.5 * q * Math.log(c) - 0.5 * Math.log(weights[j]);
  }, 0);
  return { probability, weights, correction };
}

/** log p of the values from Z'R⁻¹Z and log|R|. */
export type Evidence = (products: Float64Array, logDet: number) => number;

/**
 * The sets of visits that may be wrong, the empty one first: all subsets of the candidates. A visit is one if its log odds by
 * `evidence` (of one Gaussian; a rank-one change of the products) exceed −4; the best is accepted and the search repeated, so that
 * one wrong visit does not hide another. `center` [d] are the coefficients about which visits are screened, mean curve included.
 */
export function candidateSets(
  { times, rows: Z }: VisitRows,
  noise: SerialCorrelation,
  center: Float64Array,
  epsilon: number,
  evidence: Evidence,
): number[][] {
  const n = times.length;
  const c = Z.length / n;
  const d = center.length;
  const gamma = noise.whiteShare * (GROSS_FACTOR - 1);
  const logOdds = Math.log(epsilon) - Math.log1p(-epsilon);
  const weights = new Float64Array(n).fill(1);
  const candidates: number[] = [];
  while (candidates.length < MOST_CANDIDATES) {
    const filtered = filterVisits({ times, rows: Z, weights }, noise);
    const { rows: U, diagonal } = inverseRows(filtered);
    const { products, logDet } = whitenedProducts(filtered);
    const before = evidence(products, logDet);
    const doubt = diagonal.map((D, j) => {
      const u = U[(j + 1) * c - 1] - dot(U.subarray(j * c, j * c + d), center);
      return weights[j] < 1 ? -1 : (u * u) / D;
    });
    const screened = [...doubt.keys()].sort((a, b) => doubt[b] - doubt[a]).slice(0, NUM_SCREENED);
    let best = -1;
    let bestOdds = Number.NEGATIVE_INFINITY;
    for (const j of screened.filter((visit) => weights[visit] === 1)) {
      const grown = 1 + gamma * diagonal[j];
      const changed = products.map((v, e) => {
        return v - (gamma / grown) * U[j * c + Math.floor(e / c)] * U[j * c + (e % c)];
      });
      const odds = logOdds + evidence(changed, logDet + Math.log(grown)) - before;
      if (odds > CANDIDATE_LOG_ODDS && !candidates.includes(j)) candidates.push(j);
      if (odds > bestOdds) [best, bestOdds] = [j, odds];
    }
    if (!(bestOdds >= 0)) break;
    weights[best] = 1 / GROSS_FACTOR;
    // Every round accepts one visit more.
    if (weights.filter((w) => w < 1).length === MOST_CANDIDATES) break;
  }
  return subsets(candidates.slice(0, MOST_CANDIDATES));
}

/** All subsets, smaller ones first, in the order of the items. */
function subsets(items: readonly number[]): number[][] {
  const ofSize = (size: number, from: number): number[][] =>
    size === 0
      ? [[]]
      : items.flatMap((item, at) => (at < from ? [] : ofSize(size - 1, at + 1).map((rest) => [item, ...rest])));
  return Array.from({ length: items.length + 1 }, (_, size) => ofSize(size, 0)).flat();
}

/** log p(set of wrong visits, y) for each set: |A| log ε + (n − |A|) log(1 − ε) + log p(y | set). */
export function setLogDensities(
  { times, rows }: VisitRows,
  noise: SerialCorrelation,
  epsilon: number,
  sets: readonly (readonly number[])[],
  evidence: Evidence,
): Float64Array {
  return Float64Array.from(sets, (set) => {
    const weights = Float64Array.from(times, (_, j) => (set.includes(j) ? 1 / GROSS_FACTOR : 1));
    const { products, logDet } = whitenedProducts(filterVisits({ times, rows, weights }, noise));
    const prior = set.length * Math.log(epsilon) + (times.length - set.length) * Math.log1p(-epsilon);
    return prior + evidence(products, logDet);
  });
}
