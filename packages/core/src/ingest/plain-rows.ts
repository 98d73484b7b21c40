/**
 * Rows as most files have them, read in place: a line without quotes whose id is plain ASCII and whose numbers are digits
 * with or without a point. Nothing is cut out of the text, no field becomes a string of its own; the number comes from its
 * digits, the id is looked up by its letters. Any other line is left to the careful reader (reading.ts), which would give
 * the same observation for these.
 */
import { applyTransform } from "../cohort/marker.ts";
import { addLetters, findLetters } from "./id-table.ts";
import { TEN_TO } from "./numbers.ts";
import { countNumberTime, MAX_ID_LENGTH, type Reading } from "./reading.ts";
import { appendRow } from "./rows.ts";

/** Reads plain rows; keeps where it stands. */
export interface PlainReader {
  /** Characters of the slice that are done, and rows among them; set by `read`. */
  done: number;
  count: number;
  /** Reads rows of whole lines of `text` from its start up to the first that is not plain, the first being on `line`. */
  read(text: string, from: number, line: number): void;
}

const NEW_LINE = 10;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const SPACE = 32;
const DELETE = 127;
/** Whole numbers up to this are doubles exactly. */
const LARGEST_WHOLE = 2 ** 53;

const ID = 1;
const TIME = 2;
const VALUE = 3;

/** A reader that adds to a reading; it reads nothing until the header is known, nor where every cell needs a closer look. */
export function createPlainReader(reading: Reading, delimiter: string): PlainReader {
  const separator = delimiter.charCodeAt(0);
  const { rows, paddedIds, lastId } = reading;
  const { transform } = reading.marker;
  const allowed = reading.decimal === "." && reading.skip.size === 0 && delimiter.length === 1;
  let roles: Uint8Array = new Uint8Array(0);
  let lastIndividual = -1;
  const cursor = { at: 0 };

  const reader: PlainReader = {
    done: 0,
    count: 0,
    read: (text, from, firstLine) => {
      reader.done = from;
      reader.count = 0;
      if (!allowed || reading.found === undefined || reading.hasNul) return;
      if (roles.length === 0) roles = rolesOf(reading);
      const numFields = roles.length;
      const end = text.length;
      for (let line = firstLine; reader.done < end; line++) {
        let at = reader.done;
        let time = 0;
        let value = 0;
        let idFrom = 0;
        let idTo = 0;
        for (let f = 0; f < numFields; f++) {
          const role = roles[f];
          if (role >= TIME) {
            cursor.at = at;
            const number = readDigits(text, cursor, end);
            if (Number.isNaN(number)) return;
            if (role === TIME) time = number;
            else value = number;
            at = cursor.at;
          } else {
            const start = at;
            let code = 0;
            for (; at < end; at++) {
              code = text.charCodeAt(at);
              if (code === separator || code === NEW_LINE) break;
              if (role === ID && (code < SPACE || code >= DELETE)) return;
            }
            if (role === ID) {
              if (at === start || at - start > MAX_ID_LENGTH) return;
              if (text.charCodeAt(start) === SPACE || text.charCodeAt(at - 1) === SPACE) return;
              idFrom = start;
              idTo = at;
            }
          }
          const wanted = f === numFields - 1 ? NEW_LINE : separator;
          if (at < end ? text.charCodeAt(at) !== wanted : wanted === separator) return;
          at++;
        }
        if (transform !== "identity" && !Number.isFinite(applyTransform(transform, value))) return;
        const individual = findLetters(rows.ids, text, idFrom, idTo, lastIndividual);
        // An id that was first written with spaces round it is told about.
        if (individual >= 0 && paddedIds.written.size > 0 && paddedIds.written.has(individual)) return;
        lastIndividual = individual >= 0 ? individual : addLetters(rows.ids, text, idFrom, idTo);
        lastId.individual = -1;
        reading.numRows++;
        if (reading.firstRow === 0) reading.firstRow = line;
        countNumberTime(reading, line);
        appendRow(rows, lastIndividual, time, value, line);
        reader.done = Math.min(at, end);
        reader.count++;
      }
    },
  };
  return reader;
}

/** What each field of a row is. */
function rolesOf({ found, numFields }: Reading): Uint8Array {
  const roles = new Uint8Array(numFields);
  roles[found!.positions.id] = ID;
  roles[found!.positions.time] = TIME;
  roles[found!.positions.value] = VALUE;
  return roles;
}

/**
 * The number of digits with or without a point and a minus, as `readPlainDigits` gives it, or by Number where there are
 * more; NaN for anything else. The cursor is left at the first character after it.
 */
function readDigits(text: string, cursor: { at: number }, end: number): number {
  const from = cursor.at;
  let at = from < end && text.charCodeAt(from) === MINUS ? from + 1 : from;
  const start = at;
  let digits = 0;
  let point = -1;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= ZERO && code <= NINE) digits = 10 * digits + (code - ZERO);
    else if (code === POINT && point < 0) point = at;
    else break;
  }
  cursor.at = at;
  const numDigits = at - start - (point < 0 ? 0 : 1);
  if (numDigits === 0) return Number.NaN;
  const decimals = point < 0 ? 0 : at - 1 - point;
  if (digits < LARGEST_WHOLE && decimals < TEN_TO.length) {
    // Digits and power of ten are doubles exactly, so their quotient is the nearest double to what is written.
    const size = decimals === 0 ? digits : digits / TEN_TO[decimals];
    return start === from ? size : -size;
  }
  // Digits that are too many to count, or so many that nothing is left of them, are for closer looks.
  if (numDigits > 25 || digits === 0) return Number.NaN;
  return Number(text.slice(from, at));
}
