/**
 * Groups of individuals on a map (docs/math/groups.md): Ward clustering of the places that are well known, the number of
 * groups by a stated rule with its evidence, membership of everybody else by the posterior of their place, and a name
 * for each group made by rule from the median course of its members.
 */
import { basisDomain, designMatrix } from "../basis/bspline.ts";
import { undoTransform } from "../cohort/marker.ts";
import { checkOption } from "../errors.ts";
import type { TrajectoryModel } from "../models/model.ts";
import type { Placements } from "../models/placement.ts";
import { type CourseSummary, groupCourses } from "./clusters/courses.ts";
import { mixtureFromLabels, mixtureMembership } from "./clusters/gaussian-mixture.ts";
import { type GroupName, nameGroups } from "./clusters/names.ts";
import { chooseNumberOfGroups, type NumberOfGroups } from "./clusters/number.ts";
import { cutTree, type WardTree, wardTree } from "./clusters/ward.ts";

export interface GroupOptions {
  /** A number of groups, or "auto" for the rule of `chooseNumberOfGroups`. Default "auto". */
  readonly numGroups?: number | "auto";
  /** Individuals with at least this many observations are clustered; the rest join by their posterior. Default 3. */
  readonly minObservations?: number;
  /** Most groups tried by "auto". Default 8. */
  readonly maxGroups?: number;
  readonly seed?: number;
  /** Which side of the marker is better, if known; only then do names say "recovers". */
  readonly better?: "high" | "low";
}

export interface Group {
  readonly letter: string;
  readonly name: string;
  readonly numMembers: number;
  readonly course: CourseSummary;
}

export interface Groups {
  /** In the order of their letters: from the highest to the lowest last value. */
  readonly groups: readonly Group[];
  /** Position of each individual's group in `groups`, [m]. */
  readonly labels: Int32Array;
  /** Posterior probability of each group, [m,K]. */
  readonly membership: Float64Array;
  /** Individuals that were clustered (positions), and their tree. */
  readonly clustered: Int32Array;
  readonly tree: WardTree;
  /** How the number of groups was chosen; null if it was given. */
  readonly choice: NumberOfGroups | null;
}

/** A course is named up to the time at which five members, and a tenth of them, are still followed. */
const LEAST_FOLLOWED = 5;
const LEAST_SHARE_FOLLOWED = 0.1;
const LEAST_POINTS = 5;

/** Expected courses of individuals at the given times, marker's own scale, [m,T]. */
export function expectedCourses(
  model: TrajectoryModel,
  placements: Placements,
  times: ArrayLike<number>,
): Float64Array {
  const d = model.basis.numBasis;
  const T = times.length;
  const rows = designMatrix(model.basis, times);
  const m = placements.ids.length;
  const out = new Float64Array(m * T);
  for (let i = 0; i < m; i++) {
    for (let t = 0; t < T; t++) {
      let y = 0;
      for (let k = 0; k < d; k++)
        y += rows[t * d + k] * (model.mean.coefficients[k] + placements.coefficients[i * d + k]);
      out[i * T + t] = undoTransform(model.marker.transform, y);
    }
  }
  return out;
}

/** Groups the placed individuals of a cohort. */
export function groupPlaces(model: TrajectoryModel, placements: Placements, options: GroupOptions = {}): Groups {
  const { numGroups = "auto", minObservations = 3, maxGroups = 8, seed = 1 } = options;
  const q = placements.mapDimension;
  const m = placements.ids.length;
  const clustered = clusteredIndividuals(placements, minObservations, numGroups === "auto" ? maxGroups : numGroups);
  const points = new Float64Array(clustered.length * q);
  clustered.forEach((i, k) => {
    points.set(placements.location.subarray(i * q, (i + 1) * q), k * q);
  });
  const tree = wardTree(points, clustered.length, q);
  const choice = numGroups === "auto" ? chooseNumberOfGroups(points, clustered.length, q, { maxGroups, seed }) : null;
  const K = choice === null ? (numGroups as number) : choice.numGroups;
  checkOption(
    Number.isInteger(K) && K >= 1 && K <= clustered.length,
    "groupPlaces",
    `1 to ${clustered.length} groups`,
    K,
    "Use fewer groups.",
  );
  const cut = cutTree(tree, K);
  const shares = mixtureMembership(mixtureFromLabels(points, q, cut, K), placements.location, placements.covariance);
  const raw = new Int32Array(m);
  for (let i = 0; i < m; i++) {
    for (let k = 1; k < K; k++) if (shares[i * K + k] > shares[i * K + raw[i]]) raw[i] = k;
  }
  clustered.forEach((i, k) => {
    raw[i] = cut[k];
  });
  const times = courseTimes(model);
  const courses = groupCourses(expectedCourses(model, placements, times), times, raw, K);
  const names = nameGroups(
    courses.map((c) => followedCourse(c, raw, placements.lastTime)),
    {
      noise: Math.sqrt(model.noiseVariance),
      transform: model.marker.transform,
      timeUnit: model.marker.timeUnit,
      better: options.better,
    },
  );
  return { ...inLetterOrder(names, courses, raw, shares, K), clustered, tree, choice };
}

/** The part of a group's median course during which enough of its members are followed: a name must not reach beyond. */
function followedCourse(course: CourseSummary, labels: Int32Array, lastTime: Float64Array) {
  const ends = lastTime.filter((_, i) => labels[i] === course.group).sort();
  const enough = Math.min(ends.length, Math.max(LEAST_FOLLOWED, Math.ceil(LEAST_SHARE_FOLLOWED * ends.length)));
  const until = ends[ends.length - enough];
  const count = Math.max(course.times.filter((t) => t <= until).length, LEAST_POINTS);
  return { times: course.times.subarray(0, count), values: course.median.subarray(0, count) };
}

/** Individuals observed often enough to be clustered; everybody, if these are too few for the groups asked for. */
function clusteredIndividuals(placements: Placements, minObservations: number, numGroups: number): Int32Array {
  const often = placements.ids.map((_, i) => i).filter((i) => placements.numObservations[i] >= minObservations);
  const enough = often.length >= Math.max(10, 3 * numGroups);
  return Int32Array.from(enough ? often : placements.ids.map((_, i) => i));
}

function courseTimes(model: TrajectoryModel): Float64Array {
  const [first, last] = basisDomain(model.basis);
  return Float64Array.from({ length: 61 }, (_, k) => first + ((last - first) * k) / 60);
}

function inLetterOrder(
  names: readonly GroupName[],
  courses: readonly CourseSummary[],
  raw: Int32Array,
  shares: Float64Array,
  K: number,
): Pick<Groups, "groups" | "labels" | "membership"> {
  const rank = new Int32Array(K);
  names.forEach((name, r) => {
    rank[name.group] = r;
  });
  const membership = new Float64Array(shares.length);
  for (let i = 0; i < raw.length; i++) for (let k = 0; k < K; k++) membership[i * K + rank[k]] = shares[i * K + k];
  return {
    groups: names.map(({ letter, name, group }, r) => ({
      letter,
      name,
      numMembers: courses[group].numMembers,
      course: { ...courses[group], group: r },
    })),
    labels: raw.map((k) => rank[k]),
    membership,
  };
}
