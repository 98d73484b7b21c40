/**
 * How many groups have courses of their own? For each cut of the Ward tree into k groups: the median course of every
 * group on the model's scale, where the noise of one measurement has one size σ, and
 *   d_gh(t) = (median_g(t) − median_h(t)) / σ,   smallest(k) = least members,
 *   difference(k) = min over pairs g ≠ h of max( max_t |d_gh(t)|, max_t d_gh(t) − min_t d_gh(t) ).
 * The answer is the largest k with difference(k) ≥ 2 and smallest(k) ≥ n₀: any two groups then differ by two sd of the
 * noise in level at some time, or in change between two times (courses that cross: a steady fall, and a late one from
 * higher up), and every group is large enough to be described.
 * n₀ is 3% of the individuals, but at least 20, or a tenth of fewer than 200.   (docs/math/groups.md §2)
 */
import { checkOption } from "../../errors.ts";
import { groupCourses } from "./courses.ts";
import { cutTree, type WardTree } from "./ward.ts";

/** What k groups look like side by side. */
export interface DistinctEvidence {
  readonly numGroups: number;
  /** Between the two most similar median courses, where level or change differ most, in standard deviations of the noise. */
  readonly difference: number;
  /** Individuals in the smallest group, of those clustered. */
  readonly smallest: number;
  /** Whether both reach what is asked for. */
  readonly distinct: boolean;
}

export interface DistinctCourses {
  /** The largest number whose groups are distinct; 1 if there is none. */
  readonly numGroups: number;
  readonly leastDifference: number;
  readonly leastSize: number;
  /** k = 2, 3, … */
  readonly evidence: readonly DistinctEvidence[];
}

/** In standard deviations of the noise. */
const LEAST_DIFFERENCE = 2;

/** Courses [n,T] of the tree's points on the model's scale and the noise's standard deviation there: how many groups. */
export function distinctCourses(
  tree: WardTree,
  courses: Float64Array,
  times: ArrayLike<number>,
  noise: number,
  maxGroups = 6,
): DistinctCourses {
  const n = tree.numPoints;
  const leastSize = Math.ceil(Math.max(0.03 * n, Math.min(20, 0.1 * n)));
  checkOption(noise > 0, "distinctCourses: noise", "a standard deviation above 0", noise, "Give that of the model.");
  const evidence: DistinctEvidence[] = [];
  for (let k = 2; k <= Math.min(maxGroups, n); k++) {
    const groups = groupCourses(courses, times, cutTree(tree, k), k);
    const difference = leastOf(groups.map(({ median }) => median)) / noise;
    const smallest = Math.min(...groups.map(({ numMembers }) => numMembers));
    const distinct = difference >= LEAST_DIFFERENCE && smallest >= leastSize;
    evidence.push({ numGroups: k, difference, smallest, distinct });
  }
  const numGroups = evidence.reduce((most, e) => (e.distinct ? e.numGroups : most), 1);
  return { numGroups, leastDifference: LEAST_DIFFERENCE, leastSize, evidence };
}

/** How far apart two courses are: the larger of their largest difference at one time and in change between two. */
export function courseDifference(first: Float64Array, second: Float64Array): number {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let t = 0; t < first.length; t++) {
    const d = first[t] - second[t];
    low = Math.min(low, d);
    high = Math.max(high, d);
  }
  return Math.max(high, -low, high - low);
}

/** The least difference of any two courses. */
function leastOf(medians: readonly Float64Array[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let g = 1; g < medians.length; g++) {
    for (let h = 0; h < g; h++) least = Math.min(least, courseDifference(medians[g], medians[h]));
  }
  return least;
}
