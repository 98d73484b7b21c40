/**
 * The explorer: its state and everything that can be done to it. Views read `explorer` and call its methods; nothing else
 * changes state. Here is how a session begins (empty, kept, served) and ends; the parts are in the files beside.
 */
import { readPatientModel } from "@trajectory-maps/core/study";
import { makePatientStudy } from "../patient/patient-study.ts";
import type { GroupChoice, ReadChoice } from "../worker/api.ts";
import { canKeep, claim, forget, type Kept, recall } from "./storage.ts";
import { Studying } from "./studying.ts";
import { FIRST_VIEW, linkOf, type View } from "./view.ts";

interface ServedFile {
  readonly path: string;
  readonly name: string;
}

/** data/start.json of the server. */
interface ServedStart {
  readonly visits?: ServedFile;
  readonly subjects?: ServedFile;
  readonly model?: { readonly path: string };
  /** Coded covariates of a run. */
  readonly covariates?: { readonly path: string };
  /** How the groups of a run were made. */
  readonly groups?: GroupChoice;
  /** The comparison of models that a run holds. */
  readonly comparison?: { readonly path: string };
  /** What is known of the table: columns, marker or markers. */
  readonly choice?: ReadChoice;
  readonly pbc?: boolean;
}

/** The explorer as views see it. */
export class Explorer extends Studying {
  /** Reads the fragment, looks for kept data, listens for Back. */
  async start(): Promise<void> {
    const link = linkOf(location.hash);
    const { view: wanted } = link;
    this.link = link;
    // Only the page for one patient needs no data before it is shown.
    if (wanted.step === "patient") this.view = { ...this.view, step: "patient" };
    addEventListener("popstate", () => this.followAddress());
    this.canKeep = await canKeep();
    this.kept = this.canKeep ? await recall() : null;
    const { kept } = this;
    const served = __SERVED__ ? await servedStart() : null;
    this.hasPbc = served?.pbc === true;
    if (kept !== null) await this.attempt(() => this.#takeUp(kept, wanted));
    if (served !== null && kept === null) await this.#openServed(served, wanted);
    this.wantedDemo = link.demo !== null && this.loaded === null ? wanted.step : null;
    // The worker starts while the reader looks at the first page, not when they ask something of it.
    requestAnimationFrame(() => setTimeout(() => void this.engine));
  }

  /** What `dtm explore RUN|VISITS` was started with. */
  async #openServed(start: ServedStart, wanted: View): Promise<void> {
    const fileAt = async ({ path, name }: ServedFile) => new File([await (await fetch(path)).blob()], name);
    if (start.visits === undefined) {
      if (start.model !== undefined) await this.openPatient(await (await fetch(start.model.path)).text());
      return;
    }
    const visits = await fileAt(start.visits);
    const subjects = start.subjects === undefined ? null : await fileAt(start.subjects);
    const choice = start.choice ?? {};
    // A table alone is shown for checking, with what was said on the command line; a run is opened whole.
    if (start.model === undefined) {
      this.served = { visits, choice, subjects };
      return;
    }
    // What a run kept has no repeats but those it was told to keep.
    if (!(await this.open(visits, visits.name)) || !(await this.read({ ...choice, keepRepeats: true }))) return;
    if (subjects !== null) await this.openSubjects(subjects, subjects.name);
    this.groupChoice = start.groups ?? this.groupChoice;
    const coded = start.covariates && (await (await fetch(start.covariates.path)).blob());
    if (await this.openModel(await (await fetch(start.model.path)).text(), coded)) {
      if (start.comparison !== undefined) this.takeComparison(await (await fetch(start.comparison.path)).json());
      this.display({ ...this.view, step: wanted.step === "data" ? "map" : wanted.step });
    }
  }

  /** Opens the page for one patient by the text of a model file. */
  async openPatient(text: string): Promise<boolean> {
    return this.attempt(async () => {
      this.patient = makePatientStudy(readPatientModel(text));
      this.go("patient");
    }, "No model was opened.");
  }

  /** Goes on with a study that was kept. */
  async #takeUp(kept: Kept, wanted: View): Promise<void> {
    this.groupChoice = kept.groups ?? this.groupChoice;
    await this.engine.restore(kept.loaded, kept.subjects, kept.fitted);
    this.takeCohort(kept.loaded, kept.subjects);
    this.previewName = kept.loaded.source;
    await this.chooseOutcomes(kept.outcomes);
    if (kept.fitted !== null) {
      this.takeFit(kept.fitted, await this.engine.prepare());
      void this.findGroups(kept.fitted);
    }
    this.groupNames = kept.names;
    this.saved = kept.saved;
    // Only now: what is half taken up must not be kept in the place of the whole.
    await claim();
    this.mayKeep = true;
    // A fit without a map yet is watched; other starts are tried behind the map of the first.
    const watched = kept.running !== null && kept.running.snapshot.finished.length === 0;
    const step = watched ? "fit" : wanted.step;
    this.followLink();
    this.display({ ...this.view, outcome: wanted.outcome ?? this.view.outcome, step });
    if (kept.running !== null) void this.fit(kept.running.choice, kept.running);
  }

  /** Forgets the data in memory and on disk, and starts afresh. */
  async forgetEverything(): Promise<void> {
    this.mayKeep = false;
    this.link = null;
    this.linkNote = "";
    await forget();
    this.connection?.close();
    this.connection = null;
    this.tasks++;
    this.task = null;
    this.problem = null;
    this.spoken = "";
    this.groupChoice = { numGroups: "auto", seed: 1 };
    this.preview = null;
    this.listing = null;
    this.checked = null;
    this.previewName = "";
    this.kept = null;
    this.patient = null;
    this.takeCohort(null, null);
    this.display(FIRST_VIEW);
  }
}

/** What the server has for the page; null if it says nothing. */
async function servedStart(): Promise<ServedStart | null> {
  const answer = await fetch("data/start.json").catch(() => null);
  return answer?.ok ? ((await answer.json()) as ServedStart) : null;
}

/** The one explorer of the page. */
export const explorer = new Explorer();
