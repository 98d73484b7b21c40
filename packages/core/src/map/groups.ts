/**
 * Groups of individuals on a map (docs/math/groups.md): a tree, or a Gaussian mixture, of the places that are well known, the number of groups by a stated rule with its evidence, membership of everybody else by the posterior of
 * their place, and a name for each group made by rule from the median course of its members.
 */

import { basisDomain } from "../basis/bspline.ts";
import { checkGiven, checkNames, checkOption, checkSeed } from "../errors.ts";
import { courseTimes } from "../models/course.ts";
import { checkModel, type MarkerModel, markerModel, viewMarker } from "../models/fit.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { checkPlacements, type Placements, viewPlacements } from "../models/placement.ts";
import { measurementSd } from "../noise/noise.ts";
import { takeRows } from "../numeric/matrix.ts";
import { type CourseSummary, courseAt, expectedCourses, groupCourses, modelCourses } from "./clusters/courses.ts";
import { type Division, divideTree, type TreeCourses, withoutBranch } from "./clusters/distinct.ts";
import {
  type FollowedWindow,
  followedAt,
  LEAST_FOLLOWED,
  LEAST_SHARE_FOLLOWED,
  roundWindow,
} from "./clusters/followed.ts";
import {
  fitGaussianMixture,
  type GaussianMixture,
  largestShares,
  mixtureFromLabels,
  mixtureMembership,
  takeGaussians,
} from "./clusters/gaussian-mixture.ts";
import { type GroupCourse, type GroupName, type NameOptions, nameGroups } from "./clusters/names.ts";
import { chooseNumberOfGroups, type NumberOfGroups } from "./clusters/number.ts";
import { type ClusteredPlaces, type GroupPart, partsOf, windowOf } from "./clusters/parts.ts";
import { splitTree } from "./clusters/split-tree.ts";
import { type TreeTop, treeTop } from "./clusters/tree-top.ts";
import { type WardTree, wardTree } from "./clusters/ward.ts";

/**
 * "bisect": a tree of the places by splits from above; "ward": by merges from below. "mixture": Gaussians fitted to the places,
 * membership in shares.
 */
export type GroupMethod = "bisect" | "ward" | "mixture";

/** What the methods do to the places, in words that "the places" may follow. */
export const GROUP_METHODS: Readonly<Record<GroupMethod, string>> = {
  bisect: "bisecting 2-means on",
  ward: "Ward's method on",
  mixture: "a mixture of Gaussians fitted to",
};

export interface GroupOptions {
  /** Default "bisect". */
  readonly method?: GroupMethod;
  /**
   * A number of groups, or "auto" (default): as many as have courses of their own (`divideTree`) for trees, the
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

const GROUP_OPTIONS: { readonly [Name in keyof Required<GroupOptions>]: true } = {
  method: true,
  numGroups: true,
  minObservations: true,
  maxGroups: true,
  seed: true,
  better: true,
};

export interface Group extends FollowedWindow {
  readonly letter: string;
  /** Two to four words, made by rule from the course between `from` and `until`. */
  readonly name: string;
  /** The same in numbers, "85 to 45 by year 5", and the rate of a course without a turn, "−8 a year", or "". */
  readonly summary: string;
  readonly rate: string;
  /** Members who are followed to the last time that the summary names. */
  readonly numSeen: number;
  readonly numMembers: number;
  /** Quantiles of the members' expected courses; outside `from` to `until` they speak of people hardly seen then. */
  readonly course: CourseSummary;
  /** Members whose last observation is at or after each time of the course, [T]. */
  readonly followed: Int32Array;
  /** Of several markers: name and course in each; those above are of the first. */
  readonly markers?: readonly GroupMarker[];
  /** Parts that a deeper cut of the tree finds in the group and whose courses differ from it. */
  readonly parts: readonly GroupPart[];
}

/** A group in one of several markers. */
export interface GroupMarker extends Pick<Group, "name" | "summary" | "rate" | "course"> {
  readonly marker: string;
}

