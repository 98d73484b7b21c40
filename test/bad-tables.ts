/**
 * Tables that real hospitals, spreadsheets and hurried people hand over, with what must come of each at every door. The numbers are those of the
 * catalogue of bad inputs (docs/reliability.md); where the answer has moved since it was written, `since` says why.
 */
import { gzipSync } from "node:zlib";

/** What must come of a table. */
export interface Verdict {
  /** The code with which it is refused; and the line, the column and words of the complaint. */
  readonly refuse?: string;
  readonly line?: number;
  readonly column?: string;
  readonly says?: readonly string[];
  /** Codes of its warnings, all of them, with the count of the first. */
  readonly warn?: readonly string[];
  readonly count?: number;
  /** Rows that are read, as "id time value", sorted; those of GOOD if nothing is said. */
  readonly rows?: readonly string[];
  /** Words among the notes of what was understood. */
  readonly notes?: string;
}

export interface BadTable extends Verdict {
  readonly number: number;
  readonly what: string;
  readonly table: string | Uint8Array;
  /** Where it is not "visits.csv". */
  readonly name?: string;
  /** Flags of the command line, and the same for the library and the explorer. */
  readonly flags?: readonly string[];
  readonly options?: object;
  /** Why the verdict is not that of the catalogue. */
  readonly since?: string;
}

export const GOOD = "id,time,value\np1,0,71\np1,1,70\np2,0.5,80\np3,2,65.5\n";
export const GOOD_ROWS = ["p1 0 71", "p1 1 70", "p2 0.5 80", "p3 2 65.5"];

const table = (...rows: string[]) => `id,time,value\n${rows.join("\n")}\n`;
const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
const utf16 = (text: string) => Uint8Array.from(Buffer.from(`\ufeff${text}`, "utf16le"));
const many = (count: number, row: (k: number) => string) => Array.from({ length: count }, (_, k) => row(k));
/** Values 50 to 109 at times 0 to 59, then others. */
const usual = (...rows: string[]) => table(...many(60, (k) => `p${k % 12},${k},${50 + k}`), ...rows);
/** One value in question, on line 3. */
const cell = (number: number, written: string, verdict: Verdict, since?: string): BadTable => ({
  number,
  what: `the value ${written}`,
  table: table("p1,0,71", `p2,1,${written}`, "p3,2,65.5"),
  ...(verdict.refuse === undefined ? {} : { line: 3, column: "value" }),
  ...verdict,
  ...(since === undefined ? {} : { since }),
});
const rest = ["p1 0 71", "p3 2 65.5"];
const missing = { warn: ["missing-value"], count: 1, rows: rest };
const taken = (value: string) => ({ rows: ["p1 0 71", `p2 1 ${value}`, "p3 2 65.5"] });
const none = { refuse: "not-a-number" };

const FILES: readonly BadTable[] = [
  { number: 1, what: "a byte-order mark", table: `\ufeff${GOOD}` },
  { number: 2, what: "UTF-16 with tabs", table: utf16(GOOD.replaceAll(",", "\t")), notes: "UTF-16" },
  {
    number: 3,
    what: "Latin-1 throughout",
    table: bytes("id,time,value\nAndr\xe9,0,71\nb,1,70\n"),
    rows: ["André 0 71", "b 1 70"],
    notes: "Windows-1252",
    since: "text that is Windows-1252 throughout is read as that, and said so",
  },
  {
    number: 3,
    what: "UTF-8 with one byte of Latin-1",
    table: bytes("id,time,value\nAndr\xc3\xa9,0,71\nAndr\xe9,1,70\n"),
    refuse: "not-utf8",
    line: 3,
  },
  { number: 4, what: "nothing", table: "", refuse: "empty-file" },
  { number: 5, what: "a byte-order mark alone", table: "\ufeff", refuse: "empty-file" },
  { number: 5, what: "blank lines alone", table: "\n\n \n", refuse: "empty-file" },
  { number: 6, what: "a header alone", table: "id,time,value\n", refuse: "no-rows", says: ["id, time, value"] },
  { number: 7, what: "no newline at the end", table: GOOD.trimEnd() },
  { number: 8, what: "CRLF", table: GOOD.replaceAll("\n", "\r\n") },
  { number: 8, what: "bare CR", table: GOOD.replaceAll("\n", "\r") },
  { number: 9, what: "LF and CRLF", table: GOOD.replace("\n", "\r\n") },
  { number: 10, what: "a NUL in an id", table: table("p1\u0000,0,71"), refuse: "control-character", line: 2 },
  {
    number: 11,
    what: "gzip named .csv",
    table: new Uint8Array(gzipSync(GOOD)),
    since: "gzip is unpacked whatever its name",
  },
  { number: 11, what: "gzip cut short", table: new Uint8Array(gzipSync(GOOD)).slice(0, 30), refuse: "not-text" },
  {
    number: 12,
    what: "the beginning of a workbook",
    table: "PK\u0003\u0004abc",
    refuse: "damaged-file",
    since: "workbooks are read, and what only begins like one is damaged",
  },
  { number: 13, what: "a web page", table: "<!DOCTYPE html><html></html>", refuse: "not-text", says: ["web page"] },
  { number: 15, what: "an end within a row", table: `${GOOD}p4,1`, refuse: "ragged-row", line: 6 },
  { number: 15, what: "an end within a quote", table: `${GOOD}"p4,1`, refuse: "unclosed-quote", line: 6 },
];

