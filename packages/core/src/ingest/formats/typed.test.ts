/** One cohort in every format that holds types gives the same cohort; what each format can do wrong is told. */
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import * as arrow from "apache-arrow";
import { strToU8, unzipSync, zipSync } from "fflate";
import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { type MadeSheet, madeWorkbook } from "../../../../../test/made-workbook.ts";
import { readSubjectsFile } from "../../study/subjects.ts";
import type { RandomBytes } from "../bytes.ts";
import { readTableFile } from "../formats.ts";
import { previewFile } from "../preview.ts";
import { readCohort, readCohortFile } from "../read-cohort.ts";
import type { TableOptions } from "../table.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const parquet = (columnData: ColumnSource[], more: object = {}) =>
  new Uint8Array(parquetWriteBuffer({ columnData, ...more }));

const ROWS = [
  { id: "a", time: 0, value: 80.25 },
  { id: "a", time: 0.5, value: null },
  { id: "a", time: 1.5, value: 77 },
  { id: "b", time: 0.1, value: 0.30000000000000004 },
  { id: "b", time: 2, value: 1e-7 },
];
const CSV = ["id,time,value", ...ROWS.map(({ id, time, value }) => `${id},${time},${value ?? ""}`)].join("\n");
const column = (name: "id" | "time" | "value") => ROWS.map((row) => row[name]);
const TABLE = arrow.tableFromArrays({ id: column("id"), time: column("time"), value: column("value") });
const PARQUET = parquet([
  { name: "id", data: column("id") as string[] },
  { name: "time", data: column("time") as number[], type: "DOUBLE" },
  { name: "value", data: column("value") as number[], type: "DOUBLE", nullable: true },
]);
const NDJSON = bytesOf(ROWS.map((row) => JSON.stringify(row)).join("\n"));
const WORKBOOK = madeWorkbook([
  { name: "Visits", rows: [["id", "time", "value"], ...ROWS.map(({ id, time, value }) => [id, time, value])] },
]);

/** The rows of a file, header first, with their lines. */
function rowsOf(bytes: Uint8Array | RandomBytes, options: TableOptions = {}) {
  const found = { notes: [] as readonly string[], rows: [] as (readonly string[])[], lines: [] as number[] };
  const reader = {
    start: ({ notes }: { readonly notes: readonly string[] }) => {
      found.notes = notes;
    },
    row: (fields: readonly string[], line: number) => {
      found.rows.push([...fields]);
      found.lines.push(line);
      return true;
    },
    finish: ({ blankLines }: { readonly blankLines: number }) => ({ ...found, blankLines }),
  };
  return readTableFile(bytes instanceof Uint8Array ? [bytes] : bytes, reader, options);
}

describe("one cohort", () => {
  const formats: [string, Uint8Array][] = [
    ["Excel", WORKBOOK],
    ["Parquet", PARQUET],
    ["an Arrow stream", arrow.tableToIPC(TABLE, "stream")],
    ["an Arrow file", arrow.tableToIPC(TABLE, "file")],
    ["NDJSON", NDJSON],
    ["NDJSON behind a byte-order mark", bytesOf(`\ufeff${new TextDecoder().decode(NDJSON)}\n`)],
    ["a JSON array", bytesOf(JSON.stringify(ROWS, null, 2))],
    ["a zip of CSV", zipSync({ "visits.csv": strToU8(CSV), "__MACOSX/._visits.csv": strToU8("x") })],
    ["a zip of a workbook", zipSync({ "visits.xlsx": WORKBOOK })],
    ["gzip of Parquet", new Uint8Array(gzipSync(PARQUET))],
    ["gzip of NDJSON", new Uint8Array(gzipSync(NDJSON))],
  ];

  it.each(formats)("is the same from %s, in blocks of any length and at any place", async (_, bytes) => {
    const { cohort } = readCohort(CSV);
    const blob = new Blob([bytes as BlobPart]);
    const slices = { size: bytes.length, slice: async (from: number, to: number) => bytes.slice(from, to) };
    const blocks = Array.from({ length: Math.ceil(bytes.length / 7) }, (__, k) => bytes.slice(7 * k, 7 * k + 7));
    for (const source of [[bytes], blocks, blob, slices]) {
      const read = await readCohortFile(source);
      expect(read.cohort).toEqual(cohort);
      expect(read.numRows).toBe(5);
      expect(read.leftOut).toEqual([{ code: "missing-value", count: 1 }]);
    }
  });

  it.each(formats)("is previewed from %s and read as a table of individuals", async (_, bytes) => {
    const preview = await previewFile([bytes]);
    expect(preview.columns.map(({ name }) => name)).toEqual(["id", "time", "value"]);
    const { table } = await readSubjectsFile([bytes]);
    expect(table.columns[2].cells).toEqual(["80.25", "", "77", "0.30000000000000004", "1e-7"]);
  });
});

