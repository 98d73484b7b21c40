/**
 * Groups of individuals on a map (docs/math/groups.md): Ward clustering, or a Gaussian mixture, of the places that are
 * well known, the number of groups by a stated rule with its evidence, membership of everybody else by the posterior of
 * their place, and a name for each group made by rule from the median course of its members.
 */
import { basisDomain, designMatrix } from "../basis/bspline.ts";
import { applyTransform, undoTransform } from "../cohort/marker.ts";
import { checkOption } from "../errors.ts";
import type { TrajectoryModel } from "../models/model.ts";
import type { Placements } from "../models/placement.ts";
import { measurementSd } from "../noise/noise.ts";
import { takeRows } from "../numeric/matrix.ts";
import { type CourseSummary, courseAt, groupCourses, groupMedians } from "./clusters/courses.ts";
import { courseDifference, distinctCourses } from "./clusters/distinct.ts";
import {
  type FollowedWindow,
  followedAt,
  followedWindow,
  LEAST_FOLLOWED,
  LEAST_SHARE_FOLLOWED,
  lastRoundTime,
} from "./clusters/followed.ts";
import {
  fitGaussianMixture,
  type GaussianMixture,
  largestShares,
  mixtureFromLabels,
  mixtureMembership,
} from "./clusters/gaussian-mixture.ts";
import { type GroupCourse, type GroupName, nameGroups } from "./clusters/names.ts";
import { chooseNumberOfGroups, type NumberOfGroups } from "./clusters/number.ts";
import { LEAST_CHANGE } from "./clusters/shape.ts";
import { type TreeTop, treeTop } from "./clusters/tree-top.ts";
import { cutTree, type WardTree, wardTree } from "./clusters/ward.ts";

/** "ward": cuts of a tree of the places. "mixture": Gaussians fitted to them, membership in shares. */
export type GroupMethod = "ward" | "mixture";

export interface GroupOptions {
  /** Default "ward". */
  readonly method?: GroupMethod;
  /**
   * A number of groups, or "auto" (default): as many as have courses of their own (`distinctCourses`) for "ward", the
   * lowest BIC for "mixture".
   */
  readonly numGroups?: number | "auto";
  /** Individuals with at least this many observations are clustered; the rest join by their posterior. Default 4. */
  readonly minObservations?: number;
  /** Most groups tried by "auto". Default 6: more cannot be told apart by colour, nor kept in mind. */
  readonly maxGroups?: number;
  readonly seed?: number;
  /** Which side of the marker is better, if known; only then do names say "recovers". */
  readonly better?: "high" | "low";
}

export interface Group extends FollowedWindow {
  readonly letter: string;
  readonly name: string;
  readonly numMembers: number;
  /** Quantiles of the members' expected courses; outside `from` to `until` they speak of people hardly seen then. */
  readonly course: CourseSummary;
  /** Members whose last observation is at or after each time of the course, [T]. */
  readonly followed: Int32Array;
  /** Parts that a deeper cut of the tree finds in the group and whose courses differ from it. */
  readonly parts: readonly GroupPart[];
}

/** A branch of the tree within a group: those clustered in it and the median of their expected courses. */
export interface GroupPart extends FollowedWindow {
  readonly numMembers: number;
  /** At the times of the group's course, [T]. */
  readonly median: Float64Array;
}

export interface Groups {
  readonly method: GroupMethod;
  /** In the order of their letters: from the highest to the lowest last value. */
  readonly groups: readonly Group[];
  /** Position of each individual's group in `groups`, [m]. */
  readonly labels: Int32Array;
  /** Posterior probability of each group, [m,K]. */
  readonly membership: Float64Array;
  /** One less the mean entropy of membership in units of log K: 1 if everybody is sure, 0 if nobody knows. */
  readonly certainty: number;
  /** Individuals that were clustered (positions), and their tree. */
  readonly clustered: Int32Array;
  readonly tree: WardTree;
  /** The top of the tree, with the groups of its branches: what a drawing needs. */
  readonly treeTop: TreeTop;
  /** How the number of groups was chosen; null if it was given. */
  readonly choice: NumberOfGroups | null;
}

