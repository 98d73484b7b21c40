/**
 * One text per value: JSON with sorted keys, numbers in their shortest exact form (−0 kept), typed arrays as lists.
 * Equal models give equal bytes, and a checksum over the text tells damage.
 */
import { DtmError } from "../../errors.ts";
import { bytesChecksum } from "../../numeric/crc.ts";

export function canonicalJson(value: unknown, path = "model"): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) {
      throw new DtmError("not-finite", `saveModel: expected a finite number at ${path}, received ${value}.`);
    }
    return Object.is(value, -0) ? "-0" : String(value);
  }
  if (ArrayBuffer.isView(value)) value = Array.from(value as unknown as ArrayLike<number>);
  if (Array.isArray(value)) return `[${value.map((v, k) => canonicalJson(v, `${path}[${k}]`)).join(",")}]`;
  if (typeof value === "object") {
    const entries = Object.entries(value as object)
      .filter(([, v]) => v !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${canonicalJson(v, `${path}.${k}`)}`).join(",")}}`;
  }
  throw new DtmError("not-data", `saveModel: expected plain data at ${path}, received ${typeof value}.`);
}

/** CRC-32 (IEEE) of a text's UTF-16 code units, low byte first, as eight hexadecimal digits. */
export function checksum(text: string): string {
  const bytes = new Uint8Array(2 * text.length);
  for (let k = 0; k < text.length; k++) {
    bytes[2 * k] = text.charCodeAt(k);
    bytes[2 * k + 1] = text.charCodeAt(k) >>> 8;
  }
  return bytesChecksum([bytes]);
}