const SHAPES: readonly BadTable[] = [
  {
    number: 16,
    what: "semicolons and decimal commas",
    table: "id;time;value\np1;0,5;71,2\np2;1;70\n",
    rows: ["p1 0.5 71.2", "p2 1 70"],
    notes: "decimal comma",
  },
  { number: 17, what: "tabs", table: GOOD.replaceAll(",", "\t"), notes: "tab" },
  { number: 17, what: "vertical bars", table: GOOD.replaceAll(",", "|"), notes: "bar" },
  {
    number: 18,
    what: "another delimiter in line 4",
    table: table("p1,0,71", "p2,1,71", "p3;1;2"),
    refuse: "ragged-row",
    line: 4,
  },
  {
    number: 19,
    what: "too few fields",
    table: table("p1,0,71", "p2,1"),
    refuse: "ragged-row",
    line: 3,
    says: ["3", "2"],
  },
  {
    number: 19,
    what: "too many fields",
    table: table("p1,0,71", "p2,1,2,3"),
    refuse: "ragged-row",
    line: 3,
    says: ["3", "4"],
  },
  {
    number: 20,
    what: "a line break in quotes",
    table: `id,note,time,value\np1,"a\nb",0,71\np2,x,1,bad\n`,
    refuse: "not-a-number",
    line: 4,
  },
  {
    number: 21,
    what: "a doubled quote",
    table: `id,time,value\n"5'11"" tall",0,71\nb,1,70\n`,
    rows: [`5'11" tall 0 71`, "b 1 70"],
  },
  {
    number: 22,
    what: "a quote never closed before 50,000 lines",
    table: `${GOOD}p4,0,71\n"p5,1,71\n${"p6,0,71\n".repeat(50_000)}`,
    refuse: "unclosed-quote",
    line: 7,
  },
  { number: 23, what: "text after a quote", table: table(`"p1"x,0,71`), refuse: "text-after-quote", line: 2 },
  {
    number: 24,
    what: "a column twice",
    table: "id,time,value,value\np1,0,1,2\n",
    refuse: "duplicate-column",
    says: ["3", "4"],
  },
  {
    number: 25,
    what: "another name for the id",
    table: "pid,time,value\np1,0,71\n",
    flags: ["--id", "id"],
    options: { columns: { id: "id" } },
    refuse: "missing-column",
    says: ["pid"],
  },
  { number: 26, what: "names in other case", table: GOOD.replace("id,time,value", " ID ,Time,VALUE"), notes: "ID" },
  { number: 27, what: "no header", table: "p1,0,71\np2,1,70\n", refuse: "no-header", line: 1 },
  { number: 28, what: "blank lines", table: `${GOOD.replaceAll("\n", "\n\n")}\n`, notes: "blank lines" },
  {
    number: 29,
    what: "a line of units",
    table: table(",years,mg/dL", "p1,0,71"),
    refuse: "not-a-number",
    line: 2,
    says: ["skip"],
  },
  { number: 30, what: "a second table", table: `${GOOD}\na,b\n1,2\n`, refuse: "ragged-row", line: 7 },
  {
    number: 31,
    what: "an unnamed index",
    table: GOOD.trimEnd()
      .split("\n")
      .map((line, k) => `${k === 0 ? "" : k},${line}`)
      .join("\n"),
    notes: "name",
  },
  {
    number: 32,
    what: "20,000 columns",
    table: GOOD.trimEnd()
      .split("\n")
      .map((line, k) => line + many(20_000, (c) => (k === 0 ? `,c${c}` : ",1")).join(""))
      .join("\n"),
    flags: ["--value", "value"],
    options: { columns: { value: "value" } },
  },
  { number: 33, what: "a wide layout", table: "id,value_0,value_1,value_2\np1,1,2,3\n", refuse: "missing-column" },
];

