/**
 * The map of the demo cohort as it comes with the page: the model and the regions of groups to the last bit, places and all else of
 * groups with 16 bits of precision, so that the example opens without waiting for a fit. Written by `demo.mjs` when the page is built; all else
 * of the cohort is drawn anew from its seed.
 */
import type { Comparison, Groups, Placements, TrajectoryModel } from "@trajectory-maps/core";
import type { Demo } from "./api.ts";

/** Seeds of the simulated cohorts that the page shows as examples; why that of lung function, `demo.mjs` says. */
export const EXAMPLE_SEEDS = { pfvc: 2, tss: 21 } as const;

/**
 * A typed array in a packed file: its kind, and little-endian bytes as base64. Doubles are whole ("exact"), the upper
 * triangle of a symmetric matrix ("symmetric"), or the upper three bytes of a single.
 */
interface PackedArray {
  readonly array: "Float64Array" | "Int32Array" | "Uint8Array";
  readonly as?: "exact" | "symmetric";
  readonly data: string;
}

/** What `demo.mjs` writes. */
interface PackedDemo {
  readonly model: unknown;
  readonly seconds: number;
  readonly placements: unknown;
  readonly groups: unknown;
  /** Models compared on held-out individuals, and further starts (`demo-evidence.json`). */
  readonly comparison?: Comparison;
  readonly starts?: TrajectoryModel["record"]["starts"];
}

/** The fit and groups of a packed demo, with the ids of the cohort they were made from; without them individuals are numbered. */
export function unpackDemo(packed: string, ids?: readonly string[]): Omit<Demo, "loaded" | "subjects"> {
  const { model, placements, groups, seconds, comparison = null, starts } = JSON.parse(packed) as PackedDemo;
  const whole = unpack(model) as TrajectoryModel;
  const places = unpack(placements) as Omit<Placements, "ids">;
  return {
    fitted: {
      model: starts === undefined ? whole : { ...whole, record: { ...whole.record, starts } },
      placements: { ...places, ids: ids ?? Array.from(places.numObservations, (_, i) => String(i + 1)) },
      seconds,
      finished: true,
    },
    groups: unpack(groups) as Groups,
    comparison,
  };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

/** Plain data with its typed arrays restored. */
export function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack);
  if (typeof value !== "object" || value === null) return value;
  if ("array" in value && "data" in value) return unpackArray(value as PackedArray);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unpack(part)]));
}

function unpackArray({ array, as, data }: PackedArray): Float64Array | Int32Array | Uint8Array {
  const bytes = bytesOf(data);
  if (array === "Uint8Array") return bytes;
  if (array === "Int32Array") return new Int32Array(bytes.buffer);
  if (as === "exact") return new Float64Array(bytes.buffer);
  if (as === "symmetric") return wholeMatrix(new Float64Array(bytes.buffer));
  const bits = new Uint32Array(bytes.length / 3);
  for (let k = 0; k < bits.length; k++) {
    bits[k] = ((bytes[3 * k] << 8) | (bytes[3 * k + 1] << 16) | (bytes[3 * k + 2] << 24)) >>> 0;
  }
  return Float64Array.from(new Float32Array(bits.buffer));
}

/** A symmetric matrix [n,n] from its upper triangle. */
function wholeMatrix(upper: Float64Array): Float64Array {
  const n = Math.round((Math.sqrt(8 * upper.length + 1) - 1) / 2);
  const whole = new Float64Array(n * n);
  let k = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) {
      whole[i * n + j] = upper[k];
      whole[j * n + i] = upper[k++];
    }
  }
  return whole;
}
