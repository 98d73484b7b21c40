/**
 * What the explorer holds, and how it does work that may fail. The parts of the explorer stand each on the one before:
 *
 *   Held ← Showing ← Keeping ← Fitting ← Reading ← Studying ← Explorer
 *
 * and are one object in the end. Large data are `$state.raw`: replaced whole, never changed in place.
 */
import {
  type Association,
  type Comparison,
  type Complaint,
  type Groups,
  type MapVerdict,
  mapVerdict,
  type Placements,
} from "@trajectory-maps/core";
import type { FhirListing } from "@trajectory-maps/core/fhir";
import { type MarkerSeries, type Outcome, onlyMarker, type TablePreview } from "@trajectory-maps/core/ingest";
import type {
  HeldOutEvidence,
  LandmarkSurvival,
  MapStability,
  SeveralComparison,
  SharingVerdict,
} from "@trajectory-maps/core/study";
import type { PatientStudy } from "../patient/patient-study.ts";
import type {
  BaselinePlaces,
  Checked,
  FitChoice,
  Fitted,
  FitUpdate,
  GroupChoice,
  Loaded,
  LoadedSubjects,
  ReadChoice,
  ShareSurface,
  Suspects,
  WorkerApi,
} from "../worker/api.ts";
import { connectEngine, type EngineConnection } from "../worker/client.ts";
import { type Visits, viewFitted, viewGroups, viewLoaded } from "../worker/marker-view.ts";
import type { PreparedMap } from "../worker/prepare.ts";
import { outlined } from "./outlined.ts";
import { isGivenUp, type Problem, problemOf } from "./problem.ts";
import type { Kept } from "./storage.ts";
import { FIRST_VIEW, type Link, type LinkFacts, type Step, type View } from "./view.ts";

/** Where a fit stands; while other starts are tried, the map of the first is there. */
export type FitPhase = "idle" | "starting" | "running" | "paused" | "ending" | "other starts" | "failed";

/** A long piece of work that is under way. */
export interface Task {
  readonly what: string;
  readonly done: number;
  readonly of: number;
  readonly detail: string;
}

/** A selection under a name. */
export interface SavedSelection {
  readonly name: string;
  readonly members: readonly number[];
  readonly how: string;
}

/** A look through a table for values that are probably wrong. */
export interface Look {
  readonly number: number;
  readonly of: Loaded;
  readonly found: Suspects | "looking";
}

/** A table named on the command line, with what was said about it there and its table of outcomes. */
export interface ServedTable {
  readonly visits: File;
  readonly choice: ReadChoice;
  readonly subjects: File | null;
}

/** A new individual: visits of each marker, none where there are not as many, and what is said of its covariates. */
export interface Draft {
  readonly visits: readonly Visits[];
  readonly covariates: CovariateRow;
  /** Whose visits were changed in it; null for somebody new. */
  readonly of: { readonly index: number; readonly id: string } | null;
}

/** Covariates of an individual by their names. */
export type CovariateRow = Readonly<Record<string, string | number>>;

export const NO_DRAFT: Draft = { visits: [], covariates: {}, of: null };

/** A study as one of its markers has it. */
export interface MarkerView {
  readonly loaded: Loaded;
  readonly fitted: Fitted | null;
}

function viewsOf(whole: Loaded | null, fit: Fitted | null): readonly MarkerView[] {
  if (whole === null) return [];
  const { markers } = fit?.cohort ?? whole.cohort;
  return markers.map((_, k) => ({
    loaded: viewLoaded(whole, fit, k),
    fitted: fit === null ? null : viewFitted(fit, whole.cohort, k),
  }));
}

/** The light of a fit; one that was stopped has not settled. */
function trustIn(
  { model, finished }: Fitted,
  comparison: HeldOutEvidence | null,
  stability: MapStability | null,
): MapVerdict {
  const record = { ...model.record, converged: model.record.converged && finished };
  return mapVerdict({ ...model, record }, comparison, stability?.mapAgreement);
}

/** The fit proposed to a new cohort. */
export const DEFAULT_FIT: FitChoice = { kind: "dtm", mapDimension: 2, mean: "scalar", seed: 1 };

/** The state, and what every part needs. */
export class Held {
  // What is shown.
  view: View = $state.raw(FIRST_VIEW);
  theme: "system" | "light" | "dark" = $state("system");
  shortcuts = $state(true);
  /** What the address asked for before its data were there: shown once they are. */
  protected link: Link | null = null;
  /** What could not be shown of a link; empty if nothing is to be told. */
  linkNote = $state("");
  /** Said by the polite live region. */
  spoken = $state("");

  /** The step at which the address asks for the example, or null. */
  wantedDemo: Step | null = null;

