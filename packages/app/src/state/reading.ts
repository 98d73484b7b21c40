/** Tables and examples: looked at, read, taken over; outcomes chosen. */
import type { TablePreview } from "@trajectory-maps/core/ingest";
import { packedDemo } from "../demo/packed.ts";
import type { FhirRules, ImportChoice, Loaded, LoadedSubjects, Progress, Suspects, TableForm } from "../worker/api.ts";
import { EXAMPLE_SEEDS } from "../worker/demo.ts";
import { Fitting } from "./fitting.ts";
import { DEFAULT_FIT, NO_DRAFT } from "./held.svelte.ts";
import { isGivenUp } from "./problem.ts";

/** The published model, and three dimensions, are of one marker. */
const FOR_SEVERAL = { kind: "dtm", mapDimension: 2 } as const;

/** The explorer as far as it reads. */
export class Reading extends Fitting {
  /** First look at a dropped or chosen file. */
  async open(file: Blob, name: string, form: TableForm = {}): Promise<boolean> {
    return this.attempt(async () => {
      this.preview = await this.engine.preview(file, name, form);
      this.listing = null;
      this.previewName = name;
      this.checked = null;
    });
  }

  /** First look at a file that is not opened; null if it cannot be read, of which opening will tell. */
  async look(file: Blob, name: string): Promise<TablePreview | null> {
    return this.engine.look(file, name).catch(() => null);
  }

  /** Whether a file holds resources of FHIR; false if it cannot be read, of which opening will tell. */
  async isFhir(file: Blob, name: string): Promise<boolean> {
    return this.engine.isFhir(file, name).catch(() => false);
  }

  /** First look at files of FHIR resources: the codes in them. */
  async listCodes(files: readonly File[], rules: FhirRules, onProgress: Progress): Promise<boolean> {
    return this.attempt(async () => {
      this.listing = await this.engine.listCodes(files, rules, onProgress);
      this.preview = null;
      this.checked = null;
    });
  }

  /** Lays a table of individuals beside the file looked at. */
  async layBeside(file: Blob | null, name: string): Promise<void> {
    await this.engine.layBeside(file, name);
  }

  /** Looks through the file without taking it over; what was loaded before stays. */
  async check(choice: ImportChoice, onProgress: Progress): Promise<boolean> {
    return this.attempt(async () => {
      this.checked = await this.engine.check(choice, onProgress);
    });
  }

  /** Gives up a check under way. */
  stopReading(): void {
    void this.engine.stopReading();
  }

  /** Takes the file over that was looked at. */
  async read(choice: ImportChoice): Promise<boolean> {
    return this.attempt(async () => {
      const loaded = await this.engine.read(choice);
      const { checked } = this;
      this.takeCohort(loaded, checked?.subjects ?? null);
      if (checked === null) return;
      // The same table: what was found in it when it was checked holds.
      this.looks = this.looks.map((look) => (look.of === checked.loaded ? { ...look, of: loaded } : look));
      this.checked = { ...checked, loaded };
      if (this.subjects !== null) await this.chooseOutcomes(this.subjects.plain);
    });
  }

  /** Values of the table that are probably wrong, once they were looked for. */
  suspectsOf(loaded: Loaded): Suspects | "looking" {
    const look = this.looks.find(({ of }) => of === loaded);
    return look === undefined ? "looking" : look.found;
  }

  /** Looks for values of the table checked or loaded that are probably wrong, unless that was done; takes seconds, apart. */
  async lookForSuspects(loaded: Loaded): Promise<void> {
    if (this.looks.some(({ of }) => of === loaded)) return;
    const number = ++this.numLooks;
    const others = this.looks.filter(({ of }) => of === this.whole || of === this.checked?.loaded);
    this.looks = [...others, { number, of: loaded, found: "looking" }];
    try {
      const found = await this.engine.suspects(loaded !== this.whole);
      this.looks = this.looks.map((look) => (look.number === number ? { ...look, found } : look));
    } catch (error) {
      this.looks = this.looks.filter((look) => look.number !== number);
      if (!isGivenUp(error)) this.report(error);
    }
  }

  /** The lung function example with its map; false if this page was built without it. */
  async openDemo(): Promise<boolean> {
    const packed = await packedDemo();
    if (packed === null) return false;
    return this.attempt(async () => {
      const { loaded, subjects, fitted, groups, comparison } = await this.engine.demo(packed);
      this.preview = null;
      this.listing = null;
      this.checked = null;
      this.previewName = loaded.source;
      this.takeCohort(loaded, subjects);
      this.demo = "lung";
      this.takeFit(fitted);
      this.wholeGroups = groups;
      this.comparison = comparison;
      this.fitChoice = DEFAULT_FIT;
      // The map is shown meanwhile.
      void this.chooseOutcomes(subjects.plain);
    });
  }

  async openExample(name: "pfvc" | "tss", seed: number = EXAMPLE_SEEDS[name]): Promise<boolean> {
    return this.attempt(async () => {
      const { loaded, subjects } = await this.engine.example(name, seed);
      this.preview = null;
      this.listing = null;
      this.checked = null;
      this.previewName = loaded.source;
      this.takeCohort(loaded, subjects);
      await this.chooseOutcomes(subjects.plain);
    });
  }

  /** Reads a table of individuals and takes its plain outcomes. */
  async openSubjects(file: Blob, name: string, id?: string): Promise<boolean> {
    return this.attempt(async () => {
      this.subjects = await this.engine.readSubjects(file, name, id);
      // Covariates chosen from the table before are not in this one.
      this.chooseFit({ covariates: undefined });
      await this.chooseOutcomes(this.subjects.plain, "The table was read, but its outcomes cannot be used.");
    }, "The table of outcomes was not loaded; the visits are still here.");
  }

  async chooseOutcomes(names: readonly string[], refusal = "The outcomes were not changed."): Promise<boolean> {
    return this.attempt(async () => {
      const { outcomes, warnings } = await this.engine.outcomes(names);
      this.outcomeNames = names;
      this.outcomeWarnings = warnings;
      this.outcomes = outcomes;
      this.association = null;
      this.survival = null;
      this.loadedSurface = null;
      const { outcome } = this.view;
      if (outcome === null || !names.includes(outcome)) this.show({ outcome: names[0] ?? null }, true);
      await this.keepNow();
    }, refusal);
  }

  /** Takes a cohort over, or none; everything about the one before goes. */
  protected takeCohort(loaded: Loaded | null, subjects: LoadedSubjects | null): void {
    // Positions of another cohort mean other people: undo ends here, and so does a fit under way.
    this.past = [];
    this.future = [];
    this.fits++;
    this.demo = null;
    this.linkNote = "";
    this.whole = loaded;
    // What was chosen for the table before: its covariates, and a model that is of one marker.
    const { covariates: _, ...kept } = this.fitChoice;
    this.fitChoice = loaded !== null && loaded.cohort.markers.length > 1 ? { ...kept, ...FOR_SEVERAL } : kept;
    this.subjects = subjects;
    if (loaded === null) this.looks = [];
    this.outcomes = [];
    this.outcomeNames = [];
    this.outcomeWarnings = [];
    this.takeFit(null);
    this.fitPhase = "idle";
    this.startsNote = "";
    this.trace = [];
    this.earlierTraces = [];
    this.update = null;
    this.livePlaces = null;
    this.saved = [];
    this.draft = NO_DRAFT;
  }
}
