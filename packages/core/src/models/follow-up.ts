/**
 * Where data end. Individuals like those at a place x are those within half a prior sd of it, or the 30 nearest where
 * fewer are that near. Their courses are seen up to the last time to which enough of them (a tenth, and at least 11) are
 * still followed; what a map says of x later is what the model expects, not what was seen.   (docs/math/groups.md §5)
 */
import type { Places } from "../models/placement.ts";
import { followedTo, roundWindow } from "./clusters/followed.ts";

/** In prior sd. */
const NEAR = 0.5;
const NEIGHBOURS = 30;

/** Gives, for any shown place [q], the last time to which enough similar individuals are followed; one may be left out. */
export function similarFollowedTo({
  location,
  lastTime,
  mapDimension: q,
}: Pick<Places, "location" | "lastTime" | "mapDimension">): (place: ArrayLike<number>, except?: number) => number {
  const m = lastTime.length;
  const squares = new Float64Array(m);
  return (place, except = -1) => {
    let reach = NEAR * NEAR;
    let near = 0;
    for (let i = 0; i < m; i++) {
      let square = 0;
      for (let c = 0; c < q; c++) square += (location[i * q + c] - place[c]) ** 2;
      squares[i] = i === except ? Number.POSITIVE_INFINITY : square;
      if (squares[i] <= reach) near++;
    }
    if (near < NEIGHBOURS) reach = smallest(squares, NEIGHBOURS);
    return followedTo(lastTime.filter((_, i) => squares[i] <= reach && i !== except));
  };
}

/** The time at which maps are coloured by default: the last round one to which enough individuals are followed. */
export function lastShownTime({ firstTime, lastTime }: Pick<Places, "firstTime" | "lastTime">): number {
  const [from, until] = [firstTime.reduce((a, b) => Math.min(a, b)), followedTo(lastTime)];
  return until > from ? roundWindow({ from, until }).until : until;
}

/** The count-th smallest value; the largest of fewer. Keeps the smallest in order: no sorting of a large cohort. */
function smallest(values: Float64Array, count: number): number {
  const kept: number[] = [];
  for (const v of values) {
    if (kept.length === count && v >= kept[count - 1]) continue;
    let at = kept.length;
    while (at > 0 && kept[at - 1] > v) at--;
    kept.splice(at, 0, v);
    if (kept.length > count) kept.pop();
  }
  return kept[kept.length - 1] ?? 0;
}
