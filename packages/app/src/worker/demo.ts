/**
 * The map of the demo cohort as it comes with the page: the model file to the last bit, places and groups with 16 bits of
 * precision, so that the example opens without waiting for a fit. Written by `demo.mjs` when the page is built; all else
 * of the cohort is drawn anew from its seed.
 */
import { type Cohort, type Groups, loadModel, type Placements } from "@trajectory-maps/core";
import type { Fitted } from "./api.ts";

/** A typed array in a packed file: its kind, and little-endian bytes as base64 (doubles as the upper three of a single). */
interface PackedArray {
  readonly array: "Float64Array" | "Int32Array" | "Uint8Array";
  readonly data: string;
}

/** What `demo.mjs` writes. */
interface PackedDemo {
  /** A model file whose inducing covariance is its upper triangle, doubles as base64. */
  readonly model: { readonly model: { readonly map: { readonly inducingCovariance: string } } };
  readonly seconds: number;
  readonly placements: unknown;
  readonly groups: unknown;
}

/** The fit and groups of a packed demo; `cohort` is the one they were made from. */
export function unpackDemo(packed: string, cohort: Cohort): { fitted: Fitted; groups: Groups } {
  const { model, placements, groups, seconds } = JSON.parse(packed) as PackedDemo;
  const places = unpack(placements) as Omit<Placements, "ids">;
  return {
    fitted: { model: loadModel(modelText(model)), placements: { ...places, ids: cohort.ids }, seconds, finished: true },
    groups: unpack(groups) as Groups,
  };
}

/** The model file as text, its covariance whole again. */
function modelText(file: PackedDemo["model"]): string {
  const { map } = file.model;
  const upper = new Float64Array(bytesOf(map.inducingCovariance).buffer);
  const n = Math.round((Math.sqrt(8 * upper.length + 1) - 1) / 2);
  const whole = new Array<number>(n * n);
  let k = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) {
      whole[i * n + j] = upper[k];
      whole[j * n + i] = upper[k++];
    }
  }
  return JSON.stringify({ ...file, model: { ...file.model, map: { ...map, inducingCovariance: whole } } });
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** Plain data with its typed arrays restored. */
export function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack);
  if (typeof value !== "object" || value === null) return value;
  if ("array" in value && "data" in value) return unpackArray(value as PackedArray);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unpack(part)]));
}

function unpackArray({ array, data }: PackedArray): Float64Array | Int32Array | Uint8Array {
  const bytes = bytesOf(data);
  if (array === "Uint8Array") return bytes;
  if (array === "Int32Array") return new Int32Array(bytes.buffer);
  const bits = new Uint32Array(bytes.length / 3);
  for (let k = 0; k < bits.length; k++) {
    bits[k] = ((bytes[3 * k] << 8) | (bytes[3 * k + 1] << 16) | (bytes[3 * k + 2] << 24)) >>> 0;
  }
  return Float64Array.from(new Float32Array(bits.buffer));
}
