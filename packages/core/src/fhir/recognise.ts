/** Whether a file holds resources of FHIR, by its beginning; needs none of what reads them. */
import { type ByteSource, openSource } from "../ingest/bytes.ts";
import { isGzip, unpack } from "../ingest/gzip.ts";

/** A resource says what it is, wherever in it; quotes inside texts are escaped. */
const RESOURCE = /"resourceType"\s*:\s*"[A-Z]/;

/** Whether a file, plain or gzip, is NDJSON of resources, a resource such as a Bundle, or a list of them. Reads its first bytes only. */
export async function isFhirFile(bytes: ByteSource, name: string): Promise<boolean> {
  const open = await openSource(bytes, name);
  try {
    if (!isGzip(open.head)) return looksLikeFhir(open.head);
    const inner = await openSource(unpack(open.blocks, name), name);
    const isFhir = looksLikeFhir(inner.head);
    await inner.blocks.return(undefined);
    return isFhir;
  } finally {
    await open.blocks.return(undefined);
  }
}

/** By the beginning of a file: of NDJSON the first row must be a resource itself, of a document any part may be one. */
function looksLikeFhir(head: Uint8Array): boolean {
  // As Latin-1: what is looked for is ASCII.
  const text = Array.from(head, (byte) => String.fromCharCode(byte)).join("");
  const start = text.replace(/^\u00ef\u00bb\u00bf/, "").trimStart();
  if (!/^[[{]/.test(start)) return false;
  const [line = ""] = start.split("\n", 1);
  try {
    const row: unknown = JSON.parse(line);
    const first: unknown = Array.isArray(row) ? row[0] : row;
    return typeof first === "object" && first !== null && "resourceType" in first;
  } catch {
    return RESOURCE.test(start);
  }
}
