/**
 * Expected courses of individuals, and the course of a group: quantiles over its members' expected curves, time by time. With members sorted at each time,
 * the quantile of probability p lies at (n − 1)p between neighbours (R's type 7).
 */

import { designMatrix } from "../../basis/bspline.ts";
import { markerScale } from "../../cohort/marker.ts";
import { checkOption, DtmError } from "../../errors.ts";
import { markerModel } from "../../models/fit.ts";
import type { TrajectoryModel } from "../../models/model.ts";
import type { Placements } from "../../models/placement.ts";
import { multiply, transpose } from "../../numeric/matrix.ts";
import { sortedQuantile } from "../../numeric/select.ts";

/** Expected courses of individuals at the given times, marker's own scale, [m,T]. */
export function expectedCourses(
  model: TrajectoryModel,
  placements: Placements,
  times: ArrayLike<number>,
): Float64Array {
  const value = markerScale(markerModel(model).marker);
  const courses = modelCourses(model, placements.coefficients, times);
  for (let k = 0; k < courses.length; k++) courses[k] = value(courses[k]);
  return courses;
}

/** Expected courses b(t)'(μ + w_i) of individuals with coefficients w [n,d], on the model's scale, [n,T]. */
export function modelCourses(
  model: TrajectoryModel,
  coefficients: Float64Array,
  times: ArrayLike<number>,
): Float64Array {
  const { basis, mean } = markerModel(model);
  const [d, T] = [basis.numBasis, times.length];
  const w = coefficients.map((v, k) => mean.coefficients[k % d] + v);
  return multiply(w, transpose(designMatrix(basis, times), T, d), w.length / d, d, T);
}

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
 * `level` of the members. Default 0.8 (10% to 90%).
 * @throws DtmError "shape", "option" or "empty-group".
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

/** Quantiles over the curves of the members, time by time: a series [T] for each probability. */
function curveQuantiles(curves: Float64Array, T: number, members: Int32Array, probabilities: readonly number[]) {
  const series = probabilities.map(() => new Float64Array(T));
  const column = new Float64Array(members.length);
  for (let t = 0; t < T; t++) {
    for (let k = 0; k < members.length; k++) column[k] = curves[members[k] * T + t];
    column.sort();
    for (const [k, values] of series.entries()) values[t] = sortedQuantile(column, probabilities[k]);
  }
  return series;
}

/** Positions of the members of each group, none of which may be empty. */
function membersOf(labels: ArrayLike<number>, numGroups: number): Int32Array[] {
  const members = Array.from({ length: numGroups }, (): number[] => []);
  for (let i = 0; i < labels.length; i++) if (labels[i] >= 0) members[labels[i]].push(i);
  const empty = members.findIndex(({ length }) => length === 0);
  if (empty >= 0) throw new DtmError("empty-group", `groupCourses: group ${empty} of ${numGroups} is empty.`);
  return members.map((list) => Int32Array.from(list));
}

/** A series at a time, by straight lines between the times given (two or more, increasing) and on beyond them. */
export function courseAt(times: ArrayLike<number>, values: ArrayLike<number>, t: number): number {
  let j = 0;
  while (j + 2 < times.length && times[j + 1] <= t) j++;
  return values[j] + ((t - times[j]) / (times[j + 1] - times[j])) * (values[j + 1] - values[j]);
}
