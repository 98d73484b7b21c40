/** What is shown: the view with its undo and its address, steps through people and time, the selection. */
import { markerModel, numIndividuals } from "@trajectory-maps/core";
import { basisDomain } from "@trajectory-maps/core/models";
import { lastShownTime, yearsPer } from "@trajectory-maps/core/study";
import type { SelectMode } from "../map/types.ts";
import { Held } from "./held.svelte.ts";
import { type Step, type View, viewToFragment } from "./view.ts";

const UNDO_DEPTH = 100;

/** The explorer as far as it shows. */
export class Showing extends Held {
  /** Changes the view. `quiet` changes (panning, hovering through) are no steps of undo. */
  show(change: Partial<View>, quiet = false): void {
    const next = { ...this.view, ...change };
    if (!quiet) {
      this.past = [...this.past.slice(-UNDO_DEPTH), this.view];
      this.future = [];
    }
    this.display(next, change.step !== undefined && change.step !== this.view.step);
  }

  /** Shows another marker; thresholds and coefficients are those of the one before. */
  chooseMarker(marker: number): void {
    if (marker !== this.view.marker) this.show({ marker, threshold: null, coefficient: 1 });
  }

  go(step: Step): void {
    if (this.missing(step) === null && step !== this.view.step) this.show({ step });
  }

  undo(): void {
    const last = this.past.pop();
    if (last === undefined) return;
    this.future.push(this.view);
    this.display({ ...last, step: this.missing(last.step) === null ? last.step : this.view.step });
  }

  redo(): void {
    const next = this.future.pop();
    if (next === undefined) return;
    this.past.push(this.view);
    this.display(next);
  }

  /** Puts a view in the place of the one shown, and into the address. */
  protected display(next: View, push = false): void {
    const known = this.#inCohort(next);
    this.view = this.missing(next.step) === null ? known : { ...known, step: this.view.step };
    const fragment = viewToFragment(this.view);
    if (fragment === location.hash) return;
    if (push) history.pushState(null, "", fragment);
    else history.replaceState(null, "", fragment);
  }

  /** The view without people and outcomes that the cohort lacks: a link may have been made for another. */
  #inCohort(view: View): View {
    if (this.loaded === null) return view;
    const m = numIndividuals(this.loaded.cohort);
    const there = (i: number | null) => (i !== null && i < m ? i : null);
    let { selection, outcome } = view;
    if (selection !== null && selection !== this.view.selection && selection.members.some((i) => i >= m)) {
      const members = selection.members.filter((i) => i < m);
      selection = members.length === 0 ? null : { ...selection, members };
    }
    if (outcome !== null && this.outcomeNames.length > 0 && !this.outcomeNames.includes(outcome)) {
      outcome = this.outcomeNames[0];
    }
    return { ...view, individual: there(view.individual), compared: there(view.compared), selection, outcome };
  }

  /** Opens the previous or next individual of the selection, the filtered group, or everyone. */
  stepIndividual(by: 1 | -1): void {
    const { selection, group, individual } = this.view;
    const labels = this.groups?.labels;
    const everyone = this.loaded === null ? [] : [...Array(numIndividuals(this.loaded.cohort)).keys()];
    const inGroup = group === null ? everyone : everyone.filter((i) => labels?.[i] === group);
    const list = selection?.members ?? inGroup;
    if (list.length === 0) return;
    const at = individual === null ? -1 : list.indexOf(individual);
    const next = at < 0 ? (by > 0 ? 0 : list.length - 1) : (at + by + list.length) % list.length;
    this.show({ individual: list[next], knownAt: null });
  }

  /** First and last time of the fitted model. */
  get domain(): readonly [number, number] {
    const model = this.fitted?.model;
    if (model === undefined) return [0, 1];
    return basisDomain(markerModel(model).basis);
  }

  /** Time of the terrain as it stands; at first the last one to which enough are followed. */
  get terrainTime(): number {
    const [first, last] = this.domain;
    return Math.min(last, Math.max(first, this.view.terrainTime ?? this.#shownTime() ?? last));
  }

  #shown: { readonly lastTime: Float64Array; readonly time: number } | null = null;

  /** Worked out once for a map: dragging asks often. */
  #shownTime(): number | null {
    const placements = this.fitted?.placements;
    if (placements === undefined || placements.ids.length === 0) return null;
    if (this.#shown?.lastTime !== placements.lastTime) {
      this.#shown = { lastTime: placements.lastTime, time: lastShownTime(placements) };
    }
    return this.#shown.time;
  }

  /** Moves the terrain by so many years; by twentieths of the whole where the unit of time is unknown. */
  stepTerrain(years: number): void {
    const [first, last] = this.domain;
    const timeUnit = this.fitted === null ? "" : markerModel(this.fitted.model).marker.timeUnit;
    const unit = yearsPer(timeUnit.replace(/s$/, ""));
    const by = unit === undefined ? (years * (last - first)) / 10 : years / unit;
    this.show({ terrainTime: Math.min(last, Math.max(first, this.terrainTime + by)) }, true);
  }

  /** Escape: clears pins, then the individual, the selection, the filter. */
  clearOne(): void {
    const { pins, individual, selection, group } = this.view;
    if (pins.length > 0) this.show({ pins: [] });
    else if (individual !== null) this.show({ individual: null, compared: null, knownAt: null });
    else if (selection !== null) this.show({ selection: null });
    else if (group !== null) this.show({ group: null });
  }

  /** Selects individuals, adds them to the selection or takes them out of it; `how` is kept as text. */
  select(chosen: ArrayLike<number>, mode: SelectMode, how: string): void {
    const { selection } = this.view;
    const before = new Set(mode === "replace" ? [] : (selection?.members ?? []));
    for (const i of Array.from(chosen)) {
      if (mode === "remove") before.delete(i);
      else before.add(i);
    }
    const members = [...before].sort((a, b) => a - b);
    const joint = mode === "add" ? "; added: " : "; taken out: ";
    const text = mode === "replace" || selection === null ? how : `${selection.how}${joint}${how}`;
    const change = members.length === 0 ? null : { members, how: text };
    this.show({ selection: change, individual: null, compared: null, knownAt: null });
  }
}
