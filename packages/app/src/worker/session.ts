/** One session in the worker: what was read, what was fitted, and what is asked about it. */
import {
  type Cohort,
  DtmError,
  decodeText,
  embed,
  type Groups,
  inspectCohort,
  loadModel,
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
} from "@trajectory-maps/core";
import type { Engine, Fitted, Loaded, LoadedSubjects } from "./api.ts";
import { createFitting } from "./fitting.ts";
import { answerDifference, answerIndividual } from "./individual.ts";
import { createStudy } from "./study.ts";
import { gunzip, looksZipped } from "./unzip.ts";

/** What the session holds; every part but the text is also held by the page. */
export interface Session {
  text: string;
  source: string;
  loaded: Loaded | null;
  subjects: LoadedSubjects | null;
  fitted: Fitted | null;
  groups: Groups | null;
  /** The model's mixture, computed once per model. */
  mixture: ReturnType<typeof modelMixture> | null;
  /** Gaussian regions of the groups, for membership of new places. */
  regions: ReturnType<typeof mixtureFromLabels> | null;
}

/** A fresh session as the worker's engine. */
export function createSession(): Engine {
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
    session.loaded = loaded;
    session.subjects = null;
    takeFit(null);
    return loaded;
  };
  const takeFit = (fitted: Fitted | null) => {
    session.fitted = fitted;
    session.mixture = fitted === null ? null : modelMixture(fitted.model);
    session.groups = null;
    session.regions = null;
  };
  const cohort = (): Cohort => {
    if (session.loaded === null)
      throw new DtmError("no-cohort", "Expected a cohort, received none. Load a table first.");
    return session.loaded.cohort;
  };

  return {
    ...createFitting(cohort, takeFit),
    ...createStudy(session),

    preview: async (bytes, name) => {
      session.text = decodeText(await plainBytes(bytes), name).text;
      session.source = name;
      return previewTable(session.text);
    },
    read: async (choice) =>
      takeCohort(describe(readCohort(session.text, { ...choice, file: session.source }), session.source)),
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
    readSubjects: async (bytes, name, id) => {
      const { text } = decodeText(await plainBytes(bytes), name);
      const { table, notes } = readSubjects(text, { file: name, ...(id === undefined ? {} : { id }) });
      session.subjects = { source: name, table, plain: plainOutcomes(table), notes };
      return session.subjects;
    },
    outcomes: async (names) => {
      if (session.subjects === null) return { outcomes: [], warnings: [] };
      return readOutcomes(names, session.subjects.table, cohort().ids);
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
    individual: async (question) => {
      const { fitted, mixture } = session;
      if (fitted === null || mixture === null) throw notFitted();
      return answerIndividual(fitted.model, mixture, session.regions, question);
    },
    difference: async (first, second) => {
      const { fitted, mixture } = session;
      if (fitted === null || mixture === null) throw notFitted();
      return answerDifference(fitted.model, mixture, first, second);
    },
    modelFile: async () => {
      if (session.fitted === null) throw notFitted();
      return saveModel(session.fitted.model);
    },
  };
}

export function notFitted(): DtmError {
  return new DtmError("not-fitted", "Expected a fitted map, received none. Fit the map first.");
}

async function plainBytes(bytes: ArrayBuffer): Promise<Uint8Array> {
  const array = new Uint8Array(bytes);
  return looksZipped(array) ? gunzip(array) : array;
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
    warnings: [],
    notes: [],
  };
}
