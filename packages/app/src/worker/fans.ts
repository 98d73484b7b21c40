/** Expected courses of chosen individuals, and their quantiles beside those of everyone else. */

import type { Placements } from "@trajectory-maps/core";
import { markerModel } from "@trajectory-maps/core";
import { type CourseSummary, expectedCourses, groupCourses } from "@trajectory-maps/core/study";
import type { Fitted } from "./api.ts";

/** Median course and 10–90% fan of the chosen, and of everyone else; null if nobody is left. */
export interface Fans {
  readonly chosen: CourseSummary;
  readonly others: CourseSummary | null;
}

type Placed = Pick<Fitted, "model" | "placements">;

/** Expected courses of the chosen on the marker's scale, [n,T]. */
export function coursesOf({ model, placements }: Placed, times: Float64Array, chosen: ArrayLike<number>): Float64Array {
  const d = markerModel(model).basis.numBasis;
  const coefficients = new Float64Array(chosen.length * d);
  for (let k = 0; k < chosen.length; k++) {
    coefficients.set(placements.coefficients.subarray(chosen[k] * d, (chosen[k] + 1) * d), k * d);
  }
  const ids = Array.from({ length: chosen.length }, (_, k) => placements.ids[chosen[k]]);
  return expectedCourses(model, { ...placements, ids, coefficients }, times);
}

/** Fans of the chosen and of everyone else. */
export function fansOf(placed: Placed, times: Float64Array, chosen: ArrayLike<number>): Fans {
  const others = othersThan(placed.placements, chosen);
  const fan = (members: ArrayLike<number>) =>
    groupCourses(coursesOf(placed, times, members), times, new Int32Array(members.length), 1)[0];
  return { chosen: fan(chosen), others: others.length === 0 ? null : fan(others) };
}

/** Positions of all who are not chosen. */
export function othersThan({ ids }: Placements, chosen: ArrayLike<number>): Int32Array {
  const isChosen = new Uint8Array(ids.length);
  for (let k = 0; k < chosen.length; k++) isChosen[chosen[k]] = 1;
  const others = new Int32Array(ids.length);
  let n = 0;
  for (let i = 0; i < ids.length; i++) if (isChosen[i] === 0) others[n++] = i;
  return others.subarray(0, n);
}
