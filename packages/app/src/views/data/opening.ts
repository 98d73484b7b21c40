/** How files come in: what each is, the first look at it, and the page that asks about it. */
import { DtmError } from "@trajectory-maps/core";
import type { TablePreview } from "@trajectory-maps/core/ingest";
import { explorer } from "../../state/explorer.svelte.ts";
import type { FhirRules } from "../../worker/api.ts";
import { type CodesChoice, firstChoice, rulesOf } from "./fhir-choice.ts";
import { ImportState } from "./import-state.svelte.ts";
import { modelChoice } from "./model-text.ts";
import { withMarkers } from "./several-choice.ts";
import { choiceAsSaid, choiceForModel, formSaid, guessChoice, type TableChoice } from "./table-choice.ts";
import { type SaidForm, tableAsRead, wideUnit } from "./table-form.ts";

/** The import as far as it opens files. */
export class Opening extends ImportState {
  /** Files dropped while others are being opened wait for them. */
  #opening: Promise<void> = Promise.resolve();

  /** Opens dropped or chosen files, once they are known: a table of visits, one of individuals beside it, files of FHIR, a saved model. */
  openFiles(files: readonly File[] | Promise<readonly File[]>): Promise<void> {
    const names = "then" in files ? "the files" : files.map(({ name }) => name).join(", ");
    // Said at once: the page must not go on with the table before while this one is looked at.
    return this.during(`Reading ${names}`, () => {
      const opened = this.#opening.then(async () => {
        try {
          await this.#openAll(await files);
        } catch (error) {
          explorer.report(error);
        }
      });
      this.#opening = opened.catch(() => {});
      return opened;
    });
  }

  async #openAll(files: readonly File[]): Promise<void> {
    explorer.go("data");
    explorer.dismiss();
    const resources = await Promise.all(files.map((file) => explorer.isFhir(file, file.name)));
    const isFhir = resources.includes(true);
    const tables: File[] = [];
    for (const [k, file] of files.entries()) {
      if (!resources[k] && (await isModel(file, isFhir))) await this.#openModel(file);
      else tables.push(file);
    }
    if (isFhir) return this.#openFhir(tables);
    // A model alone is for one patient; a table that comes later is placed by it.
    if (tables.length === 0 && this.model !== null && explorer.loaded === null) {
      await explorer.openPatient(this.model.text);
    }
    if (tables.length === 1) await this.#openOne(tables[0]);
    if (tables.length > 1) await this.#openSeveral(tables);
  }

  /** Files of FHIR resources; goes to the page of codes. Other JSON among them is passed over and told. */
  async #openFhir(files: readonly File[]): Promise<void> {
    const others = files.filter(({ name }) => !JSON_ENDS.test(name)).map(({ name }) => name);
    if (others.length > 0) {
      const message = `Expected files of FHIR by themselves, received ${others.join(", ")} with them. Open tables of individuals after the values.`;
      explorer.report(new DtmError("option", message));
      return;
    }
    if (!(await this.#list(files, {})) || explorer.listing === null) return;
    this.codes = firstChoice(explorer.listing, this.waiting);
    this.choice = null;
    this.leaveOut = false;
    this.beside = null;
    this.file = null;
    this.files = files;
    this.openMap = false;
    explorer.previewName = files.length === 1 ? files[0].name : `${files.length} files`;
    this.page = "codes";
  }

  async #list(files: readonly File[], rules: FhirRules): Promise<boolean> {
    const ok = await explorer.listCodes(files, rules, this.tell);
    this.reading = null;
    return ok;
  }

  /** Takes other results besides: the codes are listed anew. */
  async takeAlso(change: Partial<CodesChoice>): Promise<void> {
    if (this.codes === null) return;
    const codes = { ...this.codes, ...change };
    if (await this.during("Reading the codes", () => this.#list(this.files, rulesOf(codes)))) this.codes = codes;
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
    const first = waits && preview !== null && this.file !== null ? this.file : null;
    const before = first === null || preview === null ? null : { file: first, name: explorer.previewName, preview };
    const kept = before ?? (this.page === "choose" ? this.beside : null);
    if ((await this.openTable(file, file.name)) && kept !== null) await this.layBeside(kept);
  }

  /** Two tables, in whatever order: ids repeat among visits. */
  async #openSeveral(files: readonly File[]): Promise<void> {
    const seen = await Promise.all(files.map((file) => explorer.look(file, file.name)));
    // Beside a table of visits, numbered columns of individuals (event1, event2) are no times.
    const kind = seen.some((preview) => preview?.kind === "visits") ? "visits" : "wide";
    const isVisits = seen.map((preview) => preview?.kind === kind);
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
  async layBeside(beside: NonNullable<ImportState["beside"]>): Promise<void> {
    this.beside = beside;
    await explorer.layBeside(beside.file, beside.name);
  }

  /** The table that was opened is of individuals: it waits for the visits. */
  keepBeside(): void {
    const { preview, previewName: name } = explorer;
    if (preview === null || this.file === null) return;
    this.beside = { file: this.file, name, preview };
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
    const ok = await this.during(`Reading ${name}`, () =>
      explorer.open(file, name, {
        ...(sheet === undefined ? {} : { sheet }),
        ...(delimiter === undefined ? {} : { delimiter }),
        ...(encoding === undefined ? {} : { encoding }),
        ...(wide === undefined || wide === false ? {} : { wide }),
      }),
    );
    this.unread = !ok && explorer.problem?.code === "not-utf8" ? { file, name } : null;
    if (!ok || explorer.preview === null) return false;
    this.codes = null;
    this.#guess(tableAsRead(explorer.preview, form), form);
    this.leaveOut = false;
    this.beside = null;
    this.file = file;
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
    if (this.file === null || !(await this.openTable(this.file, explorer.previewName, { sheet }))) return;
    if (beside !== null) await this.layBeside(beside);
  }

  /** Reads the table anew in another encoding. */
  async chooseEncoding(encoding: string): Promise<void> {
    const { beside, unread } = this;
    const file = unread?.file ?? this.file;
    if (file === null) return;
    explorer.dismiss();
    const { delimiter, sheet } = unread === null ? (this.choice?.form ?? {}) : {};
    const said = { ...(delimiter === undefined ? {} : { delimiter }), ...(sheet === undefined ? {} : { sheet }) };
    if (!(await this.openTable(file, unread?.name ?? explorer.previewName, { ...said, encoding }))) return;
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
    await this.during(`Reading ${name}`, () => explorer.openSubjects(file, name));
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
}

/** Ends of names of files that may hold resources. */
const JSON_ENDS = /\.(?:ndjson|jsonl|json)(?:\.gz)?$/i;

/** A saved model is one object of JSON; a list of rows is a table. Among files of FHIR it has to say that it is one. */
async function isModel(file: File, isStrict: boolean): Promise<boolean> {
  const read = (length: number) =>
    file
      .slice(0, length)
      .text()
      .catch(() => "");
  if (!/\.json$/i.test(file.name) || /^\s*\[/.test(await read(64))) return false;
  return !isStrict || (await read(4096)).includes('"disease-trajectory-map"');
}
