/** Tables as files: CSV, or Parquet, which is written one group of rows after the other. */
import { basename, dirname } from "node:path";
import type { ByteSource } from "@trajectory-maps/core/ingest";
import { type CsvCell, csvPieces } from "@trajectory-maps/report";
import { settled } from "./lock.ts";
import { readBlocks } from "./read.ts";
import { writeOutputs } from "./write.ts";

/** Rows of a group. */
const GROUP = 100_000;

/** The bytes of a table that somebody names, "-" for standard input; a change of its folder that was made is finished before. */
export function readTable(path: string): ByteSource {
  if (path !== "-") settled(dirname(path));
  return readBlocks(path);
}

/** Writes a table, one of individuals readable by its owner alone; Parquet by the end of its name. */
export async function writeTableFile(
  path: string,
  columns: readonly string[],
  rows: readonly (readonly CsvCell[])[],
  isPrivate: boolean,
): Promise<void> {
  if (/\.parquet$/i.test(path)) return writeParquet(path, columns, rows, isPrivate);
  writeOutputs(dirname(path), [{ name: basename(path), text: csvPieces(columns, rows), private: isPrivate }]);
}

async function writeParquet(
  path: string,
  columns: readonly string[],
  rows: readonly (readonly CsvCell[])[],
  isPrivate: boolean,
): Promise<void> {
  const { writeParquetFile } = await import("./parquet-file.ts");
  const isText = columns.map((_, k) => rows.some((row) => typeof row[k] === "string" && row[k] !== ""));
  const schema = [
    { name: "root", num_children: columns.length },
    ...columns.map((name, k) =>
      isText[k] === true
        ? ({ name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" } as const)
        : ({ name, type: "DOUBLE", repetition_type: "OPTIONAL" } as const),
    ),
  ];
  function* groups() {
    for (let from = 0; from === 0 || from < rows.length; from += GROUP) {
      const group = rows.slice(from, from + GROUP);
      yield columns.map((name, k) => ({
        name,
        data: group.map((row) => (isText[k] === true ? textOf(row[k]) : numberOf(row[k]))),
      }));
    }
  }
  await writeParquetFile(path, { schema }, groups(), GROUP, isPrivate);
}

function textOf(cell: CsvCell | undefined): string | null {
  return cell === undefined || cell === null || (typeof cell === "number" && !Number.isFinite(cell))
    ? null
    : String(cell);
}

function numberOf(cell: CsvCell | undefined): number | null {
  return typeof cell === "number" && Number.isFinite(cell) ? cell : null;
}
