/**
 * Where everyone is, beneath the dots of a cohort too large to draw each: places counted in square cells, smoothed by
 * [1 2 1]/4 both ways; opacity √(count / most) of the fullest cell's, so that thin regions show beside full ones. Screens
 * show the cells themselves. Files show bands between contours, few and short enough that a million individuals take no
 * more room than a thousand.
 */
import { whole } from "../numbers.ts";
import type { Numbers } from "../study.ts";
import { type Box, contourAt, type Ring } from "./land.ts";
import { pathOf } from "./svg.ts";

/** Above this many individuals a screen draws a sample of them. */
export const HUGE = 50_000;
export const SAMPLE = 20_000;
/** Dots of a figure that cannot be zoomed: more would hide the shading, each other and the land. */
const FIGURE_DOTS = 4_000;

/** Opacity of the fullest cell. */
export const DARKEST = 0.5;
const NUM_BANDS = 8;
/** Cells along the longer side of a file's map, and how many points its contours may have: about 250 kB. */
const FILE_CELLS = 128;
const MOST_POINTS = 18_000;

/** px of the ring that stands for one visit. */
export const RING_RADIUS = 2.2;

/** Opacity of a dot whose place has this sd: 1.22 − 1.72 sd, kept between `faintest` and 0.95. */
export function dotOpacity(sd: number, faintest = 0.2): number {
  return Math.min(0.95, Math.max(faintest, 1.22 - 1.72 * sd));
}

/** Radius in px of a dot of this opacity. */
export function dotRadius(opacity: number): number {
  return 2.1 + 1.1 * opacity;
}

/** `most` of m positions, spread evenly by the golden ratio; all if they are no more. */
export function sampled(m: number, most: number): Int32Array {
  const all = Int32Array.from({ length: m }, (_, i) => i);
  if (m <= most) return all;
  const rank = (i: number) => Math.imul(i, 0x9e3779b1) >>> 0;
  return all.sort((a, b) => rank(a) - rank(b) || a - b).slice(0, most);
}

/** Who is drawn as a dot in a figure of `panels` maps: everyone up to the sample of a screen, else some for all maps together. */
export function drawnInFigure(m: number, panels = 1): Int32Array {
  return sampled(m, m * panels <= SAMPLE ? m : Math.floor(FIGURE_DOTS / panels));
}

/** Counts of places in square cells, smoothed; the first row is at the top. */
export interface DensityCells {
  readonly nx: number;
  readonly ny: number;
  readonly side: number;
  readonly counts: Float32Array; // [ny,nx]
  readonly most: number;
}

/** Counts of places [m,2] over a box, `cells` along its longer side; those marked 1 in `left` are left out. */
export function densityCells(
  places: Numbers,
  left: ArrayLike<number> | null,
  box: Box,
  { cells, passes }: { readonly cells: number; readonly passes: number },
): DensityCells {
  const side = Math.max(box.x1 - box.x0, box.y1 - box.y0) / cells;
  const nx = Math.ceil((box.x1 - box.x0) / side);
  const ny = Math.ceil((box.y1 - box.y0) / side);
  let counts = new Float32Array(nx * ny);
  for (let i = 0; i < places.length / 2; i++) {
    if (left !== null && left[i] === 1) continue;
    const c = Math.floor((places[2 * i] - box.x0) / side);
    const r = Math.floor((box.y1 - places[2 * i + 1]) / side);
    if (c >= 0 && c < nx && r >= 0 && r < ny) counts[r * nx + c]++;
  }
  for (let pass = 0; pass < passes; pass++) counts = smooth(smooth(counts, nx, ny, 1, nx), nx, ny, nx, 1);
  let most = 0;
  for (const count of counts) most = Math.max(most, count);
  return { nx, ny, side, counts, most };
}

/** [1 2 1]/4 along cells `step` apart; `across` leads to the next line of them. Beyond the border nobody is counted. */
function smooth(from: Float32Array, nx: number, ny: number, step: number, across: number) {
  const [length, lines] = step === 1 ? [nx, ny] : [ny, nx];
  const out = new Float32Array(from.length);
  for (let line = 0; line < lines; line++) {
    for (let k = 0; k < length; k++) {
      const at = line * across + k * step;
      const before = k > 0 ? from[at - step] : 0;
      const after = k + 1 < length ? from[at + step] : 0;
      out[at] = 0.25 * before + 0.5 * from[at] + 0.25 * after;
    }
  }
  return out;
}

/** Where at least so many are; bands lie on top of each other, each adding its opacity to those below. */
export interface DensityBand {
  /** Outer and inner rings in map coordinates. */
  readonly rings: readonly Ring[];
  readonly opacity: number;
}

/**
 * The density of places as bands k = 1..8 where √(count / most) ≥ (k − ½)/8, so that after band k the opacity is
 * k/8 of the fullest. Cells grow until the contours are short enough for a file.
 */
export function densityBands(places: Numbers, left: ArrayLike<number> | null, box: Box): DensityBand[] {
  for (let cells = FILE_CELLS; ; cells /= 2) {
    const found = bandsOf(densityCells(places, left, box, { cells, passes: 2 }), box);
    const points = found.reduce((sum, { rings }) => sum + rings.reduce((n, ring) => n + ring.length, 0), 0);
    if (points <= MOST_POINTS || cells <= 16) return found;
  }
}

function bandsOf({ nx, ny, side, counts, most }: DensityCells, box: Box): DensityBand[] {
  if (most === 0) return [];
  // Cells around the box are empty, so that every ring closes within the lattice; first row at the bottom.
  const [width, height] = [nx + 2, ny + 2];
  const values = new Float64Array(width * height);
  for (let r = 0; r < ny; r++) {
    for (let c = 0; c < nx; c++) values[(ny - r) * width + c + 1] = counts[r * nx + c];
  }
  const x0 = box.x0 - side / 2;
  const y0 = box.y1 - (ny + 0.5) * side;
  const middles = { x0, x1: x0 + (width - 1) * side, y0, y1: y0 + (height - 1) * side };
  const grid = { box: middles, nx: width, ny: height, values };
  return Array.from({ length: NUM_BANDS }, (_, k) => {
    const below = (DARKEST * k) / NUM_BANDS;
    const here = (DARKEST * (k + 1)) / NUM_BANDS;
    return {
      rings: contourAt(grid, most * ((k + 0.5) / NUM_BANDS) ** 2).flat(),
      // What is seen through all: 1 − here = (1 − below)(1 − opacity).
      opacity: 1 - (1 - here) / (1 - below),
    };
  });
}

/** What the shading is, in words beside it. */
export function densityNote(drawn: number, all: number): string {
  return `shading: where all ${whole(all)} are; ${whole(drawn)} of them as dots`;
}

/** The path of a band in px; tenths of a px are enough for an edge this faint. */
export function bandPath({ rings }: DensityBand, x: (v: number) => number, y: (v: number) => number): string {
  const tenth = (v: number) => Math.round(10 * v) / 10;
  return rings
    .map((ring) =>
      pathOf(
        ring.slice(0, -1).map(([u, v]) => [tenth(x(u)), tenth(y(v))] as const),
        true,
      ),
    )
    .join("");
}