const VALUES: readonly BadTable[] = [
  ...["", "   ", "NA", "N/A", "NaN", "null", "."].map((mark, k) => cell(k < 2 ? 34 : 35, mark, missing)),
  ...[
    ["<5", "<5"],
    [">100", ">100"],
    ["≤0.3", "<0.3"],
  ].map(([written = "", read = ""]) => cell(36, written, taken(read), "limits are taken as limits (noise.md §8)")),
  cell(36, "<LOD", { refuse: "censored-value" }),
  ...["5 mg", "71%", "~70"].map((written) => cell(37, written, none)),
  cell(38, `"71,2"`, { ...none, says: ["decimal comma"] }),
  ...[`"1,234.5"`, `"1.234,5"`].map((written) => cell(39, written, { ...none, says: ["thousands"] })),
  {
    number: 40,
    what: "400 bad cells of two kinds",
    table: table(...many(400, (k) => `p${k},${k},${k % 2 === 0 ? "<LOD" : "high"}`)),
    refuse: "censored-value",
    line: 2,
    says: ["and 180 more"],
  },
  cell(41, " 71 ", taken("71")),
  cell(41, "\u00a071\u00a0", taken("71")),
  ...["0x1F", "0b11", "1_000"].map((written) => cell(42, written, none)),
  ...["Infinity", "-inf", "1e400"].map((written) => cell(43, written, { refuse: "not-finite" })),
  cell(44, "1e-400", { refuse: "underflow" }),
  ...["7.1E+01", "+71"].map((written) => cell(45, written, taken("71"))),
  cell(45, ".5", taken("0.5")),
  cell(45, "5.", taken("5")),
  ...["high", "TRUE"].map((written) => cell(46, written, none)),
  ...["#N/A", "#DIV/0!"].map((written) => cell(46, written, { ...none, says: ["spreadsheet"] })),
  cell(47, "2020-01-31", { ...none, says: ["swapped"] }),
  {
    number: 48,
    what: "-999 in 40 of 1,000 rows",
    table: table(...many(1000, (k) => `p${k % 90},${k},${k % 25 === 3 ? -999 : 50 + (k % 60)}`)),
    warn: ["suspected-missing-code"],
    count: 40,
    rows: [],
  },
  { number: 49, what: "one 7100", table: usual("q,1,7100"), warn: ["outlier"], count: 1, rows: [] },
  {
    number: 50,
    what: "two units",
    table: table(
      ...many(90, (k) => {
        const value = 0.6 + (1.4 * ((k * 37) % 90)) / 90;
        return `p${Math.floor(k / 3)},${k % 3},${k >= 60 || k === 2 ? 88.4 * value : value}`;
      }),
    ),
    warn: ["two-units"],
    count: 31,
    rows: [],
  },
  {
    number: 51,
    what: "a value out of its range",
    table: usual("q,1,111"),
    flags: ["--limits", "0,110"],
    options: { marker: { limits: [0, 110] } },
    warn: ["out-of-range"],
    count: 1,
    rows: [],
  },
];

