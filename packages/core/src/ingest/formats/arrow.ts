/**
 * Arrow IPC by apache-arrow: streams are read batch by batch as they come, files (Feather 2) too, since they hold a stream. Lines of
 * complaints count the header as 1 and rows from 2.
 */
import type { DataType, Vector } from "apache-arrow";
import { wholeFile } from "../bytes.ts";
import {
  type CellWriter,
  cellText,
  clockText,
  dateText,
  decimalText,
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

const MAGIC = [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31];
const isFile = (head: Uint8Array) => MAGIC.every((byte, k) => head[k] === byte);

export const ARROW: FileFormat = {
  name: "Arrow IPC, as a stream or a file (Feather 2)",
  extensions: [".arrow", ".arrows", ".feather"],
  // A stream begins with the mark of a message.
  recognise: (head) => isFile(head) || (head.length > 4 && head.subarray(0, 4).every((byte) => byte === 0xff)),
  read: async (open, sink, { file }) => {
    const arrow = await import("apache-arrow");
    const attempt = async <T>(work: () => T | Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        const isPacked = error instanceof Error && /codec|compress/i.test(error.message);
        throw refusalAt({}, file, ...(isPacked ? PACKED : DAMAGED));
      }
    };
    const inUtc = new Set<string>();
    const zones = new Map<string, string>();
    const end = (): TableEnd => ({ blankLines: 0, notes: [...utcNotes(inUtc), ...zoneNotes(zones)] });
    await registerZstd(arrow);
    const source = isFile(open.head) ? await wholeFile(open, file ?? "the file") : open.blocks;
    const reader = await attempt(() => arrow.RecordBatchReader.from(source as AsyncIterable<Uint8Array>));
    const { fields } = await attempt(async () => (await reader.open()).schema ?? unread());
    const names = fields.map(({ name }) => name);
    sink.start({ decimal: ".", notes: [] });
    if (!sink.row(names, 1)) return end();
    const looked = sink.wanted?.();
    const wanted = [...new Set(looked ?? names.keys())];
    const write = wanted.map((at) => {
      const { type } = fields[at];
      if (looked !== undefined && isSpan(arrow, type)) throw spanColumn(String(type), names[at], at, file);
      const zone = zoneOf(arrow, type);
      if (zone !== undefined) zones.set(names[at], zone);
      return writerOf(arrow, type, () => inUtc.add(names[at]));
    });
    write.forEach((writer, k) => {
      if (writer === undefined) throw nestedCell(names[wanted[k]], wanted[k], 1, file);
    });
    const batches = reader[Symbol.asyncIterator]();
    let line = 2;
    for (;;) {
      const next = await attempt(() => batches.next());
      if (next.done) return end();
      const columns = wanted.map((at) => next.value.getChildAt(at) as Vector);
      for (let row = 0; row < next.value.numRows; row++, line++) {
        const cells = new Array<string>(names.length).fill("");
        for (let k = 0; k < wanted.length; k++) {
          cells[wanted[k]] = plainCell(write[k]!(columns[k].get(row)), names[wanted[k]], wanted[k], line, file);
        }
        if (!sink.row(cells, line)) {
          await batches.return?.(undefined);
          return end();
        }
      }
    }
  },
};

function unread(): never {
  throw new Error("no schema");
}

/** Feather of the first version is another format. */
export const FEATHER_1: FileFormat = {
  name: "Feather 2",
  extensions: [],
  recognise: (head) => String.fromCharCode(...head.subarray(0, 4)) === "FEA1",
  read: async (_, __, { file }) => {
    const words = [
      "Arrow IPC (Feather 2)",
      "Feather of the first version",
      "Write it as Parquet or Feather 2.",
    ] as const;
    throw refusalAt({}, file, "unsupported-format", words);
  },
};

const DAMAGED: Finding = [
  "damaged-file",
  ["whole Arrow IPC data", "damaged or cut bytes", "Write or copy the file again."],
];
const PACKED: Finding = [
  "unsupported-format",
  [
    "Arrow IPC, plain or packed with zstd",
    "other packing, such as lz4",
    "Write it without compression, or as Parquet.",
  ],
];

type Arrow = typeof import("apache-arrow");