describe("Excel", () => {
  const visits = {
    name: "Visits",
    rows: [
      ["id", "time", "value"],
      ["a", 0, 1],
    ],
  };
  const subjects = {
    name: "Subjects",
    rows: [
      ["id", "death"],
      ["a", true],
    ],
  };

  it("writes dates as days of the workbook's own system, times of day to the second", async () => {
    const rows = [
      ["id", "when"],
      ["a", { serial: 43861 }],
      ["a", { serial: 43861.42708333333, withTime: true }],
    ];
    expect((await rowsOf(madeWorkbook([{ name: "S", rows }]))).rows.slice(1)).toEqual([
      ["a", "2020-01-31"],
      ["a", "2020-01-31T10:15:00"],
    ]);
    const later = [
      ["id", "when"],
      ["a", { serial: 43861 - 1462 }],
    ];
    const in1904 = await rowsOf(madeWorkbook([{ name: "S", rows: later }], { date1904: true }));
    expect(in1904.rows[1]).toEqual(["a", "2020-01-31"]);
  });

  it("refuses formulas without saved values in columns that are read", async () => {
    const unsaved = { formula: "2*B2", value: undefined };
    const sheet = (header: string[], ...rows: MadeSheet["rows"]) =>
      madeWorkbook([{ name: "S", rows: [header, ...rows] }]);
    const long = sheet(["id", "time", "value", "sum"], ["a", 0, unsaved, unsaved], ["b", 1, unsaved, 3]);
    const refused = await readCohortFile([long]).catch((error) => error);
    expect(refused.complaints).toMatchObject([
      {
        code: "unsaved-formula",
        where: { line: 2, column: "value", columnNumber: 3 },
        received: "2 formulas without one",
      },
    ]);
    expect(refused.message).toContain("Open the workbook in Excel or LibreOffice");
    const wide = sheet(["id", "fvc_0", "fvc_6", "sum"], ["a", 1, unsaved, unsaved], ["b", 1, 2, unsaved]);
    await expect(readCohortFile([wide], { wide: true })).rejects.toMatchObject({ code: "unsaved-formula" });
    // Columns that are not read may hold them, and an empty text that was saved is a missing value.
    const other = sheet(["id", "time", "value", "sum"], ["a", 0, 1, unsaved], ["b", 1, { formula: "x", value: "" }, 3]);
    expect((await readCohortFile([other], { columns: { value: "value" } })).numRowsLeftOut).toBe(1);
    expect((await previewFile([other])).notes.join(" ")).toContain("1 formula without a saved value.");
  });

  it("writes hours beyond a day as hours, about which one question is asked", async () => {
    const hours = [0.5, 1.25, 2, 12.5, 30].map((serial) => [`p${serial}`, { serial, withTime: true }, 71]);
    const workbook = madeWorkbook([{ name: "S", rows: [["id", "time", "value"], ...hours] }]);
    expect((await rowsOf(workbook)).rows.slice(1).map(([, time]) => time)).toEqual([
      ...["12:00:00", "30:00:00", "48:00:00", "300:00:00", "720:00:00"],
    ]);
    const error = await readCohortFile([workbook]).catch((error) => error);
    expect(error.complaints).toHaveLength(1);
    expect(error.complaints[0].remedy).toContain("hours");
  });

  it("takes the values of formulas, errors as empty cells, and says where the table begins", async () => {
    const rows = [
      [null],
      ["Lung function study", null],
      [null],
      ["id", "value", "ok"],
      ["a", { formula: "1+1", value: 2 }, true],
      [null],
      ["b", { error: "#DIV/0!" }, false],
    ];
    const read = await rowsOf(madeWorkbook([{ name: "S", rows }]));
    expect(read.rows).toEqual([
      ["id", "value", "ok"],
      ["a", "2", "true"],
      ["b", "", "false"],
    ]);
    expect(read.lines).toEqual([4, 5, 7]);
    expect(read.blankLines).toBe(1);
    expect(read.notes).toEqual([
      'Rows above the table ("Lung function study") are passed over.',
      "The table begins in row 4 of the sheet.",
    ]);
  });

  it("reads the sheet asked for by name or number, else the first that is not empty, and says so", async () => {
    const workbook = madeWorkbook([{ name: "Empty", rows: [] }, visits, subjects]);
    const first = await rowsOf(workbook);
    expect(first.rows[0]).toEqual(["id", "time", "value"]);
    expect(first.notes[0]).toMatch(/^Sheet "Visits" is read; .*"Subjects"/);
    expect((await rowsOf(workbook, { sheet: "Subjects" })).rows[1]).toEqual(["a", "true"]);
    expect((await rowsOf(workbook, { sheet: "3" })).rows[1]).toEqual(["a", "true"]);
    await expect(rowsOf(workbook, { sheet: "Sheet9" })).rejects.toMatchObject({
      code: "missing-sheet",
      message: /received the sheets "Empty", "Visits", "Subjects"/,
    });
  });

  it("passes hidden sheets over, unless they are named", async () => {
    const workbook = madeWorkbook([
      { ...subjects, state: "hidden" },
      visits,
      { ...visits, name: "Old", state: "veryHidden" },
    ]);
    const first = await rowsOf(workbook);
    expect(first.rows[0]).toEqual(["id", "time", "value"]);
    expect(first.notes[0]).toContain('"Subjects" (hidden), "Old" (hidden)');
    expect((await rowsOf(workbook, { sheet: "Subjects" })).rows[1]).toEqual(["a", "true"]);
    await expect(rowsOf(madeWorkbook([{ ...visits, state: "hidden" }]))).rejects.toMatchObject({
      code: "missing-sheet",
      message: /--sheet/,
    });
  });

  it("says where numbers are shown as percent, and takes some among others for text", async () => {
    const rows = [
      ["id", "fvc", "dlco", "n"],
      ["a", { percent: 0.77 }, { percent: 0.07, custom: true }, 1],
      ["b", { percent: 0.81, custom: true }, 71, 2],
    ];
    const read = await rowsOf(madeWorkbook([{ name: "S & T".replace("&", "&amp;"), rows }]));
    expect(read.rows.slice(1)).toEqual([
      ["a", "0.77", "7%", "1"],
      ["b", "0.81", "71", "2"],
    ]);
    expect(read.notes).toEqual(['Excel shows "fvc" as percent; the numbers are shares: 77% is read as 0.77.']);
  });

  it("takes times of day for no dates", async () => {
    const rows = [
      ["id", "at"],
      ["a", { serial: 0.4375, withTime: true }],
      ["b", { serial: 43861.4375, withTime: true }],
    ];
    for (const date1904 of [false, true]) {
      const read = await rowsOf(madeWorkbook([{ name: "S", rows }], { date1904 }));
      expect(read.rows[1]).toEqual(["a", "10:30:00"]);
      expect(read.rows[2][1]).toMatch(/^20\d\d-.*T10:30:00$/);
    }
  });

  it("complains of cells beyond the header, and takes an empty workbook for an empty file", async () => {
    const wide = madeWorkbook([
      {
        name: "S",
        rows: [
          ["id", "time", "value"],
          ["a", 0, 1, 2],
        ],
      },
    ]);
    await expect(readCohortFile([wide])).rejects.toMatchObject({ code: "ragged-row" });
    await expect(readCohortFile([madeWorkbook([{ name: "S", rows: [] }])])).rejects.toMatchObject({
      code: "empty-file",
    });
  });
});

