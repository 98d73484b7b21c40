/**
 * The land of a map: where individuals are, its coastline, lattices for counts and surfaces over it.
 *   density  D(x) = Σ_i N(x; x_i, s² I) over individuals with two or more visits, s = 0.17 prior sd;
 *   land     D(x) π/16 ≥ 1.3, that is 1.3 expected individuals within a quarter of a prior sd; islands of fewer than five
 *            are removed. A cohort too small for that gets the level at which half of it is on land.
 * Grids are [ny,nx] over a box, first row at the bottom of the box.
 */
import { contours } from "d3-contour";
import type { Numbers } from "../study.ts";

export interface Box {
  readonly x0: number;
  readonly x1: number;
  readonly y0: number;
  readonly y1: number;
}

/** A function on a regular lattice that includes the borders of the box. */
export interface Grid {
  readonly box: Box;
  readonly nx: number;
  readonly ny: number;
  readonly values: Float64Array; // [ny,nx]
}

export type Ring = readonly (readonly [number, number])[];

export interface Land {
  readonly density: Grid;
  /** Value of the density at the coast. */
  readonly level: number;
  /** Outer and inner rings in map coordinates. */
  readonly coast: readonly Ring[];
}

export interface LandOptions {
  /** s. Default 0.17. */
  readonly smoothing?: number;
  /** Expected individuals within a quarter of a prior sd at the coast. Default 1.3. */
  readonly individuals?: number;
}

const SMALLEST_ISLAND = 5;

/** The box around all places with some water, and around the coasts of lands. */
export function boxAround(places: Numbers, margin = 0.2, lands: readonly Land[] = []): Box {
  const box = { x0: -1.1, x1: 1.1, y0: -1.1, y1: 1.1 };
  for (let i = 0; i + 1 < places.length; i += 2) {
    box.x0 = Math.min(box.x0, places[i] - margin);
    box.x1 = Math.max(box.x1, places[i] + margin);
    box.y0 = Math.min(box.y0, places[i + 1] - margin);
    box.y1 = Math.max(box.y1, places[i + 1] + margin);
  }
  for (const [x, y] of lands.flatMap(({ coast }) => coast.flat())) {
    box.x0 = Math.min(box.x0, x - 0.04);
    box.x1 = Math.max(box.x1, x + 0.04);
    box.y0 = Math.min(box.y0, y - 0.04);
    box.y1 = Math.max(box.y1, y + 0.04);
  }
  return box;
}

/** Land of places [n,2]; `visits` counts visits per place, all are used if left out. */
export function landOf(places: Numbers, visits: Numbers | undefined, box: Box, options: LandOptions = {}): Land {
  const { smoothing = 0.17, individuals = 1.3 } = options;
  const used: number[] = [];
  for (let i = 0; i < places.length / 2; i++) if (visits === undefined || visits[i] >= 2) used.push(i);
  const density = smoothPlaces(places, used, box, smoothing);
  const at = used.map((i) => valueAt(density, places[2 * i], places[2 * i + 1])).sort((a, b) => a - b);
  const half = at[Math.floor(at.length / 2)] ?? 0;
  const level = Math.min((individuals * 16) / Math.PI, half);
  const rings = level > 0 ? contourAt(density, level) : [];
  const members = rings.map(([outer]) => used.filter((i) => contains(outer, places[2 * i], places[2 * i + 1])).length);
  // A handful of individuals may all live on islands; the largest then stays.
  const fewest = Math.min(SMALLEST_ISLAND, Math.max(0, ...members));
  const coast = rings.filter((_, k) => members[k] >= fewest);
  return { density, level, coast: coast.flat() };
}

/** Σ_i w_i N(x; x_i, s² I) on a lattice, as a product of its two sides; each place reaches five s far. */
export function smoothPlaces(
  places: Numbers,
  used: readonly number[],
  box: Box,
  s: number,
  weight: (i: number) => number = () => 1,
): Grid {
  const { nx, ny } = latticeSize(box, 0.06);
  const values = new Float64Array(nx * ny);
  const [dx, dy] = [(box.x1 - box.x0) / (nx - 1), (box.y1 - box.y0) / (ny - 1)];
  const scale = 1 / (2 * Math.PI * s * s);
  const across = new Float64Array(nx);
  for (const i of used) {
    const [x, y, w] = [places[2 * i], places[2 * i + 1], weight(i)];
    if (w === 0) continue;
    const c0 = Math.max(0, Math.ceil((x - 5 * s - box.x0) / dx));
    const c1 = Math.min(nx - 1, Math.floor((x + 5 * s - box.x0) / dx));
    const r0 = Math.max(0, Math.ceil((y - 5 * s - box.y0) / dy));
    const r1 = Math.min(ny - 1, Math.floor((y + 5 * s - box.y0) / dy));
    for (let c = c0; c <= c1; c++) {
      const u = (box.x0 + c * dx - x) / s;
      across[c] = Math.exp(-0.5 * u * u);
    }
    for (let r = r0; r <= r1; r++) {
      const v = (box.y0 + r * dy - y) / s;
      const height = w * scale * Math.exp(-0.5 * v * v);
      for (let c = c0; c <= c1; c++) values[r * nx + c] += height * across[c];
    }
  }
  return { box, nx, ny, values };
}

