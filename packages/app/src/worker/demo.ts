/**
 * The map of the demo cohort as it comes with the page: the model file, and places and groups in single precision, so
 * that the example opens without waiting for a fit. Written by `demo.mjs` when the page is built; all else of the cohort
 * is drawn anew from its seed.
 */
import { type Cohort, type Groups, loadModel, type Placements } from "@trajectory-maps/core";
import type { Fitted } from "./api.ts";

/** A typed array in a packed file: its kind, and little-endian bytes as base64 (doubles as single precision). */
interface PackedArray {
  readonly array: "Float64Array" | "Int32Array" | "Uint8Array";
  readonly data: string;
}

/** What `demo.mjs` writes. */
interface PackedDemo {
  readonly model: string;
  readonly seconds: number;
  readonly placements: unknown;
  readonly groups: unknown;
}

/** The fit and groups of a packed demo; `cohort` is the one they were made from. */
export function unpackDemo(packed: string, cohort: Cohort): { fitted: Fitted; groups: Groups } {
  const { model, placements, groups, seconds } = JSON.parse(packed) as PackedDemo;
  const places = unpack(placements) as Omit<Placements, "ids">;
  return {
    fitted: { model: loadModel(model), placements: { ...places, ids: cohort.ids }, seconds, finished: true },
    groups: unpack(groups) as Groups,
  };
}

/** Plain data with its typed arrays restored. */
export function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack);
  if (typeof value !== "object" || value === null) return value;
  if ("array" in value && "data" in value) return unpackArray(value as PackedArray);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unpack(part)]));
}

function unpackArray({ array, data }: PackedArray): Float64Array | Int32Array | Uint8Array {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  if (array === "Uint8Array") return bytes;
  if (array === "Int32Array") return new Int32Array(bytes.buffer);
  return Float64Array.from(new Float32Array(bytes.buffer));
}
