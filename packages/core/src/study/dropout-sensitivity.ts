/**
 * What if those who left went on otherwise than the model says? Expected courses after somebody's last visit are those of a person
 * who is still measured, under missing at random: given the values before, leaving (or dying) says nothing of the values after. After
 * a death nothing is measured; the course then is what measurement would have shown had it gone on ("immortal cohort").
 * Pattern-mixture analysis with a shift δ, on the scale of the model per unit of time: for those who left, and for nobody else,
 *   y_i(t; δ) = f_i(t) + δ max(0, t − L_i),      L_i the last visit,
 * while map, places and groups stay as they are. Then, delta by delta, the median over the members of each group, its course, and
 * the mean forecast, which moves by δ mean_i max(0, t − L_i). δ = 0 is missing at random.
 * Tipping: the δ nearest to 0 at which the difference of two groups' medians at a time is 0, if those who left of both groups, of the
 * first alone, or of the second alone are shifted. The difference is continuous and piecewise linear in δ: looked through at 161
 * places within ±reach, then halved.   (docs/math/survival.md §11)
 */
import { type Marker, markerScale } from "../cohort/marker.ts";
import { checkOption, DtmError } from "../errors.ts";
import { modelCourses } from "../map/clusters/courses.ts";
import { followedAt, followedWindow, roundWindow } from "../map/clusters/followed.ts";
import type { Groups } from "../map/groups.ts";
import { markerModel } from "../models/fit.ts";
import type { TrajectoryModel } from "../models/model.ts";
import type { Placements } from "../models/placement.ts";
import { meanAndSd } from "../numeric/moments.ts";
import { median } from "../numeric/select.ts";

export interface DropoutStudy {
  /** Of one marker. */
  readonly model: TrajectoryModel;
  readonly placements: Placements;
  readonly groups: Pick<Groups, "labels" | "groups">;
}

export interface DropoutOptions {
  /** Shifts per unit of time on the scale of the model. Default: −2 to 2 times `deltaStep` by halves. */
  readonly deltas?: readonly number[];
  /** When groups are compared. Default: the last round time at which half of all individuals are still followed. */
  readonly at?: number;
  /** Times of the courses. Default: 25 from the first of the groups' courses to `at`. */
  readonly times?: readonly number[];
}

/** One group under one shift, at the time of comparison; on the marker's own scale. */
export interface ShiftedGroup {
  readonly median: number;
  /** Mean of the members' expected values, on the scale of the model and taken back from it. */
  readonly forecast: number;
}

/** Shifts at which two groups' medians meet; null where they do not within the reach. */
export interface TippingPoint {
  readonly first: number;
  readonly second: number;
  /** Difference of the medians without a shift, first less second, marker's own scale. */
  readonly difference: number;
  readonly both: number | null;
  readonly firstAlone: number | null;
  readonly secondAlone: number | null;
}

export interface DropoutSensitivity {
  readonly marker: Marker;
  /** Who was shifted, in words: "those with death". */
  readonly who: string;
  readonly numIndividuals: number;
  readonly numLeft: number;
  /** When groups are compared, and the shifts. */
  readonly at: number;
  /** One standard deviation of the expected values at `at`, on the scale of the model, over the time before, rounded. */
  readonly deltaStep: number;
  readonly deltas: readonly number[];
  readonly groups: readonly {
    readonly group: number;
    readonly letter: string;
    readonly name: string;
    readonly numMembers: number;
    /** Members who left before `at`, and the mean time since then over all members: what a forecast moves by for δ = 1. */
    readonly numLeft: number;
    readonly exposure: number;
    readonly stillFollowed: number;
  }[];
  /** For each delta, each group. */
  readonly rows: readonly { readonly delta: number; readonly groups: readonly ShiftedGroup[] }[];
  /** Median courses for each delta and group, marker's own scale, [T] each. */
  readonly courses: {
    readonly times: readonly number[];
    readonly medians: readonly (readonly (readonly number[])[])[];
  };
  readonly tipping: readonly TippingPoint[];
  /** Tipping points were looked for up to here on either side. */
  readonly reach: number;
}

const NUM_TIMES = 25;
const SEARCHED = 80;
const REACH = 8;

/**
 * The analysis; `left` is 1 for individuals who left (of the placements' order), `who` says in words who they are.
 * @throws DtmError "several-markers", "shape", "option" or "empty-group".
 * @example
 * const died = Array.from(followUp.events, (e) => (e === 1 ? 1 : 0));
 * const { rows, tipping } = dropoutSensitivity({ model, placements, groups }, died, "those with death");
 */
