/**
 * Tables with something changed, by a seed: bytes, cells, delimiters, quotes, encodings, dates, numbers, rows. Of each the library must make what a plain
 * reader makes of it, or complain; never crash, and never give another number.
 */
import process from "node:process";
import { onlyMarker, readCohortFile } from "../../packages/core/src/doors/ingest.ts";
import { DtmError, readCohort } from "../../packages/core/src/index.ts";
import { createRandom, type Random } from "../../packages/core/src/numeric/random.ts";
import { type PlainRow, plainText, readPlainly } from "./plain-reader.ts";

type Choose = <T>(list: readonly T[]) => T;

const CELLS = [
  ...[
    "",
    " ",
    "NA",
    "null",
    ".",
    ".b",
    "<5",
    ">100",
    "≤0.3",
    "< 7",
    "<LOD",
    "5 mg",
    "71%",
    "~70",
    "71,2",
    "1,234.5",
    "1.234,5",
    "1,234",
  ],
  ...[
    "1.234",
    "0x1F",
    "1_000",
    "Infinity",
    "-inf",
    "1e400",
    "1e-400",
    "7.1E+01",
    "+71",
    ".5",
    "5.",
    "-.5e-3",
    "\u22125",
    "1e5",
    "00012",
  ],
  ...[
    "9007199254740993",
    "0.1000000000000000055511151231257827",
    "TRUE",
    "#N/A",
    "2020-01-31",
    "2021-02-30",
    "31.01.2020",
    "2020/3/4",
  ],
  ...[
    "01/02/2020",
    "44197",
    "1577836800",
    "10:30",
    "Jan 2020",
    "-999",
    "\u00a071\u00a0",
    "7 1",
    "٣",
    "１２",
    "1e",
    "--1",
    "p1",
    "007",
    "7",
  ],
  ...[
    "__proto__",
    '"',
    '""',
    'a"b',
    '"a""b"',
    "a\tb",
    "x;y",
    "'5'",
    "=1+1",
    "\u0000",
    "\ufeff",
    "\u2028",
    "é",
    "😀",
    "1'000",
    "5-3",
  ],
];
const DELIMITERS = [",", ";", "\t", "|"];

/** A good table, by the seed: times as numbers or dates, in one of the usual dialects. */
function goodTable(random: Random, choose: Choose, delimiter: string, decimal: string): string[][] {
  const isDated = random.uniform() < 0.3;
  const digits = choose([0, 1, 2, 5]);
  const number = (scale: number) => (scale * random.uniform()).toFixed(digits).replace(".", decimal);
  const day = () => `${2000 + random.integer(20)}-${pad(1 + random.integer(12))}-${pad(1 + random.integer(28))}`;
  const names = choose([
    ["id", "time", "value"],
    ["value", "note", "id", "time"],
    ["ID", "Time", "Value", "note"],
  ]);
  const cells: Record<string, () => string> = {
    id: () => `p${random.integer(4)}`,
    time: () => (isDated ? day() : number(9)),
    value: () => number(100),
    note: () => choose(["", "x", `a${delimiter}b`, 'say "so"', "two\nlines"]),
  };
  const quoted = (cell: string) =>
    /["\n]/.test(cell) || cell.includes(delimiter) || random.uniform() < 0.05
      ? `"${cell.replaceAll('"', '""')}"`
      : cell;
  const rows = Array.from({ length: 2 + random.integer(7) }, () =>
    names.map((name) => quoted(cells[name.toLowerCase()]?.() ?? "")),
  );
  return [[...names], ...rows];
}

const pad = (number: number) => String(number).padStart(2, "0");

/** Changes of cells and rows, before there is a text. */
function changeRows(table: string[][], random: Random, choose: Choose): void {
  const row = table[random.integer(table.length)] ?? [];
  const at = random.integer(row.length);
  const kind = random.integer(8);
  if (kind <= 3) row[at] = choose(CELLS);
  else if (kind === 4) row.splice(at, 1);
  else if (kind === 5) row.splice(at, 0, choose(CELLS));
  else if (kind === 6) table.push([...row]);
  else row[at] = `"${row[at]}"`;
}

/** Changes of the bytes of a text. */
function changeBytes(bytes: Uint8Array, random: Random, choose: Choose): Uint8Array {
  const at = random.integer(bytes.length);
  const around = (...inner: number[]) =>
    Uint8Array.from([...bytes.subarray(0, at), ...inner, ...bytes.subarray(at + 1)]);
  switch (random.integer(6)) {
    case 0:
      return around((bytes[at] ?? 0) ^ (1 << random.integer(8)));
    case 1:
      return around();
    case 2:
      return around(
        bytes[at] ?? 0,
        choose([0x22, 0x2c, 0x3b, 0x0a, 0x0d, 0x09, 0x20, 0x2e, 0x00, 0xe9, 0x30, 0x2d, 0x65]),
      );
    case 3:
      return bytes.slice(0, at);
    case 4:
      return around(random.integer(256));
    default:
      return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(random.integer(bytes.length))]);
  }
}

export interface FuzzedTable {
  readonly bytes: Uint8Array;
  /** What the table was written with before it was changed. */
  readonly delimiter: string;
  readonly decimal: string;
  /** Whether the reader is told. */
  readonly told: boolean;
  readonly random: Random;
}