/** Most groups that the rule makes by itself. */
const MOST_GROUPS = 6;
/** Branches of the tree that are looked at within groups, at most: three times the most groups made. */
const MOST_PARTS = 18;
/** Times at which courses of groups are compared. */
const NUM_COMPARED = 21;

/** Expected courses of individuals at the given times, marker's own scale, [m,T]. */
export function expectedCourses(
  model: TrajectoryModel,
  placements: Placements,
  times: ArrayLike<number>,
): Float64Array {
  const everyone = Int32Array.from(placements.ids.keys());
  const courses = modelCourses(model, placements, everyone, times);
  const { transform } = model.marker;
  for (let k = 0; k < courses.length; k++) courses[k] = undoTransform(transform, courses[k]);
  return courses;
}

/** Expected courses of the chosen individuals on the model's scale, [n,T]. */
function modelCourses(
  model: TrajectoryModel,
  placements: Placements,
  individuals: Int32Array,
  times: ArrayLike<number>,
): Float64Array {
  const d = model.basis.numBasis;
  const T = times.length;
  const rows = designMatrix(model.basis, times); // [T,d]
  const mean = model.mean.coefficients;
  const { coefficients } = placements;
  const w = new Float64Array(d);
  const out = new Float64Array(individuals.length * T);
  for (let row = 0; row < individuals.length; row++) {
    const at = individuals[row] * d;
    for (let k = 0; k < d; k++) w[k] = mean[k] + coefficients[at + k];
    for (let t = 0; t < T; t++) {
      let y = 0;
      for (let k = 0; k < d; k++) y += rows[t * d + k] * w[k];
      out[row * T + t] = y;
    }
  }
  return out;
}

/**
 * Groups the placed individuals of a cohort.
 * @throws DtmError "option" for a method or a number of groups that cannot be had.
 * @example
 * const { labels, groups } = groupPlaces(model, embed(model, cohort), { numGroups: 4 });
 */
export function groupPlaces(model: TrajectoryModel, placements: Placements, options: GroupOptions = {}): Groups {
  const { method = "ward", numGroups = "auto", minObservations = 4, maxGroups = MOST_GROUPS } = options;
  checkOption(method === "ward" || method === "mixture", "groupPlaces", "method ward or mixture", method, "");
  const q = placements.mapDimension;
  const clustered = clusteredIndividuals(placements, minObservations, numGroups === "auto" ? maxGroups : numGroups);
  const points = takeRows(placements.location, q, clustered);
  const tree = wardTree(points, clustered.length, q);
  if (numGroups !== "auto") {
    const possible = Number.isInteger(numGroups) && numGroups >= 1 && numGroups <= clustered.length;
    checkOption(possible, "groupPlaces", `1 to ${clustered.length} groups`, numGroups, "Use fewer groups.");
  }
  const { cut, mixture, choice } =
    method === "ward"
      ? wardGroups({ model, placements, clustered, points, tree }, options)
      : mixtureGroups({ model, placements, clustered, points, tree }, options);
  const K = mixture.numGroups;
  const shares = mixtureMembership(mixture, placements.location, placements.covariance);
  const raw = largestShares(shares, K);
  // Those who were clustered stay where the tree, or their place itself, put them.
  clustered.forEach((i, k) => {
    raw[i] = cut[k];
  });
  const times = courseTimes(model);
  const curves = expectedCourses(model, placements, times);
  const courses = groupCourses(curves, times, raw, K);
  const windows = courses.map(({ group }) => windowOf(placements, times, (i) => raw[i] === group));
  const names = nameGroups(
    courses.map((course, g) => namedCourse(course, windows[g])),
    {
      noise: measurementSd(model.noise),
      transform: model.marker.transform,
      timeUnit: model.marker.timeUnit,
      better: options.better,
    },
  );
  const parts = method === "ward" ? partsOf({ model, tree, clustered, placements }, cut, courses, curves) : [];
  const drawn = courses.map((course, g) => ({
    course,
    ...windows[g],
    followed: followedAt(
      placements.lastTime.filter((_, i) => raw[i] === g),
      times,
    ),
    parts: parts[g] ?? [],
  }));
  const ordered = inLetterOrder(names, drawn, raw, shares, K);
  const branches = clustered.map((i) => ordered.labels[i]);
  const top = treeTop(tree, branches, K);
  const certainty = certaintyOf(shares, K);
  return { method, ...ordered, certainty, clustered, tree, treeTop: top, choice };
}

