/**
 * Where the import stands: which page, what the user said about the table or the resources, which file is being read. The explorer holds
 * the data; this holds what would be lost between pages, so that Back always works. The parts stand each on the one before:
 *
 *   ImportState ← Opening ← Wizard
 */
import type { TablePreview } from "@trajectory-maps/core/ingest";
import { explorer } from "../../state/explorer.svelte.ts";
import type { ImportChoice, Progress } from "../../worker/api.ts";
import { type CodesChoice, openCodes, readCodes, type WaitingModel } from "./fhir-choice.ts";
import { waitingModel } from "./model-text.ts";
import { missingRole, readChoice, type TableChoice } from "./table-choice.ts";
import { type Beside, tableAsRead } from "./table-form.ts";
import { openQuestion } from "./table-questions.ts";

export type DataPage = "choose" | "columns" | "codes" | "quality" | "summary";

/** A file being read: how many of its bytes came. */
export interface Reading {
  readonly name: string;
  readonly bytes: number;
  readonly total: number;
}

/** The state of the import, and what every part of it needs. */
export class ImportState {
  page: DataPage = $state("choose");
  choice: TableChoice | null = $state.raw(null);
  /** What was said of files of FHIR, in the place of a table. */
  codes: CodesChoice | null = $state.raw(null);
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
  /** The table that is being imported, or the files of FHIR. */
  protected file: Blob | null = null;
  protected files: readonly File[] = [];
  /** A table whose letters could not be read: its encoding may be said. */
  unread: { readonly file: Blob; readonly name: string } | null = $state.raw(null);

  /** What is being done, in words; empty if nothing is. */
  get busy(): string {
    return this.#works.at(-1) ?? "";
  }

  protected async during<T>(words: string, work: () => Promise<T>): Promise<T> {
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
    const { preview, listing, checked, loaded } = explorer;
    if (this.page === "columns" && preview !== null && this.choice !== null) return "columns";
    if (this.page === "codes" && listing !== null && this.codes !== null) return "codes";
    if (this.page === "quality" && (checked ?? loaded) !== null) return "quality";
    if (this.page !== "choose" && loaded !== null) return "summary";
    return "choose";
  }

  /** The table being imported as it is read: a wide one as one row per visit, once that is said. */
  get table(): TablePreview | null {
    const { preview } = explorer;
    return preview === null ? null : tableAsRead(preview, this.choice?.form ?? {});
  }

  /** Markers of the model that waits. */
  get waiting(): WaitingModel | null {
    return this.model === null ? null : waitingModel(this.model.text);
  }

  /** What is still to be said before the data can be checked; null if nothing is. */
  get open(): string | null {
    const { table, choice, codes, waiting } = this;
    if (codes !== null) return openCodes(codes, waiting);
    if (table === null || choice === null) return null;
    return openQuestion(choice, table, this.beside) ?? missingRole(choice);
  }

  /** How what is imported is read as it was described; null while something is open. */
  protected get asked(): ImportChoice | null {
    const { table, choice, codes, waiting } = this;
    if (this.open !== null) return null;
    if (codes !== null) return readCodes(codes, waiting);
    return table === null || choice === null ? null : readChoice(choice, table);
  }

  /** Shows how much of a file was read. */
  protected readonly tell: Progress = (bytes, total, name) => {
    this.reading = { name, bytes, total };
  };

  describe(change: Partial<TableChoice>): void {
    if (this.choice !== null) this.choice = { ...this.choice, ...change };
  }
}
