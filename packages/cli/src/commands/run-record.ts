/** run.json: what was asked for, what was read, how the fit went, and which files are private. */
import { basename } from "node:path";
import process from "node:process";
import { LIBRARY_VERSION, type ReadCohort, type TrajectoryModel } from "@trajectory-maps/core";
import { toJson } from "../io/json.ts";
import { RUN_FILES } from "../io/run-folder.ts";

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
  readonly marker: TrajectoryModel["marker"];
  readonly individuals: number;
  readonly observations: number;
  readonly rows: number;
  readonly rowsLeftOut: number;
  readonly converged: boolean;
  readonly iterations: number;
  readonly verdict: string;
  readonly warnings: readonly string[];
  /** Findings about the file, by code, with their count and nothing of any cell. */
  readonly findings: readonly { readonly code: string; readonly count: number; readonly remedy: string }[];
  readonly notes: readonly string[];
  readonly options: TrajectoryModel["record"]["options"];
  readonly milliseconds: { readonly [stage: string]: number };
  readonly files: readonly { readonly name: string; readonly private: boolean; readonly holds: string }[];
}

export function runRecord(
  model: TrajectoryModel,
  read: ReadCohort,
  about: { readonly command: string; readonly source: string; readonly files: readonly string[] },
): RunRecord {
  const { record } = model;
  return {
    format: "dtm-run",
    formatVersion: 1,
    version: LIBRARY_VERSION,
    node: process.versions.node,
    command: about.command,
    date: new Date().toISOString().slice(0, 10),
    seed: record.seed,
    model: model.kind,
    source: basename(about.source),
    columns: read.columns,
    marker: model.marker,
    individuals: record.numIndividuals,
    observations: record.numObservations,
    rows: read.numRows,
    rowsLeftOut: read.numRowsLeftOut,
    converged: record.converged,
    iterations: record.iterations,
    verdict: record.verdict,
    warnings: record.warnings,
    findings: read.warnings.map(({ code, count, remedy }) => ({ code, count: count ?? 1, remedy })),
    notes: read.notes,
    options: record.options,
    milliseconds: record.milliseconds,
    files: RUN_FILES.filter(({ name }) => about.files.includes(name)),
  };
}

export function runRecordText(record: RunRecord): string {
  return toJson(record);
}
