/** Three marks for a first map: a dot, the lens, a group. Put away once, they stay away, also in the next visit where the browser lets. */
import { explorer } from "../../state/explorer.svelte.ts";
import { type MapStudy, studies } from "./map-studies.svelte.ts";

const KEY = "trajectory-maps-coached";
export const NUM_MARKS = 3;

function wasCoached(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    // A page from disk may have no storage: the marks are for this visit then.
    return false;
  }
}

class Coach {
  /** The mark that is shown, or null. */
  mark: number | null = $state(wasCoached() ? null : 0);
  /** Whom the mark speaks of, to be ringed on the map; null while nothing is. */
  readonly ringed: readonly number[] | null = $derived.by(() => {
    const { study, groups } = studies;
    if (study === null || this.mark === null || explorer.view.individual !== null) return null;
    if (this.mark === 0) return [dotOf(study)];
    return this.mark === 2 ? (groups?.members[0] ?? null) : null;
  });

  next(): void {
    if (this.mark !== null && this.mark + 1 < NUM_MARKS) this.mark++;
    else this.dismiss();
  }

  dismiss(): void {
    this.mark = null;
    try {
      localStorage.setItem(KEY, "1");
    } catch {
      // Nothing is kept, and nothing is lost by that.
    }
  }
}

/** The coach of the page. */
export const coach = new Coach();

/** An individual with a sure place among the others, not at the edge. */
export function dotOf({ sd, placements }: Pick<MapStudy, "sd" | "placements">): number {
  const { location, mapDimension: q } = placements;
  let [best, least] = [0, Infinity];
  for (let i = 0; i < sd.length; i++) {
    let square = 0;
    for (let k = 0; k < q; k++) square += location[i * q + k] ** 2;
    const own = sd[i] + Math.sqrt(square);
    if (own < least) [best, least] = [i, own];
  }
  return best;
}
