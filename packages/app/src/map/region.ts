/**
 * Regions of a place as rings. Lattice cells become a smooth area of the same size: every cell is spread as a Gaussian of
 * 0.8 of its side, and the level of the ring is the one whose area is that of the cells.
 */
import { contourAt, type Grid, type Ring } from "@trajectory-maps/report";
import type { Plane } from "./plane.ts";
import type { MapRegion } from "./types.ts";

/** Nodes per side of a cell. */
const FINENESS = 4;
const SPREAD = 0.8;

/** Rings of a region in the drawing. Regions of one dimension are bands over the height of the strip. */
export function regionRings(region: MapRegion, plane: Plane, stripHeight: number): readonly Ring[] {
  if ("rings" in region) return region.rings;
  const q = plane.mapDimension;
  const n = region.cells.length / q;
  if (n === 0) return [];
  const step = region.step ?? smallestDistance(region.cells, q);
  if (q === 1) return bands(region.cells, step, stripHeight);
  const points = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) {
    const { x, y } = plane.drop(region.cells.subarray(k * q, (k + 1) * q));
    points[2 * k] = x;
    points[2 * k + 1] = y;
  }
  const grid = cover(points, step);
  return contourAt(grid, levelOfArea(grid, n * step * step)).flat();
}

/** Share of full cover by cells with middles [n,2]. */
function cover(points: Float64Array, step: number): Grid {
  const s = SPREAD * step;
  const reach = 3.5 * s;
  const box = { x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity };
  for (let k = 0; k < points.length; k += 2) {
    box.x0 = Math.min(box.x0, points[k] - reach);
    box.x1 = Math.max(box.x1, points[k] + reach);
    box.y0 = Math.min(box.y0, points[k + 1] - reach);
    box.y1 = Math.max(box.y1, points[k + 1] + reach);
  }
  const nx = Math.ceil(((box.x1 - box.x0) * FINENESS) / step) + 1;
  const ny = Math.ceil(((box.y1 - box.y0) * FINENESS) / step) + 1;
  const [dx, dy] = [(box.x1 - box.x0) / (nx - 1), (box.y1 - box.y0) / (ny - 1)];
  const values = new Float64Array(nx * ny);
  const across = new Float64Array(nx);
  const bell = (u: number) => Math.exp(-0.5 * u * u);
  const scale = (step * step) / (2 * Math.PI * s * s);
  for (let k = 0; k < points.length; k += 2) {
    const [x, y] = [points[k], points[k + 1]];
    const c0 = Math.max(0, Math.ceil((x - reach - box.x0) / dx));
    const c1 = Math.min(nx - 1, Math.floor((x + reach - box.x0) / dx));
    const r0 = Math.max(0, Math.ceil((y - reach - box.y0) / dy));
    const r1 = Math.min(ny - 1, Math.floor((y + reach - box.y0) / dy));
    for (let c = c0; c <= c1; c++) across[c] = bell((box.x0 + c * dx - x) / s);
    for (let r = r0; r <= r1; r++) {
      const up = scale * bell((box.y0 + r * dy - y) / s);
      for (let c = c0; c <= c1; c++) values[r * nx + c] += up * across[c];
    }
  }
  return { box, nx, ny, values };
}

/** The level above which a function lies on the given area. */
function levelOfArea({ box, nx, ny, values }: Grid, area: number): number {
  const node = ((box.x1 - box.x0) / (nx - 1)) * ((box.y1 - box.y0) / (ny - 1));
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, sorted.length - 1 - Math.round(area / node))];
}

/** Neighbouring cells of a line joined to intervals, each a rectangle. */
function bands(cells: Float64Array, step: number, height: number): Ring[] {
  const sorted = Float64Array.from(cells).sort();
  const rings: Ring[] = [];
  for (let from = 0, k = 1; k <= sorted.length; k++) {
    if (k < sorted.length && sorted[k] - sorted[k - 1] < 1.5 * step) continue;
    const [a, b] = [sorted[from] - step / 2, sorted[k - 1] + step / 2];
    rings.push([
      [a, -height],
      [b, -height],
      [b, height],
      [a, height],
      [a, -height],
    ]);
    from = k;
  }
  return rings;
}

/** Distance from the first cell (the heaviest) to its nearest neighbour: the step of the lattice. */
function smallestDistance(cells: Float64Array, q: number): number {
  let best = Infinity;
  for (let k = q; k < cells.length; k += q) {
    let s = 0;
    for (let c = 0; c < q; c++) s += (cells[k + c] - cells[c]) ** 2;
    if (s > 0) best = Math.min(best, s);
  }
  return Number.isFinite(best) ? Math.sqrt(best) : 0.1;
}
