/**
 * Fans of the individuals that are open together. Those of a small cohort are made at once; of a large one the worker is
 * asked, because the page would stop for them.
 */
import { explorer } from "../../state/explorer.svelte.ts";
import { type Fans, fansOf } from "../../worker/fans.ts";
import type { MapStudy } from "./map-studies.svelte.ts";

const MADE_AT_ONCE = 5000;

interface Made {
  readonly study: MapStudy;
  readonly members: readonly number[];
  readonly fans: Fans;
}

class OpenFans {
  #answered: Made | null = $state.raw(null);
  /** The last made here: rail and panel show the same. */
  #made: Made | null = null;
  #asked: readonly number[] | null = null;

  /** The fans of members, or null until the worker has answered what `ask` asked. */
  of(study: MapStudy, members: readonly number[]): Fans | null {
    const isIt = (made: Made | null) => made !== null && made.study === study && made.members === members;
    if (study.placements.ids.length > MADE_AT_ONCE) return isIt(this.#answered) ? this.#answered!.fans : null;
    if (!isIt(this.#made)) this.#made = { study, members, fans: fansOf(study, study.times, members) };
    return this.#made!.fans;
  }

  /** Asks for the fans of members, unless they are there or on their way. */
  ask(study: MapStudy, members: readonly number[]): void {
    if (this.#asked === members || this.of(study, members) !== null) return;
    this.#asked = members;
    explorer.engine
      .fans(members, study.times, explorer.marker)
      .then((fans) => {
        if (this.#asked === members) this.#answered = { study, members, fans };
      })
      // A map that goes meanwhile takes the question with it.
      .catch(() => undefined)
      .finally(() => {
        if (this.#asked === members) this.#asked = null;
      });
  }
}

/** The fans of the page. */
export const openFans = new OpenFans();
