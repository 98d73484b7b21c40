/** The folder of a run: which files it holds, which of them are private, and how it is read back. */

import { join } from "node:path";
import { type Cohort, DtmError, loadModel, type Marker, type TrajectoryModel } from "@trajectory-maps/core";
import {
  type ReadCohort,
  readCohortFile,
  readSubjectsFile,
  takeCoded,
  writeCensored,
} from "@trajectory-maps/core/ingest";
import { codingOf } from "@trajectory-maps/core/models";
import { csvPieces } from "@trajectory-maps/report";
import { FileError, UsageError } from "../exit-codes.ts";
import { checkBelongs, DIGESTS_FILE, RECORD_FILE, watchRun } from "./belongs.ts";
import { hasCheckpoint } from "./checkpoint.ts";
import { settled } from "./lock.ts";
import { fileExists, isFolder, readBlocks, readText } from "./read.ts";
import { checkSameVisits } from "./same-visits.ts";

export const MODEL_FILE = "model.json";
export const VISITS_FILE = "visits.csv";
export const COVARIATES_FILE = "covariates.csv";
/** Of a fit to OMOP CDM. */
export const OMOP_SUBJECTS_FILE = "omop-subjects.csv";
/** Of a study: what it found in the table of visits, and everything that it found. */
export const INSPECT_FILE = "inspect.json";
export const RESULTS_FILE = "results.json";
/** Usual names of the report in its forms. */
export const REPORT_FILES = {
  html: "report.html",
  "pdf-ready": "report-print.html",
  "docx-tables": "tables.docx",
} as const;
export const BASELINES = ["lmm", "fpca"] as const;

/** Every file a run may hold: what it is, and whether it holds data of single individuals. */
export const RUN_FILES = [
  { name: MODEL_FILE, private: false, holds: "the fitted model" },
  { name: "baselines/lmm.json", private: false, holds: "the linear mixed model of the same visits" },
  { name: "baselines/fpca.json", private: false, holds: "the principal components of the same visits" },
  { name: VISITS_FILE, private: true, holds: "the visits as read: id, time, value" },
  { name: COVARIATES_FILE, private: true, holds: "the coded covariates of every individual" },
  { name: OMOP_SUBJECTS_FILE, private: true, holds: "sex, age and outcomes of every individual" },
  { name: "placements.csv", private: true, holds: "the place of every individual" },
  { name: "trace.csv", private: false, holds: "the log-likelihood or bound, iteration by iteration" },
  { name: "compare.json", private: false, holds: "the comparison of models" },
  { name: "groups.json", private: true, holds: "the groups: names, sizes, courses, regions, stability" },
  { name: "groups.csv", private: true, holds: "the group of every individual" },
  { name: "associate.json", private: true, holds: "tests of outcomes; individual follow-up times" },
  { name: "sensitivity.json", private: false, holds: "what changes with one choice of the fit changed" },
  { name: "protocol.json", private: true, holds: "what a study decided before it looked; digests of its tables" },
  { name: "study.json", private: false, holds: "how far a study has come" },
  { name: INSPECT_FILE, private: true, holds: "the quality of the table of visits; suspect values" },
  { name: RESULTS_FILE, private: true, holds: "all results of a study in one document" },
  { name: DIGESTS_FILE, private: true, holds: "the digests of private files" },
  { name: RECORD_FILE, private: false, holds: "this record" },
] as const;

/** Results that later commands put into a run; they belong to the model they were made with. */
export const LATER_FILES = [
  ...["compare.json", "groups.json", "groups.csv", "associate.json", "sensitivity.json", OMOP_SUBJECTS_FILE],
  ...["protocol.json", "study.json", INSPECT_FILE, RESULTS_FILE],
  ...Object.values(REPORT_FILES),
] as const;

export function isPrivate(name: string): boolean {
  return RUN_FILES.some((file) => file.name === name && file.private);
}

/** A run read back: its model, the baselines that are there, and the visits. */
export interface OpenRun {
  readonly folder: string;
  readonly model: TrajectoryModel;
  readonly baselines: readonly TrajectoryModel[];
  readonly read: ReadCohort;
}

/** A model file, or the model of a run's folder. */
export function readModel(path: string): TrajectoryModel {
  if (!isFolder(path)) return loadFile(path);
  checkRun(path);
  if (RUN_FILES.some(({ name }) => name !== MODEL_FILE && fileExists(join(path, name)))) checkRecorded(path);
  return loadOwn(path, MODEL_FILE);
}

function loadOwn(folder: string, name: string): TrajectoryModel {
  checkBelongs(folder, name);
  return loadFile(join(folder, name));
}

/** A model file; what is wrong with it is told with its name. */
function loadFile(path: string): TrajectoryModel {
  const text = readText(path);
  try {
    return loadModel(text);
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    throw new DtmError(error.code, `${path}: ${error.message.replace(/^loadModel: /, "")}`, error.complaints);
  }
}

function checkRun(folder: string): void {
  if (!isFolder(folder)) throw new FileError(`There is no folder ${folder}. Make a run with dtm fit ... -o ${folder}.`);
  settled(folder);
  if (fileExists(join(folder, MODEL_FILE))) return;
  const started = hasCheckpoint(folder);
  throw new FileError(
    started
      ? `${folder} holds an unfinished fit. Finish it with dtm fit --resume ${folder}.`
      : `${folder} holds no ${MODEL_FILE}. Make a run with dtm fit ... -o ${folder}.`,
  );
}

