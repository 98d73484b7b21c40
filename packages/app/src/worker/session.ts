/** One session in the worker: what was read, what was fitted, and what is asked about it. */
import {
  type Cohort,
  DtmError,
  embed,
  type Groups,
  loadModel,
  numIndividuals,
  saveModel,
  selectIndividuals,
  simulateCohort,
} from "@trajectory-maps/core";
import {
  checkMarkers,
  inspectCohort,
  inspectMarkers,
  isFhirFile,
  numObservations,
  plainOutcomes,
  previewFile,
  type ReadCohort,
  readOutcomes,
  readSubjectsFile,
  showComplaints,
} from "@trajectory-maps/core/ingest";
import { type ForecastGuard, type LinearModels, modelMixture, viewMarker } from "@trajectory-maps/core/models";
import {
  MOST_LOOKED_THROUGH,
  type PlacesKnown,
  peopleLike,
  placesKnownAt,
  replayForecasts,
  type SuspectValue,
} from "@trajectory-maps/core/study";
import {
  type Checked,
  type Fitted,
  type ImportChoice,
  isSameMap,
  type Loaded,
  type LoadedSubjects,
  type Progress,
  type WorkerApi,
} from "./api.ts";
import { EXAMPLE_SEEDS, unpackDemo } from "./demo.ts";
import { fansOf } from "./fans.ts";
import { markFar } from "./far-suspects.ts";
import { sourceOf } from "./file-blocks.ts";
import { createFitting } from "./fitting.ts";
import { createHelpers, type Helpers } from "./helpers.ts";
import { answerDifference, answerIndividual, guardOf } from "./individual.ts";
import { viewFitted } from "./marker-view.ts";
import { cohortFor, withChosen } from "./model-cohort.ts";
import { prepare } from "./prepare.ts";
import { createQuestions } from "./questions.ts";
import { codesOf, fhirSource, type NamedFile, type Source, tableSource } from "./sources.ts";

/** What the session holds; every part but the file is also held by the page. */
export interface Session {
  /** What is imported, and what came of reading it with a choice. */
  source: Source | null;
  /** The table of individuals beside it. */
  beside: NamedFile | null;
  checked: { readonly choice: string; readonly found: Checked } | null;
  /** Readings begun or given up so far: one that is not the last gives up. */
  readings: number;
  loaded: Loaded | null;
  subjects: LoadedSubjects | null;
  fitted: Fitted | null;
  /** The linear models that the map started from; null for a map that was not fitted here. */
  linear: LinearModels | null;
  groups: Groups | null;
  /** The model's mixture, computed when first needed. */
  mixture: ReturnType<typeof modelMixture> | null;
  /** What forecasts of each marker fall back on, made when first needed; null if there is none. */
  guards: (ForecastGuard | null)[];
  /** Everybody as known at the time last asked about. */
  known: PlacesKnown | null;
}

/**
 * A fresh session as the worker's engine; `helpers` do the long computations with it, `grouper` makes groups, `looker` looks for
 * suspect values.
 */
