/**
 * The individual that is open, as the worker answers it. Questions come faster than answers while a slider moves: one is
 * asked at a time, of those that wait only the last. The last answer stays until the next one is there.
 */
import { DtmError, type Interval } from "@trajectory-maps/core";
import { explorer } from "../../state/explorer.svelte.ts";
import type { IndividualAnswer } from "../../worker/api.ts";

export interface OpenQuestion {
  readonly individual: number;
  readonly compared: number | null;
  readonly knownAt: number | null;
  readonly threshold: number;
  readonly at: readonly number[];
  readonly change: readonly [number, number];
}

/** What was answered, with the individual it is about. */
export interface OpenAnswer {
  readonly individual: number;
  readonly answer: IndividualAnswer;
  readonly change: readonly [number, number];
  readonly compared: number | null;
  readonly second: IndividualAnswer | null;
  /** First minus second, at the times asked for. */
  readonly difference: readonly Interval[] | null;
}

class OpenIndividual {
  answered: OpenAnswer | null = $state.raw(null);
  /** Why there is no answer, e.g. a value that the marker cannot take. */
  problem: string | null = $state.raw(null);
  #asking = false;
  #waiting: OpenQuestion | null = null;

  ask(question: OpenQuestion): void {
    if (this.answered?.individual !== question.individual) this.answered = null;
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
      try {
        const answered = await answerOf(question);
        // Closed or asked about somebody else meanwhile: this answer is no longer wanted.
        if (explorer.view.individual === question.individual) {
          this.answered = answered;
          this.problem = null;
        }
      } catch (error) {
        this.problem = error instanceof DtmError || error instanceof Error ? error.message : String(error);
      }
    }
    this.#asking = false;
  }
}

async function answerOf({ individual, compared, knownAt, threshold, at, change }: OpenQuestion): Promise<OpenAnswer> {
  const known = knownAt === null ? {} : { knownAt };
  const answer = await explorer.individual(individual, { ...known, threshold, at, change, trail: true });
  const [second, difference] =
    compared === null
      ? [null, null]
      : await Promise.all([
          explorer.individual(compared, { at }),
          explorer.difference(individual, compared, { ...known, at }),
        ]);
  return { individual, answer, change, compared, second, difference };
}

export const open = new OpenIndividual();
