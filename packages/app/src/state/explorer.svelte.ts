/**
 * The state of the explorer and everything that can be done to it. Views read `explorer` and call its methods; nothing else
 * changes state. Large data are `$state.raw`: replaced whole, never changed in place.
 */
import {
  type Association,
  basisDomain,
  type CohortQuality,
  type Comparison,
  type Complaint,
  DtmError,
  type Groups,
  type Interval,
  type LandmarkSurvival,
  type Outcome,
  type Stability,
  type TablePreview,
  yearsPer,
} from "@trajectory-maps/core";
import { packedDemo } from "../demo/packed.ts";
import { shortNumbers } from "../lib/numbers.ts";
import type { SelectMode } from "../map/types.ts";
import type {
  BaselinePlaces,
  Checked,
  CompareChoice,
  Engine,
  FitChoice,
  Fitted,
  FitUpdate,
  GroupChoice,
  IndividualAnswer,
  IndividualQuestion,
  Loaded,
  LoadedSubjects,
  ReadChoice,
  ShareSurface,
} from "../worker/api.ts";
import { connectEngine, type EngineConnection } from "../worker/client.ts";
import { canKeep, claim, forget, type Kept, keep, recall } from "./storage.ts";
import { FIRST_VIEW, type Step, type View, viewFromFragment, viewToFragment } from "./view.ts";

export type FitPhase = "idle" | "starting" | "running" | "paused" | "ending" | "failed";

/** A long piece of work that is under way. */
export interface Task {
  readonly what: string;
  readonly done: number;
  readonly of: number;
  readonly detail: string;
}

/** What went wrong, to be shown with its remedy. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly complaints: DtmError["complaints"];
  /** What complaints about a table were in the way of, and what stays; absent where there are none. */
  readonly title?: string;
}

export interface SavedSelection {
  readonly name: string;
  readonly members: readonly number[];
  readonly how: string;
}

/** data/start.json of the server. */
interface ServedStart {
  readonly visits?: { readonly path: string; readonly name: string };
  readonly subjects?: { readonly path: string; readonly name: string };
  readonly model?: { readonly path: string };
  readonly columns?: ReadChoice["columns"];
  readonly marker?: ReadChoice["marker"];
}

export const DEFAULT_FIT: FitChoice = { kind: "dtm", mapDimension: 2, mean: "scalar", restarts: 0, seed: 1 };

const UNDO_DEPTH = 100;
/** Milliseconds between two savings of a running fit. */
const KEEP_EVERY = 2000;

export class Explorer {
  // What is shown.
  view: View = $state.raw(FIRST_VIEW);
  theme: "system" | "light" | "dark" = $state("system");
  shortcuts = $state(true);
  /** Said by the polite live region. */
  spoken = $state("");

  // What was read.
  preview: TablePreview | null = $state.raw(null);
  previewName = $state("");
  /** Columns and marker said on the command line, for the table it was started with. */
  servedChoice: ReadChoice | null = $state.raw(null);
  /** The table looked at as it would be read; taken over by `read`. */
  checked: Checked | null = $state.raw(null);
  loaded: Loaded | null = $state.raw(null);
  subjects: LoadedSubjects | null = $state.raw(null);
  /** Names of the outcomes in use, as `readOutcomes` takes them. */
  outcomeNames: readonly string[] = $state.raw([]);
  outcomes: readonly Outcome[] = $state.raw([]);
  /** What was noticed about the outcomes in use: ids that no visit has, few cases. */
  outcomeWarnings: readonly Complaint[] = $state.raw([]);
  problem: Problem | null = $state.raw(null);

  // The fit.
  fitChoice: FitChoice = $state.raw(DEFAULT_FIT);
  fitPhase: FitPhase = $state("idle");
  update: FitUpdate | null = $state.raw(null);
  trace: readonly number[] = $state.raw([]);
  /** Traces of the stages before, oldest first: the coarse lattice, other starts. */
  earlierTraces: readonly { readonly stage: string; readonly values: readonly number[] }[] = $state.raw([]);
  /** The fit that `trace` belongs to once it has ended; models that were opened have none. */
  tracedFit: Fitted | null = $state.raw(null);
  livePlaces: Float32Array | null = $state.raw(null);
  fitted: Fitted | null = $state.raw(null);

