/** Results and checkpoints as JSON. Results lose nothing a reader needs; checkpoints lose nothing at all. */

/** JSON of a result: typed arrays as lists, numbers that are not finite as null. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, (_, v: unknown) => (isTypedArray(v) ? Array.from(v as ArrayLike<number>) : v), 2)}\n`;
}

const ARRAYS = { Float64Array, Int32Array, Uint8Array, Uint32Array, Float32Array } as const;
type ArrayName = keyof typeof ARRAYS;

function isTypedArray(value: unknown): value is InstanceType<(typeof ARRAYS)[ArrayName]> {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** JSON that brings back the same typed arrays and the same numbers, bit for bit. */
export function encodeExact(value: unknown): string {
  return `${JSON.stringify(value, (_, v: unknown) => {
    if (isTypedArray(v)) {
      const bytes = Buffer.from(v.buffer, v.byteOffset, v.byteLength);
      return { $array: v.constructor.name, base64: bytes.toString("base64") };
    }
    if (typeof v === "number" && (!Number.isFinite(v) || Object.is(v, -0))) {
      return { $number: Object.is(v, -0) ? "-0" : String(v) };
    }
    return v;
  })}\n`;
}

/** What `encodeExact` wrote. */
export function decodeExact(text: string): unknown {
  return JSON.parse(text, (_, v: unknown) => {
    if (typeof v !== "object" || v === null) return v;
    if ("$number" in v) return Number(v.$number);
    if ("$array" in v && "base64" in v) {
      const bytes = Uint8Array.from(Buffer.from(String(v.base64), "base64"));
      const Type = ARRAYS[v.$array as ArrayName];
      return new Type(bytes.buffer);
    }
    return v;
  });
}
