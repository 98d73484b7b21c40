/**
 * A reader of tables that shares no line with the one it is held against: papaparse splits, and numbers and dates are read by the plainest
 * rules. It does not guess: it is told the delimiter and the decimal mark.
 */
import Papa from "papaparse";

/** A row of a visit: numbers, or the day of a date; `side` of a value beyond a limit. */
export interface PlainRow {
  readonly id: string;
  readonly time: number;
  readonly isDate: boolean;
  readonly value: number;
  readonly side: -1 | 0 | 1;
}

export interface PlainTable {
  /** Rows with a value, in the order of the file. */
  readonly rows: readonly PlainRow[];
  /** Rows without one. */
  readonly numMissing: number;
  /** Cells that are no number, date or mark of missing; a reader that takes them has made something up. */
  readonly bad: readonly string[];
}

const MISSING = /^(|na|n\/a|nan|null|\.|\.[a-z_])$/i;

/** The text of a file, if its encoding is beyond doubt: UTF-8, UTF-16 with its mark, or else Windows-1252. */
export function plainText(bytes: Uint8Array): string {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (a === 0xfe && b === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Not by TextDecoder, which in some versions of Node takes Windows-1252 for Latin-1.
    return Array.from(bytes, (byte) =>
      byte >= 0x80 && byte < 0xa0 ? HIGH[byte - 0x80] : String.fromCharCode(byte),
    ).join("");
  }
}

/** Windows-1252 from 0x80 to 0x9f. */
const HIGH = [..."€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"];

function plainNumber(cell: string, decimal: string): number | undefined {
  const signed = cell.replace("\u2212", "-");
  const pointed = decimal === "," ? signed.replace(".", "x").replace(",", ".") : signed;
  if (!/^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/.test(pointed)) return undefined;
  const value = Number(pointed);
  return Number.isFinite(value) ? value : undefined;
}

/** Days since 1970 of a date that is written from the year down, or in words nobody doubts. */
function plainDay(cell: string): number | undefined {
  const parts = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(cell) ?? /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/.exec(cell);
  if (parts === null) return undefined;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const moment = new Date(Date.UTC(2000, month - 1, day));
  moment.setUTCFullYear(year);
  const isSame = moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day;
  return isSame ? moment.getTime() / 86_400_000 : undefined;
}

/** The table as it is plainly written; undefined where it has no columns of these names. */
export function readPlainly(text: string, delimiter: string, decimal: string): PlainTable | undefined {
  const { data } = Papa.parse<string[]>(text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"), {
    delimiter,
    skipEmptyLines: "greedy",
  });
  const [header, ...body] = data;
  const names = (header ?? []).map((name) => name.trim().toLowerCase());
  const [id, time, value] = ["id", "time", "value"].map((name) => names.indexOf(name)) as [number, number, number];
  if (id < 0 || time < 0 || value < 0) return undefined;
  const rows: PlainRow[] = [];
  const bad: string[] = [];
  let numMissing = 0;
  for (const cells of body) {
    const [who, when, what] = [cells[id] ?? "", cells[time] ?? "", cells[value] ?? ""].map((cell) => cell.trim());
    if (cells.length !== names.length) bad.push(`a row of ${cells.length} cells`);
    const limit = /^(<=?|≤|>=?|≥)\s*(.*)$/.exec(what ?? "");
    const number = plainNumber(limit?.[2] ?? what ?? "", decimal);
    if (number === undefined && MISSING.test(what ?? "")) {
      numMissing++;
      continue;
    }
    const [at, day] = [plainNumber(when ?? "", decimal), plainDay(when ?? "")];
    if (who === "" || number === undefined || (at ?? day) === undefined) {
      bad.push(JSON.stringify([who, when, what]));
      continue;
    }
    const side = limit === null ? 0 : limit[1]?.startsWith("<") || limit[1] === "≤" ? -1 : 1;
    rows.push({ id: who ?? "", time: at ?? day ?? 0, isDate: at === undefined, value: number, side });
  }
  return { rows, numMissing, bad };
}