export interface Groups {
  readonly method: GroupMethod;
  /** In the order of their letters: from the highest to the lowest last value. */
  readonly groups: readonly Group[];
  /** Position of each individual's most probable group in `groups`, [m]. */
  readonly labels: Int32Array;
  /** Posterior probability of each group, [m,K]. */
  readonly membership: Float64Array;
  /** The Gaussians that probabilities come from, in the order of `groups`: by them new places belong to groups. */
  readonly regions: GaussianMixture;
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
/** Times of the courses of groups. */
const NUM_TIMES = 61;
/** Times at which courses of groups are compared. */
const NUM_COMPARED = 21;

/**
 * Groups the placed individuals of a cohort.
 * @throws DtmError "option" for a method or a number of groups that cannot be had.
 * @example
 * const { labels, groups } = groupPlaces(model, embed(model, cohort), { numGroups: 4 });
 */
export function groupPlaces(model: TrajectoryModel, placements: Placements, options: GroupOptions = {}): Groups {
  checkModel("groupPlaces", model);
  checkPlacements("groupPlaces", placements);
  checkGiven("groupPlaces", { options });
  checkNames("groupPlaces", options, Object.keys(GROUP_OPTIONS));
  checkSeed("groupPlaces", options.seed);
  const { markers } = model;
  const own = viewPlacements(placements, markers, 0);
  const found = groupByMarker(viewMarker(model, 0), own, options, otherCourses(model, placements));
  if (markers.length === 1) return found;
  const K = found.groups.length;
  const each = markers.map((part, k) => {
    const view = viewMarker(model, k);
    const times = courseTimes(view, NUM_TIMES);
    const courses = groupCourses(
      expectedCourses(view, viewPlacements(placements, markers, k), times),
      times,
      found.labels,
      K,
    );
    const named = courses.map((course, g) => namedCourse(course, found.groups[g]));
    const names = nameGroups(named, namingOf(part, k === 0 ? options : {}));
    return { name: part.marker.name, courses, names };
  });
  const groups = found.groups.map((group, g) => ({
    ...group,
    name: `${markers[0].marker.name} ${group.name}`,
    markers: each.map(({ name: marker, courses, names }) => {
      const { name, summary, rate } = names.find((own) => own.group === g)!;
      return { marker, name, summary, rate, course: courses[g] };
    }),
  }));
  return { ...found, groups };
}

/** Courses of the second marker and on, of chosen individuals at chosen times. */
type OtherCourses = (individuals: Int32Array, times: Float64Array) => NonNullable<TreeCourses["others"]>;

function otherCourses(model: TrajectoryModel, placements: Placements): OtherCourses {
  return (individuals, times) =>
    model.markers.slice(1).map(({ basis, noise }, j) => {
      const { coefficients } = viewPlacements(placements, model.markers, j + 1);
      const rows = takeRows(coefficients, basis.numBasis, individuals);
      return { courses: modelCourses(viewMarker(model, j + 1), rows, times), noise: measurementSd(noise) };
    });
}

/** What names are made with. */
function namingOf({ noise, marker }: MarkerModel, { better }: GroupOptions): NameOptions {
  return { noise: measurementSd(noise), transform: marker.transform, timeUnit: marker.timeUnit, better };
}

/** Groups by the places, told apart by the courses of a marker and of others. */
function groupByMarker(
  model: TrajectoryModel,
  placements: Placements,
  options: GroupOptions,
  others: OtherCourses,
): Groups {
  const own = markerModel(model);
  const { method = "bisect", numGroups = "auto", minObservations = 4, maxGroups = MOST_GROUPS } = options;
  const known = Object.keys(GROUP_METHODS);
  checkOption(known.includes(method), "groupPlaces", `a method among ${known.join(", ")}`, method, "");
  const q = placements.mapDimension;
  const clustered = clusteredIndividuals(placements, minObservations, numGroups === "auto" ? maxGroups : numGroups);
  const points = takeRows(placements.location, q, clustered);
  const tree = (method === "bisect" ? splitTree : wardTree)(points, clustered.length, q);
  if (numGroups !== "auto") {
    const possible = Number.isInteger(numGroups) && numGroups >= 1 && numGroups <= clustered.length;
    checkOption(possible, "groupPlaces", `1 to ${clustered.length} groups`, numGroups, "Use fewer groups.");
  }
  const places = { model, placements, clustered, tree };
  const { cut, numCut, mixture, choice } =
    method === "mixture" ? mixtureGroups(places, points, options) : treeGroups(places, points, options, others);
  const K = mixture.numGroups;
  const shares = mixtureMembership(mixture, placements.location, placements.covariance);
  const raw = mostProbable(shares, K, clustered, cut);
  const times = courseTimes(model, NUM_TIMES);
  const curves = expectedCourses(model, placements, times);
  const courses = groupCourses(curves, times, raw, K);
  const windows = courses.map(({ group }) => windowOf(placements, times, (i) => raw[i] === group));
  const named = courses.map((course, g) => namedCourse(course, windows[g]));
  const names = nameGroups(named, namingOf(own, options));
  const members = clustered.map((i) => raw[i]);
  const parts = method === "mixture" ? [] : partsOf(places, members, courses, curves);
  const drawn = courses.map((course, g) => {
    const ends = placements.lastTime.filter((_, i) => raw[i] === g);
    const last = named[g].times[named[g].times.length - 1];
    const [numSeen] = followedAt(ends, [last]);
    return { course, ...windows[g], followed: followedAt(ends, times), numSeen, parts: parts[g] ?? [] };
  });
  const { rank, ...ordered } = inLetterOrder(names, drawn, raw, shares, mixture);
  const branches = cut.map((g) => rank[g]);
  const top = treeTop(tree, branches, numCut);
  const certainty = certaintyOf(shares, K);
  return { method, ...ordered, certainty, clustered, tree, treeTop: top, choice };
}

/** Most probable group of everybody. One that is nobody's keeps those whom the clustering put there: it was asked for, and shown. */
function mostProbable(shares: Float64Array, K: number, clustered: Int32Array, cut: Int32Array): Int32Array {
  const raw = largestShares(shares, K);
  const found = new Set(raw);
  clustered.forEach((i, k) => {
    if (!found.has(cut[k])) raw[i] = cut[k];
  });
  return raw;
}

/** Groups of the clustered [n], the Gaussians by which the others join, and how the number was chosen. */
interface FoundGroups {
  readonly cut: Int32Array;
  /** Groups that the tree is cut into at one height. */
  readonly numCut: number;
  readonly mixture: GaussianMixture;
  readonly choice: NumberOfGroups | null;
}

/** Groups of the tree with courses of their own, or as many as were asked for. */
function treeGroups(
  { model, placements, clustered, tree }: ClusteredPlaces,
  points: Float64Array, // [n,q]
  options: GroupOptions,
  others: OtherCourses,
): FoundGroups {
  const { numGroups = "auto", maxGroups = MOST_GROUPS, seed = 1 } = options;
  const q = placements.mapDimension;
  const own = markerModel(model);
  const times = comparedTimes(model, placements, clustered);
  const courses = modelCourses(model, takeRows(placements.coefficients, own.basis.numBasis, clustered), times);
  let division = divideTree(
    {
      tree,
      courses,
      times,
      noise: measurementSd(own.noise),
      others: others(clustered, times),
      firstTimes: Float64Array.from(clustered, (i) => placements.firstTime[i]),
      lastTimes: Float64Array.from(clustered, (i) => placements.lastTime[i]),
    },
    numGroups,
    maxGroups,
  );
  const regions = () => mixtureFromLabels(points, q, division.labels, division.numGroups);
  let mixture = regions();
  if (numGroups === "auto") {
    const covariances = takeRows(placements.covariance, q * q, clustered);
    for (;;) {
      const thin = thinBranch(division, mixtureMembership(mixture, points, covariances));
      if (thin === undefined) break;
      division = withoutBranch(division, thin);
      mixture = regions();
    }
  }
  const { labels, ofCut: _, ...distinct } = division;
  const choice =
    numGroups === "auto"
      ? chooseNumberOfGroups(points, clustered.length, q, { courses: distinct }, { maxGroups, seed })
      : null;
  return {
    cut: labels,
    numCut: distinct.numCut,
    mixture,
    choice,
  };
}

/** The branch that is the most probable group of the fewest of the clustered, if these are too few to be described: on the map it is none. */
function thinBranch({ numCut, numGroups }: Division, shares: Float64Array): number | undefined {
  const sizes = new Int32Array(numGroups);
  for (const g of largestShares(shares, numGroups)) sizes[g]++;
  const branches = Array.from({ length: numGroups - numCut }, (_, b) => numCut + b);
  return branches.filter((g) => sizes[g] < LEAST_FOLLOWED).sort((a, b) => sizes[a] - sizes[b])[0];
}

/** Gaussians fitted to the places, as many as BIC says, or as were asked for. */
function mixtureGroups(
  { placements, clustered, tree }: ClusteredPlaces,
  points: Float64Array, // [n,q]
  options: GroupOptions,
): FoundGroups {
  const { numGroups = "auto", maxGroups = MOST_GROUPS, seed = 1 } = options;
  const q = placements.mapDimension;
  const n = clustered.length;
  const fit = fitGaussianMixture(points, n, q, { numGroups, maxGroups, tree });
  const { cut, mixture } = withMembers(fit.labels, points, q, fit.mixture);
  const numCut = mixture.numGroups;
  if (numGroups !== "auto") return { cut, numCut, mixture, choice: null };
  const decides = { bic: fit.evidence, numGroups: numCut };
  return { cut, numCut, mixture, choice: chooseNumberOfGroups(points, n, q, decides, { maxGroups, seed }) };
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

/** The median course between round times while half of the members are followed: what a name may speak of. */
function namedCourse({ times, median }: CourseSummary, window: FollowedWindow): GroupCourse {
  if (window.from === window.until) return { times: [window.from], values: [courseAt(times, median, window.from)] };
  const { from, until } = roundWindow(window);
  const at = [from, ...times.filter((t) => t > from && t < until), until];
  return { times: at, values: at.map((t) => courseAt(times, median, t)) };
}

/** Individuals observed often enough to be clustered; everybody, if these are too few for the groups asked for. */
function clusteredIndividuals(placements: Placements, minObservations: number, numGroups: number): Int32Array {
  const often = placements.ids.map((_, i) => i).filter((i) => placements.numObservations[i] >= minObservations);
  const enough = often.length >= Math.max(10, 3 * numGroups);
  return Int32Array.from(enough ? often : placements.ids.map((_, i) => i));
}

/** Times at which courses are compared: from the first to the last at which a tenth of the clustered are followed. */
function comparedTimes(model: TrajectoryModel, placements: Placements, clustered: Int32Array): Float64Array {
  const [first, last] = basisDomain(markerModel(model).basis);
  const ends = Float64Array.from(clustered, (i) => placements.lastTime[i]).sort();
  const end = Math.min(last, ends[Math.floor((1 - LEAST_SHARE_FOLLOWED) * (ends.length - 1))]);
  const until = end > first ? end : last;
  return Float64Array.from({ length: NUM_COMPARED }, (_, k) => first + ((until - first) * k) / (NUM_COMPARED - 1));
}

function inLetterOrder(
  names: readonly GroupName[],
  drawn: readonly Omit<Group, "letter" | "name" | "summary" | "rate" | "numMembers">[],
  raw: Int32Array,
  shares: Float64Array,
  mixture: GaussianMixture,
): Pick<Groups, "groups" | "labels" | "membership" | "regions"> & { readonly rank: Int32Array } {
  const K = mixture.numGroups;
  const rank = new Int32Array(K);
  names.forEach((name, r) => {
    rank[name.group] = r;
  });
  const membership = new Float64Array(shares.length);
  for (let i = 0; i < raw.length; i++) for (let k = 0; k < K; k++) membership[i * K + rank[k]] = shares[i * K + k];
  return {
    groups: names.map(({ letter, name, summary, rate, group }, r) => ({
      ...{ letter, name, summary, rate },
      numMembers: drawn[group].course.numMembers,
      ...drawn[group],
      course: { ...drawn[group].course, group: r },
    })),
    labels: raw.map((k) => rank[k]),
    membership,
    regions: takeGaussians(
      mixture,
      names.map(({ group }) => group),
    ),
    rank,
  };
}
