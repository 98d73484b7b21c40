/** One session in the worker: what was read, what was fitted, and what is asked about it. */
import {
  type Cohort,
  DtmError,
  decodeText,
  embed,
  findRows,
  type Groups,
  idList,
  inspectCohort,
  loadModel,
  looksZipped,
  type mixtureFromLabels,
  modelMixture,
  plainOutcomes,
  previewTable,
  type ReadCohort,
  readCohort,
  readOutcomes,
  readSubjects,
  saveModel,
  simulateCohort,
  type TablePreview,
} from "@trajectory-maps/core";
import type { Checked, Engine, Fitted, Loaded, LoadedSubjects, ReadChoice } from "./api.ts";
import { unpackDemo } from "./demo.ts";
import { fansOf } from "./fans.ts";
import { createFitting } from "./fitting.ts";
import { createHelpers, type Helpers } from "./helpers.ts";
import { answerDifference, answerIndividual } from "./individual.ts";
import { prepare } from "./prepare.ts";
import { createStudy, groupRegions } from "./study.ts";
import { gunzip } from "./unzip.ts";

/** What the session holds; every part but the text is also held by the page. */
export interface Session {
  text: string;
  source: string;
  loaded: Loaded | null;
  subjects: LoadedSubjects | null;
  fitted: Fitted | null;
  groups: Groups | null;
  /** The model's mixture, computed when first needed. */
  mixture: ReturnType<typeof modelMixture> | null;
  /** Gaussian regions of the groups, for membership of new places. */
  regions: ReturnType<typeof mixtureFromLabels> | null;
}

