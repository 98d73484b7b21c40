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
  formSaid,
  guessChoice,
  missingRole,
  modelChoice,
  readChoice,
  type TableChoice,
  takeMarkerOf,
  type Use,
} from "./table-choice.ts";
import { type Beside, type SaidForm, tableAsRead, wideUnit } from "./table-form.ts";
import { openQuestion } from "./table-questions.ts";

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
  /** What is being done, the newest last; while anything is, nothing else can be. */
  #works: readonly string[] = $state.raw([]);
  /** A model file that waits for a table to place. */
  model: { readonly name: string; readonly text: string } | null = $state.raw(null);
  /** Whether the map should open by itself once the fit has settled: an example was asked for, not a fit. */
  openMap = $state(false);
  /** The table of individuals that goes with the table being imported. */
  beside: (Beside & { readonly file: Blob }) | null = $state.raw(null);
  /** The table that is being imported. */
  #file: Blob | null = null;
  /** Files dropped while others are being opened wait for them. */
  #opening: Promise<void> = Promise.resolve();

  /** What is being done, in words; empty if nothing is. */
  get busy(): string {
    return this.#works.at(-1) ?? "";
  }

  async #during<T>(words: string, work: () => Promise<T>): Promise<T> {
    this.#works = [...this.#works, words];
    try {
      return await work();
    } finally {
      const k = this.#works.lastIndexOf(words);
      this.#works = this.#works.filter((_, j) => j !== k);
    }
  }

  /** The page that can be shown: what it needs may have been forgotten. */
  get shown(): DataPage {
    const { preview, checked, loaded } = explorer;
    if (this.page === "columns" && preview !== null && this.choice !== null) return "columns";
    if (this.page === "quality" && (checked ?? loaded) !== null) return "quality";
    if (this.page !== "choose" && loaded !== null) return "summary";
    return "choose";
  }

  /** The table being imported as it is read: a wide one as one row per visit, once that is said. */
  get table(): TablePreview | null {
    const { preview } = explorer;
    return preview === null ? null : tableAsRead(preview, this.choice?.form ?? {});
  }

  /** Opens dropped or chosen files: a table of visits, one of individuals beside it, a saved model. */
  openFiles(files: readonly File[]): Promise<void> {
    const names = files.map(({ name }) => name).join(", ");
    // Said at once: the page must not go on with the table before while this one is looked at.
    return this.#during(`Reading ${names}`, () => {
      const opened = this.#opening.then(() => this.#openAll(files));
      this.#opening = opened.catch(() => {});
      return opened;
    });
  }

  async #openAll(files: readonly File[]): Promise<void> {
    explorer.go("data");
    explorer.dismiss();
    const tables: File[] = [];
    for (const file of files) {
      if (await isModel(file)) await this.#openModel(file);
      else tables.push(file);
    }
    if (tables.length === 1) await this.#openOne(tables[0]);
    if (tables.length > 1) await this.#openSeveral(tables);
  }

  /** One table: of visits, or of individuals to go with those that are there. */
  async #openOne(file: File): Promise<void> {
    const seen = await explorer.look(file, file.name);
    const { preview, loaded } = explorer;
    if (seen?.kind === "subjects" && this.model === null) {
      if (this.page === "columns" && preview !== null && preview.kind !== "subjects") {
        return this.layBeside({ file, name: file.name, preview: seen });
      }
      if (this.page === "summary" && loaded !== null) return this.openOutcomes(file);
    }
    // Individuals that were opened first wait for their visits.
    const waits = this.page === "columns" && preview?.kind === "subjects" && seen?.kind !== "subjects";
    const first = waits && preview !== null && this.#file !== null ? this.#file : null;
    const before = first === null || preview === null ? null : { file: first, name: explorer.previewName, preview };
    const kept = before ?? (this.page === "choose" ? this.beside : null);
    if ((await this.openTable(file, file.name)) && kept !== null) await this.layBeside(kept);
  }

  /** Two tables, in whatever order: ids repeat among visits. */
  async #openSeveral(files: readonly File[]): Promise<void> {
    const seen = await Promise.all(files.map((file) => explorer.look(file, file.name)));
    const isVisits = seen.map((preview) => preview?.kind === "visits" || preview?.kind === "wide");
    const visits = Math.max(isVisits.indexOf(true), 0);
    if (files.length > 2 || isVisits.filter(Boolean).length > 1) {
      const names = files.map(({ name }) => name).join(", ");
      const message = `Expected one table of visits and at most one of individuals, received ${names}. Join visits into one table.`;
      explorer.report(new DtmError("option", message));
      return;
    }
    const other = 1 - visits;
    const preview = seen[other];
    if (!(await this.openTable(files[visits], files[visits].name))) return;
    if (preview !== null) await this.layBeside({ file: files[other], name: files[other].name, preview });
  }

  /** Lays a table of individuals beside the visits: origins of time may stand there, and outcomes. */
  async layBeside(beside: NonNullable<Wizard["beside"]>): Promise<void> {
    this.beside = beside;
    await explorer.layBeside(beside.file, beside.name);
  }

  /** The table that was opened is of individuals: it waits for the visits. */
  keepBeside(): void {
    const { preview, previewName: name } = explorer;
    if (preview === null || this.#file === null) return;
    this.beside = { file: this.#file, name, preview };
    this.choice = null;
    this.page = "choose";
  }

  /** Imports the table that the command line named, if it named one. */
  async openServed(): Promise<void> {
    const { served } = explorer;
    if (served === null) return;
    const { visits, subjects, choice } = served;
    if (!(await this.openTable(visits, visits.name, formSaid(choice)))) return;
    const { table } = this;
    if (table !== null && this.choice !== null) {
      this.choice = withMarkers(choiceAsSaid(this.choice, table, choice), table, choice);
    }
    const preview = subjects === null ? null : await explorer.look(subjects, subjects.name);
    if (subjects !== null && preview !== null) await this.layBeside({ file: subjects, name: subjects.name, preview });
  }

  /** First look at a table; goes to the page of columns. */
  async openTable(file: Blob, name: string, form: SaidForm = {}): Promise<boolean> {
    const { delimiter, encoding, sheet, wide } = form;
    const ok = await this.#during(`Reading ${name}`, () =>
      explorer.open(file, name, {
        ...(sheet === undefined ? {} : { sheet }),
        ...(delimiter === undefined ? {} : { delimiter }),
        ...(encoding === undefined ? {} : { encoding }),
        ...(wide === undefined || wide === false ? {} : { wide }),
      }),
    );
    if (!ok || explorer.preview === null) return false;
    this.#guess(tableAsRead(explorer.preview, form), form);
    this.leaveOut = false;
    this.beside = null;
    this.#file = file;
    this.openMap = false;
    this.page = "columns";
    return true;
  }

  /** The first choice for a table, or for the same read in another form. */
  #guess(table: TablePreview, form: SaidForm): void {
    const guess = { ...guessChoice(table), form };
    this.choice = this.model === null ? guess : this.#forModel(guess, table, this.model.text);
  }

  /** Reads another sheet of the workbook. */
  async chooseSheet(sheet: string): Promise<void> {
    const { beside } = this;
    if (this.#file === null || !(await this.openTable(this.#file, explorer.previewName, { sheet }))) return;
    if (beside !== null) await this.layBeside(beside);
  }

  /** Says whether columns are times of a marker, and in which unit. */
  answerWide(isWide: boolean, timeUnit?: string): void {
    const { preview } = explorer;
    if (preview?.wide === undefined || this.choice === null) return;
    const form = { ...this.choice.form, wide: isWide };
    this.#guess(tableAsRead(preview, form), form);
    if (isWide) this.describe({ timeUnit: timeUnit ?? wideUnit(preview.wide) });
  }

  #forModel(guess: TableChoice, preview: TablePreview, text: string): TableChoice {
    return withMarkers(choiceForModel(guess, preview, text), preview, modelChoice(text));
  }

  /** Opens a table of individuals with their outcomes. */
  async openOutcomes(file: Blob, name = file instanceof File ? file.name : ""): Promise<void> {
    explorer.dismiss();
    await this.#during(`Reading ${name}`, () => explorer.openSubjects(file, name));
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
    const { model } = this;
    if (model === null) return;
    const ok = await this.#during("Placing the individuals", () => explorer.openModel(model.text));
    if (ok) explorer.go("map");
  }

  /** Forgets the model file, what was said about the table, and a file half read. */
  forget(): void {
    this.cancelReading();
    this.page = "choose";
    this.choice = null;
    this.leaveOut = false;
    this.model = null;
    this.beside = null;
    this.#file = null;
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

  /** What is still to be said before the table can be checked; null if nothing is. */
  get open(): string | null {
    const { table, choice } = this;
    if (table === null || choice === null) return null;
    return openQuestion(choice, table, this.beside) ?? missingRole(choice);
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
    const { table, choice } = this;
    if (table === null || choice === null || this.open !== null) return false;
    const ok = await this.#during("Checking the data", () =>
      explorer.check(readChoice(choice, table), (bytes, total, name) => {
        this.reading = { name, bytes, total };
      }),
    );
    this.reading = null;
    if (ok) this.page = "quality";
    return ok;
  }

  /** Takes the checked table over and goes to the summary. */
  async accept(): Promise<boolean> {
    const { checked } = explorer;
    const { table, choice } = this;
    if (checked === null || table === null || choice === null) {
      this.page = "summary";
      return explorer.loaded !== null;
    }
    if (checked.loaded !== explorer.whole) {
      const onBad = checked.refused.length > 0 ? "leave-out" : "refuse";
      const ok = await this.#during("Reading the table", () => explorer.read({ ...readChoice(choice, table), onBad }));
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
    const [ready, loaded] = await this.#during("Drawing the cohort", async () => {
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

/** A saved model is one object of JSON; a list of rows is a table. */
async function isModel(file: File): Promise<boolean> {
  return (
    /\.json$/i.test(file.name) &&
    !/^\s*\[/.test(
      await file
        .slice(0, 64)
        .text()
        .catch(() => ""),
    )
  );
}

/** The one import of the page. */
export const wizard = new Wizard();
