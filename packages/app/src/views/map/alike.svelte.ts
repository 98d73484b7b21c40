/** The people most like the open individual and what came next for them, asked for once nothing moves any more. */
import { type CameNext, cameNext, type PersonLike } from "@trajectory-maps/core/study";
import { horizonOf } from "../../patient/patient-words.ts";
import { explorer } from "../../state/explorer.svelte.ts";
import type { IndividualAnswer } from "../../worker/api.ts";
import type { MapStudy } from "./map-studies.svelte.ts";

export interface Alike extends CameNext {
  /** The answer they belong to. */
  readonly of: IndividualAnswer;
  readonly people: readonly PersonLike[];
  /** What was known at `from` is held against what came by `to`. */
  readonly from: number;
  readonly to: number;
  readonly threshold: number;
  readonly direction: "up" | "down";
}

/** Milliseconds without another question. */
const PAUSE = 300;
class AlikePeople {
  found: Alike | null = $state.raw(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Questions so far: of several on their way, the answer to the last one counts. */
  #asked = 0;

  ask(study: MapStudy, index: number, answer: IndividualAnswer, threshold: number, knownAt: number | null): void {
    clearTimeout(this.#timer);
    const question = ++this.#asked;
    if (answer.numUsed === 0) {
      this.found = null;
      return;
    }
    const { words, cohort } = study;
    // The time that the panel says: everybody is held against the same one.
    const from = knownAt ?? answer.lastUsed;
    this.#timer = setTimeout(async () => {
      const { location, covariance } = answer;
      const people = await explorer.peopleLike({ location, covariance, until: from, self: index }).catch(() => []);
      if (question !== this.#asked) return;
      const direction = answer.crossing?.direction ?? "down";
      const asked = { from, to: horizonOf(from, words), threshold, direction };
      const members = people.map(({ individual }) => individual);
      this.found = { of: answer, people, ...asked, ...cameNext(cohort, members, 0, asked) };
    }, PAUSE);
  }

  /** Those of an answer; null while others are shown. */
  about(answer: IndividualAnswer | null): Alike | null {
    return answer !== null && this.found?.of === answer && this.found.people.length > 0 ? this.found : null;
  }
}

export const alike = new AlikePeople();
