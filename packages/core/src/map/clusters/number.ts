/**
 * How many groups? The gap statistic (Tibshirani, Walther & Hastie 2001) on cuts of the Ward tree,
 *   Gap(k) = E*[log W_k] − log W_k,   W_k = sum of squares within k groups,
 * E* over B reference sets: as many points, uniform in the box that encloses the points along their principal axes (the
 * paper's choice b). With s_k = sd*(log W_k)·√(1 + 1/B), the rules are
 *   "global-se-max":  the smallest k with Gap(k) ≥ Gap(k*) − s_{k*}, k* the largest gap (Dudoit & Fridlyand 2002);
 *   "first-se-max":   the same with k* the first local maximum;
 *   "tibshirani":     the smallest k with Gap(k) ≥ Gap(k+1) − s_{k+1}.
 * The first is the default: the others stop at one group where two explain less than two of a uniform box, which five
 * clear groups around a ring already do.
 * W_k needs only the heights of the tree. Above `maxPoints` everything is computed on a seeded sample, so the cost does
 * not grow with the cohort.
 *
 * Gap says whether there are separate clusters; how many groups are worth telling apart is another question, because a
 * map is often a continuum. Where the number of groups with courses of their own is known (distinct.ts), it is the
 * answer, and Gap only decides whether the groups are called separate. From places alone, the answer is Gap's; where it
 * is 1, the smallest k that explains `explainedShare` of the variance, with `separated` false.
 * (docs/math/groups.md §2)
 */
import { checkOption } from "../../errors.ts";
import { createRandom, type Random } from "../../numeric/random.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import type { DistinctCourses } from "./distinct.ts";
import type { BicEvidence } from "./gaussian-mixture.ts";
import { canonicalOrder, checkPoints, wardTree, withinSumsOfSquares } from "./ward.ts";

export type GapRule = "global-se-max" | "first-se-max" | "tibshirani";

export interface NumberOptions {
  /** Largest number considered. Default 8. */
  readonly maxGroups?: number;
  /** Default "global-se-max". */
  readonly rule?: GapRule;
  /** Reference sets B. Default 50. */
  readonly numReferences?: number;
  /** Points used at most. Default 1,500. */
  readonly maxPoints?: number;
  /** What to do with a continuum: cut it into "regions" (default) or leave it "single". */
  readonly whenContinuous?: "regions" | "single";
  /** Share of the variance that regions of a continuum must explain. Default 0.7. */
  readonly explainedShare?: number;
  /** How many groups have courses of their own; decides the number. */
  readonly courses?: DistinctCourses;
  readonly seed?: number;
}

/** The evidence for k groups. */
export interface GapEvidence {
  readonly numGroups: number;
  readonly logWithin: number;
  readonly expectedLogWithin: number;
  readonly gap: number;
  /** s_k. */
  readonly standardError: number;
  /** 1 − W_k / W_1. */
  readonly explained: number;
}

export interface NumberOfGroups {
  readonly numGroups: number;
  /** What the gap statistic alone says. */
  readonly gapChoice: number;
  /** Whether the gap statistic supports as many separate groups. */
  readonly separated: boolean;
  readonly rule: GapRule;
  readonly evidence: readonly GapEvidence[];
  /** Groups with courses of their own, if that decided. */
  readonly courses?: DistinctCourses;
  /** BIC by number of groups, if a mixture was fitted and that decided. */
  readonly bic?: readonly BicEvidence[];
  readonly numPointsUsed: number;
  readonly numReferences: number;
  readonly seed: number;
  /** The choice and its reason in one sentence. */
  readonly sentence: string;
}

/** The number of groups among places X [n,q], with the evidence for 1..maxGroups. */
export function chooseNumberOfGroups(
  points: Float64Array,
  numPoints: number,
  dimension: number,
  options: NumberOptions = {},
): NumberOfGroups {
  const { maxGroups = 8, rule = "global-se-max", numReferences = 50, maxPoints = 1500, seed = 1 } = options;
  const { whenContinuous = "regions", explainedShare = 0.7, courses } = options;
  const where = "chooseNumberOfGroups";
  checkPoints(points, numPoints, dimension, where);
  checkWhole(maxGroups, 1, `${where}: maxGroups`);
  checkWhole(numReferences, 2, `${where}: numReferences`);
  checkWhole(maxPoints, 10, `${where}: maxPoints`);
  const inside = explainedShare > 0 && explainedShare < 1;
  checkOption(inside, `${where}: explainedShare`, "a share between 0 and 1", explainedShare, "Try 0.7.");

  const random = createRandom(seed);
  const { sample, n } = drawSample(points, numPoints, dimension, maxPoints, random);
  const within = withinSumsOfSquares(wardTree(sample, n, dimension), maxGroups);
  // As many groups as there are distinct points explain everything and prove nothing.
  const limit = countAbove(within, 1e-12 * within[0]);
  const evidence =
    limit === 0 ? [] : gapEvidence(within.subarray(0, limit), sample, n, dimension, numReferences, random);
  const gapChoice = evidence.length === 0 ? 1 : applyRule(rule, evidence);
  const regions = evidence.find((e) => e.numGroups > 1 && e.explained >= explainedShare)?.numGroups ?? limit;
  const fromPlaces = gapChoice > 1 || whenContinuous === "single" ? gapChoice : Math.max(1, regions);
  const numGroups = courses?.numGroups ?? fromPlaces;
  const separated = gapChoice > 1 && gapChoice >= numGroups;
  const sentence =
    courses === undefined
      ? describe(numGroups, separated, evidence)
      : describeCourses(courses, numPoints, gapChoice, separated);
  const found = { numGroups, gapChoice, separated, rule, evidence, numPointsUsed: n, numReferences, seed, sentence };
  return courses === undefined ? found : { ...found, courses };
}

