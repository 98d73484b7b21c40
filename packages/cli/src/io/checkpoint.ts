/**
 * A fit under way as files: what was asked for, and the state to go on from. They lie in a folder of their own in the run, beside the
 * results of an earlier fit, which stay whole until the new ones take their place. The last state and the one before it are kept,
 * each with its SHA-256: one that was damaged is passed over.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Cohort, Marker } from "@trajectory-maps/core";
import type { ReadCohort } from "@trajectory-maps/core/ingest";
import type { ColumnNames, DtmRunSnapshot } from "@trajectory-maps/core/models";
import { FileError } from "../exit-codes.ts";
import { digestOf } from "./belongs.ts";
import { decodeExact, encodeExact } from "./json.ts";
import { settled } from "./lock.ts";
import { reason } from "./read.ts";
import { settleOrTell, syncFolder, writeThrough } from "./transaction.ts";
import { type OutputFile, temporaryFor, writeOutputs } from "./write.ts";

/** Where a fit or study that is not finished lies in its run. */
export const UNFINISHED = "unfinished";
const LAST = "checkpoint.json";
const PREVIOUS = "checkpoint-previous.json";
const VISITS = "visits.csv";
const FORMAT = "dtm-checkpoint";
const VERSION = 4;

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
  readonly covariates: Cohort["covariates"] | null;
  /** State of the map under way; null once it is fitted. */
  readonly snapshot: DtmRunSnapshot | null;
  /** The model file, once it is fitted. */
  readonly model: string | null;
  /** SHA-256 of the visits beside this file; null where no copy is kept. */
  readonly visits: string | null;
}

/** Keeps states of one fit, each in place of the one before the last. */
export interface Checkpoints {
  keep(checkpoint: Omit<Checkpoint, "visits">): void;
}

/** The copy of the visits that a fit under way keeps. */
export function visitsOfUnfinished(folder: string): string {
  return join(folder, UNFINISHED, VISITS);
}

export function hasCheckpoint(folder: string): boolean {
  return [LAST, PREVIOUS].some((name) => existsSync(join(folder, UNFINISHED, name)));
}

/**
 * Where the states of a fit go: a new one with a copy of its visits, unless none is wanted, or one that goes on from a checkpoint. The
 * first state of a new fit takes the place of all that an earlier one left.
 */
export function openCheckpoints(
  folder: string,
  from: { readonly visits: (() => OutputFile["text"]) | undefined } | Checkpoint,
): Checkpoints {
  const inner = join(folder, UNFINISHED);
  let visits = typeof from.visits === "function" || from.visits === undefined ? undefined : from.visits;
  return {
    keep: (checkpoint) => {
      if (visits !== undefined) return keepNext(inner, checkpointText({ ...checkpoint, visits }));
      const copy = typeof from.visits === "function" ? from.visits() : undefined;
      let known: string | null = null;
      const state = (digests: ReadonlyMap<string, string>) => {
        known = digests.get(VISITS) ?? null;
        return checkpointText({ ...checkpoint, visits: known });
      };
      writeOutputs(
        inner,
        [
          ...(copy === undefined ? [] : [{ name: VISITS, text: copy, private: true }]),
          { name: LAST, text: state, private: true },
        ],
        [PREVIOUS, ...(copy === undefined ? [VISITS] : [])],
      );
      visits = known;
    },
  };
}

/** Puts a state in its place, and the one that was there before it. */
function keepNext(inner: string, text: string): void {
  const [last, previous] = [join(inner, LAST), join(inner, PREVIOUS)];
  const temporary = temporaryFor(last);
  try {
    writeThrough(temporary, text, 0o600, () => {});
    if (existsSync(last)) renameSync(last, previous);
    renameSync(temporary, last);
    syncFolder(inner);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new FileError(`${last} cannot be written: ${reason(error)}. The state before it is kept.`);
  }
}

function checkpointText(checkpoint: Checkpoint): string {
  const body = encodeExact(checkpoint);
  return `${JSON.stringify({ format: FORMAT, formatVersion: VERSION, sha256: sha256(body) })}\n${body}`;
}

/** The last state that is whole; `onDamaged` hears of one that is not. */
export function readCheckpoint(folder: string, onDamaged: (words: string) => void): Checkpoint {
  settled(folder);
  const inner = join(folder, UNFINISHED);
  if (existsSync(inner)) settleOrTell(inner);
  if (!hasCheckpoint(folder)) {
    throw new FileError(`${folder} holds no ${UNFINISHED}/${LAST}: there is no interrupted fit to resume.`);
  }
  const told: string[] = [];
  for (const name of [LAST, PREVIOUS]) {
    const path = join(inner, name);
    const found = existsSync(path) ? parse(readFileSync(path)) : "nothing";
    if (typeof found !== "string") {
      if (told.length > 0) onDamaged(`${told.join(" ")} The state before it is whole: the fit goes on from there.`);
      checkVisits(folder, found);
      return found;
    }
    told.push(`${path}: expected a checkpoint of version ${VERSION} with its digest, received ${found}.`);
  }
  throw new FileError(`${told.join(" ")} Start the fit again.`);
}

/** A checkpoint, or what stands there instead. */
function parse(bytes: Buffer): Checkpoint | string {
  const end = bytes.indexOf("\n");
  const body = bytes.subarray(end + 1);
  try {
    const {
      format,
      formatVersion,
      sha256: expected,
    } = JSON.parse(bytes.subarray(0, end).toString()) as {
      readonly [key: string]: unknown;
    };
    if (format !== FORMAT) return "another file";
    if (formatVersion !== VERSION) return `version ${String(formatVersion)}`;
    return expected === sha256(body) ? (decodeExact(body.toString()) as Checkpoint) : "one that was damaged";
  } catch {
    return "one that was damaged";
  }
}

function checkVisits(folder: string, { visits }: Checkpoint): void {
  const path = visitsOfUnfinished(folder);
  if (visits === null || (existsSync(path) && digestOf(path) === visits)) return;
  throw new FileError(
    `${path}: expected the visits of the interrupted fit, received ${existsSync(path) ? "others: the file was changed" : "no file"}. Put it back, or start the fit again.`,
  );
}

function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