export function fuzzTable(seed: number): FuzzedTable {
  const random = createRandom(seed);
  const choose: Choose = (list) => list[random.integer(list.length)] as (typeof list)[number];
  const delimiter = choose(DELIMITERS);
  const decimal = delimiter === "," ? "." : choose([".", ","]);
  const table = goodTable(random, choose, delimiter, decimal);
  for (let k = random.integer(3); k > 0; k--) changeRows(table, random, choose);
  const end = choose(["\n", "\n", "\r\n", "\r"]);
  let text = table.map((row) => row.join(delimiter)).join(end) + choose(["", end, end + end]);
  if (random.uniform() < 0.05) text = text.replaceAll(delimiter, choose(DELIMITERS));
  const encoding = random.uniform();
  let bytes: Uint8Array =
    encoding < 0.05
      ? Uint8Array.from(Buffer.from(`\ufeff${text}`, "utf16le"))
      : encoding < 0.1
        ? Uint8Array.from(Buffer.from(text, "latin1"))
        : new TextEncoder().encode(encoding < 0.15 ? `\ufeff${text}` : text);
  for (let k = random.integer(3); k > 0 && bytes.length > 1; k--) bytes = changeBytes(bytes, random, choose);
  return { bytes, delimiter, decimal, told: random.uniform() < 0.5, random };
}

/** What reading gives, as text that can be compared. */
async function outcome(
  read: () => unknown,
): Promise<{ readonly taken?: Awaited<ReturnType<typeof readCohortFile>>; readonly words: string }> {
  try {
    const taken = (await read()) as Awaited<ReturnType<typeof readCohortFile>>;
    const { ids, markers } = taken.cohort;
    const { offsets, times, values, censored = [] } = onlyMarker(taken.cohort);
    const numbers = [offsets, times, values, censored].map((column) =>
      Array.from(column, (x) => (Object.is(x, -0) ? "-0" : x)),
    );
    return { taken, words: JSON.stringify([ids, numbers, markers[0]?.marker, taken.warnings, taken.numRowsLeftOut]) };
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    if (error.message.length === 0 || error.kind === "program") throw error;
    return { words: `${error.code}: ${error.message}` };
  }
}

/** Rows as text, without exact repeats, sorted; of dates the years since the first of each individual. */
function plainRows(rows: readonly PlainRow[]): string[] {
  const first = new Map<string, number>();
  for (const { id, time } of rows) first.set(id, Math.min(first.get(id) ?? Number.POSITIVE_INFINITY, time));
  const written = rows.map(({ id, time, isDate, value, side }) =>
    JSON.stringify([id, isDate ? (time - (first.get(id) ?? 0)) / 365.25 : time + 0, value + 0, side]),
  );
  return [...new Set(written)].sort();
}

export type Fate = "taken" | "refused" | "beyond";

const ZONES = ["America/New_York", "Asia/Kolkata", "Pacific/Apia"];

/** Reads the table of a seed in every way; throws where two of them differ, or where the number is another than the one written. */
export async function checkTable(seed: number): Promise<Fate> {
  const { bytes, delimiter, decimal, told, random } = fuzzTable(seed);
  const columns = { id: "id", time: "time", value: "value" };
  const options = { columns, ...(told ? { delimiter, decimal } : {}) } as Parameters<typeof readCohort>[1];
  const { taken, words } = await outcome(() => readCohortFile([bytes], options));
  // In pieces of any length, in another time zone, and as text.
  const size = 1 + random.integer(9);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, k) =>
    bytes.subarray(k * size, (k + 1) * size),
  );
  expectSame("pieces", words, (await outcome(() => readCohortFile(pieces, options))).words);
  const zone = ZONES[random.integer(4 * ZONES.length)];
  if (zone !== undefined)
    expectSame(`time zone ${zone}`, words, (await inZone(zone, () => readCohortFile([bytes], options))).words);
  if (taken === undefined) return "refused";
  const text = plainText(bytes);
  const asText = await outcome(() => readCohort(text, options));
  if (asText.taken !== undefined) expectSame("text", words, asText.words);

  const { ids } = taken.cohort;
  const { offsets, times, values, censored } = onlyMarker(taken.cohort);
  const own = ids.flatMap((id, i) =>
    Array.from(times.subarray(offsets[i], offsets[i + 1]), (time, k) => {
      const at = (offsets[i] ?? 0) + k;
      return JSON.stringify([id, time + 0, (values[at] ?? 0) + 0, censored?.[at] ?? 0]);
    }),
  );
  const expected = own.sort().join("\n");
  const ways = told ? [[delimiter, decimal]] : DELIMITERS.flatMap((one) => [".", ","].map((mark) => [one, mark]));
  const plain = ways.map(([one = "", mark = ""]) => readPlainly(text, one, mark));
  if (plain.some((one) => one?.bad.length === 0 && plainRows(one.rows).join("\n") === expected)) return "taken";
  // Dates in other words and times of day are beyond the plain reader; numbers are not.
  if (taken.columns.origin !== undefined && plain.some((one) => one?.bad.some((cell) => /\d{4}/.test(cell))))
    return "beyond";
  const read = plain.map((one) => (one === undefined ? "no columns" : JSON.stringify([plainRows(one.rows), one.bad])));
  throw new Error(
    `another cohort than the one written:\n${expected}\nplainly:\n${[...new Set(read)].join("\n")}\nnotes: ${taken.notes.join(" ")}`,
  );
}

async function inZone(zone: string, read: () => unknown): ReturnType<typeof outcome> {
  const home = process.env.TZ;
  process.env.TZ = zone;
  try {
    return await outcome(read);
  } finally {
    if (home === undefined) delete process.env.TZ;
    else process.env.TZ = home;
  }
}

function expectSame(way: string, expected: string, received: string): void {
  if (expected !== received) throw new Error(`read otherwise by ${way}:\n${expected}\n${received}`);
}
