/**
 * The course of a group: quantiles over its members' expected curves, time by time. With members sorted at each time,
 * the quantile of probability p lies at (n − 1)p between neighbours (R's type 7).
 */
import { checkOption, DtmError } from "../../errors.ts";
import { quantilesInPlace } from "../../numeric/select.ts";

/** Pointwise quantiles of the curves of one group. */
export interface CourseSummary {
  readonly group: number;
  readonly numMembers: number;
  readonly times: Float64Array; // [T]
  readonly median: Float64Array; // [T]
  readonly lower: Float64Array; // [T]
  readonly upper: Float64Array; // [T]
}

/** Times taken from the curves together: a line of memory holds eight, and reading it costs most. */
const TIMES_AT_ONCE = 8;

/**
 * Median and fan of each group's curves Y [n,T]; labels are 0..k−1, below 0 means no group. The fan holds the central
 * `level` of the members. Default 0.8 (10 % to 90 %).
 */
export function groupCourses(
  curves: Float64Array,
  times: ArrayLike<number>,
  labels: ArrayLike<number>,
  numGroups: number,
  { level = 0.8 }: { readonly level?: number } = {},
): CourseSummary[] {
  const T = times.length;
  if (curves.length !== labels.length * T) {
    throw new DtmError(
      "shape",
      `groupCourses: expected curves [${labels.length},${T}], received ${curves.length} numbers.`,
    );
  }
  checkOption(level > 0 && level < 1, "groupCourses: level", "a share between 0 and 1", level, "Try 0.8.");
  const probabilities = [0.5 - 0.5 * level, 0.5, 0.5 + 0.5 * level];
  return membersOf(labels, numGroups).map((members, group) => {
    const [lower, median, upper] = curveQuantiles(curves, T, members, probabilities);
    return { group, numMembers: members.length, times: Float64Array.from(times), median, lower, upper };
  });
}

/** Median curve [T] of each group, labels as in `groupCourses`. */
export function groupMedians(
  curves: Float64Array,
  numTimes: number,
  labels: ArrayLike<number>,
  numGroups: number,
): { readonly numMembers: number; readonly median: Float64Array }[] {
  return membersOf(labels, numGroups).map((members) => {
    const [median] = curveQuantiles(curves, numTimes, members, [0.5]);
    return { numMembers: members.length, median };
  });
}

/** Quantiles over the curves of the members, time by time: a series [T] for each probability. */
function curveQuantiles(curves: Float64Array, T: number, members: Int32Array, probabilities: readonly number[]) {
  const n = members.length;
  const series = probabilities.map(() => new Float64Array(T));
  const columns = new Float64Array(TIMES_AT_ONCE * n);
  const found = new Float64Array(probabilities.length);
  for (let first = 0; first < T; first += TIMES_AT_ONCE) {
    const width = Math.min(TIMES_AT_ONCE, T - first);
    for (let place = 0; place < n; place++) {
      const at = members[place] * T + first;
      for (let j = 0; j < width; j++) columns[j * n + place] = curves[at + j];
    }
    for (let j = 0; j < width; j++) {
      quantilesInPlace(columns.subarray(j * n, (j + 1) * n), probabilities, found);
      series.forEach((values, k) => {
        values[first + j] = found[k];
      });
    }
  }
  return series;
}

/** Positions of the members of each group, none of which may be empty. */
function membersOf(labels: ArrayLike<number>, numGroups: number): Int32Array[] {
  const sizes = new Int32Array(numGroups);
  for (let i = 0; i < labels.length; i++) if (labels[i] >= 0) sizes[labels[i]]++;
  const empty = sizes.indexOf(0);
  if (empty >= 0) throw new DtmError("empty-group", `groupCourses: group ${empty} of ${numGroups} is empty.`);
  const members = Array.from(sizes, (size) => new Int32Array(size));
  const filled = new Int32Array(numGroups);
  for (let i = 0; i < labels.length; i++) {
    const group = labels[i];
    if (group >= 0) members[group][filled[group]++] = i;
  }
  return members;
}

/** A series at a time, by straight lines between the times given (two or more, increasing) and on beyond them. */
export function courseAt(times: ArrayLike<number>, values: ArrayLike<number>, t: number): number {
  let j = 0;
  while (j + 2 < times.length && times[j + 1] <= t) j++;
  return values[j] + ((t - times[j]) / (times[j + 1] - times[j])) * (values[j + 1] - values[j]);
}
