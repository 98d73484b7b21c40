/**
 * Rows as JSON: one object on each line (NDJSON, JSON Lines), which are streamed, or one array of objects, which is held as a whole.
 * Columns are the keys in order of first appearance among the first lines; a key that is not there is an empty cell.
 */
import { showReceived } from "../../errors.ts";
import { faultOfKeys } from "../../json-keys.ts";
import { cellText, inexactNumber, isInexact, plainCell } from "../cell-text.ts";
import { refusalAt, type Words } from "../complaints.ts";
import { createDecoder } from "../decode.ts";
import type { RowSink, StreamedFormat, TableOptions } from "../table.ts";

/** Objects looked at for keys before the first row is handed over. */
const LOOKED_AT = 10_000;

export const JSON_ROWS: StreamedFormat = {
  name: "JSON: an object on each line, or an array of objects",
  extensions: [".ndjson", ".jsonl", ".json"],
  recognise: (head) => /^(?:\u00ef\u00bb\u00bf)?\s*(?:\{\s*["}]|\[\s*[{\]])/.test(latin(head)),
  rows: (head, sink, options) => {
    if (/"resourceType"\s*:/.test(latin(head))) throw refuse(1, options, FHIR);
    const decoder = createDecoder(head, options.file);
    const rows = objectRows(sink, options);
    const isArray = /^(?:\u00ef\u00bb\u00bf)?\s*\[/.test(latin(head));
    let rest = "";
    let line = 0;
    return {
      push: (bytes) => {
        rest += decoder.push(bytes);
        if (isArray || !rest.includes("\n")) return true;
        const lines = rest.split("\n");
        rest = lines.pop()!;
        return lines.every((text) => rows.push(parsed(text, ++line, options), line));
      },
      end: () => {
        rest += decoder.end();
        if (isArray) arrayOf(rest, options).every((object, k) => rows.push(object, k + 1));
        else rows.push(parsed(rest, ++line, options), line);
        return { blankLines: rows.end() };
      },
    };
  },
};

const FHIR: Words = [
  "rows of a table",
  'FHIR resources ("resourceType")',
  "Read them as FHIR, with the code of the marker: dtm fit --fhir FILE --code CODE.",
];
const NO_OBJECT: Words = [
  'an object of plain values, such as {"id": "a", "time": 0, "value": 80}',
  "something else",
  "Write one object on each line, or one array of objects.",
];

const latin = (bytes: Uint8Array) => String.fromCharCode(...bytes.subarray(0, 300));

function refuse(line: number, { file }: TableOptions, words: Words) {
  return refusalAt({ line }, file, "unsupported-format", words);
}

type JsonObject = Readonly<Record<string, unknown>>;

/** The object of a line; undefined if the line is blank. */
function parsed(text: string, line: number, options: TableOptions): JsonObject | undefined {
  const written = (line === 1 ? text.replace(/^\ufeff/, "") : text).trim();
  if (written === "") return undefined;
  try {
    return objectOf(withoutRepeats(written, JSON.parse(written), options, line), line, options);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refusalAt({ line }, options.file, "not-json", [NO_OBJECT[0], `"${showReceived(written)}"`, NO_OBJECT[2]]);
  }
}

function arrayOf(text: string, options: TableOptions): JsonObject[] {
  try {
    const written = text.replace(/^\ufeff/, "");
    const list = withoutRepeats(written, JSON.parse(written), options);
    if (!Array.isArray(list)) throw refuse(1, options, NO_OBJECT);
    return list.map((value, k) => objectOf(value, k + 1, options));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Where it breaks is told by most engines; a text that is cut breaks at its end.
    const at = Number(/at position (\d+)/.exec(error.message)?.[1] ?? text.length);
    const line = text.slice(0, at).split("\n").length;
    const received =
      at < text.length ? `JSON that is broken at character ${at + 1}` : `JSON cut after ${at} characters`;
    throw refusalAt({ line }, options.file, "not-json", [
      "a whole array of objects",
      received,
      "Write or copy the file again.",
    ]);
  }
}

/** What was parsed; refused if an object in it has a key twice, of which JSON.parse takes the last in silence. */
function withoutRepeats(text: string, value: unknown, { file }: TableOptions, line?: number): unknown {
  const fault = faultOfKeys(text, value);
  if (fault === undefined) return value;
  const { key, expected, received } = fault;
  const where = { line: line ?? fault.object, ...(key !== undefined && { column: key }) };
  if (key === undefined) throw refusalAt(where, file, "not-json", [expected, received, NO_OBJECT[2]]);
  throw refusalAt(where, file, "duplicate-column", [expected, received, "Rename or remove all but one."]);
}

function objectOf(value: unknown, line: number, options: TableOptions): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refuse(line, options, NO_OBJECT);
  if ("resourceType" in value) throw refuse(line, options, FHIR);
  return value as JsonObject;
}

/** Takes objects with their lines and hands them over as rows, once the keys of the first ones are known. */
function objectRows(sink: RowSink, options: TableOptions) {
  let held: { readonly object: JsonObject; readonly line: number }[] = [];
  let columns: Map<string, number> | undefined;
  let wanted: ReadonlySet<number> | undefined;
  let [blank, blankLines] = [0, 0];
  let going = true;
  const rowOf = (object: JsonObject, line: number) => {
    const fields = new Array<string>(columns!.size).fill("");
    for (const [key, value] of Object.entries(object)) {
      const at = columns!.get(key);
      if (at === undefined) throw lateKey(key, line, options);
      if (wanted?.has(at) === false) continue;
      if (isInexact(value)) throw inexactNumber(value, key, at, line, options.file);
      fields[at] = plainCell(cellText(value), key, at, line, options.file);
    }
    return fields;
  };
  const begin = () => {
    columns = new Map();
    for (const { object } of held) {
      for (const key of Object.keys(object)) if (!columns.has(key)) columns.set(key, columns.size);
    }
    sink.start({ decimal: ".", notes: [] });
    const [first] = held;
    going = first === undefined ? false : sink.row([...columns.keys()], first.line);
    const looked = sink.wanted?.();
    wanted = looked && new Set(looked);
    for (const { object, line } of held) if (going) going = sink.row(rowOf(object, line), line);
    held = [];
  };
  return {
    push: (object: JsonObject | undefined, line: number): boolean => {
      if (object === undefined) {
        blank++;
        return going;
      }
      blankLines += blank;
      blank = 0;
      if (columns !== undefined) {
        going = sink.row(rowOf(object, line), line);
        return going;
      }
      held.push({ object, line });
      if (held.length === LOOKED_AT) begin();
      return going;
    },
    end: (): number => {
      if (columns === undefined) begin();
      return blankLines;
    },
  };
}

function lateKey(key: string, line: number, { file }: TableOptions) {
  return refusalAt({ line, column: key }, file, "ragged-row", [
    `keys that are in one of the first ${LOOKED_AT} objects`,
    `"${showReceived(key)}" for the first time`,
    "Give the first object every key, with null where there is no value.",
  ]);
}