/** A function evaluated on a lattice of about the given step. */
export function gridOf(box: Box, step: number, f: (x: number, y: number) => number): Grid {
  const { nx, ny } = latticeSize(box, step);
  const values = new Float64Array(nx * ny);
  for (let r = 0; r < ny; r++) {
    const y = box.y0 + ((box.y1 - box.y0) * r) / (ny - 1);
    for (let c = 0; c < nx; c++) values[r * nx + c] = f(box.x0 + ((box.x1 - box.x0) * c) / (nx - 1), y);
  }
  return { box, nx, ny, values };
}

/** Bilinear value inside the box, 0 outside. */
export function valueAt({ box, nx, ny, values }: Grid, x: number, y: number): number {
  const u = ((x - box.x0) / (box.x1 - box.x0)) * (nx - 1);
  const v = ((y - box.y0) / (box.y1 - box.y0)) * (ny - 1);
  if (!(u >= 0 && v >= 0 && u <= nx - 1 && v <= ny - 1)) return 0;
  const c = Math.min(nx - 2, Math.floor(u));
  const r = Math.min(ny - 2, Math.floor(v));
  const [a, b] = [u - c, v - r];
  const at = r * nx + c;
  return (
    (1 - b) * ((1 - a) * values[at] + a * values[at + 1]) + b * ((1 - a) * values[at + nx] + a * values[at + nx + 1])
  );
}

/** Polygons {f ≥ level} in map coordinates: for each its outer ring, then its holes. */
export function contourAt(grid: Grid, level: number): Ring[][] {
  const { box, nx, ny } = grid;
  const [dx, dy] = [(box.x1 - box.x0) / (nx - 1), (box.y1 - box.y0) / (ny - 1)];
  // d3 puts the value of a cell at its middle.
  const { coordinates } = contours().size([nx, ny]).contour(Array.from(grid.values), level);
  return coordinates.map((polygon) =>
    polygon.map((ring) => ring.map(([c, r]) => [box.x0 + (c - 0.5) * dx, box.y0 + (r - 0.5) * dy] as const)),
  );
}

/** The lines at each level: outer and inner rings. */
export function levelRings(grid: Grid, levels: readonly number[]): readonly (readonly Ring[])[] {
  return levels.map((level) => contourAt(grid, level).flat());
}

/** Whether a ring holds a point. */
export function contains(ring: Ring, x: number, y: number): boolean {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [xi, yi] = ring[i];
    const [xj, yj] = ring[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

/** Whether an odd number of rings holds the point: inside outer rings, outside lakes. */
export function insideRings(rings: readonly Ring[], x: number, y: number): boolean {
  let inside = false;
  for (const ring of rings) if (contains(ring, x, y)) inside = !inside;
  return inside;
}

/** A cell of a hexagonal lattice: its middle and the individuals in it. */
export interface HexCell {
  readonly x: number;
  readonly y: number;
  readonly members: readonly number[];
}

/**
 * Individuals on a hexagonal lattice through the origin. The spacing is the smallest of 0.35, 0.4, … 0.9 prior sd at which
 * cells of `limit` or more hold 60% of all; cells are in reading order.
 */
export function hexCells(places: Numbers, limit: number): { readonly spacing: number; readonly cells: HexCell[] } {
  const n = places.length / 2;
  for (let step = 0; ; step++) {
    const spacing = 0.35 + 0.05 * step;
    const cells = hexBins(places, spacing);
    const shown = cells.reduce((sum, { members }) => sum + (members.length >= limit ? members.length : 0), 0);
    if (shown >= 0.6 * n || spacing > 0.875) return { spacing, cells };
  }
}

function hexBins(places: Numbers, spacing: number): HexCell[] {
  const rowHeight = (spacing * Math.sqrt(3)) / 2;
  const bins = new Map<string, { x: number; y: number; members: number[] }>();
  for (let i = 0; i < places.length / 2; i++) {
    const [x, y] = [places[2 * i], places[2 * i + 1]];
    // The nearest lattice point lies in one of the two rows around y.
    let best = { distance: Number.POSITIVE_INFINITY, row: 0, column: 0, x: 0, y: 0 };
    const low = Math.floor(y / rowHeight);
    for (const row of [low, low + 1]) {
      const shift = row % 2 === 0 ? 0 : 0.5;
      const column = Math.round(x / spacing - shift);
      const point = { row, column, x: (column + shift) * spacing, y: row * rowHeight };
      const distance = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (distance < best.distance) best = { ...point, distance };
    }
    const key = `${best.row} ${best.column}`;
    const bin = bins.get(key) ?? { x: best.x, y: best.y, members: [] };
    bin.members.push(i);
    bins.set(key, bin);
  }
  return [...bins.values()].sort((a, b) => b.y - a.y || a.x - b.x);
}

function latticeSize(box: Box, step: number): { nx: number; ny: number } {
  return {
    nx: Math.max(3, Math.round((box.x1 - box.x0) / step) + 1),
    ny: Math.max(3, Math.round((box.y1 - box.y0) / step) + 1),
  };
}

/** Heights without meaning that keep the dots of a one-dimensional map apart: van der Corput numbers in ±0.6. */
export function stripHeight(i: number): number {
  let v = 0;
  for (let n = i + 1, base = 0.5; n > 0; n >>= 1, base /= 2) if (n & 1) v += base;
  return 1.2 * (v - 0.5);
}