/** Arrow itself unpacks nothing. */
async function registerZstd({ compressionRegistry, CompressionType }: Arrow): Promise<void> {
  if (compressionRegistry.get(CompressionType.ZSTD) !== null) return;
  const { compressors } = await import("hyparquet-compressors");
  // A copy: what is unpacked may begin anywhere in a larger buffer, and 64-bit numbers must begin at a multiple of 8.
  const decode = (bytes: Uint8Array) => (compressors.ZSTD!(bytes, 0) as Uint8Array).slice();
  compressionRegistry.set(CompressionType.ZSTD, { decode });
}

/** Whether a type is a span of time. */
function isSpan({ DataType: is }: Arrow, type: DataType): boolean {
  return is.isDuration(type) || is.isInterval(type);
}

/** The time zone that the moments of a type are to be read in; undefined if it names none but UTC. */
function zoneOf({ DataType: is }: Arrow, type: DataType): string | undefined {
  const zone = is.isTimestamp(type) ? (type.timezone ?? "") : "";
  return zoneClock(zone) === undefined ? undefined : zone;
}

/** What a schema of Arrow says beyond the types of Parquet, in which pandas, Polars and others keep one. */
export interface SaidType {
  /** The type, if it is a span of time: Parquet holds whole numbers. */
  readonly span?: string;
  readonly zone?: string;
}

/** Present in browsers, workers and Node alike. */
declare const atob: (text: string) => string;

/** What a schema in base64 says of columns, by name; nothing of one that cannot be read. */
export async function typesOfSchema(written: string): Promise<ReadonlyMap<string, SaidType>> {
  const arrow = await import("apache-arrow");
  try {
    const bytes = Uint8Array.from(atob(written), (letter) => letter.charCodeAt(0));
    const { fields } = arrow.RecordBatchReader.from(bytes).open().schema;
    return new Map(
      fields.map(({ name, type }) => {
        const zone = zoneOf(arrow, type);
        return [name, isSpan(arrow, type) ? { span: String(type) } : zone === undefined ? {} : { zone }];
      }),
    );
  } catch {
    return new Map();
  }
}

/** How values of a type are written; undefined for lists, structures and bytes. */
function writerOf({ DataType: is }: Arrow, type: DataType, tellUtc: () => void): CellWriter | undefined {
  if (is.isDictionary(type)) return writerOf({ DataType: is } as Arrow, type.dictionary as DataType, tellUtc);
  if (is.isDate(type) || is.isTimestamp(type)) {
    const zone = is.isTimestamp(type) ? (type.timezone ?? "") : "";
    const clock = zoneClock(zone) ?? ((milliseconds: number) => milliseconds);
    const isUtc = zone !== "" && zoneClock(zone) === undefined;
    return (value) => {
      const text = value === null ? "" : dateText(clock(Number(value)));
      if (isUtc && text.includes("T")) tellUtc();
      return text;
    };
  }
  if (is.isTime(type)) {
    const perMillisecond = 10 ** (3 * (type.unit - 1));
    return (value) => (value === null ? "" : clockText(Number(value) / perMillisecond));
  }
  // Where nobody says which columns are needed spans are text, which is no number.
  if (is.isDuration(type) || is.isInterval(type)) return (value) => (value === null ? "" : `${value} (${type})`);
  if (is.isFloat(type)) return type.precision === 1 ? singleText : cellText;
  // The library writes decimals of 128 bits alone.
  if (is.isDecimal(type) && type.bitWidth !== 128) return undefined;
  if (is.isDecimal(type)) return (value) => (value === null ? "" : scaled(String(value), type.scale));
  const plain = [is.isInt, is.isUtf8, is.isLargeUtf8, is.isUtf8View, is.isBool, is.isNull];
  return plain.some((holds) => holds(type)) ? cellText : undefined;
}

/** Digits with a point before the last `scale` of them. */
function scaled(digits: string, scale: number): string {
  const sign = digits.startsWith("-") ? "-" : "";
  const bare = digits.slice(sign.length).padStart(scale + 1, "0");
  return sign + decimalText(scale === 0 ? bare : `${bare.slice(0, -scale)}.${bare.slice(-scale)}`);
}