describe("Parquet", () => {
  it("writes whole numbers of 64 bits, short numbers, decimals, dates and truth in the normal form", async () => {
    const date = new Date(Date.UTC(2020, 0, 31));
    const bytes = parquet([
      { name: "id", data: [9007199254740993n] },
      { name: "single", data: [Math.fround(0.1)], type: "FLOAT" },
      { name: "date", data: [date] },
      { name: "moment", data: [new Date(date.getTime() + 36_900_000)] },
      { name: "alive", data: [true] },
    ]);
    expect((await rowsOf(bytes)).rows[1]).toEqual([
      "9007199254740993",
      "0.1",
      "2020-01-31",
      "2020-01-31T10:15:00",
      "true",
    ]);
    const decimals = parquet([{ name: "price", data: [1.15, 2.5, 3] }], {
      schema: [
        { name: "root", num_children: 1 },
        {
          name: "price",
          type: "INT32",
          converted_type: "DECIMAL",
          scale: 2,
          precision: 9,
          repetition_type: "REQUIRED",
        },
      ],
    });
    expect((await rowsOf(decimals)).rows.slice(1)).toEqual([["1.15"], ["2.5"], ["3"]]);
  });

  it("reads group after group, and of a cohort only the columns that are looked at", async () => {
    const n = 2500;
    const bytes = parquet(
      [
        { name: "nested", data: Array.from({ length: n }, () => ({ a: [1] })), type: "JSON" },
        { name: "id", data: Array.from({ length: n }, (_, k) => `p${k % 50}`) },
        { name: "time", data: Float64Array.from({ length: n }, (_, k) => k / 7) },
        { name: "value", data: Float64Array.from({ length: n }, (_, k) => k % 13) },
      ],
      { rowGroupSize: [1000, 1000, 500] },
    );
    const { cohort, numRows } = await readCohortFile([bytes]);
    expect(numRows).toBe(n);
    const csv = Array.from({ length: n }, (_, k) => `p${k % 50},${k / 7},${k % 13}`);
    expect(cohort).toEqual(readCohort(["id,time,value", ...csv].join("\n")).cohort);
    await expect(rowsOf(bytes)).rejects.toMatchObject({ code: "nested-cell", message: /line 2, column "nested"/ });
  });
});

