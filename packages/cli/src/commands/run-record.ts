/**
 * run.json: what was asked for, what was read, how the fit went, which commands put results beside it later, and which
 * files are private.
 */

import { basename } from "node:path";
import process from "node:process";
import { LIBRARY_VERSION, type MapVerdict, type Marker, mapVerdict, type TrajectoryModel } from "@trajectory-maps/core";
import type { ErrorCode, ReadCohort } from "@trajectory-maps/core/ingest";
import type { HeldOutEvidence, SharingVerdict } from "@trajectory-maps/core/study";
import {
  DIGESTS_FILE,
  digestsText,
  type ListedFile,
  type PrivateDigests,
  RECORD_FILE,
  readDigests,
} from "../io/belongs.ts";
import { toJson } from "../io/json.ts";
import { progressWithout } from "../io/protocol.ts";
import { readResult } from "../io/results.ts";
import { isPrivate, RESULTS_FILE, RUN_FILES } from "../io/run-folder.ts";
import { type OutputFile, writeOutputs } from "../io/write.ts";
import type { Context } from "./command.ts";

export const COMPARE_FILE = "compare.json";
export const ASSOCIATE_FILE = "associate.json";
export const GROUPS_FILE = "groups.json";
export const SENSITIVITY_FILE = "sensitivity.json";

export interface RunRecord {
  readonly format: "dtm-run";
  readonly formatVersion: 1;
  readonly version: string;
  readonly node: string;
  readonly command: string;
  readonly date: string;
  readonly seed: number;
  readonly model: string;
  readonly source: string;
  readonly columns: { readonly id: string; readonly time: string; readonly value: string };
  readonly marker: Marker;
  /** All markers and their columns, the first of them above, where there are several. */
  readonly markers?: readonly Marker[];
  readonly markerColumns?: ReadCohort["markerColumns"];
  /** Whether several markers share the map. */
  readonly sharing?: SharingVerdict;
  readonly individuals: number;
  readonly observations: number;
  readonly rows: number;
  readonly rowsLeftOut: number;
  readonly converged: boolean;
  readonly iterations: number;
  readonly verdict: string;
  /** The verdict on the map by four lights, with what a comparison and refits said once there are any. */
  readonly map?: MapVerdict;
  readonly warnings: readonly string[];
  /** Findings about the file, by code, with their count and nothing of any cell. */
  readonly findings: readonly { readonly code: ErrorCode; readonly count: number; readonly remedy: string }[];
  readonly notes: readonly string[];
  readonly options: TrajectoryModel["record"]["options"];
  readonly files: readonly ListedFile[];
  /** Commands whose results were put into the run later, in order; the last of each kind. */
  readonly later?: readonly LaterCommand[];
}

interface LaterCommand {
  readonly name: "groups" | "compare" | "associate" | "calibrate" | "sensitivity";
  readonly command: string;
  readonly version: string;
  readonly date: string;
}

export function runRecord(
  model: TrajectoryModel,
  read: Pick<ReadCohort, "columns" | "markerColumns" | "numRows" | "numRowsLeftOut" | "warnings" | "notes">,
  about: { readonly command: string; readonly source: string; readonly files: readonly string[] },
  sharing?: SharingVerdict,
): RunRecord {
  const { record } = model;
  return {
    format: "dtm-run",
    formatVersion: 1,
    version: LIBRARY_VERSION,
    node: process.versions.node,
    command: about.command,
    date: today(),
    seed: record.seed,
    model: model.kind,
    source: basename(about.source),
    columns: read.columns,
    marker: model.markers[0]!.marker,
    ...(model.markers.length === 1
      ? {}
      : { markers: model.markers.map(({ marker }) => marker), markerColumns: read.markerColumns }),
    ...(sharing === undefined ? {} : { sharing }),
    individuals: record.numIndividuals,
    observations: record.numObservations,
    rows: read.numRows,
    rowsLeftOut: read.numRowsLeftOut,
    converged: record.converged,
    iterations: record.iterations,
    verdict: record.verdict,
    map: mapVerdict(model),
    warnings: record.warnings,
    findings: read.warnings.map(({ code, count, remedy }) => ({ code, count: count ?? 1, remedy })),
    notes: read.notes,
    options: record.options,
    files: RUN_FILES.filter(({ name }) => about.files.includes(name)),
  };
}