interface ClusteredPlaces {
  readonly model: TrajectoryModel;
  readonly placements: Placements;
  readonly clustered: Int32Array;
  readonly points: Float64Array; // [n,q]
  readonly tree: WardTree;
}

/** Groups of the clustered [n], the Gaussians by which the others join, and how the number was chosen. */
interface FoundGroups {
  readonly cut: Int32Array;
  readonly mixture: GaussianMixture;
  readonly choice: NumberOfGroups | null;
}

/** A cut of the tree into as many groups as have courses of their own, or as were asked for. */
function wardGroups(places: ClusteredPlaces, options: GroupOptions): FoundGroups {
  const { model, placements, clustered, points, tree } = places;
  const { numGroups = "auto", maxGroups = MOST_GROUPS, seed = 1 } = options;
  const q = placements.mapDimension;
  let choice: NumberOfGroups | null = null;
  if (numGroups === "auto") {
    const times = comparedTimes(model, placements, clustered);
    const courses = modelCourses(model, placements, clustered, times);
    const distinct = distinctCourses(tree, courses, times, measurementSd(model.noise), { maxGroups });
    choice = chooseNumberOfGroups(points, clustered.length, q, { courses: distinct }, { maxGroups, seed });
  }
  const K = choice?.numGroups ?? (numGroups as number);
  const cut = cutTree(tree, K);
  return { cut, mixture: mixtureFromLabels(points, q, cut, K), choice };
}

/** Gaussians fitted to the places, as many as BIC says, or as were asked for. */
function mixtureGroups({ placements, clustered, points, tree }: ClusteredPlaces, options: GroupOptions): FoundGroups {
  const { numGroups = "auto", maxGroups = MOST_GROUPS, seed = 1 } = options;
  const q = placements.mapDimension;
  const n = clustered.length;
  const fit = fitGaussianMixture(points, n, q, { numGroups, maxGroups, tree });
  const { cut, mixture } = withMembers(fit.labels, points, q, fit.mixture);
  if (numGroups !== "auto") return { cut, mixture, choice: null };
  const decides = { bic: fit.evidence, numGroups: mixture.numGroups };
  return { cut, mixture, choice: chooseNumberOfGroups(points, n, q, decides, { maxGroups, seed }) };
}

/** Leaves out Gaussians that are nobody's largest share: such a group would have no course and no name. */
function withMembers(labels: Int32Array, points: Float64Array, q: number, mixture: GaussianMixture) {
  const present = [...new Set(labels)].sort((a, b) => a - b);
  if (present.length === mixture.numGroups) return { cut: labels, mixture };
  const cut = labels.map((g) => present.indexOf(g));
  return { cut, mixture: mixtureFromLabels(points, q, cut, present.length) };
}

/** 1 − mean entropy / log K; 1 for one group. */
function certaintyOf(shares: Float64Array, K: number): number {
  if (K === 1) return 1;
  let entropy = 0;
  for (const share of shares) if (share > 0) entropy -= share * Math.log(share);
  return 1 - entropy / ((shares.length / K) * Math.log(K));
}

/** When enough of the chosen individuals are followed: times of the courses, so that nobody's own last visit is told. */
function windowOf(placements: Placements, times: Float64Array, chosen: (i: number) => boolean): FollowedWindow {
  const of = (values: Float64Array) => values.filter((_, i) => chosen(i));
  const { from, until } = followedWindow(of(placements.firstTime), of(placements.lastTime));
  const inside = times.filter((t) => t >= from - 1e-9 && t <= until + 1e-9);
  return inside.length > 1
    ? { from: inside[0], until: inside[inside.length - 1] }
    : { from: times[0], until: times[times.length - 1] };
}