describe("dates", () => {
  it("of a workbook and of Parquet are counted from a column, whatever else stands in the table", async () => {
    const day = (text: string) => new Date(`${text}T00:00:00Z`);
    const bytes = parquet([
      { name: "note", data: ["x", "y"] },
      { name: "id", data: ["a", "a"] },
      { name: "date", data: [day("2020-01-31"), day("2021-01-31")] },
      { name: "onset", data: [day("2019-01-31"), day("2019-01-31")] },
      { name: "value", data: [1.5, 2] },
    ]);
    const serial = (text: string) => ({ serial: day(text).getTime() / 86_400_000 + 25_569 });
    const rows = [
      ["note", "id", "date", "onset", "value"],
      ["x", "a", serial("2020-01-31"), serial("2019-01-31"), 1.5],
      ["y", "a", serial("2021-01-31"), serial("2019-01-31"), 2],
    ];
    const options = { columns: { time: "date", value: "value" }, origin: "column:onset" };
    const csv = readCohort(
      "note,id,date,onset,value\nx,a,2020-01-31,2019-01-31,1.5\ny,a,2021-01-31,2019-01-31,2\n",
      options,
    );
    expect((await readCohortFile([bytes], options)).cohort).toEqual(csv.cohort);
    expect((await readCohortFile([madeWorkbook([{ name: "S", rows }])], options)).cohort).toEqual(csv.cohort);
  });
});

