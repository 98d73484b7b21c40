/**
 * Sums of a spread fit as files in a folder that places and whoever adds can reach (docs/rounds.md). Of round k every place writes
 * `sums/000k-PLACE.sums`, and the one who adds writes `totals/000k.sums`. A file is a line of JSON and then the numbers, eight bytes each,
 * little-endian: of a place two for each sum (numeric/pair-sum.ts in the core), so that it does not matter in which groups individuals are
 * added up. Files are renamed into place whole and hold the same bytes whoever writes them when: a place or an adder may be stopped
 * at any moment, started again, or run twice. What belongs to another fit, another version or another round is refused.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { addToPairs, type Exchange, roundPairs } from "@trajectory-maps/core/hosts";
import { FileError } from "../exit-codes.ts";
import { writeOutputs } from "./write.ts";

/** The first line of a file of sums. */
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
  readonly numbers: number;
}

interface Sums {
  readonly header: SumsHeader;
  readonly sums: Float64Array;
}

const FORMAT = "trajectory-maps-sums";
const ALL = "all";
const POLL_MS = 20;
const FIRST = createHash("sha256").digest("hex").slice(0, 16);

/** Thrown where a place has done all it can until others have: its sums of this round are written. */
export class WaitingForTotals extends Error {
  readonly round: number;

  constructor(round: number, path: string) {
    super(`Round ${round} waits for its total: the sums of this place are in ${path}.`);
    this.round = round;
  }
}

/** What was exchanged. */
export interface Exchanged {
  readonly what: string;
  rounds: number;
  numbers: number;
}

/** Sums over all places for one of them; waits for each total at most so many seconds. */
export function openExchange(
  folder: string,
  agreement: string,
  place: string,
  waitSeconds: number,
): { readonly exchange: Exchange; readonly exchanged: Exchanged[] } {
  const exchanged: Exchanged[] = [];
  let before = FIRST;
  let round = 0;
  const exchange: Exchange = (pairs, what, state = "") => {
    round++;
    const numbers = pairs.length;
    const header = { format: FORMAT, agreement, before, round, what, state, numbers } as const;
    const path = totalPath(folder, round);
    if (!existsSync(path)) {
      const own = sumsPath(folder, round, place);
      giveSums(own, { header: { ...header, place }, sums: pairs });
      waitFor(path, waitSeconds, () => new WaitingForTotals(round, own));
    }
    const all = readSums(path);
    checkHeader(path, all.header, { ...header, numbers: numbers / 2, place: ALL });
    before = chained(before, all.sums);
    count(exchanged, what, numbers);
    return all.sums;
  };
  return { exchange, exchanged };
}

function count(exchanged: Exchanged[], what: string, numbers: number): void {
  const kind = exchanged.find((own) => own.what === what) ?? { what, rounds: 0, numbers: 0 };
  if (kind.rounds === 0) exchanged.push(kind);
  kind.rounds++;
  kind.numbers += numbers;
}

/** Adds all rounds that every place has given sums for; returns how many totals there are. */
export function addRounds(folder: string, agreement: string, places: readonly string[]): number {
  let before = FIRST;
  for (let round = 1; ; round++) {
    const path = totalPath(folder, round);
    if (!existsSync(path)) {
      const files = places.map((place) => sumsPath(folder, round, place));
      if (!files.every(existsSync)) return round - 1;
      const given = files.map(readSums);
      const { what, state, numbers } = given[0]!.header;
      given.forEach(({ header }, k) => {
        const expected = { format: FORMAT, agreement, before, round, what, state, numbers } as const;
        checkHeader(files[k]!, header, { ...expected, place: places[k]! });
      });
      const pairs = new Float64Array(numbers);
      for (const own of given) addToPairs(pairs, own.sums);
      const sums = roundPairs(pairs);
      writeSums(path, { header: { ...given[0]!.header, place: ALL, numbers: sums.length }, sums });
    }
    const { header, sums } = readSums(path);
    checkHeader(path, header, { ...header, format: FORMAT, agreement, before, round, place: ALL });
    before = chained(before, sums);
  }
}

/** Rounds a place has given sums for. */
export function roundsGiven(folder: string, place: string): number {
  const path = join(folder, "sums");
  if (!existsSync(path)) return 0;
  return readdirSync(path).filter((name) => name.endsWith(`-${place}.sums`) && !name.startsWith(".")).length;
}

/** Whether a round has its total. */
export function hasTotal(folder: string, round: number): boolean {
  return existsSync(totalPath(folder, round));
}

/** Keeps the model that a place ended with, for whoever adds to compare. */
export function keepModel(folder: string, place: string, text: string): void {
  writeOutputs(join(folder, "models"), [{ name: `${place}.json`, text }]);
}

/** The model that a place ended with, once it has. */
export function modelOf(folder: string, place: string): string | undefined {
  const path = join(folder, "models", `${place}.json`);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function sumsPath(folder: string, round: number, place: string): string {
  return join(folder, "sums", `${String(round).padStart(6, "0")}-${place}.sums`);
}

function totalPath(folder: string, round: number): string {
  return join(folder, "totals", `${String(round).padStart(6, "0")}.sums`);
}

function chained(before: string, sums: Float64Array): string {
  return createHash("sha256").update(before).update(bytesOf(sums)).digest("hex").slice(0, 16);
}

function bytesOf(sums: Float64Array): Uint8Array {
  return new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength);
}

/** Writes the sums of a place; those it wrote before must be the same. */
function giveSums(path: string, given: Sums): void {
  if (existsSync(path) && !readFileSync(path).equals(fileOf(given))) {
    throw new FileError(
      `${path}: expected the sums of these statistics, received others: it was written from other data, by another version, or with other options. Remove the rounds of this place, or start the fit in another folder.`,
    );
  }
  writeSums(path, given);
}

function fileOf({ header, sums }: Sums): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), bytesOf(sums)]);
}

/** Written aside and renamed, so that nobody reads half a file. */
function writeSums(path: string, sums: Sums): void {
  mkdirSync(join(path, ".."), { recursive: true });
  const temporary = join(path, "..", `.${String(sums.header.round)}-${sums.header.place}.${process.pid}.tmp`);
  writeFileSync(temporary, fileOf(sums));
  renameSync(temporary, path);
}

function readSums(path: string): Sums {
  const bytes = readFileSync(path);
  const end = bytes.indexOf(10);
  try {
    const header = JSON.parse(bytes.subarray(0, end).toString()) as SumsHeader;
    if (bytes.length - end - 1 === 8 * header.numbers) {
      return { header, sums: new Float64Array(Uint8Array.from(bytes.subarray(end + 1)).buffer) };
    }
  } catch {
    // Told below.
  }
  throw new FileError(`${path}: expected a line of JSON and the numbers it announces, received something else.`);
}

function checkHeader(path: string, received: SumsHeader, expected: SumsHeader): void {
  for (const name of ["format", "agreement", "round", "before", "what", "state", "place", "numbers"] as const) {
    if (received[name] === expected[name]) continue;
    throw new FileError(
      `${path}: expected ${name} ${expected[name]}, received ${received[name]}. It belongs to another fit, version of this program or round: remove it, or start in another folder.`,
    );
  }
}

function waitFor(path: string, seconds: number, late: () => Error): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const until = Date.now() + 1000 * seconds;
  while (!existsSync(path)) {
    if (Date.now() >= until) throw late();
    Atomics.wait(sleeper, 0, 0, POLL_MS);
  }
}