/** Refuses files that no record holds together: each could be of another run. */
function checkRecorded(folder: string): void {
  if (fileExists(join(folder, RECORD_FILE))) return;
  throw new FileError(
    `${join(folder, RECORD_FILE)}: expected the record that every run has, received none: files of different runs could not be told apart. Put it back as it was, fit again with --force, or, for places and forecasts, name ${join(folder, MODEL_FILE)}.`,
  );
}

/** Files of a fit that no command reads for what they say; another run's would lie beside the model unseen. */
const UNREAD = ["placements.csv", "trace.csv"];

/** Reads a run back; `readOther` reads the visits where the run keeps no copy of them, and they must be those of the fit. */
export async function openRun(
  folder: string,
  readOther?: (model: TrajectoryModel) => Promise<ReadCohort>,
): Promise<OpenRun> {
  checkRun(folder);
  checkRecorded(folder);
  const checkUnchanged = watchRun(folder);
  for (const name of UNREAD) checkBelongs(folder, name);
  const model = readModel(folder);
  const baselines = BASELINES.map((name) => `baselines/${name}.json`)
    .filter((name) => fileExists(join(folder, name)))
    .map((name) => loadOwn(folder, name));
  const read = await (readOther === undefined ? readPrivateCopy(folder, model) : readOther(model));
  if (readOther !== undefined) await checkSameVisits(folder, model, read.cohort, () => visitsCsv(read.cohort));
  const cohort = await withKeptCovariates(folder, model, read.cohort);
  checkUnchanged();
  return { folder, model, baselines, read: { ...read, cohort } };
}

/** Whether a run keeps a copy of its visits. */
export function hasVisits(folder: string): boolean {
  return fileExists(join(folder, VISITS_FILE));
}

function readPrivateCopy(folder: string, model: TrajectoryModel): Promise<ReadCohort> {
  const path = join(folder, VISITS_FILE);
  if (!hasVisits(folder)) {
    throw new UsageError(`${folder} keeps no copy of the visits. Name the file they were read from: --visits FILE.`);
  }
  checkBelongs(folder, VISITS_FILE);
  return readVisitsCopy(
    path,
    model.markers.map(({ marker }) => marker),
  );
}

/** How what `visitsCsv` wrote is read: its columns, and the marker or markers. */
export function copyOptions(markers: readonly Marker[]) {
  const columns = { id: "id", time: "time", value: "value" };
  if (markers.length === 1) return { columns, marker: markers[0]! };
  const choices = markers.map((marker) => ({ ...marker, column: marker.name }));
  return { columns, markers: choices, markerColumn: "marker", mayLack: true };
}

/** Reads what `visitsCsv` wrote. */
export function readVisitsCopy(path: string, markers: readonly Marker[]): Promise<ReadCohort> {
  const options = { ...copyOptions(markers), file: path, delimiter: ",", keepRepeats: true } as const;
  return readCohortFile(readBlocks(path), options);
}

/** The coded covariates of a cohort, in pieces; they read back bit for bit. */
export function covariatesCsv({ ids, covariates }: Cohort): Iterable<string> {
  const { coding, values } = covariates ?? { coding: { columns: [] }, values: new Float64Array(0) };
  const P = coding.columns.length;
  function* rows(): Generator<readonly (string | number)[]> {
    for (const [i, id] of ids.entries()) yield [id, ...values.subarray(i * P, (i + 1) * P)];
  }
  return csvPieces(["id", ...coding.columns.map(({ name }) => name)], rows(), { exact: true });
}

/** The cohort of a run with the covariates that the run keeps, where its model needs them and the cohort brings none. */
async function withKeptCovariates(folder: string, model: TrajectoryModel, cohort: Cohort): Promise<Cohort> {
  const coding = codingOf(model);
  const path = join(folder, COVARIATES_FILE);
  if (coding === undefined || cohort.covariates !== undefined || !fileExists(path)) return cohort;
  checkBelongs(folder, COVARIATES_FILE);
  const { table } = await readSubjectsFile(readBlocks(path), { file: path, id: "id", delimiter: "," });
  return { ...cohort, covariates: { coding, values: takeCoded(coding, table, cohort.ids) } };
}

/**
 * The private copy of the visits, in pieces; it reads back as the same cohort, bit for bit. Of several markers every row says which it
 * is of.
 */
export function visitsCsv({ ids, markers }: Cohort): Iterable<string> {
  const isOne = markers.length === 1;
  function* rows(): Generator<readonly (string | number)[]> {
    for (const [i, id] of ids.entries()) {
      for (const { marker, offsets, times, values, censored } of markers) {
        for (let j = offsets[i] ?? 0; j < (offsets[i + 1] ?? 0); j++) {
          const value = values[j] ?? Number.NaN;
          const side = censored?.[j] ?? 0;
          const measured = [times[j] ?? Number.NaN, side === 0 ? value : writeCensored(side, value)];
          yield isOne ? [id, ...measured] : [id, marker.name, ...measured];
        }
      }
    }
  }
  return csvPieces(["id", ...(isOne ? [] : ["marker"]), "time", "value"], rows(), { exact: true });
}