export function createSession(
  helpers: Helpers = createHelpers(),
  grouper: Helpers = createHelpers(),
  looker: Helpers = createHelpers(),
): WorkerApi {
  const session: Session = {
    source: null,
    beside: null,
    checked: null,
    readings: 0,
    loaded: null,
    subjects: null,
    fitted: null,
    linear: null,
    groups: null,
    mixture: null,
    guards: [],
    known: null,
  };
  const take = (source: Source) => {
    session.source = source;
    session.beside = null;
    session.checked = null;
  };
  const takeCohort = (loaded: Loaded) => {
    // A fit of the cohort before has nowhere to go.
    void engine.endFit(false);
    session.loaded = loaded;
    session.subjects = null;
    takeFit(null);
    return loaded;
  };
  const takeFit = (fitted: Fitted | null, linear: LinearModels | null = null) => {
    // The map of the first start again, with what the others came to: what was found on it stays.
    if (fitted !== null && session.fitted !== null && isSameMap(fitted, session.fitted)) {
      session.fitted = { ...fitted, placements: session.fitted.placements };
      return;
    }
    session.fitted = fitted;
    session.linear = linear;
    session.mixture = null;
    session.guards = [];
    session.groups = null;
    session.known = null;
    study.forget();
  };
  const cohort = (): Cohort => {
    if (session.loaded === null)
      throw new DtmError("no-cohort", "Expected a cohort, received none. Load a table first.");
    return session.loaded.cohort;
  };
  /** The cohort of the map, if there is one. */
  const placed = (): Cohort => session.fitted?.cohort ?? cohort();

  const decoded = () => {
    if (session.fitted === null) throw notFitted();
    const { fitted } = session;
    const { model } = fitted;
    session.mixture ??= modelMixture(viewMarker(model, 0));
    return { fitted, model, mixture: session.mixture };
  };

  /** What holds forecasts of a marker where few similar people were followed. */
  const guard = (marker = 0): ForecastGuard | null => {
    session.guards[marker] ??= guardOf(decoded().fitted, placed(), marker);
    return session.guards[marker];
  };

  const study = createQuestions(session, helpers, grouper);
  const engine: WorkerApi = {
    ...createFitting(({ covariates }) => withChosen(cohort(), covariates, session.subjects), takeFit),
    ...study.door,

    preview: async (blob, name, form = {}) => {
      const preview = await previewFile(sourceOf(blob, name), { ...form, file: name });
      take(tableSource({ blob, name }, () => session.beside));
      return preview;
    },
    isFhir: (blob, name) => isFhirFile(sourceOf(blob, name), name),
    listCodes: async (files, rules, onProgress) => {
      const named = files.map((blob) => ({ blob, name: blob.name }));
      const source = fhirSource(named);
      const wanted = whileWanted(session, source.name);
      const listing = await codesOf(named, rules, (bytes) => {
        wanted();
        onProgress?.(bytes, source.size, source.name);
      });
      wanted();
      take(source);
      return listing;
    },
    look: (blob, name) => previewFile(sourceOf(blob, name), { file: name }),
    layBeside: async (blob, name) => {
      session.beside = blob === null ? null : { blob, name };
      session.checked = null;
    },
    check: (choice, onProgress) => checkSource(session, choice, onProgress),
    read: async (choice) => {
      const { loaded, refused, subjects = null } = await checkSource(session, choice);
      if (refused.length > 0 && choice.onBad !== "leave-out") {
        throw new DtmError(refused[0]!.code, showComplaints(refused), refused);
      }
      takeCohort(loaded);
      session.subjects = subjects;
      return loaded;
    },
    suspects: async (checked) => {
      const looked = checked && session.checked !== null ? session.checked.found.loaded.cohort : cohort();
      if (numIndividuals(looked) > MOST_LOOKED_THROUGH) return null;
      const task = { kind: "suspects", shared: looked, part: {} } as const;
      return markFar(looked, (await looker.run(task, { aborted: false })) as readonly SuspectValue[]);
    },
    stopReading: async () => {
      session.readings++;
    },
    demo: async (packed) => {
      const { loaded, subjects } = await engine.example("pfvc", EXAMPLE_SEEDS.pfvc);
      const { fitted, groups, comparison } = unpackDemo(packed, loaded.cohort.ids);
      takeFit(fitted);
      session.groups = groups;
      return { loaded, subjects, fitted, groups, comparison };
    },
    example: async (name, seed) => {
      const { cohort: simulated, outcomes } = simulateCohort(name, { seed });
      const source = name === "pfvc" ? "simulated lung function" : "simulated skin scores";
      const loaded = takeCohort(describe(asRead(simulated), source));
      const columns = Object.entries(outcomes).map(([column, labels]) => ({
        name: column,
        cells: Array.from(labels, String),
      }));
      session.subjects = {
        source,
        table: { ids: simulated.ids, columns },
        plain: columns.map((c) => c.name),
        notes: [],
      };
      return { loaded, subjects: session.subjects };
    },
    readSubjects: async (blob, name, id) => {
      const given = id === undefined ? {} : { id };
      const { table, notes } = await readSubjectsFile(sourceOf(blob, name), { file: name, ...given });
      checkColumns(table, name);
      session.subjects = describeSubjects(table, name, notes);
      return session.subjects;
    },
    outcomes: async (names) => {
      if (session.subjects === null) return { outcomes: [], warnings: [] };
      return readOutcomes(names, session.subjects.table, placed().ids);
    },
    restore: async (loaded, subjects, fitted) => {
      takeCohort(loaded);
      session.subjects = subjects;
      takeFit(fitted);
    },
    openModel: async (text, coded) => {
      const model = loadModel(text);
      const own = await cohortFor(model, cohort(), session.subjects, coded);
      const fitted: Fitted = {
        model,
        placements: embed(model, own),
        ...(own === cohort() ? {} : { cohort: own }),
        seconds: 0,
        finished: true,
      };
      takeFit(fitted);
      return fitted;
    },
    prepare: async () => {
      if (session.fitted === null) throw notFitted();
      return prepare(placed(), session.fitted.placements);
    },
    fans: async (members, times, marker) => {
      if (session.fitted === null) throw notFitted();
      return fansOf(viewFitted(session.fitted, placed(), marker), times, members);
    },
    individual: async (question) => {
      const { model, mixture } = decoded();
      const { marker = 0, alone = false } = question;
      if (alone) return answerIndividual(model, mixture, session.groups?.regions ?? null, question);
      return answerIndividual(model, mixture, session.groups?.regions ?? null, question, guard(marker));
    },
    peopleLike: async ({ location, covariance, until, self }) => {
      const { model } = decoded();
      if (session.known?.until !== until) session.known = placesKnownAt(model, placed(), until);
      return peopleLike(session.known, { location, covariance }, NUM_LIKE, self);
    },
    replay: async (individual, marker) => {
      const { model } = decoded();
      const some = individual === null ? placed() : selectIndividuals(placed(), [individual]);
      return replayForecasts(model, some, { marker, guard: guard(marker) });
    },
    difference: async (first, second) => {
      const { model, mixture } = decoded();
      return answerDifference(model, mixture, first, second);
    },
    modelFile: async () => {
      if (session.fitted === null) throw notFitted();
      return saveModel(session.fitted.model);
    },
  };
  return engine;
}