/** The evidence from W_1..W_K of the points and of B reference sets. */
function gapEvidence(
  within: Float64Array,
  points: Float64Array,
  n: number,
  q: number,
  numReferences: number,
  random: Random,
): GapEvidence[] {
  const K = within.length;
  const sides = principalSides(points, n, q);
  const logs = new Float64Array(numReferences * K); // [B,K]
  const reference = new Float64Array(n * q);
  for (let b = 0; b < numReferences; b++) {
    for (let i = 0; i < n * q; i++) reference[i] = sides[i % q] * random.uniform();
    const w = withinSumsOfSquares(wardTree(reference, n, q), K);
    for (let k = 0; k < K; k++) logs[b * K + k] = Math.log(w[k]);
  }
  return Array.from(within, (w, k) => {
    let mean = 0;
    for (let b = 0; b < numReferences; b++) mean += logs[b * K + k] / numReferences;
    let variance = 0;
    for (let b = 0; b < numReferences; b++) variance += (logs[b * K + k] - mean) ** 2 / numReferences;
    return {
      numGroups: k + 1,
      logWithin: Math.log(w),
      expectedLogWithin: mean,
      gap: mean - Math.log(w),
      standardError: Math.sqrt(variance * (1 + 1 / numReferences)),
      explained: 1 - w / within[0],
    };
  });
}

function applyRule(rule: GapRule, evidence: readonly GapEvidence[]): number {
  const last = evidence.length - 1;
  if (rule === "tibshirani") {
    const k = evidence.findIndex((e, j) => j === last || e.gap >= evidence[j + 1].gap - evidence[j + 1].standardError);
    return k + 1;
  }
  const largest = Math.max(...evidence.map((e) => e.gap));
  const peak =
    rule === "global-se-max"
      ? evidence.findIndex((e) => e.gap === largest)
      : evidence.findIndex((e, j) => j === last || e.gap >= evidence[j + 1].gap);
  return evidence.findIndex((e) => e.gap >= evidence[peak].gap - evidence[peak].standardError) + 1;
}

/** Lengths of the box around the points along their principal axes, [q]. */
function principalSides(points: Float64Array, n: number, q: number): Float64Array {
  const mean = new Float64Array(q);
  for (let i = 0; i < n * q; i++) mean[i % q] += points[i] / n;
  const covariance = new Float64Array(q * q);
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < q; a++) {
      for (let b = 0; b < q; b++) {
        covariance[a * q + b] += ((points[i * q + a] - mean[a]) * (points[i * q + b] - mean[b])) / n;
      }
    }
  }
  const { vectors } = symmetricEigen(covariance, q);
  return Float64Array.from({ length: q }, (_, c) => {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < n; i++) {
      let s = 0;
      for (let r = 0; r < q; r++) s += (points[i * q + r] - mean[r]) * vectors[r * q + c];
      low = Math.min(low, s);
      high = Math.max(high, s);
    }
    return high - low;
  });
}

/** At most `maxPoints` points, drawn without replacement from their canonical order. */
function drawSample(points: Float64Array, n: number, q: number, maxPoints: number, random: Random) {
  const order = canonicalOrder(points, n, q);
  const kept =
    n <= maxPoints
      ? order
      : random
          .permutation(n)
          .subarray(0, maxPoints)
          .sort()
          .map((place) => order[place]);
  const sample = new Float64Array(kept.length * q);
  kept.forEach((row, i) => {
    sample.set(points.subarray(row * q, (row + 1) * q), i * q);
  });
  return { sample, n: kept.length };
}

/** How many entries, from the first on, lie above a limit. */
function countAbove(values: Float64Array, limit: number): number {
  const end = values.findIndex((v) => !(v > limit));
  return end < 0 ? values.length : end;
}

function describe(numGroups: number, separated: boolean, evidence: readonly GapEvidence[]): string {
  if (evidence.length === 0) return "All places are the same: one group.";
  const share = Math.round(100 * evidence[numGroups - 1].explained);
  if (separated) {
    return `The gap statistic supports ${numGroups} groups, which explain ${share}% of the variance of the places.`;
  }
  const continuum = "The gap statistic finds no separate groups: the places form a continuum";
  if (numGroups === 1) return `${continuum}.`;
  return `${continuum}, shown as ${numGroups} regions that explain ${share}% of the variance of the places.`;
}

function describeCourses(courses: DistinctCourses, n: number, gapChoice: number, separated: boolean): string {
  const { numGroups, leastDifference, leastSize, evidence } = courses;
  const asked = `differ by ${leastDifference} sd of the noise, in level at some time or in change between two`;
  if (numGroups === 1) {
    return `One group: in no division do all median courses ${asked}, with ${leastSize} members or more each.`;
  }
  const gap =
    gapChoice === 1
      ? "The gap statistic finds no separate clusters: these are regions of a continuum, not kinds."
      : separated
        ? `The gap statistic supports ${gapChoice} separate clusters.`
        : `The gap statistic supports ${gapChoice} separate clusters; the groups divide them further.`;
  const last = evidence[evidence.length - 1].numGroups;
  const { difference } = evidence[numGroups - 2];
  return (
    `${numGroups} groups, the most up to ${last} whose median courses all ${asked} (the closest two: ` +
    `${difference.toFixed(1)} sd), each with ${leastSize} or more of the ${n} clustered. ${gap}`
  );
}

function checkWhole(value: number, least: number, where: string): void {
  const ok = Number.isInteger(value) && value >= least;
  checkOption(ok, where, `a whole number of at least ${least}`, value, `Use ${least} or more.`);
}
