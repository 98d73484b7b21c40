/**
 * Parquet by hyparquet: one group of rows after the other is held, and of it the columns that are looked at. Lines of complaints count
 * the header as 1 and rows from 2, as in a spreadsheet.
 */
import type { ColumnData, FileMetaData, SchemaTree } from "hyparquet";
import {
  type CellWriter,
  cellText,
  clockText,
  dateText,
  decimalText,
  inexactNumber,
  isInexact,
  nestedCell,
  plainCell,
  singleText,
  spanColumn,
  utcNotes,
  zoneNotes,
} from "../cell-text.ts";
import { type Finding, refusalAt } from "../complaints.ts";
import type { FileFormat, TableEnd } from "../table.ts";
import { zoneClock } from "../time-zones.ts";
import { type SaidType, typesOfSchema } from "./arrow.ts";

export const PARQUET: FileFormat = {
  name: "Parquet",
  extensions: [".parquet"],
  recognise: (head) => head[0] === 0x50 && head[1] === 0x41 && head[2] === 0x52 && head[3] === 0x31,
  read: async (open, sink, { file }) => {
    const { parquetMetadataAsync, parquetRead, parquetSchema } = await import("hyparquet");
    const { size, read } = await open.anywhere();
    const buffer = {
      byteLength: size,
      slice: async (from: number, to: number = size) => {
        // Counted from the end where it is negative, as in arrays.
        const bytes = await read(from < 0 ? size + from : from, to < 0 ? size + to : to);
        return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
      },
    };
    const damaged = (): never => {
      throw refusalAt({}, file, ...DAMAGED);
    };
    const metadata = await parquetMetadataAsync(buffer).catch(damaged);
    const columns = parquetSchema(metadata).children;
    const names = columns.map(({ element }) => element.name);
    sink.start({ decimal: ".", notes: [] });
    const going = sink.row(names, 1);
    const inUtc = new Set<string>();
    const zones = new Map<string, string>();
    const end = (): TableEnd => ({ blankLines: 0, notes: [...utcNotes(inUtc), ...zoneNotes(zones)] });
    if (!going) return end();
    const looked = sink.wanted?.();
    const wanted = [...new Set(looked ?? names.keys())];
    for (const at of wanted) if (columns[at].children.length > 0) throw nestedCell(names[at], at, 1, file);
    const said = await arrowTypes(
      metadata,
      wanted.map((at) => columns[at]),
    );
    const write = wanted.map((at) => {
      const { span, zone } = said.get(names[at]) ?? {};
      const isInterval = columns[at].element.converted_type === "INTERVAL";
      if (isInterval || (looked !== undefined && span !== undefined))
        throw spanColumn(span ?? "INTERVAL", names[at], at, file);
      if (span !== undefined)
        return (value: unknown) => (value === null || value === undefined ? "" : `${value} (${span})`);
      if (zone !== undefined) zones.set(names[at], zone);
      return writerOf(columns[at], at, inUtc, file, zone);
    });
    const compressors = await compressorsOf(metadata);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const chunks = new Map<string, ColumnData[]>(wanted.map((at) => [names[at], []]));
      await parquetRead({
        file: buffer,
        metadata,
        columns: [...chunks.keys()],
        rowStart,
        rowEnd,
        ...(compressors && { compressors }),
        onChunk: (chunk) => chunks.get(chunk.columnName)?.push(chunk),
      }).catch(damaged);
      const cells = wanted.map((at) => walk(chunks.get(names[at])!));
      for (let row = rowStart; row < rowEnd; row++) {
        const fields = new Array<string>(names.length).fill("");
        for (let k = 0; k < wanted.length; k++) {
          const at = wanted[k];
          fields[at] = plainCell(write[k](cells[k](row), row + 2), names[at], at, row + 2, file);
        }
        if (!sink.row(fields, row + 2)) return end();
      }
      rowStart = rowEnd;
    }
    return end();
  },
};

const DAMAGED: Finding = [
  "damaged-file",
  ["a whole Parquet file", "damaged, cut or encrypted bytes", "Write or copy the file again."],
];

/** Values of one column, asked for in the order of rows. */
function walk(chunks: ColumnData[]): (row: number) => unknown {
  chunks.sort((a, b) => a.rowStart - b.rowStart);
  let k = 0;
  return (row) => {
    while (k < chunks.length && row >= chunks[k].rowEnd) k++;
    const chunk = chunks[k];
    return chunk?.columnData[row - chunk.rowStart];
  };
}

const UNITS_PER_MILLISECOND: Readonly<Record<string, number>> = {
  TIME_MILLIS: 1,
  TIME_MICROS: 1e3,
  MILLIS: 1,
  MICROS: 1e3,
  NANOS: 1e6,
};

/** How values of a column are written. */
function writerOf(
  { element }: SchemaTree,
  at: number,
  inUtc: Set<string>,
  file?: string,
  zone?: string,
): (...given: [unknown, number]) => ReturnType<CellWriter> {
  const { name, type, scale = 0, converted_type: converted, logical_type: logical } = element;
  if (converted === "DECIMAL" || logical?.type === "DECIMAL") {
    // The library multiplies digits by a power of ten, which leaves 1.1500000000000001 of 1.15.
    return (value, line) => {
      if (typeof value !== "number") return cellText(value);
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw inexactNumber(value, name, at, line, file);
      return decimalText(value.toFixed(Math.min(scale, 100)));
    };
  }
  const clock = UNITS_PER_MILLISECOND[logical?.type === "TIME" ? logical.unit : (converted ?? "")];
  // A time of day is no time of a visit: as text it is complained of.
  if (clock !== undefined) {
    return (value) => (value === null || value === undefined ? "" : clockText(Number(value) / clock));
  }
  if (isInUtc(element)) {
    const clock = zoneClock(zone ?? "");
    if (clock !== undefined) {
      return (value) => (value instanceof Date ? dateText(clock(value.getTime())) : cellText(value));
    }
    return (value) => {
      const text = cellText(value);
      if (text?.includes("T")) inUtc.add(name);
      return text;
    };
  }
  if (type === "FLOAT") return singleText;
  if (type === "DOUBLE") return (value) => cellText(value);
  return (value, line) => {
    if (isInexact(value)) throw inexactNumber(value, name, at, line, file);
    return cellText(value);
  };
}

function isInUtc({ logical_type: logical }: SchemaTree["element"]): boolean {
  return logical?.type === "TIMESTAMP" && logical.isAdjustedToUTC;
}

/** What that schema says of columns, by name; it is looked at only if some may be moments or spans. */
async function arrowTypes(
  { key_value_metadata: more }: FileMetaData,
  columns: readonly SchemaTree[],
): Promise<ReadonlyMap<string, SaidType>> {
  const written = more?.find(({ key }) => key === "ARROW:schema")?.value;
  const mayBe = ({ element }: SchemaTree) =>
    isInUtc(element) ||
    (element.type === "INT64" && element.logical_type === undefined && element.converted_type === undefined);
  if (written === undefined || !columns.some(mayBe)) return new Map();
  return typesOfSchema(written);
}

/** What the library itself unpacks needs no other; the rest comes with a larger one. */
async function compressorsOf({ row_groups }: FileMetaData) {
  const codecs = new Set(row_groups.flatMap(({ columns }) => columns.map((column) => column.meta_data?.codec)));
  const own = ["UNCOMPRESSED", "SNAPPY", undefined];
  if ([...codecs].every((codec) => own.includes(codec))) return undefined;
  return (await import("hyparquet-compressors")).compressors;
}
