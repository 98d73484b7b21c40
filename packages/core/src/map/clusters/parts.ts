/**
 * What stands within groups: branches of a deeper cut of the tree with courses of their own, and the times between which
 * enough of some individuals are followed.   (docs/math/groups.md §5)
 */

import { applyTransform } from "../../cohort/marker.ts";
import { markerModel } from "../../models/fit.ts";
import type { TrajectoryModel } from "../../models/model.ts";
import type { Placements } from "../../models/placement.ts";
import { measurementSd } from "../../noise/noise.ts";
import { type CourseSummary, groupCourses } from "./courses.ts";
import { courseDifference } from "./distinct.ts";
import { type FollowedWindow, followedWindow, LEAST_FOLLOWED } from "./followed.ts";
import { LEAST_CHANGE } from "./shape.ts";
import { cutTree, type WardTree } from "./ward.ts";

/** A branch of the tree within a group: those clustered in it and the median of their expected courses. */
export interface GroupPart extends FollowedWindow {
  readonly numMembers: number;
  /** At the times of the group's course, [T]. */
  readonly median: Float64Array;
}

/** Placed individuals, the positions of those who were clustered, and their tree. */
export interface ClusteredPlaces {
  readonly model: TrajectoryModel;
  readonly placements: Placements;
  readonly clustered: Int32Array; // [n]
  readonly tree: WardTree;
}

/** Branches of the tree that are looked at within groups, at most: three times the most groups made. */
const MOST_PARTS = 18;

/**
 * Branches of a deeper cut within each group, largest first: those of eleven or more whose median course differs from the
 * group's by as much as a name speaks of, in level or in change, while both are followed.
 */
export function partsOf(
  { model, placements, clustered, tree }: ClusteredPlaces,
  cut: Int32Array,
  groups: readonly CourseSummary[],
  curves: Float64Array,
): GroupPart[][] {
  const K = groups.length;
  const { times } = groups[0];
  const { transform } = markerModel(model).marker;
  const least = LEAST_CHANGE * measurementSd(markerModel(model).noise);
  const numBranches = Math.min(MOST_PARTS, Math.floor(tree.numPoints / (2 * LEAST_FOLLOWED)));
  if (numBranches <= K) return [];
  // A branch that reaches into two groups is a part of each.
  const branch = new Int32Array(placements.ids.length).fill(-1);
  const numbers = new Map<number, number>();
  const groupOf: number[] = [];
  cutTree(tree, numBranches).forEach((b, k) => {
    const key = b * K + cut[k];
    if (!numbers.has(key)) numbers.set(key, groupOf.push(cut[k]) - 1);
    branch[clustered[k]] = numbers.get(key)!;
  });
  const courses = groupCourses(curves, times, branch, groupOf.length);
  return groups.map(({ median: whole }, g) =>
    courses
      .map((course, b) => ({ ...course, b }))
      .filter(({ b, numMembers }) => groupOf[b] === g && numMembers >= LEAST_FOLLOWED)
      .sort((first, second) => second.numMembers - first.numMembers || first.b - second.b)
      .map(({ b, numMembers, median }) => {
        return { numMembers, median, ...windowOf(placements, times, (i) => branch[i] === b) };
      })
      .filter(({ median, from, until }) => {
        const seen = (course: Float64Array) =>
          course.filter((_, t) => times[t] >= from && times[t] <= until).map((v) => applyTransform(transform, v));
        return courseDifference(seen(median), seen(whole)) >= least;
      }),
  );
}

/**
 * While the course of the chosen individuals is a finding: times of the courses, so that nobody's own last visit is told.
 * Both ends are one time where half are not followed for longer.
 */
export function windowOf(placements: Placements, times: Float64Array, chosen: (i: number) => boolean): FollowedWindow {
  const of = (values: Float64Array) => values.filter((_, i) => chosen(i));
  const { from, until } = followedWindow(of(placements.firstTime), of(placements.lastTime));
  const inside = times.filter((t) => t >= from - 1e-9 && t <= until + 1e-9);
  if (inside.length > 0) return { from: inside[0], until: inside[inside.length - 1] };
  const near = times.find((t) => t >= from) ?? times[times.length - 1];
  return { from: near, until: near };
}