  // What was read.
  preview: TablePreview | null = $state.raw(null);
  previewName = $state("");
  /** Codes in the files of FHIR looked at, in the place of a table. */
  listing: FhirListing | null = $state.raw(null);
  /** The table that `dtm explore VISITS` was started with, to be imported as any other. */
  served: ServedTable | null = null;
  /** Whether the server has the PBC example. */
  hasPbc = $state(false);
  /** The table looked at as it would be read; taken over by `read`. */
  checked: Checked | null = $state.raw(null);
  /** The example that is loaded, if every page has it. */
  protected demo: LinkFacts["demo"] = null;
  /** The table taken over, with all of its markers. */
  whole: Loaded | null = $state.raw(null);
  /** Tables looked through for suspect values, the one checked and the one loaded; "looking" until they are found. */
  protected looks: readonly Look[] = $state.raw([]);
  /** The map as it was fitted or opened, of all markers. */
  wholeFit: Fitted | null = $state.raw(null);
  /** The study seen through each of its markers: panels show the view of the chosen one. */
  readonly views: readonly MarkerView[] = $derived(viewsOf(this.whole, this.wholeFit));
  /** Position of the chosen marker. */
  readonly marker: number = $derived(Math.min(this.view.marker, Math.max(0, this.views.length - 1)));
  readonly loaded: Loaded | null = $derived(this.views[this.marker]?.loaded ?? null);
  readonly fitted: Fitted | null = $derived(this.views[this.marker]?.fitted ?? null);
  /** The observations of the chosen marker. */
  readonly series: MarkerSeries | null = $derived(this.loaded === null ? null : onlyMarker(this.loaded.cohort));
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
  /** What the other starts are at, or that they changed the map; empty if there is nothing to tell. */
  startsNote = $state("");
  update: FitUpdate | null = $state.raw(null);
  trace: readonly number[] = $state.raw([]);
  /** The pass that `trace` ends with. */
  lastPass = $state(0);
  /** Traces of the stages before, oldest first, such as the coarse lattice. */
  earlierTraces: readonly (readonly number[])[] = $state.raw([]);
  /** The places that `trace` led to, once its start has ended; models that were opened have none. */
  tracedPlaces: Placements | null = $state.raw(null);
  livePlaces: Float32Array | null = $state.raw(null);
  /** Whether the markers share the map. */
  sharing: SharingVerdict | "judging" | null = $state.raw(null);
  /** What drawing a large map begins with; a small one finds its own. */
  prepared: PreparedMap | null = $state.raw(null);

  // The study.
  wholeGroups: Groups | null = $state.raw(null);
  /** The groups with the courses of the chosen marker. */
  readonly groups: Groups | null = $derived(
    this.wholeGroups === null ? null : viewGroups(this.wholeGroups, this.marker),
  );
  groupChoice: GroupChoice = $state.raw({ numGroups: "auto", seed: 1 });
  /** Names given by the user, by letter. */
  groupNames: { readonly [letter: string]: string } = $state.raw({});
  stability: MapStability | null = $state.raw(null);
  baselines: readonly BaselinePlaces[] | null = $state.raw(null);
  association: Association | null = $state.raw(null);
  comparison: Comparison | null = $state.raw(null);
  /** The comparison of a map of several markers. */
  severalComparison: SeveralComparison | null = $state.raw(null);
  /** The light of trust on the map, with what comparison and refits said once there are any; null before a fit. */
  readonly trust: MapVerdict | null = $derived(
    this.wholeFit === null ? null : trustIn(this.wholeFit, this.evidence, this.stability),
  );
  survival: LandmarkSurvival | null = $state.raw(null);
  loadedSurface: ShareSurface | null = $state.raw(null);
  readonly surface: ShareSurface | null = $derived(outlined(this.loadedSurface, this.association));
  saved: readonly SavedSelection[] = $state.raw([]);
  /** The new individual of the what-if panel. */
  draft: Draft = $state.raw(NO_DRAFT);
  /** The model that the page for one patient stands on; null until a file of one is opened. */
  patient: PatientStudy | null = $state.raw(null);
  /** Covariates of the people whose courses the map and the covariates' panel show; null: of the average. */
  described: CovariateRow | null = $state.raw(null);
  task: Task | null = $state.raw(null);

  // Storage.
  mayKeep = $state(false);
  canKeep = $state(false);
  kept: Kept | null = $state.raw(null);

  protected connection: EngineConnection | null = null;
  protected past: View[] = [];
  protected future: View[] = [];
  /** Fits begun: an older one that ends says nothing about the one under way. */
  protected fits = 0;
  /** Long pieces of work begun: the bar shows the last alone. */
  protected tasks = 0;
  protected lastKept = 0;
  /** Looks for suspect values begun. */
  protected numLooks = 0;

  get engine(): WorkerApi {
    this.connection ??= connectEngine();
    return this.connection.engine;
  }

  /** What the comparison of models said, of one marker or of several. */
  get evidence(): HeldOutEvidence | null {
    return this.severalComparison ?? this.comparison;
  }

  /** Whether a fit is under way whose map is not there yet. */
  get fitting(): boolean {
    return ["starting", "running", "paused", "ending"].includes(this.fitPhase);
  }

  /** Whether this is still the map that is shown; what the other starts came to may have been added to its record. */
  protected isShown(fitted: Fitted | null): boolean {
    return this.wholeFit?.placements === fitted?.placements;
  }

  /** Why a step cannot be opened yet, or null. */
  missing(step: Step): string | null {
    if (step === "data" || step === "patient") return null;
    if (this.loaded === null) return "Load a table first";
    if (step === "fit") return null;
    if (this.fitted === null) return "Fit the map first";
    // A map of nothing makes no claims about outcomes.
    return step === "outcomes" && this.trust?.colour === "grey" ? this.trust.words : null;
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

  /** Does the work, or shows why it could not be done; `title` says of a refused table what that means. */
  protected async attempt(work: () => Promise<void>, title = "Nothing was loaded."): Promise<boolean> {
    this.problem = null;
    try {
      await work();
      return true;
    } catch (error) {
      if (!isGivenUp(error)) this.problem = problemOf(error, title);
      return false;
    }
  }

  /** Does a long piece of work, its progress told by the task bar. */
  protected async during(
    what: string,
    work: (progress: (done: number, of: number, detail: string) => void) => Promise<void>,
  ) {
    const mine = ++this.tasks;
    this.task = { what, done: 0, of: 1, detail: "" };
    const ok = await this.attempt(() =>
      work((done, of, detail) => {
        if (mine === this.tasks) this.task = { what, done, of, detail };
      }),
    );
    if (mine === this.tasks) this.task = null;
    return ok;
  }
}
