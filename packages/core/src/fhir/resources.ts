/**
 * Resources out of files of FHIR R4, as their bytes come: NDJSON line by line, never held as a whole; Bundles and arrays of resources as one
 * document; any of them packed with gzip. Lines of Observations in which none of the wanted codes occurs are counted without being parsed.
 */
import type { FhirResource } from "fhir/r4";
import { DtmError, showReceived } from "../errors.ts";
import { type ByteSource, openSource } from "../ingest/bytes.ts";
import { isGzip, unpack } from "../ingest/gzip.ts";
import { faultOfKeys } from "../json-keys.ts";
import { shaped } from "./shape.ts";

/** A file of resources. */
export interface FhirSource {
  readonly name: string;
  readonly bytes: ByteSource;
}

/** A resource, the address that its Bundle gives it, and the patients of that Bundle by theirs. */
export interface Found {
  readonly resource: FhirResource;
  readonly fullUrl?: string;
  readonly patients?: ReadonlyMap<string, string>;
}

export interface Counts {
  /** Observations of other codes, counted without being parsed. */
  passedOver: number;
  /** JSON documents that are no resource. */
  notResources: number;
}

declare const TextDecoder: new (
  label: string,
  options: { readonly fatal: boolean },
) => { decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string };

/** A line that is an Observation, as exports write it; others may speak of one. */
const OBSERVATION = /^\s*\{\s*"resourceType"\s*:\s*"Observation"/;

/** The resources of a file, those of Bundles one by one; of Observations only those with a wanted code. */
export async function* resourcesOf(
  { name, bytes }: FhirSource,
  wanted: readonly string[] | "all",
  counts: Counts,
): AsyncGenerator<Found> {
  const marks = wanted === "all" ? undefined : wanted.map((code) => `"${code}"`);
  // Withdrawn versions may have lost their code.
  const isPassedOver = (line: string) =>
    marks !== undefined &&
    OBSERVATION.test(line) &&
    !line.includes('"entered-in-error"') &&
    !marks.some((mark) => line.includes(mark));
  let [rest, number] = ["", 0];
  let form: "unknown" | "lines" | "document" = "unknown";
  for await (const text of textOf(name, bytes)) {
    if (rest.length + text.length > LONGEST) throw tooLong(name);
    rest += text;
    if (form === "document" || !text.includes("\n")) continue;
    const lines = rest.split("\n");
    rest = lines.pop()!;
    for (const [k, line] of lines.entries()) {
      number++;
      if (line.trim() === "") continue;
      if (form === "unknown") form = parsed(line) === undefined ? "document" : "lines";
      if (form === "document") {
        rest = [...lines.slice(k), rest].join("\n");
        break;
      }
      if (isPassedOver(line)) counts.passedOver++;
      else yield* unpacked(documentOf(line, name, number), counts);
    }
  }
  if (rest.trim() === "") return;
  if (form === "lines" && isPassedOver(rest)) counts.passedOver++;
  else yield* unpacked(documentOf(rest, name, form === "lines" ? number + 1 : undefined), counts);
}

/** Characters of the longest line or document: what the engines of the language hold as one text. */
const LONGEST = 2 ** 29 - 2 ** 16;

function tooLong(name: string): DtmError {
  return new DtmError(
    "too-large",
    `${name}: expected lines or Bundles of at most ${LONGEST >> 20} million characters, received more. Export it as NDJSON, one resource a line.`,
  );
}

/** The resources of a document: itself, those of a Bundle, those of an array. */
function* unpacked(document: unknown, counts: Counts): Generator<Found> {
  if (Array.isArray(document)) {
    for (const part of document) yield* unpacked(part, counts);
    return;
  }
  if (!isResource(document)) {
    counts.notResources++;
    return;
  }
  if (document.resourceType !== "Bundle") {
    yield { resource: document };
    return;
  }
  const entries = (document.entry ?? []).flatMap(({ fullUrl, resource }) =>
    isResource(resource) ? [{ resource, ...(fullUrl === undefined ? {} : { fullUrl }) }] : [],
  );
  const patients = new Map(
    entries.flatMap(({ fullUrl, resource }) =>
      resource.resourceType === "Patient" && fullUrl !== undefined
        ? [[fullUrl, resource.id ?? fullUrl.replace(/^urn:uuid:/, "")] as const]
        : [],
    ),
  );
  for (const entry of entries) {
    if (entry.resource.resourceType === "Bundle") yield* unpacked(entry.resource, counts);
    else yield { ...entry, patients };
  }
}

function isResource(document: unknown): document is FhirResource {
  return (
    typeof document === "object" && document !== null && typeof (document as FhirResource).resourceType === "string"
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function documentOf(text: string, name: string, line: number | undefined): unknown {
  const document = parsed(text);
  const where = line === undefined ? name : `${name}, line ${line}`;
  const fault = document === undefined ? undefined : faultOfKeys(text, document);
  if (fault !== undefined) {
    const message = `${where}: expected ${fault.expected}, received ${fault.received}. Export the file anew.`;
    throw new DtmError("not-json", message);
  }
  if (document !== undefined) return shaped(document);
  const received = showReceived(text.trim());
  throw new DtmError(
    "not-json",
    `${where}: expected a resource of FHIR as JSON, received "${received}". Is the file whole? One resource a line (NDJSON), or one Bundle, is read.`,
  );
}

async function* textOf(name: string, bytes: ByteSource): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (block?: Uint8Array) => {
    try {
      return decoder.decode(block, { stream: block !== undefined });
    } catch {
      throw new DtmError("not-utf8", `${name}: expected JSON as UTF-8, received other bytes. Export the file anew.`);
    }
  };
  for await (const block of plainBytes(name, bytes)) yield decode(block);
  yield decode();
}

async function* plainBytes(name: string, bytes: ByteSource): AsyncGenerator<Uint8Array> {
  const { head, blocks } = await openSource(bytes, name);
  yield* isGzip(head) ? unpack(blocks, name) : blocks;
}
