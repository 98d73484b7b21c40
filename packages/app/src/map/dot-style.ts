/**
 * How certain a place is, as a dot shows it (design §3.1): opacity o = 1.22 − 1.72 sd, kept in 0.2–0.95; radius
 * 2.1 + 1.1 o px; one visit is a ring. The sd comes from the 50 % region, because a moment is pulled by the little mass
 * that lies where the map means nothing:
 *   q = 1: length / (2 · 0.6745),   q = 2: √(area / 2π ln 2),   q = 3: ∛(3 volume / 4π) / 1.5382.
 */
import type { Placements } from "@trajectory-maps/core";
import { sampled } from "@trajectory-maps/report";

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

const RING_RADIUS = 2.2;
const RING_OPACITY = 0.6;
/** Standard deviations from the middle to the border of the 50 % region of a Gaussian in 1 and 3 dimensions. */
const HALF_1 = 0.6744897501960817;
const HALF_3 = 1.5381722544550522;

/** Standard deviation of the place of individual i. */
export function placeSd(placements: Placements, i: number): number {
  const q = placements.mapDimension;
  const size = placements.area50[i];
  if (Number.isFinite(size) && size > 0) {
    if (q === 1) return size / (2 * HALF_1);
    if (q === 2) return Math.sqrt(size / (2 * Math.PI * Math.LN2));
    return Math.cbrt((3 * size) / (4 * Math.PI)) / HALF_3;
  }
  let trace = 0;
  for (let c = 0; c < q; c++) trace += placements.covariance[(i * q + c) * q + c];
  return Math.sqrt(Math.max(trace, 0) / q);
}

/** Opacity of a dot whose place has this sd. */
export function dotOpacity(sd: number): number {
  return Math.min(0.95, Math.max(0.2, 1.22 - 1.72 * sd));
}

/** Styles of all dots; at most `most` of them are drawn, the same ones every time. */
export function dotStyle(placements: Placements, most: number): DotStyle {
  const m = placements.ids.length;
  const sd = Float64Array.from({ length: m }, (_, i) => placeSd(placements, i));
  const opacity = new Float32Array(m);
  const radius = new Float32Array(m);
  const ring = new Uint8Array(m);
  for (let i = 0; i < m; i++) {
    const o = dotOpacity(sd[i]);
    ring[i] = placements.numObservations[i] === 1 ? 1 : 0;
    opacity[i] = ring[i] === 1 ? RING_OPACITY : o;
    radius[i] = ring[i] === 1 ? RING_RADIUS : 2.1 + 1.1 * o;
  }
  const order = sampled(m, most).sort((a, b) => sd[b] - sd[a] || a - b);
  return { sd, opacity, radius, ring, order };
}
