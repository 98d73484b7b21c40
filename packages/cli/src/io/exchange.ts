/**
 * Sums of a spread fit as files in a folder that places and whoever adds can reach (docs/rounds.md). Of round k every place writes
 * `sums/00000k-PLACE.sums`, and the one who adds writes `totals/00000k.sums`. A file is a line of JSON and then the numbers, eight bytes each,
 * little-endian: of a place two for each sum (numeric/pair-sum.ts in the core), so that it does not matter in which groups individuals are
 * added up. Files are renamed into place whole and hold the same bytes whoever writes them when: a place or an adder may be stopped
 * at any moment, started again, or run twice. What belongs to another fit, another version or another round is refused.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addToPairs, type Exchange, roundPairs } from "@trajectory-maps/core/hosts";
import { FileError } from "../exit-codes.ts";
import { makeFolder } from "./make-folder.ts";
import { reason } from "./read.ts";
import { temporaryFor } from "./write.ts";

/** The first line of a file of sums; there the checksum of the numbers follows. */
interface SumsHeader {
  readonly format: typeof FORMAT;
  /** The agreement of the fit, and the checksum of all totals before this round. */
  readonly agreement: string;
  readonly before: string;
  readonly round: number;
  /** What the sums are of, and a checksum of the parameters they were taken at. */
  readonly what: string;
  readonly state: string;
  /** Who gave them; "all" for a total. */
  readonly place: string;
  /** Checksum of the statistics of the place; of a total that of these of all places, by which all rounds are known to be of the same ones. */
  readonly data: string;
  readonly numbers: number;
}

interface Sums {
  readonly header: SumsHeader;
  readonly sums: Float64Array;
}

const FORMAT = "trajectory-maps-sums";
const ALL = "all";
const POLL_MS = 20;
/** The checksum of no totals. */
const FIRST = checksumOf();

/** Sums that a place has made and whose total is not there yet. */
export interface Pending {
  readonly round: number;
  readonly what: string;
  readonly bytes: number;
  /** Where they are written, or would be. */
  readonly path: string;
}

/** Thrown where a place has done all it can until others have: its sums of this round are written, unless it only looks. */
export class WaitingForTotal extends Error {
  readonly pending: Pending;

  constructor(pending: Pending) {
    super(`Round ${pending.round} waits for its total.`);
    this.pending = pending;
  }
}

/** What was exchanged. */
export interface Exchanged {
  readonly what: string;
  rounds: number;
  bytes: number;
}

/** Whose sums, and how long to wait for each total; a place that only looks writes nothing. */
export interface ExchangeOptions {
  readonly folder: string;
  /** Checksum of the agreement. */
  readonly agreement: string;
  readonly place: string;
  /** Checksum of the statistics of this place. */
  readonly data: string;
  readonly waitSeconds: number;
  readonly onlyLook: boolean;
}

/** Sums over all places for one of them. */
export function openExchange(options: ExchangeOptions): {
  readonly exchange: Exchange;
  readonly exchanged: Exchanged[];
} {
  const { folder, agreement, place, data, waitSeconds, onlyLook } = options;
  const exchanged: Exchanged[] = [];
  let before = FIRST;
  let allData: string | undefined;
  let round = 0;
  const exchange: Exchange = (pairs, what, state = "") => {
    round++;
    const numbers = pairs.length;
    const header = { format: FORMAT, agreement, before, round, what, state, numbers } as const;
    const path = totalPath(folder, round);
    const own = sumsPath(folder, round, place);
    const given = { header: { ...header, place, data }, sums: pairs };
    // Also where the total is there: a place that goes on with other data would hand out sums that fit no total before.
    checkGiven(own, given);
    if (!existsSync(path)) {
      const waiting = new WaitingForTotal({ round, what, bytes: 8 * numbers, path: own });
      if (onlyLook) throw waiting;
      writeSums(own, given);
      waitFor([path], waitSeconds, waiting);
    }
    const all = readSums(path);
    allData ??= all.header.data;
    checkHeader(path, all.header, { ...header, numbers: numbers / 2, place: ALL, data: allData });
    before = chained(before, all.sums);
    count(exchanged, what, 8 * numbers);
    return all.sums;
  };
  return { exchange, exchanged };
}

function count(exchanged: Exchanged[], what: string, bytes: number): void {
  const kind = exchanged.find((own) => own.what === what) ?? { what, rounds: 0, bytes: 0 };
  if (kind.rounds === 0) exchanged.push(kind);
  kind.rounds++;
  kind.bytes += bytes;
}

/** What adding has come to. */
export interface Added {
  /** Rounds that have a total. */
  readonly rounds: number;
  /** Places that have not given sums for the next one. */
  readonly missing: readonly string[];
}

/** Adds, whenever called, all rounds that every place has given sums for since. */
export function openAdding(folder: string, agreement: string, places: readonly string[]): () => Added {
  let before = FIRST;
  let rounds = 0;
  let data: string | undefined;
  return () => {
    for (;;) {
      const round = rounds + 1;
      const path = totalPath(folder, round);
      if (!existsSync(path)) {
        const missing = places.filter((place) => !existsSync(sumsPath(folder, round, place)));
        if (missing.length > 0) return { rounds, missing };
        const total = totalOf(folder, { agreement, before, round }, places);
        if (total.header.data !== (data ?? total.header.data)) throw otherData(folder, round, places);
        writeSums(path, total);
      }
      const { header, sums } = readSums(path);
      data ??= header.data;
      checkHeader(path, header, { ...header, format: FORMAT, agreement, before, round, place: ALL, data });
      before = chained(before, sums);
      rounds = round;
    }
  };
}

