/**
 * From a tree to groups with courses of their own. For each cut into k groups: the median course of every group on
 * the model's scale, where the noise of one measurement has one size σ, and
 *   d_gh(t) = (median_g(t) − median_h(t)) / σ,   smallest(k) = least members,   change_gh = max_t d_gh(t) − min_t d_gh(t),
 *   difference(k) = min over pairs g ≠ h of max( max_t |d_gh(t)|, change_gh ).
 * A cut is distinct if difference(k) ≥ 2 and smallest(k) ≥ n₀: any two groups then differ by two sd of the noise in level at
 * some time, or in change between two times (courses that cross: a steady fall, and a late one from higher up), and every
 * group is large enough to be described. n₀ is 2% of the individuals, but at least 20, or a tenth of fewer than 200.
 *
 * Levels vary most, so the first cuts divide levels, and few who fall late stay hidden among many who fall steadily. A
 * branch of the tree within a group, of n₁ = max(11, 1%) or more, therefore becomes a group if its course is of a kind
 * (shape.ts) that no group shows and its change differs by σ or more from that of every group. Of several the one that stands out
 * most comes first: that with the largest √n times its least difference in change.
 * With p(k) of them the groups are the largest distinct cut k with k + p(k) at most the number allowed; if there is none,
 * the one that leaves the fewest kinds out.   (docs/math/groups.md §2)
 */
import { checkOption } from "../../errors.ts";
import { takeRows } from "../../numeric/matrix.ts";
import { groupCourses } from "./courses.ts";
import { followedWindow, LEAST_FOLLOWED } from "./followed.ts";
import { kindOf, LEAST_CHANGE, piecesOf } from "./shape.ts";
import { NUM_LEAVES } from "./tree-top.ts";
import { cutTree, type WardTree } from "./ward.ts";

/** A tree of n individuals, their expected courses on the model's scale, and when each was seen. */
export interface TreeCourses {
  readonly tree: WardTree;
  readonly courses: Float64Array; // [n,T]
  readonly times: ArrayLike<number>; // [T]
  /** Standard deviation of one measurement on the model's scale. */
  readonly noise: number;
  /** Courses of further markers of the same individuals: groups differ if they do in any marker. Kinds are those of the first. */
  readonly others?: readonly { readonly courses: Float64Array; readonly noise: number }[];
  readonly firstTimes: ArrayLike<number>; // [n]
  readonly lastTimes: ArrayLike<number>; // [n]
}

/** What a cut of the tree into k groups looks like. */
export interface DistinctEvidence {
  readonly numGroups: number;
  /** Between the two most similar median courses, where level or change differ most, in standard deviations of the noise. */
  readonly difference: number;
  /** Individuals in the smallest group, of those clustered. */
  readonly smallest: number;
  /** Whether both reach what is asked for. */
  readonly distinct: boolean;
  /** Branches within the groups with a kind of course that none of the groups shows. */
  readonly ownKinds: number;
}

export interface DistinctCourses {
  /** Groups in all: those of the cut, and branches with a kind of course of their own. */
  readonly numGroups: number;
  /** Groups that the tree was cut into before branches were taken out of them. */
  readonly numCut: number;
  readonly leastDifference: number;
  readonly leastSize: number;
  /** Least members of a branch with a kind of course of its own. */
  readonly leastBranch: number;
  /** k = 2, 3, … */
  readonly evidence: readonly DistinctEvidence[];
}

/** Groups of the tree's points, [n], and the reasons for their number. */
export interface Division extends DistinctCourses {
  readonly labels: Int32Array;
  /** Groups of the cut alone, where branches have theirs from. */
  readonly ofCut: Int32Array;
}

interface Cut extends DistinctEvidence {
  readonly labels: Int32Array; // [n], of the cut itself
  /** Members of the branches that become groups, in the order in which they do. */
  readonly branches: readonly Int32Array[];
}

/** Individuals (positions in the tree), their median course and its kind. */
interface Described {
  readonly members: Int32Array;
  readonly median: Float64Array; // [T]
  /** Median courses of further markers. */
  readonly others: readonly Float64Array[];
  readonly kind: string;
}

