/** Visits changed on the chart of an individual: a copy that is drawn beside what it was before, until it is kept or undone. */
import { codingOf } from "@trajectory-maps/core/models";
import { decodedRow } from "../../state/covariate-rows.ts";
import { explorer } from "../../state/explorer.svelte.ts";
import type { IndividualAnswer } from "../../worker/api.ts";
import type { Visits } from "../../worker/marker-view.ts";
import { studies } from "./map-studies.svelte.ts";

/** An individual as it was before. */
export interface Ghost {
  /** Position, −1 for the new one. */
  readonly index: number;
  readonly id: string;
  readonly visits: readonly Visits[];
  /** By the position of their markers. */
  readonly answers: ReadonlyMap<number, IndividualAnswer>;
}

/** Six digits are more than any marker has, and can be read in a field. */
const short = (v: number) => Number(v.toPrecision(6));

class WhatIf {
  ghost: Ghost | null = $state.raw(null);

  /** Changes the visits of a marker; the first change takes a copy. */
  change(index: number, marker: number, answers: Ghost["answers"], change: (visits: Visits) => Visits): void {
    if (this.ghost === null) {
      const { id, visits } = explorer.visitsOf(index);
      this.ghost = { index, id, visits, answers };
      if (index >= 0) this.#copy(index);
    }
    const { visits } = explorer.visitsOf(-1);
    explorer.editDraft({ visits: visits.map((own, k) => (k === marker ? change(own) : own)) });
  }

  /** Opens a copy of an individual as the new one; Back goes to the individual. */
  copy(index: number): void {
    this.#copy(index);
    explorer.backTo(index);
  }

  #copy(index: number): void {
    const individual = explorer.visitsOf(index);
    const visits = individual.visits.map(({ times, values, ...sides }) => ({
      times: times.map(short),
      values: values.map(short),
      ...sides,
    }));
    const coding = codingOf(studies.markers[0].model);
    const covariates =
      coding === undefined ? {} : decodedRow(coding, individual.covariates ?? new Float64Array(coding.columns.length));
    explorer.editDraft({ visits, covariates, of: { index, id: individual.id } });
  }

  undo(): void {
    const { ghost } = this;
    this.ghost = null;
    if (ghost === null) return;
    if (ghost.index >= 0) explorer.show({ individual: ghost.index });
    else explorer.editDraft({ visits: ghost.visits });
  }

  /** The copy stays; Back goes to whom it is of. */
  keep(): void {
    const { ghost } = this;
    this.ghost = null;
    if (ghost !== null && ghost.index >= 0 && explorer.view.individual === -1) explorer.backTo(ghost.index);
  }
}

export const whatIf = new WhatIf();

/** Visits with one of them moved, added at the end, or taken off. */
export function withVisit(visits: Visits, at: number, time: number, value: number): Visits {
  const put = (list: readonly number[], v: number) => [...list.slice(0, at), v, ...list.slice(at + 1)];
  const { times, values, censored } = visits;
  return { times: put(times, time), values: put(values, value), ...(censored && { censored: put(censored, 0) }) };
}

export function withoutVisit({ times, values, censored }: Visits, at: number): Visits {
  const rest = (list: readonly number[]) => list.filter((_, j) => j !== at);
  return { times: rest(times), values: rest(values), ...(censored && { censored: rest(censored) }) };
}