/** The median course from when to when enough members are followed, up to a round time: what a name may speak of. */
function namedCourse({ times, median }: CourseSummary, window: FollowedWindow): GroupCourse {
  const end = lastRoundTime(window);
  const within = Array.from(times).filter((t) => t > window.from && t < end);
  const at = [window.from, ...within, end];
  return { times: at, values: at.map((t) => courseAt(times, median, t)) };
}

/**
 * Branches of a deeper cut within each group, largest first: those of eleven or more whose median course differs from the
 * group's by as much as a name speaks of, in level or in change, while both are followed.
 */
function partsOf(
  { model, tree, clustered, placements }: Omit<ClusteredPlaces, "points">,
  cut: Int32Array,
  groups: readonly CourseSummary[],
  curves: Float64Array,
): GroupPart[][] {
  const K = groups.length;
  const { times } = groups[0];
  const { transform } = model.marker;
  const scaled = (course: Float64Array) => course.map((v) => applyTransform(transform, v));
  const least = LEAST_CHANGE * measurementSd(model.noise);
  const numBranches = Math.min(MOST_PARTS, Math.floor(tree.numPoints / (2 * LEAST_FOLLOWED)));
  if (numBranches <= K) return [];
  const branch = new Int32Array(placements.ids.length).fill(-1);
  const groupOf = new Int32Array(numBranches);
  cutTree(tree, numBranches).forEach((b, k) => {
    branch[clustered[k]] = b;
    groupOf[b] = cut[k];
  });
  const courses = groupMedians(curves, times.length, branch, numBranches);
  return groups.map(({ median: whole }, g) =>
    courses
      .map((course, b) => ({ ...course, b }))
      .filter(({ b, numMembers }) => groupOf[b] === g && numMembers >= LEAST_FOLLOWED)
      .sort((first, second) => second.numMembers - first.numMembers || first.b - second.b)
      .map(({ b, numMembers, median }) => {
        return { numMembers, median, ...windowOf(placements, times, (i) => branch[i] === b) };
      })
      .filter(({ median, from, until }) => {
        const seen = (_: number, t: number) => times[t] >= from && times[t] <= until;
        return courseDifference(scaled(median).filter(seen), scaled(whole).filter(seen)) >= least;
      }),
  );
}

/** Individuals observed often enough to be clustered; everybody, if these are too few for the groups asked for. */
function clusteredIndividuals(placements: Placements, minObservations: number, numGroups: number): Int32Array {
  const often = placements.ids.map((_, i) => i).filter((i) => placements.numObservations[i] >= minObservations);
  const enough = often.length >= Math.max(10, 3 * numGroups);
  return Int32Array.from(enough ? often : placements.ids.map((_, i) => i));
}

/** Times at which courses are compared: from the first to the last at which a tenth of the clustered are followed. */
function comparedTimes(model: TrajectoryModel, placements: Placements, clustered: Int32Array): Float64Array {
  const [first, last] = basisDomain(model.basis);
  const ends = Float64Array.from(clustered, (i) => placements.lastTime[i]).sort();
  const end = Math.min(last, ends[Math.floor((1 - LEAST_SHARE_FOLLOWED) * (ends.length - 1))]);
  const until = end > first ? end : last;
  return Float64Array.from({ length: NUM_COMPARED }, (_, k) => first + ((until - first) * k) / (NUM_COMPARED - 1));
}

function courseTimes(model: TrajectoryModel): Float64Array {
  const [first, last] = basisDomain(model.basis);
  return Float64Array.from({ length: 61 }, (_, k) => first + ((last - first) * k) / 60);
}

function inLetterOrder(
  names: readonly GroupName[],
  drawn: readonly Omit<Group, "letter" | "name" | "numMembers">[],
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
      numMembers: drawn[group].course.numMembers,
      ...drawn[group],
      course: { ...drawn[group].course, group: r },
    })),
    labels: raw.map((k) => rank[k]),
    membership,
  };
}