/** In standard deviations of the noise. */
const LEAST_DIFFERENCE = 2;

/** Divides a tree into as many groups as have courses of their own, at most `maxGroups`, or into a given number. */
export function divideTree(view: TreeCourses, numGroups: number | "auto", maxGroups = 6): Division {
  const { tree, noise } = view;
  const n = tree.numPoints;
  const leastSize = Math.ceil(Math.max(0.02 * n, Math.min(20, 0.1 * n)));
  checkOption(noise > 0, "divideTree: noise", "a standard deviation above 0", noise, "Give that of the model.");
  const allowed = numGroups === "auto" ? Math.min(maxGroups, n) : numGroups;
  const leastBranch = Math.max(LEAST_FOLLOWED, Math.ceil(0.01 * n));
  const branches = branchesOf(tree, leastBranch).map((members) => describe(view, members));
  const cuts = Array.from({ length: allowed }, (_, k) => describeCut(view, k + 1, branches, leastSize));
  // Of distinct cuts; as many as asked for must come out, from other cuts if need be.
  const distinct = cuts.filter((cut) => cut.distinct || cut.numGroups === 1);
  const enough = (list: readonly Cut[]) =>
    list.filter((cut) => numGroups === "auto" || cut.numGroups + cut.ownKinds >= numGroups);
  const possible = enough(distinct).length > 0 ? enough(distinct) : enough(cuts);
  const hidden = (cut: Cut) => Math.max(0, cut.numGroups + cut.ownKinds - allowed);
  const best = possible.reduce((found, cut) => (hidden(cut) <= hidden(found) ? cut : found));
  const labels = best.labels.slice();
  const taken = best.branches.slice(0, allowed - best.numGroups);
  taken.forEach((members, b) => {
    for (const i of members) labels[i] = best.numGroups + b;
  });
  const evidence = cuts.slice(1).map(({ labels: _, branches: __, ...facts }) => facts);
  const asked = { leastDifference: LEAST_DIFFERENCE, leastSize, leastBranch };
  const [numCut, numAll] = [best.numGroups, best.numGroups + taken.length];
  return { labels, ofCut: best.labels, numGroups: numAll, numCut, ...asked, evidence };
}

/** A division without one of its branches, whose members go back to the group of the cut that they were in. */
export function withoutBranch(division: Division, dropped: number): Division {
  const kept = Array.from({ length: division.numGroups }, (_, g) => g).filter((g) => g !== dropped);
  const labels = division.labels.map((g, i) => kept.indexOf(g === dropped ? division.ofCut[i] : g));
  return { ...division, labels, numGroups: kept.length };
}

/** How far apart two courses are: the larger of their largest difference at one time and in change between two. */
export function courseDifference(first: Float64Array, second: Float64Array): number {
  const level = first.reduce((most, y, t) => Math.max(most, Math.abs(y - second[t])), 0);
  return Math.max(level, changeDifference(first, second));
}

/** How far apart two groups are in the marker that differs most, in standard deviations of its noise. */
function largestDifference(first: Described, second: Described, { noise, others = [] }: TreeCourses): number {
  const own = courseDifference(first.median, second.median) / noise;
  return others.reduce(
    (most, other, k) => Math.max(most, courseDifference(first.others[k], second.others[k]) / other.noise),
    own,
  );
}

/** The largest difference of two courses in change between two times. */
function changeDifference(first: Float64Array, second: Float64Array): number {
  const differences = first.map((y, t) => y - second[t]);
  return Math.max(...differences) - Math.min(...differences);
}