describe("Parquet of pandas", () => {
  const moments = (data: readonly Date[], isAdjustedToUTC: boolean) =>
    parquet(
      [
        { name: "id", data: ["a", "a"] },
        { name: "date", data: data as Date[] },
        { name: "value", data: [1, 2] },
      ],
      {
        schema: [
          { name: "root", num_children: 3 },
          { name: "id", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
          {
            ...{ name: "date", type: "INT64", repetition_type: "REQUIRED" },
            logical_type: { type: "TIMESTAMP", isAdjustedToUTC, unit: "MILLIS" },
          },
          { name: "value", type: "DOUBLE", repetition_type: "REQUIRED" },
        ],
      },
    );
  const evening = [new Date(Date.UTC(2020, 0, 30, 23)), new Date(Date.UTC(2020, 1, 2, 23))];

  it.each([
    [true, /Moments of "date" are kept in UTC/],
    [false, /^(?!.*UTC)/],
  ])("says where moments are kept in UTC: %s", async (isAdjusted, note) => {
    const columns = { id: "id", time: "date", value: "value" };
    const read = await readCohortFile([moments(evening, isAdjusted)], { columns });
    expect(read.notes.join(" ")).toMatch(note);
  });
});

describe("the schema of Arrow in Parquet", () => {
  const beside = (type: arrow.DataType) => {
    const stream = arrow.tableToIPC(new arrow.Table(new arrow.Schema([new arrow.Field("time", type)])), "stream");
    return { kvMetadata: [{ key: "ARROW:schema", value: Buffer.from(stream).toString("base64") }] };
  };
  const table = (time: ColumnSource, type: arrow.DataType) =>
    parquet(
      [
        { name: "id", data: ["a"] },
        { ...time, name: "time" },
        { name: "value", data: [1.5] },
      ],
      beside(type),
    );

  it("names the zone of moments", async () => {
    const moment = new Date(Date.UTC(2020, 0, 30, 23));
    const schema = [
      { name: "root", num_children: 1 },
      {
        ...{ name: "time", type: "INT64", repetition_type: "REQUIRED" },
        logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
      },
    ];
    const type = new arrow.TimestampMillisecond("Europe/Berlin");
    const bytes = parquet([{ name: "time", data: [moment] }], { schema, ...beside(type) });
    expect((await rowsOf(bytes)).rows[1]).toEqual(["2020-01-31"]);
  });

  it("tells spans of time, which are refused by their type, from numbers", async () => {
    const nanoseconds = { name: "time", data: [86_400_000_000_000n] };
    await expect(readCohortFile([table(nanoseconds, new arrow.DurationNanosecond())])).rejects.toMatchObject({
      code: "unsupported-type",
      message: /column "time" \(2\).*Duration/s,
    });
    expect((await readCohortFile([table({ name: "time", data: [3n] }, new arrow.Int64())])).cohort.ids).toEqual(["a"]);
  });
});

describe("Arrow", () => {
  it("writes dates, moments, 64-bit and 32-bit numbers, categories and truth in the normal form", async () => {
    const day = new Date(Date.UTC(2020, 0, 31));
    const table = new arrow.Table({
      id: arrow.vectorFromArray([9007199254740993n], new arrow.Int64()),
      single: arrow.vectorFromArray([0.1], new arrow.Float32()),
      date: arrow.vectorFromArray([day], new arrow.DateDay()),
      moment: arrow.vectorFromArray([day.getTime() + 36_900_000], new arrow.TimestampMicrosecond()),
      group: arrow.vectorFromArray(["x"], new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32())),
      alive: arrow.vectorFromArray([true], new arrow.Bool()),
      none: arrow.vectorFromArray([null], new arrow.Float64()),
    });
    expect((await rowsOf(arrow.tableToIPC(table, "stream"))).rows[1]).toEqual([
      "9007199254740993",
      "0.1",
      "2020-01-31",
      "2020-01-31T10:15:00",
      "x",
      "true",
      "",
    ]);
  });

  const zoned = (zone: string, ...moments: readonly number[]) =>
    arrow.tableToIPC(
      new arrow.Table({
        id: arrow.vectorFromArray(
          moments.map(() => "a"),
          new arrow.Utf8(),
        ),
        date: arrow.vectorFromArray(moments, new arrow.TimestampMillisecond(zone)),
        value: arrow.vectorFromArray(
          moments.map((_, k) => k),
          new arrow.Float64(),
        ),
      }),
      "stream",
    );
  const columns = { columns: { id: "id", time: "date", value: "value" } };

  it("says where moments are kept in UTC, unless all are midnights", async () => {
    const midnight = Date.UTC(2020, 0, 31);
    const notes = async (moment: number) =>
      (await readCohortFile([zoned("UTC", midnight, moment)], columns)).notes.join("\n");
    expect(await notes(midnight + 82_800_000)).toContain('Moments of "date" are kept in UTC');
    expect(await notes(midnight + 86_400_000)).not.toContain("UTC");
  });

  it.each([
    ["Europe/Berlin", "2020-01-31", "2020-07-01T01:30:00"],
    ["America/New_York", "2020-01-30T18:00:00", "2020-06-30T19:30:00"],
    ["+05:30", "2020-01-31T04:30:00", "2020-07-01T05:00:00"],
    ["-0800", "2020-01-30T15:00:00", "2020-06-30T15:30:00"],
    ["No/Where", "2020-01-30T23:00:00", "2020-06-30T23:30:00"],
  ])("takes the days of the zone that the type names: %s", async (zone, winter, summer) => {
    const bytes = zoned(zone, Date.UTC(2020, 0, 30, 23), Date.UTC(2020, 5, 30, 23, 30));
    expect((await rowsOf(bytes)).rows.slice(1).map(([, date]) => date)).toEqual([winter, summer]);
    const { notes } = await readCohortFile([bytes], columns);
    expect(notes.join(" ")).toContain(zone === "No/Where" ? "kept in UTC" : `are those of ${zone}`);
  });

  it("refuses spans of time by their type, and takes times of day for what they are", async () => {
    const table = new arrow.Table({
      id: arrow.vectorFromArray(["a"], new arrow.Utf8()),
      time: arrow.vectorFromArray([86_400n], new arrow.DurationSecond()),
      value: arrow.vectorFromArray([1], new arrow.Float64()),
    });
    await expect(readCohortFile([arrow.tableToIPC(table, "stream")])).rejects.toMatchObject({
      code: "unsupported-type",
      message: /column "time" \(2\).*Duration/s,
    });
    expect((await previewFile([arrow.tableToIPC(table, "stream")])).columns[1].numeric).toBe(0);
    const clock = new arrow.Table({ at: arrow.vectorFromArray([37_800_000_000n], new arrow.TimeMicrosecond()) });
    expect((await rowsOf(arrow.tableToIPC(clock, "stream"))).rows[1]).toEqual(["10:30:00"]);
  });

  it("refuses lists by their name", async () => {
    const list = arrow.vectorFromArray([[1, 2]], new arrow.List(new arrow.Field("item", new arrow.Float64())));
    const bytes = arrow.tableToIPC(new arrow.Table({ courses: list }), "stream");
    await expect(rowsOf(bytes)).rejects.toMatchObject({ code: "nested-cell", message: /column "courses"/ });
  });
});