  // The study.
  groups: Groups | null = $state.raw(null);
  groupChoice: GroupChoice = $state.raw({ numGroups: "auto", seed: 1 });
  /** Names given by the user, by letter. */
  groupNames: { readonly [letter: string]: string } = $state.raw({});
  stability: Stability | null = $state.raw(null);
  baselines: readonly BaselinePlaces[] | null = $state.raw(null);
  association: Association | null = $state.raw(null);
  comparison: Comparison | null = $state.raw(null);
  survival: LandmarkSurvival | null = $state.raw(null);
  surface: ShareSurface | null = $state.raw(null);
  saved: readonly SavedSelection[] = $state.raw([]);
  /** The new individual of the what-if panel. */
  draft: { readonly times: readonly number[]; readonly values: readonly number[] } = $state.raw({
    times: [],
    values: [],
  });
  task: Task | null = $state.raw(null);

  // Storage.
  mayKeep = $state(false);
  canKeep = $state(false);
  kept: Kept | null = $state.raw(null);

  #connection: EngineConnection | null = null;
  #past: View[] = [];
  #future: View[] = [];
  /** Fits begun: an older one that ends says nothing about the one under way. */
  #fits = 0;
  /** Long pieces of work begun: the bar shows the last alone. */
  #tasks = 0;
  #lastKept = 0;

  get engine(): Engine {
    this.#connection ??= connectEngine();
    return this.#connection.engine;
  }

  get quality(): CohortQuality | null {
    return this.loaded?.quality ?? null;
  }

  /** Why a step cannot be opened yet, or null. */
  missing(step: Step): string | null {
    if (step === "data") return null;
    if (this.loaded === null) return "Load a table first";
    if (step === "fit") return null;
    return this.fitted === null ? "Fit the map first" : null;
  }

  // ── View ────────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Reads the fragment, looks for kept data, listens for Back. */
  async start(): Promise<void> {
    this.view = { ...viewFromFragment(location.hash), step: "data" };
    const wanted = viewFromFragment(location.hash);
    addEventListener("hashchange", () => {
      const next = viewFromFragment(location.hash);
      if (viewToFragment(next) !== viewToFragment(this.view)) this.#show(next);
    });
    this.canKeep = await canKeep();
    this.kept = this.canKeep ? await recall() : null;
    const { kept } = this;
    if (kept !== null) await this.#try(() => this.#takeUp(kept, wanted));
    else if (__SERVED__) await this.#openServed(wanted);
    // The worker starts while the reader looks at the first page, not when they ask something of it.
    requestAnimationFrame(() => setTimeout(() => void this.engine));
  }