/** run.json and digests.json, to be written behind the files that they hold the digests of; `known` are those of other private files. */
export function sealed(record: RunRecord, known: PrivateDigests): OutputFile[] {
  const withDigests = (digests: ReadonlyMap<string, string>) => {
    const files = record.files.map((file) => {
      const sha256 = file.private ? undefined : (digests.get(file.name) ?? file.sha256);
      return { ...file, ...(sha256 === undefined ? {} : { sha256 }) };
    });
    return toJson({ ...record, files });
  };
  const privateOnes = (digests: ReadonlyMap<string, string>) =>
    digestsText(digests.get(RECORD_FILE) ?? "", {
      ...known,
      ...Object.fromEntries([...digests].filter(([name]) => isPrivate(name))),
    });
  return [
    { name: RECORD_FILE, text: withDigests },
    { name: DIGESTS_FILE, text: privateOnes, private: true },
  ];
}

/**
 * Writes results of a command into a folder, as one change with what a study writes beside them and, where the folder is a run, its
 * record. A command given again takes the place of its earlier result; results that do not belong to it any more, `stale`, go. Of a
 * finished study the steps that rest on it are to be done again. Returns the paths of the results.
 */
export function writeResults(
  folder: string,
  name: LaterCommand["name"] | "report" | undefined,
  files: readonly OutputFile[],
  { commandLine, beside }: Pick<Context, "commandLine" | "beside">,
  changes: Pick<RunRecord, "map"> = {},
  stale: readonly string[] = [],
): string[] {
  const record = readResult<RunRecord>(folder, RECORD_FILE);
  const progress = beside ?? (name === undefined ? [] : progressWithout(folder, name));
  const written = [...files, ...progress];
  if (record === undefined) return writeOutputs(folder, written).slice(0, files.length);
  const gone = [...stale, ...(beside === undefined && progress.length > 0 ? [RESULTS_FILE] : [])];
  const isGone = (file: string) => gone.includes(file) && !written.some((own) => own.name === file);
  const isStep = name !== undefined && name !== "report";
  const later = (record.later ?? []).filter((earlier) => earlier.name !== name && !isGone(`${earlier.name}.json`));
  const known = new Map(record.files.map((file) => [file.name, file]));
  const listed = [...known.keys(), ...written.map((file) => file.name), DIGESTS_FILE].filter((file) => !isGone(file));
  const now: RunRecord = {
    ...record,
    ...changes,
    files: RUN_FILES.filter((file) => listed.includes(file.name)).map((file) => ({ ...known.get(file.name), ...file })),
    ...(isStep || later.length !== (record.later ?? []).length
      ? {
          later: isStep ? [...later, { name, command: commandLine, version: LIBRARY_VERSION, date: today() }] : later,
        }
      : {}),
  };
  const digests = Object.fromEntries(Object.entries(readDigests(folder)).filter(([file]) => !isGone(file)));
  return writeOutputs(folder, [...written, ...sealed(now, digests)], gone.filter(isGone)).slice(0, files.length);
}

/** The verdict on the map of a run, by what is known now or was written by earlier commands. */
export function runVerdict(
  folder: string,
  model: TrajectoryModel,
  known: { readonly comparison?: HeldOutEvidence; readonly refits?: readonly number[] },
): MapVerdict {
  type Stored = { readonly stability: { readonly mapAgreement?: readonly number[] } | null };
  const comparison = known.comparison ?? readResult<HeldOutEvidence>(folder, COMPARE_FILE);
  const refits = known.refits ?? readResult<Stored>(folder, GROUPS_FILE)?.stability?.mapAgreement;
  return mapVerdict(model, comparison, refits);
}

/** Commands of a run in order: the fit, and what was added to it. */
export function recordedCommands({ command, later = [] }: RunRecord): string[] {
  return [command, ...later.map((added) => added.command)];
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
