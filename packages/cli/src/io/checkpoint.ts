/** An interrupted fit as a file: what was asked for, and the state to go on from. */
import { join } from "node:path";
import type { Marker } from "@trajectory-maps/core";
import type { ReadCohort } from "@trajectory-maps/core/ingest";
import type { ColumnNames, DtmRunSnapshot } from "@trajectory-maps/core/models";
import { FileError } from "../exit-codes.ts";
import { decodeExact, encodeExact } from "./json.ts";
import { fileExists, readText } from "./read.ts";
import { CHECKPOINT_FILE } from "./run-folder.ts";

const FORMAT = "dtm-checkpoint";
const VERSION = 3;

export interface Checkpoint {
  readonly kind: "dtm" | "dtm-paper" | "lmm" | "fpca";
  readonly mapDimension: 1 | 2 | 3;
  readonly mean: "scalar" | "spline";
  readonly seed: number;
  readonly markers: readonly Marker[];
  readonly columns: ColumnNames;
  /** Name of the file the visits were read from. */
  readonly source: string;
  /** What reading the visits found; the copy kept beside this file has only the rows that were taken. */
  readonly reading: Omit<ReadCohort, "cohort" | "columns">;
  /** State of the map under way; null once it is fitted: the model then stands beside this file. */
  readonly snapshot: DtmRunSnapshot | null;
}

export function checkpointText(checkpoint: Checkpoint): string {
  return encodeExact({ format: FORMAT, formatVersion: VERSION, ...checkpoint });
}

export function readCheckpoint(folder: string): Checkpoint {
  const path = join(folder, CHECKPOINT_FILE);
  if (!fileExists(path)) {
    throw new FileError(`${folder} holds no ${CHECKPOINT_FILE}: there is no interrupted fit to resume.`);
  }
  let raw: unknown;
  try {
    raw = decodeExact(readText(path));
  } catch {
    raw = undefined;
  }
  const header = (typeof raw === "object" && raw !== null ? raw : {}) as { format?: unknown; formatVersion?: unknown };
  if (header.format !== FORMAT || header.formatVersion !== VERSION) {
    throw new FileError(
      `${path}: expected a checkpoint of version ${VERSION}, received another file. Start the fit again.`,
    );
  }
  return raw as Checkpoint;
}