  /** What `dtm explore RUN|VISITS` was started with. */
  async #openServed(wanted: View): Promise<void> {
    const answer = await fetch("data/start.json").catch(() => null);
    if (answer === null || !answer.ok) return;
    const start = (await answer.json()) as ServedStart;
    const bytes = async (path: string) => (await fetch(path)).arrayBuffer();
    if (start.visits === undefined) return;
    if (!(await this.open(await bytes(start.visits.path), start.visits.name))) return;
    // A table alone is shown for checking, with what was said on the command line; a run is opened whole.
    this.servedChoice = { columns: start.columns ?? {}, marker: start.marker ?? {} };
    if (start.model === undefined) return;
    if (!(await this.read(this.servedChoice))) return;
    if (start.subjects !== undefined) {
      await this.openSubjects(await bytes(start.subjects.path), start.subjects.name);
    }
    if (await this.openModel(await (await fetch(start.model.path)).text())) {
      this.#show({ ...wanted, step: wanted.step === "data" ? "map" : wanted.step });
    }
  }

  /** Changes the view. `quiet` changes (panning, hovering through) are no steps of undo. */
  show(change: Partial<View>, quiet = false): void {
    const next = { ...this.view, ...change };
    if (!quiet) {
      this.#past = [...this.#past.slice(-UNDO_DEPTH), this.view];
      this.#future = [];
    }
    this.#show(next, change.step !== undefined && change.step !== this.view.step);
  }

  go(step: Step): void {
    if (this.missing(step) === null && step !== this.view.step) this.show({ step });
  }

  undo(): void {
    const last = this.#past.pop();
    if (last === undefined) return;
    this.#future.push(this.view);
    this.#show({ ...last, step: this.missing(last.step) === null ? last.step : this.view.step });
  }

  redo(): void {
    const next = this.#future.pop();
    if (next === undefined) return;
    this.#past.push(this.view);
    this.#show(next);
  }

  #show(next: View, push = false): void {
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
    const m = this.loaded.cohort.ids.length;
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
    const everyone = [...(this.loaded?.cohort.ids.keys() ?? [])];
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
    return basisDomain(model.basis);
  }

  /** Time of the terrain as it stands. */
  get terrainTime(): number {
    const [first, last] = this.domain;
    return Math.min(last, Math.max(first, this.view.terrainTime ?? last));
  }

  /** Moves the terrain by so many years; by twentieths of the whole where the unit of time is unknown. */
  stepTerrain(years: number): void {
    const [first, last] = this.domain;
    const unit = yearsPer((this.fitted?.model.marker.timeUnit ?? "").replace(/s$/, ""));
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

  say(text: string): void {
    this.spoken = text;
  }

  dismiss(): void {
    this.problem = null;
  }

  /** Shows what went wrong outside the worker. */
  report(error: unknown): void {
    this.problem = problemOf(error);
  }

  // ── Data ────────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** First look at a dropped or chosen file. */
  async open(bytes: ArrayBuffer, name: string): Promise<boolean> {
    return this.#try(async () => {
      this.preview = await this.engine.preview(bytes, name);
      this.previewName = name;
      this.checked = null;
    });
  }

  /** Looks through the file without taking it over; what was loaded before stays. */
  async check(choice: ReadChoice): Promise<boolean> {
    return this.#try(async () => {
      this.checked = await this.engine.check(choice);
    });
  }

  /** Reads the file looked at. */
  async read(choice: ReadChoice): Promise<boolean> {
    return this.#try(async () => {
      this.#takeCohort(await this.engine.read(choice), null);
      if (this.checked !== null && this.loaded !== null) this.checked = { ...this.checked, loaded: this.loaded };
    });
  }

  /** The lung function example with its map; false if this page was built without it. */
  async openDemo(): Promise<boolean> {
    const packed = await packedDemo();
    if (packed === null) return false;
    return this.#try(async () => {
      const { loaded, subjects, fitted, groups } = await this.engine.demo(packed);
      this.preview = null;
      this.checked = null;
      this.previewName = loaded.source;
      this.#takeCohort(loaded, subjects);
      this.#takeFit(fitted);
      this.groups = groups;
      this.fitChoice = DEFAULT_FIT;
      // The map is shown meanwhile.
      void this.chooseOutcomes(subjects.plain);
    });
  }

  async openExample(name: "pfvc" | "tss", seed = 21): Promise<boolean> {
    return this.#try(async () => {
      const { loaded, subjects } = await this.engine.example(name, seed);
      this.preview = null;
      this.checked = null;
      this.previewName = loaded.source;
      this.#takeCohort(loaded, subjects);
      await this.chooseOutcomes(subjects.plain);
    });
  }

  /** Reads a table of individuals and takes its plain outcomes. */
  async openSubjects(bytes: ArrayBuffer, name: string, id?: string): Promise<boolean> {
    return this.#try(async () => {
      this.subjects = await this.engine.readSubjects(bytes, name, id);
      await this.chooseOutcomes(this.subjects.plain, "The table was read, but its outcomes cannot be used.");
    }, "The table of outcomes was not loaded; the visits are still here.");
  }

  async chooseOutcomes(names: readonly string[], refusal = "The outcomes were not changed."): Promise<boolean> {
    return this.#try(async () => {
      const { outcomes, warnings } = await this.engine.outcomes(names);
      this.outcomeNames = names;
      this.outcomeWarnings = warnings;
      this.outcomes = outcomes;
      this.association = null;
      this.survival = null;
      this.surface = null;
      const { outcome } = this.view;
      if (outcome === null || !names.includes(outcome)) this.show({ outcome: names[0] ?? null }, true);
      await this.#keep();
    }, refusal);
  }

  #takeCohort(loaded: Loaded, subjects: LoadedSubjects | null): void {
    // Positions of another cohort mean other people: undo ends here, and so does a fit under way.
    this.#past = [];
    this.#future = [];
    this.#fits++;
    this.loaded = loaded;
    this.subjects = subjects;
    this.outcomes = [];
    this.outcomeNames = [];
    this.outcomeWarnings = [];
    this.#takeFit(null);
    this.fitPhase = "idle";
    this.trace = [];
    this.earlierTraces = [];
    this.update = null;
    this.livePlaces = null;
    this.saved = [];
    this.draft = { times: [], values: [] };
  }

  // ── Fit ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Fits the map, or goes on with a fit that a reload interrupted. */
  async fit(choice: FitChoice = this.fitChoice, from?: Kept["running"]): Promise<boolean> {
    const mine = ++this.#fits;
    this.fitChoice = choice;
    this.problem = null;
    this.fitPhase = "starting";
    this.trace = from?.trace ?? [];
    this.earlierTraces = [];
    this.update = null;
    this.livePlaces = null;
    try {
      const onUpdate = (update: FitUpdate) => {
        if (mine === this.#fits) this.#hear(update);
      };
      const fitted = await this.engine.fit(choice, onUpdate, from?.snapshot);
      if (mine !== this.#fits) return false;
      if (fitted !== null) {
        this.#takeFit(fitted);
        this.tracedFit = fitted;
        void this.#group(fitted);
      }
      this.fitPhase = "idle";
      await this.#keep();
      return fitted !== null;
    } catch (error) {
      if (mine !== this.#fits) return false;
      this.fitPhase = "failed";
      this.problem = problemOf(error);
      return false;
    }
  }

  chooseFit(change: Partial<FitChoice>): void {
    this.fitChoice = { ...this.fitChoice, ...change };
  }

  /** Goes on with a fit that was stopped; one that reached its limit is run again with twice the passes. */
  async continueFit(): Promise<boolean> {
    const snapshot = this.fitted?.finished === false ? await this.engine.fitSnapshot() : null;
    if (snapshot !== null) {
      return this.fit(this.fitChoice, { choice: this.fitChoice, snapshot, trace: this.trace });
    }
    const passes = this.fitted?.model.record.iterations ?? 300;
    return this.fit({ ...this.fitChoice, maxIterations: 2 * passes });
  }

  #hear(update: FitUpdate): void {
    if (this.fitPhase === "starting") this.fitPhase = "running";
    // Bounds on a finer lattice do not compare with those before: the trace begins anew.
    const sameStage = this.update === null || this.update.stage === update.stage;
    if (!sameStage) {
      this.earlierTraces = [...this.earlierTraces, { stage: this.update?.stage ?? "", values: this.trace }];
    }
    this.update = update;
    this.trace = sameStage ? [...this.trace, ...update.trace] : update.trace;
    if (update.places !== undefined) this.livePlaces = update.places;
    if (performance.now() - this.#lastKept > KEEP_EVERY) void this.#keep();
  }

  /** Groups of a new map. Nobody waits for them: in a large cohort they take longer than drawing it. */
  async #group(fitted: Fitted): Promise<void> {
    try {
      const groups = await this.engine.groups(this.groupChoice);
      if (this.fitted === fitted) this.groups = groups;
    } catch (error) {
      if (this.fitted === fitted) this.problem = problemOf(error);
    }
  }

  #takeFit(fitted: Fitted | null): void {
    this.fitted = fitted;
    this.groups = null;
    this.stability = null;
    this.baselines = null;
    this.association = null;
    this.comparison = null;
    this.survival = null;
    this.surface = null;
    this.groupNames = {};
    // Groups and places of the map before mean nothing on this one.
    if (fitted !== null) this.show({ group: null, pins: [] }, true);
    else this.show({ ...FIRST_VIEW, step: this.view.step, outcome: this.view.outcome }, true);
  }

  async pause(paused: boolean): Promise<void> {
    await this.engine.pauseFit(paused);
    this.fitPhase = paused ? "paused" : "running";
    // Who pauses may close the tab next.
    if (paused) await this.#keep();
  }

  /** Ends the fit: keeps the map as it stands, or goes back to the last one. */
  async end(keepMap: boolean): Promise<void> {
    this.fitPhase = "ending";
    await this.engine.endFit(keepMap);
  }

  async openModel(text: string): Promise<boolean> {
    return this.#try(async () => {
      const fitted = await this.engine.openModel(text);
      this.#takeFit(fitted);
      void this.#group(fitted);
      await this.#keep();
    });
  }

  // ── Study ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  async regroup(choice: Partial<GroupChoice>): Promise<boolean> {
    return this.#try(async () => {
      this.groupChoice = { ...this.groupChoice, ...choice };
      this.groups = await this.engine.groups(this.groupChoice);
      this.stability = null;
      this.survival = null;
      this.groupNames = {};
      this.show({ group: null }, true);
      await this.#keep();
    });
  }

  async studyStability(numResamples = 20): Promise<boolean> {
    return this.#during("Stability", async (progress) => {
      const { groups } = this;
      const stability = await this.engine.stability(numResamples, this.groupChoice.seed, progress);
      if (this.groups === groups) this.stability = stability;
    });
  }

  async loadBaselines(): Promise<boolean> {
    if (this.baselines !== null) return true;
    const { fitted } = this;
    return this.#try(async () => {
      const baselines = await this.engine.baselines();
      if (this.fitted === fitted) this.baselines = baselines;
    });
  }

  async associate(permutations = 9999, seed = 1): Promise<boolean> {
    return this.#during("Outcomes", async (progress) => {
      const { fitted, outcomes } = this;
      const choice = { outcomes: this.outcomeNames, permutations, seed };
      const association = await this.engine.associate(choice, progress);
      // What was asked of another map or of other outcomes is not shown beside these.
      if (this.fitted !== fitted || this.outcomes !== outcomes) return;
      this.association = association ?? this.association;
      await this.loadBaselines();
    });
  }

  async loadSurface(outcome: string): Promise<boolean> {
    if (this.surface?.outcome === outcome) return true;
    const { fitted } = this;
    return this.#try(async () => {
      const surface = await this.engine.shareSurface(outcome);
      if (this.fitted === fitted) this.surface = surface;
    });
  }

  async studySurvival(event: string, timeColumn: string, landmark?: number): Promise<boolean> {
    const { groups } = this;
    return this.#try(async () => {
      const survival = await this.engine.survival(event, timeColumn, landmark);
      if (this.groups === groups) this.survival = survival;
    });
  }

  async compare(choice: CompareChoice): Promise<boolean> {
    return this.#during("Comparison", async (progress) => {
      const { loaded } = this;
      const comparison = await this.engine.compare(choice, progress);
      if (this.loaded === loaded) this.comparison = comparison ?? this.comparison;
    });
  }

  async cancelTask(): Promise<void> {
    await this.engine.cancel();
  }

  /** Everything the inspector shows of an individual; `index` −1 is the draft. */
  async individual(
    index: number,
    options: Omit<IndividualQuestion, "id" | "times" | "values">,
  ): Promise<IndividualAnswer> {
    return this.engine.individual({ ...this.visitsOf(index), ...options });
  }

  /** Curve of one individual (known up to `knownAt`) minus that of another, at the given times. */
  async difference(
    first: number,
    second: number,
    options: { knownAt?: number; at: readonly number[] },
  ): Promise<readonly Interval[]> {
    const { at } = options;
    return this.engine.difference({ ...this.visitsOf(first), ...options }, { ...this.visitsOf(second), at });
  }

  /** Opens the new individual with the given visits. */
  editDraft(times: readonly number[], values: readonly number[]): void {
    this.draft = { times, values };
    if (this.view.individual !== -1) this.show({ individual: -1, knownAt: null, compared: null });
  }

  /** Visits of an individual; `index` −1 is the draft. */
  visitsOf(index: number): { id: string; times: readonly number[]; values: readonly number[] } {
    if (index < 0 || this.loaded === null) return { id: "new individual", ...this.draft };
    const { ids, offsets, times, values } = this.loaded.cohort;
    const [from, to] = [offsets[index], offsets[index + 1]];
    return {
      id: ids[index],
      times: Array.from(times.subarray(from, to)),
      values: Array.from(values.subarray(from, to)),
    };
  }

  /** Name of a group as shown: the user's, or the one made by rule. */
  groupName(k: number): string {
    const group = this.groups?.groups[k];
    return group === undefined ? "" : (this.groupNames[group.letter] ?? shortNumbers(group.name));
  }

  renameGroup(letter: string, name: string): void {
    this.groupNames = { ...this.groupNames, [letter]: name };
    void this.#keep();
  }

  saveSelection(name: string): void {
    const { selection } = this.view;
    if (selection === null) return;
    this.saved = [...this.saved.filter((s) => s.name !== name), { name, ...selection }];
    void this.#keep();
  }

  removeSaved(name: string): void {
    this.saved = this.saved.filter((s) => s.name !== name);
    void this.#keep();
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

  // ── Keeping ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  async allowKeeping(allowed: boolean): Promise<void> {
    this.mayKeep = allowed;
    if (!allowed) return forget();
    // Without storage the next attempt to keep says so.
    await claim().catch(() => undefined);
    await this.#keep();
  }

  /** Forgets the data in memory and on disk, and starts afresh. */
  async forgetEverything(): Promise<void> {
    this.mayKeep = false;
    await forget();
    this.#connection?.close();
    this.#connection = null;
    this.#past = [];
    this.#future = [];
    this.#fits++;
    this.#tasks++;
    this.task = null;
    this.problem = null;
    this.spoken = "";
    this.groupChoice = { numGroups: "auto", seed: 1 };
    this.preview = null;
    this.checked = null;
    this.previewName = "";
    this.loaded = null;
    this.subjects = null;
    this.outcomes = [];
    this.outcomeNames = [];
    this.outcomeWarnings = [];
    this.kept = null;
    this.fitPhase = "idle";
    this.trace = [];
    this.earlierTraces = [];
    this.update = null;
    this.livePlaces = null;
    this.saved = [];
    this.draft = { times: [], values: [] };
    this.#takeFit(null);
    this.#show(FIRST_VIEW);
  }

  async #keep(): Promise<void> {
    if (!this.mayKeep || this.loaded === null) return;
    this.#lastKept = performance.now();
    const running = this.fitPhase === "running" || this.fitPhase === "paused";
    try {
      const snapshot = running ? await this.engine.fitSnapshot() : null;
      // The answer may come after the user has changed their mind.
      if (!this.mayKeep || this.loaded === null) return;
      await keep({
        version: 1,
        loaded: this.loaded,
        subjects: this.subjects,
        outcomes: this.outcomeNames,
        fitted: this.fitted,
        running: snapshot === null ? null : { choice: this.fitChoice, snapshot, trace: this.trace },
        names: this.groupNames,
        groups: this.groupChoice,
        saved: this.saved,
      });
    } catch (error) {
      if (!this.mayKeep) return;
      this.mayKeep = false;
      if (error instanceof DtmError && error.code === "kept-elsewhere") {
        this.problem = problemOf(error);
        return;
      }
      // The study goes on without being kept; what was kept before is out of date and goes too.
      await forget();
      const reason = error instanceof Error ? error.message : String(error);
      const message = `Expected room to keep the study in this browser, received: ${reason.replace(/\.$/, "")}. It is no longer kept; export what you need.`;
      this.problem = { code: "cannot-keep", message, complaints: [] };
    }
  }

  async #takeUp(kept: Kept, wanted: View): Promise<void> {
    this.groupChoice = kept.groups ?? this.groupChoice;
    await this.engine.restore(kept.loaded, kept.subjects, kept.fitted);
    this.#takeCohort(kept.loaded, kept.subjects);
    this.previewName = kept.loaded.source;
    await this.chooseOutcomes(kept.outcomes);
    if (kept.fitted !== null) {
      this.#takeFit(kept.fitted);
      void this.#group(kept.fitted);
    }
    this.groupNames = kept.names;
    this.saved = kept.saved;
    // Only now: what is half taken up must not be kept in the place of the whole.
    await claim();
    this.mayKeep = true;
    if (kept.running !== null) {
      this.#show({ ...wanted, step: "fit" });
      void this.fit(kept.running.choice, kept.running);
    } else this.#show({ ...wanted, outcome: wanted.outcome ?? this.view.outcome });
  }

  async #during(what: string, work: (progress: (done: number, of: number, detail: string) => void) => Promise<void>) {
    const mine = ++this.#tasks;
    this.task = { what, done: 0, of: 1, detail: "" };
    const ok = await this.#try(() =>
      work((done, of, detail) => {
        if (mine === this.#tasks) this.task = { what, done, of, detail };
      }),
    );
    if (mine === this.#tasks) this.task = null;
    return ok;
  }

  /** Does the work, or shows why it could not be done; `title` says of a refused table what that means. */
  async #try(work: () => Promise<void>, title = "Nothing was loaded."): Promise<boolean> {
    this.problem = null;
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof DtmError && error.code === "forgotten")) this.problem = problemOf(error, title);
      return false;
    }
  }
}

function problemOf(error: unknown, title?: string): Problem {
  if (error instanceof DtmError) {
    const { code, message, complaints } = error;
    return { code, message, complaints, ...(title === undefined || complaints.length === 0 ? {} : { title }) };
  }
  return { code: "internal", message: error instanceof Error ? error.message : String(error), complaints: [] };
}

/** The one explorer of the page. */
export const explorer = new Explorer();