/** A fresh session as the worker's engine; `helpers` do the long computations with it, `grouper` makes groups. */
export function createSession(helpers: Helpers = createHelpers(), grouper: Helpers = createHelpers()): Engine {
  const session: Session = {
    text: "",
    source: "",
    loaded: null,
    subjects: null,
    fitted: null,
    groups: null,
    mixture: null,
    regions: null,
  };
  const takeCohort = (loaded: Loaded) => {
    // A fit of the cohort before has nowhere to go.
    void engine.endFit(false);
    session.loaded = loaded;
    session.subjects = null;
    takeFit(null);
    return loaded;
  };
  const takeFit = (fitted: Fitted | null) => {
    session.fitted = fitted;
    session.mixture = null;
    session.groups = null;
    session.regions = null;
    study.forgetGroups();
  };
  const cohort = (): Cohort => {
    if (session.loaded === null)
      throw new DtmError("no-cohort", "Expected a cohort, received none. Load a table first.");
    return session.loaded.cohort;
  };

  const decoded = () => {
    if (session.fitted === null) throw notFitted();
    const { model } = session.fitted;
    session.mixture ??= modelMixture(model);
    return { model, mixture: session.mixture };
  };

  const study = createStudy(session, helpers, grouper);
  const engine: Engine = {
    ...createFitting(cohort, takeFit),
    ...study.door,

    preview: async (bytes, name) => {
      const { text } = decodeText(await plainBytes(bytes, name), name);
      const preview = lookAtHead(text);
      checkIsTable(text, name, preview);
      session.text = text;
      session.source = name;
      return preview;
    },
    read: async (choice) => takeCohort(readTable(session, choice)),
    check: async (choice) => checkTable(session, choice),
    demo: async (packed) => {
      const { loaded, subjects } = await engine.example("pfvc", DEMO_SEED);
      const { fitted, groups } = unpackDemo(packed, loaded.cohort);
      takeFit(fitted);
      session.groups = groups;
      session.regions = groupRegions(fitted, groups);
      return { loaded, subjects, fitted, groups };
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
        table: { ids: idList(simulated.ids), columns },
        plain: columns.map((c) => c.name),
        notes: [],
      };
      return { loaded, subjects: session.subjects };
    },
    readSubjects: async (bytes, name, id) => {
      const { text } = decodeText(await plainBytes(bytes, name), name);
      const { table, notes } = readSubjects(text, { file: name, ...(id === undefined ? {} : { id }) });
      checkColumns(table, name);
      session.subjects = { source: name, table, plain: plainOutcomes(table), notes };
      return session.subjects;
    },
    outcomes: async (names) => {
      if (session.subjects === null) return { outcomes: [], warnings: [] };
      return readOutcomes(names, session.subjects.table, idList(cohort().ids));
    },
    restore: async (loaded, subjects, fitted) => {
      takeCohort(loaded);
      session.subjects = subjects;
      takeFit(fitted);
    },
    openModel: async (text) => {
      const model = loadModel(text);
      const fitted: Fitted = { model, placements: embed(model, cohort()), seconds: 0, finished: true };
      takeFit(fitted);
      return fitted;
    },
    prepare: async () => {
      if (session.fitted === null) throw notFitted();
      return prepare(cohort(), session.fitted.placements);
    },
    fans: async (members, times) => {
      if (session.fitted === null) throw notFitted();
      return fansOf(session.fitted, times, members);
    },
    individual: async (question) => {
      const { model, mixture } = decoded();
      return answerIndividual(model, mixture, session.regions, question);
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

/** Seed of the simulated cohorts that the page shows as examples. */
const DEMO_SEED = 21;

/** Cells that guesses rest on: what takes a tenth of a second to look through. */
const CELLS_SEEN = 200_000;

/** The head of a table; of a wide one fewer rows, a hundred at least. */
function lookAtHead(text: string): TablePreview {
  const { columns, delimiter } = previewTable(text, { numRowsSeen: 1 });
  const rows = Math.floor(CELLS_SEEN / Math.max(columns.length, 1));
  return previewTable(text, { delimiter, numRowsSeen: Math.min(2000, Math.max(100, rows)) });
}

function readTable({ text, source }: Session, choice: ReadChoice): Loaded {
  return describe(readCohort(text, { ...choice, file: source }), source);
}

/** The table without its unreadable rows, and the complaints about them; faults of the whole table are thrown. */
function checkTable(session: Session, choice: ReadChoice): Checked {
  let refused: Checked["refused"] = [];
  let loaded: Loaded;
  try {
    loaded = readTable(session, { ...choice, onBad: "refuse" });
  } catch (error) {
    if (!(error instanceof DtmError) || error.complaints.length === 0) throw error;
    refused = error.complaints;
    try {
      loaded = readTable(session, { ...choice, onBad: "leave-out" });
    } catch {
      // Nothing would be left: the first complaints say why.
      throw error;
    }
  }
  const lines = new Set(refused.flatMap(({ where }) => where.line ?? []));
  const delimiter = choice.delimiter ?? previewTable(session.text, { numRowsSeen: 1 }).delimiter;
  const leftOut =
    loaded.numRowsLeftOut === 0 ? [] : findRows(session.text, { delimiter, lines, emptyColumn: loaded.columns.value });
  return { loaded, refused, leftOut };
}

export function notFitted(): DtmError {
  return new DtmError("not-fitted", "Expected a fitted map, received none. Fit the map first.");
}

async function plainBytes(bytes: ArrayBuffer, name: string): Promise<Uint8Array> {
  const array = new Uint8Array(bytes);
  return looksZipped(array) ? gunzip(array, name) : array;
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

/** Faults of a file that no choice of columns mends. */
const HOPELESS = ["empty-file", "not-text", "unsupported-format"];
/** Letters at the head of a file that tell what it is. */
const HEAD = 65_536;

/** Refuses what is no table, in the reader's words, before anybody is asked which column is which. */
function checkIsTable(text: string, file: string, { columns, guesses }: TablePreview): void {
  try {
    readCohort(text.trimStart().slice(0, HEAD), { file });
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    const marker = columns[guesses.find(({ role }) => role === "value")?.column ?? -1]?.name ?? "";
    // A number may be the name of some column; as that of the marker it is the first visit, and would be lost.
    const lost = error.code === "no-header" && marker !== "" && Number.isFinite(Number(marker));
    if (lost || HOPELESS.includes(error.code)) throw error;
  }
}

function describe(read: ReadCohort, source: string): Loaded {
  const { cohort, columns, numRows, numRowsLeftOut, warnings, notes } = read;
  return { source, cohort, columns, numRows, numRowsLeftOut, warnings, notes, quality: inspectCohort(read) };
}

function asRead(cohort: Cohort): ReadCohort {
  return {
    cohort,
    columns: { id: "id", time: "time", value: "value" },
    numRows: cohort.times.length,
    numRowsLeftOut: 0,
    leftOut: [],
    warnings: [],
    notes: [],
  };
}