describe("JSON", () => {
  const DEEP = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;

  it("has the keys in order of first appearance, and empty cells where one is missing", async () => {
    const read = await rowsOf(bytesOf('{"id":"a","time":0}\n\n{"value":2,"id":"b"}\r\n'));
    expect(read.rows).toEqual([
      ["id", "time", "value"],
      ["a", "0", ""],
      ["b", "", "2"],
    ]);
    expect(read.lines).toEqual([1, 1, 3]);
    expect(read.blankLines).toBe(1);
  });

  it.each([
    [
      "an object in a cell",
      '{"id":"a","time":0,"value":{"x":1}}',
      "nested-cell",
      /line 1, column "value" \(3\).*one row for each/s,
    ],
    ["an id that lost digits", '{"id":12345678901234567890,"time":0,"value":1}', "inexact-number", /as text/],
    ["a line that is no object", '{"id":"a"}\n7', "unsupported-format", /line 2.*one object on each line/is],
    ["an object over several lines", '{\n"id": ["a"],\n"time": [0]\n}', "not-json", /line 1/],
    ["broken JSON", '[{"id":"a"}', "not-json", /cut after 11 characters/],
    ["JSON with a slip of the pen", '[{"id":"a"},\n{"id":b}]', "not-json", /line 2.*at character 20/],
    ["JSON that is cut in its third line", '[{"id":"a"},\n{"id":"b"},\n{"id', "not-json", /line 3/],
    ["FHIR", '{"resourceType":"Observation","id":"1"}', "unsupported-format", /--fhir/],
    ["FHIR after another line", '{"id":"1"}\n{"resourceType":"Observation"}', "unsupported-format", /line 2.*--fhir/s],
    ["no objects", "[]", "empty-file", /nothing/],
    [
      "a key twice in an object of a line",
      '{"id":"a","time":0,"value":1}\n{"id":"a","time":1,"value":1,"value" :2}',
      "duplicate-column",
      /line 2, column "value".*"value\\?" twice/s,
    ],
    ["lists without end in a cell", `[{"id":${DEEP}}]`, "not-json", /line 1: .*more than 200 deep at character 206/],
    [
      "lists without end on a line",
      `{"id":1}\n{"id":${DEEP}}`,
      "not-json",
      /line 2: .*more than 200 deep at character 206/,
    ],
    ["a key twice in an array", '[{"id":"a"},{"id":"a","id":"b"}]', "duplicate-column", /line 2, column "id"/],
  ])("refuses %s", async (_, text, code, message) => {
    await expect(readCohortFile([bytesOf(text)])).rejects.toMatchObject({ code, message });
  });

  it("passes over what is nested in columns that are not looked at", async () => {
    const { cohort } = await readCohortFile([bytesOf('{"id":"a","time":0,"value":1,"notes":["x"]}')]);
    expect(cohort.ids).toEqual(["a"]);
  });

  it("refuses a key that comes after ten thousand objects without it", async () => {
    const lines = Array.from({ length: 10_001 }, (_, k) => JSON.stringify({ id: "a", time: k, value: 1 }));
    const text = [...lines, '{"id":"a","late":1}'].join("\n");
    await expect(readCohortFile([bytesOf(text)])).rejects.toMatchObject({
      code: "ragged-row",
      message: /line 10002, column "late"/,
    });
  });
});

describe("rows of a database", () => {
  it("are read as files are, and the query is ended whatever happens", async () => {
    const closed: string[] = [];
    const source = (columns: string[]) => ({
      columns,
      batches: (async function* () {
        yield ROWS.map(({ id, time, value }) => [id, time, value]);
      })(),
      close: async () => {
        closed.push(columns.join(" "));
      },
    });
    expect((await readCohortFile(source(["id", "time", "value"]))).cohort).toEqual(readCohort(CSV).cohort);
    await expect(readCohortFile(source(["x", "y", "z"]))).rejects.toMatchObject({ code: "missing-column" });
    expect(closed).toEqual(["id time value", "x y z"]);
  });

  it("are told to be in UTC where moments have a time of day and are looked at", async () => {
    const read = async (hour: string) => {
      const batches = (async function* () {
        yield ["01", "02", "03"].map((day) => ["a", `2020-01-${day}${hour}`, 1 + Number(day), `2020-01-01${hour}`]);
      })();
      return readCohortFile({ columns: ["id", "time", "value", "entered"], inUtc: ["time", "entered"], batches });
    };
    const inUtc = (notes: readonly string[]) => notes.filter((note) => note.includes("kept in UTC"));
    expect(inUtc((await read("T10:15:00")).notes)).toEqual([expect.stringContaining('"time"')]);
    expect(inUtc((await read("")).notes)).toEqual([]);
  });
});