export function dropoutSensitivity(
  { model, placements, groups: { labels, groups } }: DropoutStudy,
  left: ArrayLike<number>,
  who: string,
  options: DropoutOptions = {},
): DropoutSensitivity {
  const { marker } = markerModel(model);
  const { lastTime, coefficients } = placements;
  const m = lastTime.length;
  if (left.length !== m) {
    throw new DtmError("shape", `dropoutSensitivity: expected ${m} marks of who left, received ${left.length}.`);
  }
  const value = markerScale(marker);
  const at = options.at ?? roundWindow(followedWindow(placements.firstTime, lastTime)).until;
  const from = Math.min(...groups.map(({ course }) => course.times[0]), at);
  checkOption(Number.isFinite(at), "dropoutSensitivity: at", "a time", at, "Leave it out for the default.");
  const times = options.times ?? evenTimes(from, at);
  const members = groups.map((_, g) => Array.from({ length: m }, (_, i) => i).filter((i) => labels[i] === g));
  const empty = members.findIndex(({ length }) => length === 0);
  if (empty >= 0) throw new DtmError("empty-group", `dropoutSensitivity: group ${empty} has no members.`);

  // f_i at each time, and at `at` behind them, [m,T+1]; the time since leaving.
  const T = times.length;
  const f = modelCourses(model, coefficients, [...times, at]);
  const since = (i: number, t: number) => (left[i] === 1 ? Math.max(0, t - lastTime[i]) : 0);
  const shifted = (i: number, k: number, delta: number) =>
    f[i * (T + 1) + k] + (delta === 0 ? 0 : delta * since(i, k < T ? times[k] : at));
  const medianOf = (g: number, k: number, delta: number) => median(members[g].map((i) => shifted(i, k, delta)));

  const { sd } = meanAndSd(Array.from({ length: m }, (_, i) => f[i * (T + 1) + T]));
  const deltaStep = roundToOne(sd / Math.max(at - from, Number.MIN_VALUE));
  const deltas = options.deltas ?? [-2, -1, -0.5, 0, 0.5, 1, 2].map((k) => Number((k * deltaStep).toPrecision(6)));
  checkOption(
    deltas.length > 0 && deltas.every(Number.isFinite),
    "dropoutSensitivity: deltas",
    "finite shifts",
    deltas.join(", "),
    "Leave them out for the default.",
  );
  const reach = Number((REACH * deltaStep).toPrecision(6));
  const exposure = members.map((own) => own.reduce((sum, i) => sum + since(i, at), 0) / own.length);
  const meanAt = members.map((own) => own.reduce((sum, i) => sum + shifted(i, T, 0), 0) / own.length);
  return {
    marker,
    who,
    numIndividuals: m,
    numLeft: Array.from(left).filter((v) => v === 1).length,
    at,
    deltaStep,
    deltas,
    groups: groups.map(({ letter, name }, group) => ({
      group,
      letter,
      name,
      numMembers: members[group].length,
      numLeft: members[group].filter((i) => since(i, at) > 0).length,
      exposure: exposure[group],
      stillFollowed: followedAt(
        members[group].map((i) => lastTime[i]),
        [at],
      )[0],
    })),
    rows: deltas.map((delta) => ({
      delta,
      groups: groups.map((_, g) => ({
        median: value(medianOf(g, T, delta)),
        forecast: value(meanAt[g] + delta * exposure[g]),
      })),
    })),
    courses: {
      times,
      medians: deltas.map((delta) => groups.map((_, g) => times.map((_, k) => value(medianOf(g, k, delta))))),
    },
    tipping: tippingPoints((g, delta) => medianOf(g, T, delta), value, groups.length, reach),
    reach,
  };
}

/** Where the medians of each pair of groups meet; `at` is the median of a group under a shift, on the scale of the model. */
function tippingPoints(
  at: (group: number, delta: number) => number,
  value: (z: number) => number,
  numGroups: number,
  reach: number,
): TippingPoint[] {
  const grid = Array.from({ length: 2 * SEARCHED + 1 }, (_, k) => (reach * (k - SEARCHED)) / SEARCHED);
  const tables = Array.from({ length: numGroups }, (_, g) => grid.map((delta) => at(g, delta)));
  const pairs = Array.from({ length: numGroups }, (_, a) => a).flatMap((a) =>
    Array.from({ length: numGroups - a - 1 }, (_, k): [number, number] => [a, a + 1 + k]),
  );
  return pairs.map(([first, second]) => {
    const [none, a, b] = [SEARCHED, tables[first], tables[second]];
    const search = (moveFirst: boolean, moveSecond: boolean) =>
      nearestZero(
        grid,
        grid.map((_, k) => a[moveFirst ? k : none] - b[moveSecond ? k : none]),
        (delta) => at(first, moveFirst ? delta : 0) - at(second, moveSecond ? delta : 0),
      );
    return {
      first,
      second,
      difference: value(a[none]) - value(b[none]),
      both: search(true, true),
      firstAlone: search(true, false),
      secondAlone: search(false, true),
    };
  });
}

/** The zero of a continuous function that is nearest to 0, given its values on a grid with 0 in the middle; null without one. */
function nearestZero(grid: readonly number[], values: readonly number[], f: (delta: number) => number): number | null {
  const middle = (grid.length - 1) / 2;
  if (values[middle] === 0) return 0;
  const sign = Math.sign(values[middle]);
  for (let k = 1; k <= middle; k++) {
    const found = [middle - k, middle + k].filter((j) => values[j] * sign <= 0);
    if (found.length === 0) continue;
    const zeros = found.map((j) => {
      let [near, far] = [grid[j < middle ? j + 1 : j - 1], grid[j]];
      for (let step = 0; step < 40; step++) {
        const half = 0.5 * (near + far);
        if (f(half) * sign > 0) near = half;
        else far = half;
      }
      return far;
    });
    return zeros.reduce((a, b) => (Math.abs(b) < Math.abs(a) ? b : a));
  }
  return null;
}

function evenTimes(from: number, to: number): number[] {
  return Array.from({ length: NUM_TIMES }, (_, k) => from + ((to - from) * k) / (NUM_TIMES - 1));
}

/** One significant digit. */
function roundToOne(x: number): number {
  return x > 0 && Number.isFinite(x) ? Number(x.toPrecision(1)) : 1;
}
