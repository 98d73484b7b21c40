/**
 * Where the import stands: which page, what the user said about the table, which file is being read. The explorer holds
 * the data; this holds what would be lost between pages, so that Back always works.
 */
import { DtmError } from "@trajectory-maps/core";
import type { TablePreview } from "@trajectory-maps/core/ingest";
import { explorer } from "../../state/explorer.svelte.ts";
import { nameMarkersBy, withMarkers } from "./several-choice.ts";
import {
  assign,
  choiceAsSaid,
  choiceForModel,
  guessChoice,
  missingRole,
  modelChoice,
  readChoice,
  type TableChoice,
  takeMarkerOf,
  type Use,
} from "./table-choice.ts";

export type DataPage = "choose" | "columns" | "quality" | "summary";
export type ExampleName = "pfvc" | "tss" | "pbc";

/** A file being read: how many of its bytes came. */
export interface Reading {
  readonly name: string;
  readonly bytes: number;
  readonly total: number;
}

class Wizard {
  page: DataPage = $state("choose");
  choice: TableChoice | null = $state.raw(null);
  /** Whether rows that cannot be read are to be left out; asked, never assumed. */
  leaveOut = $state(false);
  reading: Reading | null = $state.raw(null);
  /** What is being done, while nothing else can be. */
  busy = $state("");
  /** A model file that waits for a table to place. */
  model: { readonly name: string; readonly text: string } | null = $state.raw(null);
  /** Whether the map should open by itself once the fit has settled: an example was asked for, not a fit. */
  openMap = $state(false);
  /** The table of outcomes that goes with the table being imported. */
  #subjects: File | null = null;

  /** The page that can be shown: what it needs may have been forgotten. */
  get shown(): DataPage {
    const { preview, checked, loaded } = explorer;
    if (this.page === "columns" && preview !== null && this.choice !== null) return "columns";
    if (this.page === "quality" && (checked ?? loaded) !== null) return "quality";
    if (this.page !== "choose" && loaded !== null) return "summary";
    return "choose";
  }

  /** Opens a dropped or chosen file: a table of visits, or a saved model. */
  async openFile(file: File): Promise<void> {
    explorer.go("data");
    explorer.dismiss();
    if (/\.json$/i.test(file.name)) await this.#openModel(file);
    else await this.openTable(file, file.name);
  }

  /** Imports the table that the command line named, if it named one. */
  async openServed(): Promise<void> {
    const { served } = explorer;
    if (served === null || !(await this.openTable(served.visits, served.visits.name))) return;
    const { preview } = explorer;
    if (preview !== null && this.choice !== null) {
      this.choice = withMarkers(choiceAsSaid(this.choice, preview, served.choice), preview, served.choice);
    }
    this.#subjects = served.subjects;
  }

  /** First look at a table; goes to the page of columns. */
  async openTable(file: Blob, name: string): Promise<boolean> {
    this.busy = `Reading ${name}`;
    const ok = await explorer.open(file, name);
    this.busy = "";
    if (!ok || explorer.preview === null) return false;
    const guess = guessChoice(explorer.preview);
    this.choice = this.model === null ? guess : this.#forModel(guess, explorer.preview, this.model.text);
    this.leaveOut = false;
    this.#subjects = null;
    this.openMap = false;
    this.page = "columns";
    return true;
  }

  #forModel(guess: TableChoice, preview: TablePreview, text: string): TableChoice {
    return withMarkers(choiceForModel(guess, preview, text), preview, modelChoice(text));
  }

  /** Opens a table of individuals with their outcomes. */
  async openOutcomes(file: File): Promise<void> {
    explorer.dismiss();
    this.busy = `Reading ${file.name}`;
    await explorer.openSubjects(file, file.name);
    this.busy = "";
  }

  async #openModel(file: File): Promise<void> {
    try {
      this.model = { name: file.name, text: await file.text() };
      if (explorer.loaded !== null) this.page = "summary";
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `${file.name} cannot be read: ${reason.replace(/\.$/, "")}. Choose the file again.`;
      explorer.report(new DtmError("cannot-read", message));
    }
  }

  /** Places the loaded cohort by the model file, in the place of a fit. */
  async place(): Promise<void> {
    if (this.model === null) return;
    this.busy = "Placing the individuals";
    const ok = await explorer.openModel(this.model.text);
    this.busy = "";
    if (ok) explorer.go("map");
  }

  /** Forgets the model file, what was said about the table, and a file half read. */
  forget(): void {
    this.cancelReading();
    this.page = "choose";
    this.choice = null;
    this.leaveOut = false;
    this.model = null;
    this.openMap = false;
  }

  cancelReading(): void {
    if (this.reading !== null) explorer.stopReading();
    this.reading = null;
  }

  assign(column: number, role: Use): void {
    const { preview } = explorer;
    if (preview === null || this.choice === null) return;
    if (role === "names") {
      this.choice = nameMarkersBy(this.choice, column, preview);
      return;
    }
    const names = preview.columns.map(({ name }) => name);
    this.choice = assign(this.choice, column, role, names);
  }

  describe(change: Partial<TableChoice>): void {
    if (this.choice !== null) this.choice = { ...this.choice, ...change };
  }

  /** Sets the lowest (0) or highest (1) value of the marker; NaN for none. */
  limit(end: number, value: number): void {
    const limits = this.choice?.limits.map((old, k) => (k !== end ? old : Number.isNaN(value) ? null : value));
    if (limits !== undefined) this.describe({ limits: [limits[0], limits[1]] });
  }

  /** Keeps rows that repeat another exactly, or leaves them out again: the table is looked through anew. */
  async keepRepeats(keep: boolean): Promise<void> {
    this.describe({ keepRepeats: keep });
    await this.check();
  }

  /** Takes the column for the marker of the model that waits. */
  takeMarker(): void {
    if (this.choice !== null && this.model !== null) this.choice = takeMarkerOf(this.choice, this.model.text);
  }

  /** Looks through the whole table and goes to the page of quality. */
  async check(): Promise<boolean> {
    const { preview } = explorer;
    if (preview === null || this.choice === null || missingRole(this.choice) !== null) return false;
    this.busy = "Checking the data";
    const ok = await explorer.check(readChoice(this.choice, preview), (bytes, total, name) => {
      this.reading = { name, bytes, total };
    });
    this.reading = null;
    this.busy = "";
    if (ok) this.page = "quality";
    return ok;
  }

  /** Takes the checked table over and goes to the summary. */
  async accept(): Promise<boolean> {
    const { preview, checked } = explorer;
    if (checked === null || preview === null || this.choice === null) {
      this.page = "summary";
      return explorer.loaded !== null;
    }
    if (checked.loaded !== explorer.whole) {
      const onBad = checked.refused.length > 0 ? "leave-out" : "refuse";
      this.busy = "Reading the table";
      const ok = await explorer.read({ ...readChoice(this.choice, preview), onBad });
      this.busy = "";
      if (!ok) return false;
      if (this.#subjects !== null) await this.openOutcomes(this.#subjects);
    }
    this.page = "summary";
    return true;
  }

  back(): void {
    explorer.dismiss();
    if (this.shown === "summary") this.page = "quality";
    else if (this.shown === "quality" && explorer.preview !== null && this.choice !== null) this.page = "columns";
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
    this.busy = "Drawing the cohort";
    const ready = name === "pfvc" && (await explorer.openDemo());
    const loaded = ready || (name === "pbc" ? await this.#loadPbc() : await explorer.openExample(name));
    this.busy = "";
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
