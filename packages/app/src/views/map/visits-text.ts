/** Visits pasted from a spreadsheet or typed: one row each, a time and a value of each marker. */
import { applyTransform, readComparator, type Transform } from "@trajectory-maps/core/ingest";

export interface ReadVisits {
  readonly times: readonly number[];
  /** Of each marker, [n,K]; null where a cell of several markers is empty. */
  readonly values: readonly (readonly (number | null)[])[];
  /** Lines that were not as many numbers, from 1. */
  readonly refused: readonly number[];
}

/**
 * Reads lines of a time and a value of each marker, parted by tab, semicolon, comma or spaces. A heading without digits is passed
 * over.
 */
export function readVisits(text: string, numMarkers = 1): ReadVisits {
  const times: number[] = [];
  const values: (number | null)[][] = [];
  const refused: number[] = [];
  text.split(/\r\n|\r|\n/).forEach((line, k) => {
    if (line.trim() === "" || (k === 0 && !/\d/.test(line))) return;
    const [first, ...rest] = fields(line);
    const time = toNumber(first);
    const own = rest.map((cell) => (numMarkers > 1 && isEmpty(cell) ? null : toNumber(cell)));
    const readable = own.length === numMarkers && own.every((value) => value === null || Number.isFinite(value));
    if (!readable || !Number.isFinite(time) || own.every((value) => value === null)) refused.push(k + 1);
    else {
      times.push(time);
      values.push(own);
    }
  });
  return { times, values, refused };
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
  /** Lowest and highest value of the cohort. */
  readonly values: readonly [number, number];
  /** "year 7.5". */
  when(time: number): string;
  value(v: number): string;
}

export interface UsableVisits {
  readonly times: readonly number[];
  readonly values: readonly number[];
  /** Sides of limits, as in `Visits`; left out where there are none. */
  readonly censored?: readonly number[];
  /** One sentence for each row that is not used. */
  readonly complaints: readonly string[];
}

/** Times may lie beyond the known ones by this share of their span, values by so many spans of the cohort's. */
const TIME_ROOM = 0.02;
const VALUE_ROOM = 10;

/** The typed rows that can be placed; rows with an empty field wait, others say why they are left out. */
export function usableVisits(
  rows: readonly { readonly time: string; readonly value: string }[],
  known: KnownRange,
  /** Name of the marker, where there are several. */
  marker = "",
): UsableVisits {
  const times: number[] = [];
  const values: number[] = [];
  const sides: number[] = [];
  const complaints: string[] = [];
  rows.forEach(({ time, value }, k) => {
    if (time.trim() === "" || value.trim() === "") return;
    const limit = readComparator(value.trim());
    const [t, y] = [toNumber(time.trim()), toNumber(limit?.rest ?? value.trim())];
    const fault = faultOf(t, y, known);
    if (fault === null) {
      times.push(t);
      values.push(y);
      sides.push(limit?.side ?? 0);
    } else complaints.push(`Visit ${k + 1}${marker === "" ? "" : `, ${marker},`} is left out: ${fault}`);
  });
  return { times, values, ...(sides.some((side) => side !== 0) && { censored: sides }), complaints };
}

const DOMAINS: { readonly [transform in Transform]: string } = {
  identity: "any number",
  log: "above 0",
  log1p: "above −1",
  sqrt: "0 or more",
  logit: "between 0 and 1",
};

/** What is wrong with a visit, in words that follow a colon; null if nothing is. */
function faultOf(t: number, y: number, { transform, times, values, when, value }: KnownRange): string | null {
  if (!Number.isFinite(t)) return "its time is not a number.";
  if (!Number.isFinite(y)) return "its value is not a number.";
  const room = TIME_ROOM * (times[1] - times[0]);
  if (t < times[0] - room || t > times[1] + room) {
    return `its time lies outside those of the map, ${when(times[0])} to ${when(times[1])}.`;
  }
  const z = applyTransform(transform, y);
  if (!Number.isFinite(z)) return `values of this marker are ${DOMAINS[transform]}.`;
  const [low, high] = values.map((v) => applyTransform(transform, v));
  const far = VALUE_ROOM * Math.max(high - low, Math.abs(high) * 1e-6, Number.MIN_VALUE);
  if (z < low - far || z > high + far) {
    return `its value is far from every value of the cohort, ${value(values[0])} to ${value(values[1])}.`;
  }
  return null;
}
