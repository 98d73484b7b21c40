/**
 * How certain a place is, as a dot shows it (design §3.1): opacity and radius by the sd of its 50% region, one visit as a
 * ring.
 */
import type { Placements } from "@trajectory-maps/core";
import { placeSds } from "@trajectory-maps/core/models";
import { dotOpacity, dotRadius, RING_RADIUS, sampled } from "@trajectory-maps/report";

/** Looks of all dots; colours are apart. */
export interface DotStyle {
  /** Standard deviation of each place in prior sd, [m]. */
  readonly sd: Float64Array;
  readonly opacity: Float32Array; // [m]
  /** px, [m] */
  readonly radius: Float32Array;
  /** 1 for individuals with one visit, [m]. */
  readonly ring: Uint8Array;
  /** Positions of the dots that are drawn, vague first, certain last. */
  readonly order: Int32Array;
}

const RING_OPACITY = 0.6;

/** Styles of all dots; at most `most` of them are drawn, the same ones every time. */
export function dotStyle(placements: Placements, most: number): DotStyle {
  const m = placements.ids.length;
  const sd = placeSds(placements);
  const opacity = new Float32Array(m);
  const radius = new Float32Array(m);
  const ring = new Uint8Array(m);
  for (let i = 0; i < m; i++) {
    const o = dotOpacity(sd[i]);
    ring[i] = placements.numObservations[i] === 1 ? 1 : 0;
    opacity[i] = ring[i] === 1 ? RING_OPACITY : o;
    radius[i] = ring[i] === 1 ? RING_RADIUS : dotRadius(o);
  }
  const order = sampled(m, most).sort((a, b) => sd[b] - sd[a] || a - b);
  return { sd, opacity, radius, ring, order };
}
