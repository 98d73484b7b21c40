/** The one import of the page: what is said about the table, checked and taken over; examples. */
import { DtmError } from "@trajectory-maps/core";
import { explorer } from "../../state/explorer.svelte.ts";
import type { DataPage } from "./import-state.svelte.ts";
import { Opening } from "./opening.ts";
import { nameMarkersBy } from "./several-choice.ts";
import { assign, takeMarkerOf, type Use } from "./table-choice.ts";
import type { SaidForm } from "./table-form.ts";

export type { DataPage };
export type ExampleName = "pfvc" | "tss" | "pbc";

class Wizard extends Opening {
  /** Places the loaded cohort by the model file, in the place of a fit. */
  async place(): Promise<void> {
    const { model } = this;
    if (model === null) return;
    const ok = await this.during("Placing the individuals", () => explorer.openModel(model.text));
    if (ok) explorer.go("map");
  }

  /** Forgets the model file, what was said about the table, and a file half read. */
  forget(): void {
    this.cancelReading();
    this.page = "choose";
    this.choice = null;
    this.codes = null;
    this.files = [];
    this.unread = null;
    this.leaveOut = false;
    this.model = null;
    this.beside = null;
    this.file = null;
    this.openMap = false;
  }

  cancelReading(): void {
    if (this.reading !== null) explorer.stopReading();
    this.reading = null;
  }

  assign(column: number, role: Use): void {
    const { table } = this;
    if (table === null || this.choice === null) return;
    this.choice =
      role === "names" ? nameMarkersBy(this.choice, column, table) : assign(this.choice, column, role, table);
  }

  /** Says something else about how the table is written, or from when its times are counted. */
  say(change: Partial<SaidForm>): void {
    if (this.choice !== null) this.choice = { ...this.choice, form: { ...this.choice.form, ...change } };
  }

  /** Sets the lowest (0) or highest (1) value of the marker; NaN for none. */
  limit(end: number, value: number): void {
    const limits = this.choice?.limits.map((old, k) => (k !== end ? old : Number.isNaN(value) ? null : value));
    if (limits !== undefined) this.describe({ limits: [limits[0], limits[1]] });
  }

  /** Says that the marker cannot be below (0) or above (1) a value, or that it can: the table is looked through anew. */
  async endAt(end: 0 | 1, value: number, ends: boolean): Promise<void> {
    this.limit(end, ends ? value : Number.NaN);
    await this.check();
  }

  /** Keeps rows that repeat another exactly, or leaves them out again: the table is looked through anew. */
  async keepRepeats(keep: boolean): Promise<void> {
    this.describe({ keepRepeats: keep });
    if (this.codes !== null) this.codes = { ...this.codes, keepRepeats: keep };
    await this.check();
  }

  /** Takes the column for the marker of the model that waits. */
  takeMarker(): void {
    if (this.choice !== null && this.model !== null) this.choice = takeMarkerOf(this.choice, this.model.text);
  }

  /** Looks through the whole table and goes to the page of quality. */
  async check(): Promise<boolean> {
    const { asked } = this;
    if (asked === null) return false;
    const ok = await this.during("Checking the data", () => explorer.check(asked, this.tell));
    this.reading = null;
    if (ok) this.page = "quality";
    return ok;
  }

  /** Takes the checked table over and goes to the summary. */
  async accept(): Promise<boolean> {
    const { checked } = explorer;
    const { asked } = this;
    if (checked === null || asked === null) {
      this.page = "summary";
      return explorer.loaded !== null;
    }
    if (checked.loaded !== explorer.whole) {
      const onBad = checked.refused.length > 0 ? "leave-out" : "refuse";
      const ok = await this.during("Reading the table", () => explorer.read({ ...asked, onBad }));
      if (!ok) return false;
      if (this.beside !== null) await this.openOutcomes(this.beside.file, this.beside.name);
    }
    this.page = "summary";
    return true;
  }

  back(): void {
    explorer.dismiss();
    if (this.shown === "summary") this.page = "quality";
    else if (this.shown === "quality" && explorer.preview !== null && this.choice !== null) this.page = "columns";
    else if (this.shown === "quality" && explorer.listing !== null && this.codes !== null) this.page = "codes";
    else this.page = "choose";
  }

  /** Fits the map of what is loaded. */
  fit(): void {
    this.openMap = false;
    explorer.go("fit");
    void explorer.fit();
  }

  /** One press from an example to its map. */
  async openExample(name: ExampleName): Promise<void> {
    explorer.dismiss();
    const [ready, loaded] = await this.during("Drawing the cohort", async () => {
      if (name === "pfvc" && (await explorer.openDemo())) return [true, true];
      return [false, name === "pbc" ? await this.#loadPbc() : await explorer.openExample(name)];
    });
    if (!loaded) return;
    this.page = "summary";
    if (ready) return explorer.go("map");
    this.openMap = true;
    explorer.go("fit");
    await explorer.fit();
  }

  /** Bilirubin of the PBC trial, served beside the page, through the same import as any table. */
  async #loadPbc(): Promise<boolean> {
    try {
      const [visits, subjects] = await Promise.all(
        ["visits", "subjects"].map(async (part) => {
          const answer = await fetch(`examples/pbc-${part}.csv`);
          if (!answer.ok) throw new Error(`status ${answer.status}`);
          return answer.blob();
        }),
      );
      if (!(await this.openTable(visits, "pbc-visits.csv")) || explorer.preview === null) return false;
      const at = (name: string) => explorer.preview?.columns.findIndex((column) => column.name === name) ?? -1;
      this.describe({
        positions: { id: at("id"), time: at("time"), value: at("bili") },
        timeUnit: "years",
        markerName: "bilirubin",
        markerUnit: "mg/dl",
        transform: "log",
      });
      if (!(await this.check()) || !(await this.accept())) return false;
      return explorer.openSubjects(subjects, "pbc-subjects.csv");
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `Expected the example beside this page, received an error: ${reason}. Start the page with "dtm explore".`;
      explorer.report(new DtmError("no-example", message));
      return false;
    }
  }
}

/** The one import of the page. */
export const wizard = new Wizard();
