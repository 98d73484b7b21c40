/** What is shown: the view with its undo and its address, steps through people and time, the selection. */
import { markerModel, numIndividuals } from "@trajectory-maps/core";
import { numObservations } from "@trajectory-maps/core/ingest";
import { basisDomain } from "@trajectory-maps/core/models";
import { lastShownTime, yearsPer } from "@trajectory-maps/core/study";
import { counted } from "@trajectory-maps/report";
import type { SelectMode } from "../map/types.ts";
import { timesOf } from "../worker/marker-view.ts";
import { Held } from "./held.svelte.ts";
import { type Link, type LinkFacts, linkOf, type Step, type View, viewToFragment, withoutPeople } from "./view.ts";

const UNDO_DEPTH = 100;
/** A visit at the very time counts, whatever a slider rounded. */
const SAME_TIME = 1e-9;

/** Whether the address at hand was made by opening an individual. */
function isOpenedHere(): boolean {
  return (history.state as { readonly opened?: boolean } | null)?.opened === true;
}

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
    const before = this.view.individual;
    this.view = this.missing(next.step) === null ? known : { ...known, step: this.view.step };
    const fragment = this.fragmentOf(this.view);
    if (fragment === location.hash || this.#leaving) return;
    const opened = before === null && this.view.individual !== null;
    const closed = before !== null && this.view.individual === null;
    // Back closes an individual before it leaves the step; closing it otherwise goes back to where it was opened.
    if (push || opened) history.pushState({ opened }, "", fragment);
    else if (closed && isOpenedHere()) {
      this.#leaving = true;
      history.back();
    } else history.replaceState(history.state, "", fragment);
  }

  /** Puts the address of an individual before the one shown: Back goes there. */
  backTo(individual: number): void {
    history.replaceState(history.state, "", this.fragmentOf({ ...this.view, individual }));
    history.pushState({ opened: false }, "", this.fragmentOf(this.view));
  }

  /** Whether the page is on its way back to the address that an individual was opened at. */
  #leaving = false;

  /** Shows what the address says, after Back or Forward. */
  protected followAddress(): void {
    if (this.#leaving) {
      this.#leaving = false;
      history.replaceState(history.state, "", this.fragmentOf(this.view));
      return;
    }
    if (location.hash === this.fragmentOf(this.view)) return;
    const next = this.viewOf(linkOf(location.hash));
    this.display({ ...next, step: this.missing(next.step) === null ? next.step : this.view.step });
  }

  /** The address of a view: what is shown, and of which study, without anybody's id or time. */
  fragmentOf(view: View): string {
    const { individual, knownAt } = view;
    const times = knownAt === null || individual === null ? [] : this.#timesOf(individual);
    const used = knownAt === null ? 0 : times.filter((t) => t <= knownAt + SAME_TIME).length;
    return viewToFragment(view, { of: this.#size(), visits: times.length === 0 ? null : used, demo: this.demo });
  }

  /** The view of a link as far as it can be shown of the study at hand: people are left out if it is of another. */
  protected viewOf({ view, of, visits }: Link): View {
    const size = this.#size();
    if (of !== null && size !== null && (of[0] !== size[0] || of[1] !== size[1])) return withoutPeople(view);
    if (visits === null || view.individual === null) return view;
    const times = this.#timesOf(view.individual);
    return { ...view, knownAt: visits < times.length ? (times[Math.max(0, visits - 1)] ?? null) : null };
  }

  /** Shows what a saved view says. */
  showLink(fragment: string): void {
    this.show(this.viewOf(linkOf(fragment)));
  }

  /** Shows what a link asked for, now that its data are there. The step is left to the reader. */
  protected followLink(): void {
    const { link } = this;
    if (link === null) return;
    this.link = null;
    const size = this.#size();
    const isOther = link.of !== null && size !== null && (link.of[0] !== size[0] || link.of[1] !== size[1]);
    if (isOther) {
      this.linkNote = `The link was made for ${counted(link.of?.[0] ?? 0, "individual")} with ${counted(link.of?.[1] ?? 0, "observation")}, not for these data: whom it showed is left out.`;
    }
    const view = this.viewOf(link);
    this.display({ ...view, outcome: view.outcome ?? this.view.outcome, step: this.view.step });
  }

  dismissLink(): void {
    this.linkNote = "";
  }

  #size(): LinkFacts["of"] {
    const { whole } = this;
    return whole === null ? null : [numIndividuals(whole.cohort), numObservations(whole.cohort)];
  }

  /** When an individual was seen; nothing of a new one. */
  #timesOf(individual: number): readonly number[] {
    const cohort = this.wholeFit?.cohort ?? this.whole?.cohort;
    if (cohort === undefined || individual < 0 || individual >= numIndividuals(cohort)) return [];
    return timesOf(
      cohort.markers.map(({ offsets, times }) => ({
        times: Array.from(times.subarray(offsets[individual], offsets[individual + 1])),
        values: [],
      })),
    );
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
