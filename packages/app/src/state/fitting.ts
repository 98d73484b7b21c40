/** The fit: begun, heard of, paused, ended, gone on with; and the map that comes of it or from a file. */
import type { Groups } from "@trajectory-maps/core";
import { capital, numberWord } from "@trajectory-maps/report";
import { type FitChoice, type Fitted, type FitUpdate, isSameMap } from "../worker/api.ts";
import type { PreparedMap } from "../worker/prepare.ts";
import { Keeping } from "./keeping.ts";
import { isGivenUp, problemOf } from "./problem.ts";
import type { Kept } from "./storage.ts";
import { FIRST_VIEW } from "./view.ts";

/** Milliseconds between two savings of a running fit. */
const KEEP_EVERY = 2000;
/** Individuals above which groups are made apart: they take longer than anybody should wait for an answer. */
const GROUPED_AT_ONCE = 5000;

/** The stage that goes on with the bound of the one before. */
export const PLACING = "places";

/** The explorer as far as it fits. */
export class Fitting extends Keeping {
  /** Fits the map, or goes on with a fit that a reload interrupted. */
  async fit(choice: FitChoice = this.fitChoice, from?: Kept["running"]): Promise<boolean> {
    const mine = ++this.fits;
    this.fitChoice = choice;
    this.problem = null;
    this.startsNote = "";
    this.fitPhase = "starting";
    this.trace = from?.trace ?? [];
    // A bound before the first pass, and one after each.
    this.lastPass = Math.max(0, this.trace.length - 1);
    this.earlierTraces = [];
    this.update = null;
    this.livePlaces = null;
    try {
      /** The map of the first start on its way to the page. */
      let first: Promise<boolean> | null = null;
      const onUpdate = (update: FitUpdate) => {
        if (mine !== this.fits) return;
        if (performance.now() - this.lastKept > KEEP_EVERY) void this.keepNow();
        // The chart is of the start whose map is shown: what follows is of others.
        if (update.first !== undefined) first = this.#takeFirst(update.first, mine);
        else if (first === null) this.#hear(update);
      };
      const fitted = await this.engine.fit(choice, onUpdate, from?.snapshot);
      await first;
      const changed = fitted !== null && (await this.#take(fitted, mine));
      if (mine !== this.fits) return false;
      if (first === null) this.tracedPlaces = this.wholeFit?.placements ?? null;
      this.startsNote = first !== null && changed ? "A better map was found and is shown" : "";
      if (this.startsNote !== "") this.say(this.startsNote);
      this.fitPhase = "idle";
      await this.keepNow();
      return fitted !== null;
    } catch (error) {
      if (mine !== this.fits) return false;
      this.fitPhase = "failed";
      this.problem = problemOf(error);
      return false;
    }
  }

  /** Shows the map of the first start while the others run. */
  async #takeFirst({ fitted, startsLeft }: NonNullable<FitUpdate["first"]>, mine: number): Promise<boolean> {
    const changed = await this.#take(fitted, mine);
    if (mine !== this.fits) return false;
    this.tracedPlaces = this.wholeFit?.placements ?? null;
    this.startsNote = `${capital(numberWord(startsLeft))} more ${startsLeft === 1 ? "start is" : "starts are"} being tried`;
    this.fitPhase = "other starts";
    await this.keepNow();
    return changed;
  }

  /** Takes a map of a fit over; of the one that is shown only what is new about it: false. */
  async #take(fitted: Fitted, mine: number): Promise<boolean> {
    const { wholeFit } = this;
    if (wholeFit !== null && isSameMap(wholeFit, fitted)) {
      if (mine === this.fits) this.wholeFit = { ...fitted, placements: wholeFit.placements };
      return false;
    }
    // Without it the page finds the same, taking its time.
    const prepared = await this.engine.prepare().catch(() => null);
    if (mine !== this.fits) return false;
    this.takeFit(fitted, prepared);
    void this.findGroups(fitted);
    return true;
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
    // Bounds on a finer lattice do not compare with those before: the trace begins anew. The last step of the published model, which
    // places everybody, is no pass.
    const sameStage = this.update === null || this.update.stage === update.stage;
    if (update.stage !== PLACING) {
      if (!sameStage) this.earlierTraces = [...this.earlierTraces, this.trace];
      this.trace = sameStage ? [...this.trace, ...update.trace] : update.trace;
      this.lastPass = update.iteration;
    }
    this.update = update;
    if (update.places !== undefined) this.livePlaces = update.places;
  }

  /** Groups of a new map. Nobody waits for them: in a large cohort they take longer than drawing it. */
  protected async findGroups(fitted: Fitted): Promise<void> {
    try {
      const groups = await this.askGroups(fitted);
      if (this.isShown(fitted)) this.wholeGroups = groups;
    } catch (error) {
      if (this.isShown(fitted) && !isGivenUp(error)) this.problem = problemOf(error);
    }
  }

  /** Groups of a map as they are chosen. */
  protected askGroups({ placements }: Fitted): Promise<Groups> {
    return this.engine.groups(this.groupChoice, placements.ids.length > GROUPED_AT_ONCE);
  }

  /** Takes a map over, or none; what was found on the one before goes. */
  protected takeFit(fitted: Fitted | null, prepared: PreparedMap | null = null): void {
    const before = this.loaded?.cohort.ids.length;
    this.wholeFit = fitted;
    this.prepared = prepared;
    this.sharing = null;
    this.described = null;
    this.severalComparison = null;
    this.wholeGroups = null;
    this.stability = null;
    this.baselines = null;
    this.association = null;
    this.comparison = null;
    this.survival = null;
    this.loadedSurface = null;
    this.groupNames = {};
    // Groups and places of the map before mean nothing on this one; nor positions, if it has other individuals.
    if (fitted !== null && before !== undefined && before !== fitted.placements.ids.length) {
      this.saved = [];
      this.show({ individual: null, compared: null, selection: null }, true);
      this.outcomes = [];
      void this.#rereadOutcomes();
    }
    if (fitted !== null) {
      this.show({ group: null, pins: [] }, true);
      this.followLink();
    } else this.show({ ...FIRST_VIEW, step: this.view.step, outcome: this.view.outcome }, true);
  }

  /** Labels of the outcomes for the individuals of the map. */
  async #rereadOutcomes(): Promise<void> {
    await this.attempt(async () => {
      const { outcomes, warnings } = await this.engine.outcomes(this.outcomeNames);
      this.outcomes = outcomes;
      this.outcomeWarnings = warnings;
    });
  }

  async pause(paused: boolean): Promise<void> {
    // The map may have come in the meantime.
    if (!(await this.engine.pauseFit(paused))) return;
    this.fitPhase = paused ? "paused" : "running";
    // Who pauses may close the tab next.
    if (paused) await this.keepNow();
  }

  /** Ends the fit: keeps the map as it stands, or goes back to the last one. Other starts end without a word. */
  async end(keepMap: boolean): Promise<void> {
    if (this.fitting) this.fitPhase = "ending";
    await this.engine.endFit(keepMap);
  }

  async openModel(text: string, coded?: Blob): Promise<boolean> {
    return this.attempt(async () => {
      const fitted = await this.engine.openModel(text, coded);
      this.takeFit(fitted, await this.engine.prepare());
      void this.findGroups(fitted);
      await this.keepNow();
    });
  }
}