/** A cut into k groups and the branches within them that show a kind of course of their own. */
function describeCut(view: TreeCourses, k: number, branches: readonly Described[], leastSize: number): Cut {
  const labels = cutTree(view.tree, k);
  const groups = membersOf(labels, k).map((members) => describe(view, members));
  let difference = Number.POSITIVE_INFINITY;
  for (let g = 1; g < k; g++) {
    for (let h = 0; h < g; h++) {
      difference = Math.min(difference, largestDifference(groups[g], groups[h], view));
    }
  }
  const smallest = Math.min(...groups.map(({ members }) => members.length));
  const distinct = k > 1 && difference >= LEAST_DIFFERENCE && smallest >= leastSize;
  const taken: Int32Array[] = [];
  const current = labels.slice();
  for (let next = nextKind(groups, branches, current, view, leastSize); next !== null; ) {
    const from = current[next.members[0]];
    for (const i of next.members) current[i] = groups.length;
    groups[from] = describe(view, membersOf(current, groups.length)[from]);
    groups.push(next);
    taken.push(next.members);
    next = nextKind(groups, branches, current, view, leastSize);
  }
  return { numGroups: k, difference, smallest, distinct, ownKinds: taken.length, labels, branches: taken };
}

/** The branch within a group, of a kind that no group shows, whose change stands out most from theirs; null if none does. */
function nextKind(
  groups: readonly Described[],
  branches: readonly Described[],
  labels: Int32Array,
  { noise }: TreeCourses,
  leastSize: number,
): Described | null {
  const shown = new Set(groups.map(({ kind }) => kind));
  const apart = ({ median }: Described) => Math.min(...groups.map((group) => changeDifference(median, group.median)));
  const ownKind = (branch: Described) => {
    const { members, kind } = branch;
    const g = labels[members[0]];
    return (
      !shown.has(kind) &&
      !kind.includes("varies") &&
      groups[g].members.length - members.length >= leastSize &&
      apart(branch) >= LEAST_CHANGE * noise &&
      members.every((i) => labels[i] === g)
    );
  };
  const standsOut = (branch: Described) => Math.sqrt(branch.members.length) * apart(branch);
  return branches.filter(ownKind).sort((a, b) => standsOut(b) - standsOut(a))[0] ?? null;
}

/** Median course of some individuals, and its kind while half of them are followed. */
function describe(view: TreeCourses, members: Int32Array): Described {
  const { courses, times, noise, others = [], firstTimes, lastTimes } = view;
  const T = times.length;
  const labels = new Int32Array(members.length);
  const medianOf = (of: Float64Array) => groupCourses(takeRows(of, T, members), times, labels, 1)[0].median;
  const median = medianOf(courses);
  const of = (values: ArrayLike<number>) => Float64Array.from(members, (i) => values[i]);
  const { from, until } = followedWindow(of(firstTimes), of(lastTimes));
  const inside = Array.from({ length: T }, (_, t) => t).filter((t) => times[t] >= from && times[t] <= until);
  const kind =
    inside.length < 4
      ? "varies"
      : kindOf(
          piecesOf(
            inside.map((t) => times[t]),
            inside.map((t) => median[t]),
            noise,
          ),
        );
  return { members, median, others: others.map((other) => medianOf(other.courses)), kind };
}

/** Members of the branches that the top of the tree shows (tree-top.ts), those of n₀ or more. */
function branchesOf({ numPoints: n, merges }: WardTree, leastSize: number): Int32Array[] {
  const below: number[][] = Array.from({ length: 2 * n - 1 }, (_, node) => (node < n ? [node] : []));
  const found: Int32Array[] = [];
  for (let t = 0; t < n - 1; t++) {
    const [a, b] = [merges[2 * t], merges[2 * t + 1]];
    below[n + t] = below[a].concat(below[b]);
    if (t <= n - 1 - NUM_LEAVES)
      below[a] = below[b] = []; // Inner branches are not asked for: memory stays O(n).
    else for (const node of [a, b]) if (below[node].length >= leastSize) found.push(Int32Array.from(below[node]));
  }
  return found;
}

/** Positions of the members of each group. */
function membersOf(labels: Int32Array, numGroups: number): Int32Array[] {
  const members: number[][] = Array.from({ length: numGroups }, () => []);
  labels.forEach((g, i) => {
    members[g]?.push(i);
  });
  return members.map((list) => Int32Array.from(list));
}