const TIMES: readonly BadTable[] = [
  {
    number: 52,
    what: "dates",
    table: table("p1,2020-01-31,71", "p1,2021-01-31,70"),
    rows: ["p1 0 71", `p1 ${366 / 365.25} 70`],
    notes: "first",
    since: "dates are counted from the first visit unless told otherwise, and said so",
  },
  {
    number: 53,
    what: "dates from line 900 on",
    table: table(...many(898, (k) => `p${k % 9},${k},71`), ...many(20, () => "p1,2020-01-31,71")),
    refuse: "mixed-time",
    line: 900,
  },
  {
    number: 54,
    what: "dates that may be two",
    table: table("p1,01/02/2020,71", "p1,03/04/2020,70"),
    refuse: "ambiguous-date",
    line: 2,
    says: ["order"],
  },
  { number: 55, what: "30 February", table: table("p1,2021-02-30,71"), refuse: "no-such-date", line: 2 },
  {
    number: 56,
    what: "day numbers of a spreadsheet",
    table: table("p1,44197,1", "p1,44228,2"),
    warn: ["spreadsheet-dates"],
    rows: ["p1 44197 1", "p1 44228 2"],
  },
  {
    number: 57,
    what: "negative times",
    table: table("p1,-1.5,1", "p1,0,2", "p2,-1,3"),
    warn: ["negative-time"],
    count: 2,
    rows: ["p1 -1.5 1", "p1 0 2", "p2 -1 3"],
  },
  {
    number: 58,
    what: "two values at one time",
    table: table("p1,1,5", "p1,1,6", "p2,1,5"),
    warn: ["same-time"],
    count: 1,
    rows: ["p1 1 5", "p1 1 6", "p2 1 5"],
  },
  {
    number: 59,
    what: "exact repeats",
    table: table("p1,1,5", "p2,1,5", "p2,1,5"),
    warn: ["duplicate-rows"],
    count: 1,
    rows: ["p1 1 5", "p2 1 5"],
    since: "exact repeats are left out and counted, unless they are to be kept",
  },
  { number: 60, what: "rows in another order", table: GOOD.replace(/(p1,0,71\n)([\s\S]*)/, "$2$1") },
  {
    number: 61,
    what: "one visit, and 5,000",
    table: table("a,0,1", ...many(5000, (k) => `b,${k},${k % 7}`)),
    rows: [],
  },
];

const IDS: readonly BadTable[] = [
  { number: 64, what: "an empty id", table: table("p1,0,1", " ,0,71"), refuse: "missing-id", line: 3 },
  {
    number: 65,
    what: "ids that are equal as numbers",
    table: table("007,0,1", "7,0,2", "1e5,0,3", "100000,0,4"),
    rows: ["007 0 1", "100000 0 4", "1e5 0 3", "7 0 2"],
    warn: ["alike-ids"],
    count: 1,
  },
  {
    number: 66,
    what: "an id with a space",
    table: table("p1,0,1", "p1 ,1,2"),
    warn: ["id-whitespace"],
    count: 1,
    rows: ["p1 0 1", "p1 1 2"],
  },
  {
    number: 67,
    what: "names of what every object has",
    table: table("__proto__,0,1", "constructor,0,2", "toString,0,3", "__proto__,1,4"),
    rows: ["__proto__ 0 1", "__proto__ 1 4", "constructor 0 2", "toString 0 3"],
  },
  {
    number: 68,
    what: "ids that are formulas",
    table: table("=1+1,0,1", "+x,0,2", "-x,0,3", "@x,0,4"),
    rows: ["+x 0 2", "-x 0 3", "=1+1 0 1", "@x 0 4"],
  },
  {
    number: 69,
    what: "an id that is a tag",
    table: table("<img src=x onerror=alert(1)>,0,1", "b,0,2"),
    rows: ["<img src=x onerror=alert(1)> 0 1", "b 0 2"],
  },
  { number: 70, what: "an id of 1 MB", table: table(`${"x".repeat(2 ** 20)},0,71`), refuse: "field-too-long", line: 2 },
];

const row = (k: number) => `{"id":"p${k % 9}","time":${k},"value":${50 + (k % 40)}}`;

const FORMATS: readonly BadTable[] = [
  { number: 82, what: "JSON cut in the middle", table: `[${many(9, row).join(",")},{"id":"p`, refuse: "not-json" },
  {
    number: 83,
    what: "JSON by lines with a bad 1,017th",
    table: many(1200, (k) => (k === 1016 ? `{"id":"p1",` : row(k))).join("\n"),
    refuse: "not-json",
    line: 1017,
  },
  {
    number: 87,
    what: "Parquet with a wrong length of its footer",
    table: bytes(`PAR1${"x".repeat(40)}\xff\xff\xff\x7fPAR1`),
    refuse: "damaged-file",
    since: "one code for every format that cannot be opened",
  },
];

export const BAD_TABLES: readonly BadTable[] = [...FILES, ...SHAPES, ...VALUES, ...TIMES, ...IDS, ...FORMATS];