/** The total of a round, from the sums of all places in the order agreed on. */
function totalOf(
  folder: string,
  known: Pick<SumsHeader, "agreement" | "before" | "round">,
  places: readonly string[],
): Sums {
  const files = places.map((place) => sumsPath(folder, known.round, place));
  const given = files.map(readSums);
  const { what, state, numbers } = given[0]!.header;
  const expected = { format: FORMAT, ...known, what, state, numbers } as const;
  given.forEach(({ header }, k) => {
    checkHeader(files[k]!, header, { ...expected, place: places[k]!, data: header.data });
  });
  const pairs = new Float64Array(numbers);
  for (const own of given) addToPairs(pairs, own.sums);
  const sums = roundPairs(pairs);
  const data = checksumOf(...given.map(({ header }) => header.data));
  return { header: { ...given[0]!.header, place: ALL, data, numbers: sums.length }, sums };
}

/** A place came back with other statistics, and without its sums of the rounds before it could not know: the one who adds does. */
function otherData(folder: string, round: number, places: readonly string[]): FileError {
  const changed = places.filter((place) => {
    const [now, last] = [round, round - 1].map((k) => sumsPath(folder, k, place)) as [string, string];
    return !existsSync(last) || readSums(last).header.data !== readSums(now).header.data;
  });
  return new FileError(
    `${changed.map((place) => sumsPath(folder, round, place)).join(", ")}: expected sums of the statistics that the rounds before are of, received those of others. Remove them and take part with the statistics of the first round, or start the fit in another folder.`,
  );
}

function sumsPath(folder: string, round: number, place: string): string {
  return join(folder, "sums", `${String(round).padStart(6, "0")}-${place}.sums`);
}

function totalPath(folder: string, round: number): string {
  return join(folder, "totals", `${String(round).padStart(6, "0")}.sums`);
}

function chained(before: string, sums: Float64Array): string {
  return checksumOf(before, bytesOf(sums));
}

/** Sixteen hexadecimal digits by which what belongs together knows each other. */
export function checksumOf(...parts: (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, 16);
}

function bytesOf(sums: Float64Array): Uint8Array {
  return new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength);
}

/** Sums that a place gave before must be those it would give now. */
function checkGiven(path: string, given: Sums): void {
  if (existsSync(path) && !readFileSync(path).equals(fileOf(given))) {
    throw new FileError(
      `${path}: expected the sums of these statistics, received others: it was written from other data, by another version, or with other options. Take part with the statistics of the first round, or start the fit in another folder.`,
    );
  }
}

function fileOf({ header, sums }: Sums): Buffer {
  const bytes = bytesOf(sums);
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...header, checksum: checksumOf(bytes) })}\n`), bytes]);
}

/** Renamed into place, so that nobody reads half a file. A machine that loses its power loses rounds, which are made again. */
function writeSums(path: string, sums: Sums): void {
  const temporary = temporaryFor(path);
  try {
    makeFolder(dirname(path));
    writeFileSync(temporary, fileOf(sums));
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new FileError(`${path} cannot be written: ${reason(error)}.`);
  }
}

function readSums(path: string): Sums {
  const bytes = readFileSync(path);
  const end = bytes.indexOf("\n");
  const numbers = Uint8Array.from(bytes.subarray(end + 1));
  try {
    const { checksum, ...header } = JSON.parse(bytes.subarray(0, end).toString()) as SumsHeader & { checksum: string };
    const sums = numbers.length === 8 * header.numbers ? new Float64Array(numbers.buffer) : undefined;
    if (sums?.every(Number.isFinite) && checksum === checksumOf(numbers)) return { header, sums };
  } catch {
    // Told below.
  }
  throw new FileError(
    `${path}: expected a line of JSON and the finite numbers it announces, with their checksum; received something else. It was damaged on its way: remove it, and have it written or sent again.`,
  );
}

/** The total that answers a question; others are refused. */
export function readTotal(path: string, expected: Pick<SumsHeader, "round" | "what" | "state">): Float64Array {
  const { header, sums } = readSums(path);
  const { numbers, data } = header;
  checkHeader(path, header, { format: FORMAT, agreement: "", before: "", place: ALL, numbers, data, ...expected });
  return sums;
}

function checkHeader(path: string, received: SumsHeader, expected: SumsHeader): void {
  for (const name of ["format", "agreement", "round", "before", "what", "state", "place", "data", "numbers"] as const) {
    if (received[name] === expected[name]) continue;
    throw new FileError(
      `${path}: expected ${name} ${expected[name]}, received ${received[name]}. It belongs to another fit, version of this program or round: remove it, or start in another folder.`,
    );
  }
}

/** Waits until one of the files is there. */
export function waitFor(paths: readonly string[], seconds: number, late: Error): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const until = Date.now() + 1000 * seconds;
  while (!paths.some((path) => existsSync(path))) {
    if (Date.now() >= until) throw late;
    Atomics.wait(sleeper, 0, 0, POLL_MS);
  }
}
