/** Visits pasted from a spreadsheet or typed: one row each, a time and a value of each marker. */
import { applyTransform, readComparator, readDate, type Transform } from "@trajectory-maps/core/ingest";

export interface ReadVisits {
  /** As written: a number or a date. */
  readonly times: readonly string[];
  /** Of each marker, [n,K], as written: a number or a limit; empty where a cell of several markers is. */
  readonly values: readonly (readonly string[])[];
  /** Lines that were not a time and as many values, from 1. */
  readonly refused: readonly number[];
}

/**
 * Reads lines of a time and a value of each marker, parted by tab, semicolon, comma or spaces. A heading without digits is passed
 * over.
 */
export function readVisits(text: string, numMarkers = 1): ReadVisits {
  const times: string[] = [];
  const values: string[][] = [];
  const refused: number[] = [];
  text.split(/\r\n|\r|\n/).forEach((line, k) => {
    if (line.trim() === "" || (k === 0 && !/\d/.test(line))) return;
    const [first, ...rest] = fields(line);
    const own = rest.map((cell) => (numMarkers > 1 && isEmpty(cell) ? "" : cell));
    const readable = own.length === numMarkers && own.every((cell) => cell === "" || isValue(cell));
    const isTime = Number.isFinite(toNumber(first)) || readDate(first) !== undefined;
    if (!readable || !isTime || own.every((cell) => cell === "")) refused.push(k + 1);
    else {
      times.push(first);
      values.push(own);
    }
  });
  return { times, values, refused };
}

function isValue(cell: string): boolean {
  return Number.isFinite(toNumber(readComparator(cell)?.rest ?? cell));
}

/** A comma parts fields unless tabs or semicolons do, and then it is a decimal mark. */
function fields(line: string): string[] {
  const text = line.replace(/^ +| +$/g, "");
  if (/[\t;]/.test(text)) return text.split(/[\t;]/).map((f) => f.trim().replace(",", "."));
  return text.trim().split(/\s*,\s*|\s+/);
}

function isEmpty(cell: string): boolean {
  return cell === "" || /^(na|nan|-|\.)$/i.test(cell);
}

function toNumber(text: string): number {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.replace("−", "-"))
    ? Number(text.replace("−", "-"))
    : Number.NaN;
}

/** What a map knows: visits far outside of it are slips of the hand, and no course can follow them. */
export interface KnownRange {
  readonly transform: Transform;
  /** First and last time. */
  readonly times: readonly [number, number];
  /** Lowest and highest usual value, at a time where that is known. */
  values(time: number): readonly [number, number];
  /** Of what these are the ends: "anything in this cohort", "what the model expects of anybody at year 2". */
  said(time: number): string;
  /** "year 7.5". */
  when(time: number): string;
  value(v: number): string;
}

/** A value that is asked about before it counts. */
export interface AskedValue {
  /** Position of its row, and the value as it is typed: an answer holds for that value alone. */
  readonly row: number;
  readonly text: string;
  /** "700 is far above anything in this cohort (12 to 140)." */
  readonly sentence: string;
}

export interface UsableVisits {
  readonly times: readonly number[];
  readonly values: readonly number[];
  /** Sides of limits, as in `Visits`; left out where there are none. */
  readonly censored?: readonly number[];
  /** Position of the row of each. */
  readonly rows: readonly number[];
  /** One sentence for each row that is not used. */
  readonly complaints: readonly string[];
  /** Values outside those known, which do not count until they are kept. */
  readonly asked: readonly AskedValue[];
}

/** A typed row of one marker. */
export interface TypedVisit {
  readonly time: string;
  readonly value: string;
  /** The value that the reader wants kept though it is odd. */
  readonly kept?: string;
}

/** Times may lie beyond the known ones by this share of their span, values by so many spans of the cohort's. */
const TIME_ROOM = 0.02;
const VALUE_ROOM = 10;
/** Values beyond the known ones by this share of their span are asked about; from the second on they are far. */
const ASKED_FROM = 0.05;
const FAR_FROM = 0.5;

/** The typed rows that can be placed; rows with an empty field wait, others say why they are left out. */
export function usableVisits(
  rows: readonly TypedVisit[],
  known: KnownRange,
  /** Name of the marker, where there are several. */
  marker = "",
): UsableVisits {
  const used: { readonly row: number; readonly t: number; readonly y: number; readonly side: number }[] = [];
  const complaints: string[] = [];
  const asked: AskedValue[] = [];
  rows.forEach(({ time, value, kept }, row) => {
    const text = value.trim();
    if (time.trim() === "" || text === "") return;
    const limit = readComparator(text);
    const [t, y] = [toNumber(time.trim()), toNumber(limit?.rest ?? text)];
    const fault = faultOf(t, y, known);
    const odd = fault === null && limit === undefined && kept !== text ? oddity(t, y, known) : null;
    const of = marker === "" ? "" : `, ${marker},`;
    if (fault !== null) complaints.push(`Visit ${row + 1}${of} is left out: ${fault}`);
    else if (odd !== null) asked.push({ row, text, sentence: odd });
    else used.push({ row, t, y, side: limit?.side ?? 0 });
  });
  return {
    times: used.map(({ t }) => t),
    values: used.map(({ y }) => y),
    ...(used.some(({ side }) => side !== 0) && { censored: used.map(({ side }) => side) }),
    rows: used.map(({ row }) => row),
    complaints,
    asked,
  };
}

/** What is odd about a value that a course can still follow; null if nothing is. */
function oddity(t: number, y: number, known: KnownRange): string | null {
  const ends = known.values(t);
  const [low, high] = ends.map((v) => applyTransform(known.transform, v));
  const z = applyTransform(known.transform, y);
  const beyond = Math.max(low - z, z - high) / Math.max(high - low, Number.MIN_VALUE);
  if (!(beyond > ASKED_FROM)) return null;
  const how = `${beyond > FAR_FROM ? "far " : ""}${z > high ? "above" : "below"}`;
  return `${known.value(y)} is ${how} ${known.said(t)} (${known.value(ends[0])} to ${known.value(ends[1])}).`;
}

const DOMAINS: { readonly [transform in Transform]: string } = {
  identity: "any number",
  log: "above 0",
  log1p: "above −1",
  sqrt: "0 or more",
  logit: "between 0 and 1",
};

/** What is wrong with a visit, in words that follow a colon; null if nothing is. */
function faultOf(t: number, y: number, { transform, times, when, value, said, ...known }: KnownRange): string | null {
  if (!Number.isFinite(t)) return "its time is not a number.";
  if (!Number.isFinite(y)) return "its value is not a number.";
  const room = TIME_ROOM * (times[1] - times[0]);
  if (t < times[0] - room || t > times[1] + room) {
    return `its time lies outside those of the map, ${when(times[0])} to ${when(times[1])}.`;
  }
  const z = applyTransform(transform, y);
  if (!Number.isFinite(z)) return `values of this marker are ${DOMAINS[transform]}.`;
  const values = known.values(t);
  const [low, high] = values.map((v) => applyTransform(transform, v));
  const far = VALUE_ROOM * Math.max(high - low, Math.abs(high) * 1e-6, Number.MIN_VALUE);
  if (z < low - far || z > high + far) {
    return `its value is far from ${said(t)}, ${value(values[0])} to ${value(values[1])}.`;
  }
  return null;
}
