/**
 * The individual that is open, as the worker answers it. Questions come faster than answers while a slider moves: one is
 * asked at a time, of those that wait only the last. The last answer stays until the next one is there.
 */
import type { Placements } from "@trajectory-maps/core";
import type { Interval } from "@trajectory-maps/core/models";
import { largestShares } from "@trajectory-maps/core/study";
import { explorer } from "../../state/explorer.svelte.ts";
import type { IndividualAnswer } from "../../worker/api.ts";
import { factsUntil } from "./sentence.ts";

export interface OpenQuestion {
  readonly individual: number;
  readonly compared: number | null;
  /** Position of the marker that times, threshold and change belong to. */
  readonly marker: number;
  /** Times at which the courses of the other markers are wanted, by their position. */
  readonly others: readonly { readonly marker: number; readonly at: readonly number[] }[];
  readonly knownAt: number | null;
  readonly threshold: number;
  readonly at: readonly number[];
  readonly change: readonly [number, number];
}

/** What was answered, with the individual it is about. */
export interface OpenAnswer {
  /** The places of the map it was asked of: those of another mean nothing on this one. */
  readonly of: Placements | null;
  readonly individual: number;
  readonly marker: number;
  readonly answer: IndividualAnswer;
  /** Of the other markers, in the order of the question. */
  readonly others: readonly IndividualAnswer[];
  /** Places after each visit, all of them; empty until known. */
  readonly trail: IndividualAnswer["trail"];
  readonly change: readonly [number, number];
  readonly compared: number | null;
  readonly second: IndividualAnswer | null;
  /** First minus second, at the last time to which both are told. */
  readonly difference: Interval | null;
  readonly differenceAt: number;
}

class OpenIndividual {
  answered: OpenAnswer | null = $state.raw(null);
  /** Why there is no answer, e.g. a value that the marker cannot take. */
  problem: string | null = $state.raw(null);
  #asking = false;
  #waiting: OpenQuestion | null = null;
  /** Trail of the last individual looked at, with the map and the visits it belongs to. */
  #trail: { readonly of: readonly [unknown, unknown]; readonly places: IndividualAnswer["trail"] } | null = null;

  /** The answer about an individual on the map as it stands and the chosen marker, or null. */
  about(individual: number): OpenAnswer | null {
    const { answered } = this;
    const isShown = answered?.of === shownPlaces() && answered?.marker === explorer.marker;
    return isShown && answered?.individual === individual ? answered : null;
  }

  /** Most probable group of an individual by the visits that are used, −1 while that is not known. */
  groupOf(individual: number): number {
    const shares = this.about(individual)?.answer.membership ?? [];
    if (shares.length > 0) return largestShares(Float64Array.from(shares), shares.length)[0];
    // All visits are used, and the answer will say the same.
    return explorer.view.knownAt === null && individual >= 0 ? (explorer.groups?.labels[individual] ?? -1) : -1;
  }

  ask(question: OpenQuestion): void {
    if (this.about(question.individual) === null) this.answered = null;
    this.#waiting = question;
    if (!this.#asking) void this.#work();
  }

  close(): void {
    this.#waiting = null;
    this.answered = null;
    this.problem = null;
  }

  async #work(): Promise<void> {
    this.#asking = true;
    while (this.#waiting !== null) {
      const question: OpenQuestion = this.#waiting;
      this.#waiting = null;
      // Closed or asked about somebody else meanwhile: the answer is no longer wanted.
      const { draft } = explorer;
      const places = shownPlaces();
      const wanted = () =>
        explorer.view.individual === question.individual &&
        shownPlaces() === places &&
        explorer.marker === question.marker;
      try {
        const of = [places, question.individual < 0 ? draft : question.individual] as const;
        const known = this.#trail?.of[0] === of[0] && this.#trail.of[1] === of[1] ? this.#trail.places : null;
        const answered = await answerOf(question, known ?? []);
        if (wanted()) {
          this.answered = answered;
          this.problem = null;
        }
        // The trail is one placing per visit and the same whatever is known when: asked once, after the rest.
        if (known === null && wanted() && this.#waiting === null) {
          const { trail } = await explorer.individual(question.individual, { at: question.at.slice(-1), trail: true });
          this.#trail = { of, places: trail };
          if (wanted()) this.answered = { ...answered, trail };
        }
      } catch (error) {
        if (!wanted()) continue;
        // The name of a function at the head of a message says nothing to a reader.
        this.problem = (error instanceof Error ? error.message : String(error)).replace(/^\w+: /, "");
        this.answered = null;
      }
    }
    this.#asking = false;
  }
}

function shownPlaces(): Placements | null {
  return explorer.wholeFit?.placements ?? null;
}

async function answerOf(question: OpenQuestion, trail: OpenAnswer["trail"]): Promise<OpenAnswer> {
  const of = shownPlaces();
  const { individual, compared, knownAt, threshold, at, change, marker } = question;
  const known = knownAt === null ? {} : { knownAt };
  const [answer, ...others] = await Promise.all([
    explorer.individual(individual, { ...known, threshold, at, change, marker }),
    ...question.others.map((other) => explorer.individual(individual, { ...known, ...other })),
  ]);
  const first = { of, individual, marker, answer, others, trail, change, compared };
  const last = at[at.length - 1];
  if (compared === null) return { ...first, second: null, difference: null, differenceAt: last };
  const second = await explorer.individual(compared, { at, marker });
  // Beyond, each course is the model's alone, and their difference nobody's.
  const differenceAt = Math.min(...[answer, second].map((one) => factsUntil(one, { last })));
  const [difference] = await explorer.difference(individual, compared, { ...known, at: [differenceAt] });
  return { ...first, second, difference, differenceAt };
}

export const open = new OpenIndividual();
