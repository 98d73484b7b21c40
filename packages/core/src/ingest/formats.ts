/**
 * The table of formats: for each how a file of it is recognised and how its rows are read. The command line, the
 * explorer's worker and the library all read files through `readTableFile`. A new format is a file of its own and an entry
 * here, before delimited text, which takes whatever nobody else does. Gzip and zip are no formats but wrappings: any file may be
 * packed. Libraries of formats are loaded when a file needs them.
 */
import { checkForm } from "../errors.ts";
import { type OpenFile, openBytes, openSource, type TableSource, type TypedRows } from "./bytes.ts";
import { cellText, plainCell, utcNotes } from "./cell-text.ts";
import { DELIMITED_TEXT, parseText } from "./delimited.ts";
import { ARROW, FEATHER_1 } from "./formats/arrow.ts";
import { EXCEL, isWorkbook, OLD_EXCEL } from "./formats/excel.ts";
import { JSON_ROWS } from "./formats/json.ts";
import { PARQUET } from "./formats/parquet.ts";
import { checkWhole, isZip, onlyEntry, openZip } from "./formats/zip.ts";
import { isGzip, unpack } from "./gzip.ts";
import type { RowSink, TableEnd, TableFormat, TableOptions, TableReader } from "./table.ts";

export type { ByteSource, RandomBytes, TableSource, TypedRows } from "./bytes.ts";

export const FORMATS: readonly TableFormat[] = [EXCEL, OLD_EXCEL, PARQUET, ARROW, FEATHER_1, JSON_ROWS, DELIMITED_TEXT];

/** Ends of names of files that can be read. */
export const TABLE_EXTENSIONS: readonly string[] = [
  ...FORMATS.filter((format) => format !== OLD_EXCEL).flatMap(({ extensions }) => extensions),
  ".gz",
  ".zip",
];

/** Reads a file of any known format, plain, gzip or zip, or the answer of a database; what can be streamed is never held as a whole. */
export async function readTableFile<T>(
  source: TableSource,
  reader: TableReader<T>,
  options: TableOptions = {},
): Promise<T> {
  const { file = "the file" } = options;
  if ("columns" in source) return reader.finish(await typedRows(source, reader, options));
  const given = await openSource(source, file);
  let open = given;
  try {
    open = await unwrapped(given, file);
    const format = FORMATS.find(({ recognise }) => recognise(open.head, file))!;
    return reader.finish(await rowsOf(format, open, reader, options));
  } finally {
    await open.blocks.return(undefined);
    await given.blocks.return(undefined);
  }
}

/** Wrappings taken off at most: a workbook in a zip in a gzip. */
const MOST_WRAPPINGS = 3;

/** What was packed: gzip as it comes, the only file of a zip archive as a whole. A workbook is a zip archive itself. */
async function unwrapped(given: OpenFile, file: string): Promise<OpenFile> {
  let open = given;
  for (let k = 0; k < MOST_WRAPPINGS; k++) {
    if (isGzip(open.head)) open = await openSource(unpack(open.blocks, file), file);
    else if (isZip(open.head)) {
      const zip = await openZip(open, file);
      if (isWorkbook(zip)) {
        await checkWhole(zip, file);
        return openBytes(zip.bytes);
      }
      open = openBytes(await onlyEntry(zip, file));
    } else break;
  }
  return open;
}

async function rowsOf<T>(
  format: TableFormat,
  open: OpenFile,
  reader: TableReader<T>,
  options: TableOptions,
): Promise<TableEnd> {
  if ("read" in format) return format.read(open, reader, options);
  const rows = format.rows(open.head, reader, options);
  for await (const block of open.blocks) if (!rows.push(block)) break;
  return rows.end();
}

async function typedRows(
  { columns, inUtc = [], batches, close }: TypedRows,
  sink: RowSink,
  { file }: TableOptions,
): Promise<TableEnd> {
  const told = new Set<string>();
  const end = (): TableEnd => ({ blankLines: 0, notes: utcNotes(told) });
  try {
    sink.start({ decimal: ".", notes: [] });
    if (!sink.row(columns, 1)) return end();
    const looked = [...(sink.wanted?.() ?? columns.keys())].filter((at) => inUtc.includes(columns[at]));
    let line = 2;
    for await (const batch of batches) {
      for (const row of batch) {
        const cells = row.map((value, k) => plainCell(cellText(value), columns[k], k, line, file));
        // Midnights alone are days.
        for (const at of looked) if (cells[at].includes("T")) told.add(columns[at]);
        if (!sink.row(cells, line++)) return end();
      }
    }
    return end();
  } finally {
    await close?.();
  }
}

/** What to give instead of bytes, or of anything else that is no text. */
const TEXT_REMEDY =
  'Give the text, such as readFileSync("visits.csv", "utf8"); bytes of a file are read by readCohortFile of @trajectory-maps/core/ingest.';

/** Reads a table that is text already, whole or in pieces of any length. */
export function readTableText<T>(
  text: string | Iterable<string>,
  reader: TableReader<T>,
  options: TableOptions = {},
  where = "readTableText",
): T {
  const isText = typeof text === "string";
  const mayBePieces = typeof text === "object" && Symbol.iterator in text && !ArrayBuffer.isView(text);
  checkForm(isText || mayBePieces, where, "a table as text, or pieces of it", text, TEXT_REMEDY);
  const rows = parseText(reader, options);
  for (const piece of isText ? [text] : text) {
    checkForm(typeof piece === "string", where, "pieces of text", piece, TEXT_REMEDY);
    if (!rows.push(piece)) break;
  }
  return reader.finish(rows.end());
}