describe("what cannot be read", () => {
  const zip = zipSync({ "a.csv": strToU8(CSV), "b.csv": strToU8(CSV) });
  const above = zipSync({ "a.csv": strToU8(CSV), "../b.csv": strToU8(CSV), ".hidden": strToU8("x") });
  const bomb = zipSync({ "a.csv": new Uint8Array(1 << 27) });
  const plain = { level: 0 } as const;
  /** Bytes with a text in them replaced by another of its length: a copy that went wrong. */
  const damaged = (bytes: Uint8Array, text: string, other: string) => {
    const copy = Buffer.from(bytes);
    copy.write(other, copy.indexOf(text));
    return Uint8Array.from(copy);
  };
  const changed = damaged(zipSync({ "a.csv": strToU8(CSV) }, plain), "80.25", "81.25");
  const changedBook = damaged(zipSync(unzipSync(WORKBOOK), plain), "80.25", "81.25");
  // Of the list at the end, the length of what was packed.
  const shortened = Buffer.from(zipSync({ "a.csv": strToU8(CSV) }));
  shortened.writeUInt32LE(40, shortened.indexOf("PK\x01\x02") + 24);
  it.each<[string, Uint8Array, string, RegExp]>([
    ["a zip of several files", zip, "several-files", /received 2: a\.csv, b\.csv. Unpack it/],
    ["a zip with a file above its folder", above, "several-files", /received 2: a\.csv, \.\.\/b\.csv\. Unpack it/],
    ["a zip of nothing", zipSync({ "a/": new Uint8Array(0) }), "several-files", /none in it/],
    [
      "an OpenDocument sheet",
      zipSync({ mimetype: strToU8("x"), "content.xml": strToU8("x") }),
      "several-files",
      /\.xlsx/,
    ],
    ["a zip bomb", bomb, "too-large", /at most 64 MB/],
    ["a zip of which a byte has changed", changed, "damaged-file", /zip archive/],
    ["a zip that says less than it holds", Uint8Array.from(shortened), "damaged-file", /zip archive/],
    ["a workbook of which a byte has changed", changedBook, "damaged-file", /Unpack it first, or copy/],
    ["a cut zip", zip.slice(0, 100), "damaged-file", /zip archive/],
    ["a cut workbook", zipSync({ "xl/workbook.xml": strToU8("no workbook") }), "damaged-file", /workbook/],
    ["an old workbook", Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1), "unsupported-format", /save it as \.xlsx/],
    ["cut Parquet", PARQUET.slice(0, 60), "damaged-file", /Parquet/],
    ["a cut Arrow file", arrow.tableToIPC(TABLE, "file").slice(0, 100), "damaged-file", /Arrow/],
    ["a cut Arrow stream", arrow.tableToIPC(TABLE, "stream").slice(0, 8), "damaged-file", /Arrow/],
    ["Feather of the first version", bytesOf("FEA1...."), "unsupported-format", /Feather 2/],
  ])("is told: %s", async (_, bytes, code, message) => {
    await expect(readCohortFile([bytes], { file: "visits" })).rejects.toMatchObject({ code, message });
  });

  it("is told where letters of ids are lost, which would make one of two: halves of letters in JSON, Latin-1 in Parquet", async () => {
    const halves = ["\\ud83d", "\\ud83e"].map((id) => `{"id":"${id}","time":0,"value":1}`).join("\n");
    const latin = parquet([
      { name: "id", data: [Uint8Array.of(0x41, 0xe8), Uint8Array.of(0x41, 0xe9)], type: "BYTE_ARRAY" },
      { name: "time", data: [0, 1], type: "DOUBLE" },
      { name: "value", data: [1, 2], type: "DOUBLE" },
    ]);
    for (const bytes of [bytesOf(halves), latin]) {
      await expect(readCohortFile([bytes])).rejects.toMatchObject({ code: "not-utf8", message: /two ids become one/ });
    }
    const whole = await readCohortFile([bytesOf('{"id":"\\ud83d\\ude00","time":0,"value":1}')]);
    expect(whole.cohort.ids).toEqual(["\u{1f600}"]);
  });

  it("leaves nothing of a Buffer's neighbours in what is read", async () => {
    const pool = Buffer.concat([Buffer.from("xxxx"), Buffer.from(PARQUET), Buffer.from("yyyy")]);
    const inside = pool.subarray(4, 4 + PARQUET.length);
    expect((await readCohortFile([inside])).cohort).toEqual(readCohort(CSV).cohort);
  });
});

describe("a workbook from a hospital", () => {
  const table = [["id", "time", "value"], ...ROWS.map(({ id, time, value }) => [id, time, value])];
  const csv = readCohort(CSV).cohort;

  it("is read past a page with a title, and past a block of two cells in a row", async () => {
    const titled = [["Klinik"], ["Export", "01.02.2024"], [null], ...table];
    const bytes = madeWorkbook([
      { name: "Deckblatt", rows: [["Studie"], ["Stand heute"]] },
      { name: "Daten", rows: titled },
    ]);
    const { cohort, notes } = await readCohortFile([bytes]);
    expect(cohort).toEqual(csv);
    expect(notes.join(" ")).toContain('Sheet "Daten" is read; the workbook also has "Deckblatt"');
    expect(notes.join(" ")).toContain('("Klinik", "Export", "01.02.2024")');
  });

  it("may hold a table of two columns", async () => {
    const rows = [["id", "sex"], ["a", "f"], [null], ["b", "m"]];
    expect((await rowsOf(madeWorkbook([{ name: "A", rows }]))).rows[0]).toEqual(["id", "sex"]);
  });

  it("never takes two long ids for one", async () => {
    const rows = [
      ["id", "time", "value"],
      [2e16, 0, 1],
      [2e16 + 4, 1, 2],
    ];
    await expect(readCohortFile([madeWorkbook([{ name: "A", rows }])])).rejects.toMatchObject({
      complaints: [{ code: "inexact-number", where: { line: 2, column: "id" } }],
    });
  });
});