/** How many people are told as like somebody. */
const NUM_LIKE = 20;

/**
 * The table without its unreadable rows, and the complaints about them; faults of the whole table are thrown. One pass over
 * the file, and none if it was read with the same choice before.
 */
async function checkSource(session: Session, choice: ImportChoice, onProgress?: Progress): Promise<Checked> {
  const { source } = session;
  if (source === null) throw new DtmError("no-cohort", "Expected a table, received none. Open a file first.");
  const asked = JSON.stringify({ ...choice, onBad: undefined });
  if (session.checked?.choice === asked) return session.checked.found;
  const { name, size } = source;
  const wanted = whileWanted(session, name);
  const { told, subjects, ...read } = await source.read(choice, (bytes) => {
    wanted();
    onProgress?.(bytes, size, name);
  });
  wanted();
  const found = {
    loaded: { ...describe(read, name), ...(told === undefined ? {} : { told }) },
    refused: read.complaints,
    leftOut: read.leftOutRows,
    ...(subjects === undefined ? {} : { subjects: describeSubjects(subjects, name) }),
  };
  session.checked = { choice: asked, found };
  return found;
}

/** Begins a reading; what is returned throws once another has begun or it was given up. */
function whileWanted(session: Session, name: string): () => void {
  const mine = ++session.readings;
  return () => {
    if (mine !== session.readings) throw new DtmError("cancelled", `${name}: reading was given up.`);
  };
}

function describeSubjects(
  table: LoadedSubjects["table"],
  source: string,
  notes: readonly string[] = [],
): LoadedSubjects {
  return { source, table, plain: plainOutcomes(table), notes };
}

export function notFitted(): DtmError {
  return new DtmError("not-fitted", "Expected a fitted map, received none. Fit the map first.");
}

/** An outcome is asked for by its name: of two columns that share one, nobody could say which is meant. */
function checkColumns({ columns }: LoadedSubjects["table"], file: string): void {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, k) => names.indexOf(name) < k);
  if (twice === undefined) return;
  const shown = twice.slice(0, 40);
  throw new DtmError(
    "duplicate-column",
    `${file}: expected one column "${shown}", received ${names.filter((name) => name === twice).length}. Rename or remove all but one.`,
  );
}

type CohortRead = Omit<ReadCohort, "leftOutRows" | "complaints">;

function describe(read: CohortRead, source: string): Loaded {
  const { cohort, columns, numRows, numRowsLeftOut, leftOut, notes } = read;
  const warnings = [...read.warnings, ...checkMarkers(cohort)];
  const qualities = cohort.markers.length === 1 ? [inspectCohort(read)] : inspectMarkers(read).markers;
  return { source, cohort, columns, numRows, numRowsLeftOut, leftOut, warnings, notes, qualities };
}

function asRead(cohort: Cohort): CohortRead {
  const columns = { id: "id", time: "time", value: "value" };
  return {
    cohort,
    columns,
    markerColumns: [columns],
    numRows: numObservations(cohort),
    numRowsLeftOut: 0,
    leftOut: [],
    conversions: [],
    warnings: [],
    notes: [],
  };
}
