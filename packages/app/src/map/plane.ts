/**
 * The two dimensions that are drawn. A map of two dimensions is its own plane; of three, two axes are shown and the
 * third stands at its centre; of one, the axis is horizontal and heights, which mean nothing, keep dots apart.
 */
import type { Placements } from "@trajectory-maps/core";
import { stripHeight } from "@trajectory-maps/report";
import type { MapPlace } from "./types.ts";

/** How places of the model [q] and places of the drawing [2] belong together. */
export interface Plane {
  readonly mapDimension: number; // q
  readonly axes: readonly [number, number];
  /** Writes the place of the model [q] that a point of the drawing stands for. */
  liftInto(x: number, y: number, out: Float64Array): void;
  /** The point of the drawing at which a place of the model [q] is shown. */
  drop(location: ArrayLike<number>): MapPlace;
}

/** The plane of a model of q dimensions. */
export function planeOf(q: number, axes: readonly [number, number] = [0, 1]): Plane {
  const [a, b] = q === 3 ? axes : [0, 1];
  return {
    mapDimension: q,
    axes: [a, b],
    liftInto(x, y, out) {
      out.fill(0);
      out[a] = x;
      if (q > 1) out[b] = y;
    },
    drop: (location) => ({ x: location[a], y: q === 1 ? 0 : location[b] }),
  };
}

/** Whether the first two axes are shown. */
export function isFirstPlane({ axes: [a, b] }: Plane): boolean {
  return a === 0 && b === 1;
}

/** Points of all individuals in the drawing, [m,2]. */
export function flatPlaces(placements: Placements, plane: Plane): Float64Array {
  const q = plane.mapDimension;
  const [a, b] = plane.axes;
  const m = placements.ids.length;
  const out = new Float64Array(2 * m);
  for (let i = 0; i < m; i++) {
    out[2 * i] = placements.location[i * q + a];
    out[2 * i + 1] = q === 1 ? stripHeight(i) : placements.location[i * q + b];
  }
  return out;
}