describe("Arrow from Python", () => {
  it("packed with zstd has moments", async () => {
    // 40 rows by pyarrow: timestamp[us] of 1 to 20 January 2020, twice, and the values 0 to 39.
    const packed = Buffer.from(
      "/////9AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAAB4AAAANAAAAAQAAACk////AAABAxAAAAAYAAAABAAAAAAAAAAFAAAAdmFsdWUAAADW////AAACAND///8AAAEKEAAAABwAAAAEAAAAAAAAAAQAAABkYXRlAAAGAAgABgAGAAAAAAACABAAFAAIAAYABwAMAAAAEAAQAAAAAAABBRAAAAAYAAAABAAAAAAAAAACAAAAaWQAAAQABAAEAAAA/////xABAAAUAAAAAAAAAAwAGAAGAAUACAAMAAwAAAAAAwQAHAAAAJgBAAAAAAAAAAAAAAwAHgAQAAQACAAMAAwAAACgAAAAJAAAABgAAAAoAAAAAAAAAAAAAAAAAAYACAAHAAYAAAAAAAABBwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFEAAAAAAAAAWAAAAAAAAAAcAAAAAAAAAHgAAAAAAAAAAAAAAAAAAAB4AAAAAAAAAJ4AAAAAAAAAGAEAAAAAAAAAAAAAAAAAABgBAAAAAAAAfgAAAAAAAAAAAAAAAwAAACgAAAAAAAAAAAAAAAAAAAAoAAAAAAAAAAAAAAAAAAAAKAAAAAAAAAAAAAAAAAAAAKQAAAAAAAAAKLUv/SCkBQIAQgoPCxBgvhkoilJ1lFEKf9zxxhlfXPHEET/c8MIJH1zwwAH/7r079+3as2O/br069enSo0N/7rw58+XKkyMfAAAAAAAAAAAoAAAAAAAAACi1L/0gKF0AABhhYWICACARHsACAAAAAEABAAAAAAAAKLUv/WBAAGUEAMQGAED6wQibBQAAoNHfHJsFAAAAqf0wmwUAAGCAG0WbBQAAwFc5WZsFAAAgL1dtmwUAAIAGdYGbBQAA4N2SlZsFAABAtbCpjM69ZOzROwrmEij66kUOnMFjIpyYgTaccJ9KnEe9Xpwf23Kc9viGDQCbkSEwVA+wBCwBS8ASsAQsAmSAG6ANkCmGK5gBAABAAQAAAAAAACi1L/1gQABlAwB0AwAA8D8AQAAIEBQYHCAiJCYoKiwuMDEyMzQ1Njc4OTo7PD0+P0CAAEGAAEKAAENAAAAAAACAQ0AmIODXWQzMbLQs4zLLki+zLPkyy5Ivsyz5MpMlX2ZZ8mWWJV9mWfJlliWfzGwpGsYG97AAAP////8AAAAA",
      "base64",
    );
    const { rows } = await rowsOf(new Uint8Array(packed));
    expect(rows).toHaveLength(41);
    expect(rows[40]).toEqual(["b", "2020-01-20", "39"]);
  });

  it("with decimals of 256 bits is refused", async () => {
    const bytes = Buffer.from(
      "/////+gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAACQAAAARAAAAAQAAACM////AAABBxAAAAAgAAAABAAAAAAAAAAFAAAAdmFsdWUACgAQAAQACAAMAAoAAAAoAAAAAgAAAAABAADI////AAABAhAAAAAgAAAABAAAAAAAAAAEAAAAdGltZQAAAAAIAAwACAAHAAgAAAAAAAABQAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABBRAAAAAYAAAABAAAAAAAAAACAAAAaWQAAAQABAAEAAAA//////gAAAAUAAAAAAAAAAwAFgAGAAUACAAMAAwAAAAAAwQAGAAAADgAAAAAAAAAAAAKABgADAAEAAgACgAAAIwAAAAQAAAAAQAAAAAAAAAAAAAABwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAACAAAAAAAAAABAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAgAAAAAAAAAGAAAAAAAAAAAAAAAAAAAABgAAAAAAAAAIAAAAAAAAAAAAAAAAwAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAABAAAAYQAAAAAAAAAAAAAAAAAAAGr//////////////////////////////////////////////wAAAAA=",
      "base64",
    );
    await expect(rowsOf(new Uint8Array(bytes))).rejects.toMatchObject({ complaints: [{ where: { column: "value" } }] });
  });
});
