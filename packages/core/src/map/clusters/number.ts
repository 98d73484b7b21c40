/**
 * How many groups? The gap statistic (Tibshirani, Walther & Hastie 2001) on cuts of the Ward tree,
 *   Gap(k) = E*[log W_k] − log W_k,   W_k = sum of squares within k groups,
 * E* over B reference sets: as many points, uniform in the box that encloses the points along their principal axes (the
 * paper's choice b). With s_k = sd*(log W_k)·√(1 + 1/B) it says the smallest k with Gap(k) ≥ Gap(k*) − s_{k*}, k* the
 * largest gap (Dudoit & Fridlyand 2002, "global-se-max"); rules that look one step ahead stop at one group where two explain
 * less than two of a uniform box, which five clear groups around a ring already do.
 * W_k needs only the heights of the tree. Above `maxPoints` everything is computed on a seeded sample, so the cost does
 * not grow with the cohort.
 *
 * Gap says whether there are separate clusters; how many groups are worth telling apart is another question, because a
 * map is often a continuum. The answer is the number of groups with courses of their own (distinct.ts), or of Gaussians
 * with the lowest BIC (gaussian-mixture.ts); Gap only decides whether the groups are called separate.
 * (docs/math/groups.md §2)
 */
import { checkOption } from "../../errors.ts";
import { multiply, takeRows } from "../../numeric/matrix.ts";
import { columnMeans, covarianceOf } from "../../numeric/moments.ts";
import { createRandom, type Random } from "../../numeric/random.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import type { DistinctCourses } from "./distinct.ts";
import type { BicEvidence } from "./gaussian-mixture.ts";
import { canonicalOrder, checkPoints, wardTree, withinSumsOfSquares } from "./ward.ts";

export interface NumberOptions {
  /** Largest number considered. Default 8. */
  readonly maxGroups?: number;
  /** Reference sets B. Default 50. */
  readonly numReferences?: number;
  /** Points used at most. Default 1,500. */
  readonly maxPoints?: number;
  readonly seed?: number;
}

/** What decides the number: groups with courses of their own, or Gaussians by BIC. */
export type NumberEvidence =
  | { readonly courses: DistinctCourses }
  | { readonly bic: readonly BicEvidence[]; readonly numGroups: number };

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
  readonly rule: "global-se-max";
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

/** The number of groups among places X [n,q] by the given evidence, beside the gap statistic of 1..maxGroups. */
export function chooseNumberOfGroups(
  points: Float64Array,
  numPoints: number,
  dimension: number,
  decides: NumberEvidence,
  options: NumberOptions = {},
): NumberOfGroups {
  const { maxGroups = 8, numReferences = 50, maxPoints = 1500, seed = 1 } = options;
  const where = "chooseNumberOfGroups";
  checkPoints(points, numPoints, dimension, where);
  checkWhole(maxGroups, 1, `${where}: maxGroups`);
  checkWhole(numReferences, 2, `${where}: numReferences`);
  checkWhole(maxPoints, 10, `${where}: maxPoints`);

  const random = createRandom(seed);
  const { sample, n } = drawSample(points, numPoints, dimension, maxPoints, random);
  const within = withinSumsOfSquares(wardTree(sample, n, dimension), maxGroups);
  // As many groups as there are distinct points explain everything and prove nothing.
  const limit = countAbove(within, 1e-12 * within[0]);
  const evidence =
    limit === 0 ? [] : gapEvidence(within.subarray(0, limit), sample, n, dimension, numReferences, random);
  const gapChoice = smallestNearLargest(evidence);
  const numGroups = "courses" in decides ? decides.courses.numGroups : decides.numGroups;
  const separated = gapChoice > 1 && gapChoice >= numGroups;
  const sentence =
    "courses" in decides
      ? describeCourses(decides.courses, numPoints, gapChoice, separated)
      : describeMixture(numGroups, decides.bic.length, gapChoice);
  const gap = { gapChoice, separated, rule: "global-se-max", evidence, numPointsUsed: n, numReferences, seed } as const;
  return { ...decides, numGroups, ...gap, sentence };
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

/** The smallest k within one standard error of the largest gap; 1 without evidence. */
function smallestNearLargest(evidence: readonly GapEvidence[]): number {
  const peak = evidence.find((e) => e.gap === Math.max(...evidence.map(({ gap }) => gap)));
  return evidence.find((e) => e.gap >= peak!.gap - peak!.standardError)?.numGroups ?? 1;
}

/** Lengths of the box around the points along their principal axes, [q]. */
function principalSides(points: Float64Array, n: number, q: number): Float64Array {
  const mean = columnMeans(points, n, q);
  const { vectors } = symmetricEigen(covarianceOf(points, n, q, mean), q);
  const centred = points.map((x, k) => x - mean[k % q]);
  const turned = multiply(centred, vectors, n, q, q);
  return Float64Array.from({ length: q }, (_, c) => {
    const column = turned.filter((_, k) => k % q === c).sort();
    return column[n - 1] - column[0];
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
  return { sample: takeRows(points, q, kept), n: kept.length };
}

/** How many entries, from the first on, lie above a limit. */
function countAbove(values: Float64Array, limit: number): number {
  const end = values.findIndex((v) => !(v > limit));
  return end < 0 ? values.length : end;
}

function describeMixture(numGroups: number, tried: number, gapChoice: number): string {
  return (
    `${numGroups === 1 ? "One Gaussian has" : `${numGroups} Gaussians have`} the lowest BIC of 1 to ${tried}. ` +
    `The gap statistic supports ${gapChoice === 1 ? "no separate clusters" : `${gapChoice} separate clusters`}.`
  );
}

function describeCourses(courses: DistinctCourses, n: number, gapChoice: number, separated: boolean): string {
  const { numGroups, numCut, leastDifference, leastSize, leastBranch, evidence } = courses;
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
  const own = numGroups - numCut;
  const branches = own === 1 ? "a branch" : `${own} branches`;
  const kinds = `${branches} within, of ${leastBranch} or more, with a kind of course that no other group shows`;
  if (numCut === 1) return `${numGroups} groups: everybody, and ${kinds}. ${gap}`;
  const closest = evidence.find((e) => e.numGroups === numCut);
  return (
    `${numGroups} groups${own > 0 ? ` in all: ${numCut}` : ""}, the most whose median courses all ${asked} (the closest two: ` +
    `${closest?.difference.toFixed(1)} sd), each with ${leastSize} or more of the ${n.toLocaleString("en-US")} clustered` +
    `${own > 0 ? `, and ${kinds}` : ""}. ${gap}`
  );
}

function checkWhole(value: number, least: number, where: string): void {
  const ok = Number.isInteger(value) && value >= least;
  checkOption(ok, where, `a whole number of at least ${least}`, value, `Use ${least} or more.`);
}
