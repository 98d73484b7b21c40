/**
 * The course of a group: quantiles over its members' expected curves, time by time. With members sorted at each time,
 * the quantile of probability p lies at (n − 1)p between neighbours (R's type 7).
 */
import { sortedQuantile } from "../../basis/knots.ts";
import { checkOption, DtmError } from "../../errors.ts";

/** Pointwise quantiles of the curves of one group. */
export interface CourseSummary {
  readonly group: number;
  readonly numMembers: number;
  readonly times: Float64Array; // [T]
  readonly median: Float64Array; // [T]
  readonly lower: Float64Array; // [T]
  readonly upper: Float64Array; // [T]
}

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
  return Array.from({ length: numGroups }, (_, group) => {
    const members: number[] = [];
    for (let i = 0; i < labels.length; i++) if (labels[i] === group) members.push(i);
    if (members.length === 0)
      throw new DtmError("empty-group", `groupCourses: group ${group} of ${numGroups} is empty.`);
    const column = new Float64Array(members.length);
    const [median, lower, upper] = [new Float64Array(T), new Float64Array(T), new Float64Array(T)];
    for (let j = 0; j < T; j++) {
      members.forEach((i, place) => {
        column[place] = curves[i * T + j];
      });
      column.sort();
      median[j] = sortedQuantile(column, 0.5);
      lower[j] = sortedQuantile(column, 0.5 - 0.5 * level);
      upper[j] = sortedQuantile(column, 0.5 + 0.5 * level);
    }
    return { group, numMembers: members.length, times: Float64Array.from(times), median, lower, upper };
  });
}

/** A series at a time, by straight lines between the times given (two or more, increasing) and on beyond them. */
export function courseAt(times: ArrayLike<number>, values: ArrayLike<number>, t: number): number {
  let j = 0;
  while (j + 2 < times.length && times[j + 1] <= t) j++;
  return values[j] + ((t - times[j]) / (times[j + 1] - times[j])) * (values[j + 1] - values[j]);
}
