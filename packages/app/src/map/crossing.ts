/**
 * When the median course of each place is first beyond a threshold. Two kinds of places have no such time: those whose
 * course begins beyond it, and those where it is never reached. With the margin m(t) > 0 on this side of the threshold,
 *   begins beyond   m(t0) ≤ 0,     never   min over t of m(t) > 0,
 * both of which are continuous in the place, so that their borders are drawn as lines at 0, and no number is made up for them.
 */
import { type Grid, insideRings, type Land, valueAt } from "@trajectory-maps/report";
import { fillGaps } from "./gaps.ts";

/** Places that have a word instead of a number. */
export interface SurfaceClass {
  readonly kind: "never" | "from the start";
  readonly words: string;
  /** Above 0 where the class is. */
  readonly grid: Grid;
}

/** First times beyond a threshold over a lattice. */
interface Crossings {
  /** NaN where there is none, [n]. */
  readonly times: Float64Array;
  /** The same with gaps filled from their borders, for lines that run up to them. */
  readonly grid: Grid;
  readonly never: Grid;
  readonly begun: Grid;
}

/** Times of crossing; `margins(k, out)` writes the margins m(t) [T] of node k. */
export function crossingsOver(
  lattice: Grid,
  times: ArrayLike<number>,
  margins: (node: number, out: Float64Array) => void,
): Crossings {
  const n = lattice.values.length;
  const found = new Float64Array(n).fill(Number.NaN);
  const never = new Float64Array(n);
  const begun = new Float64Array(n);
  const m = new Float64Array(times.length);
  for (let k = 0; k < n; k++) {
    margins(k, m);
    begun[k] = -m[0];
    never[k] = m.reduce((least, v) => Math.min(least, v), Infinity);
    if (m[0] <= 0) continue;
    const t = m.findIndex((v) => v <= 0);
    if (t > 0) found[k] = times[t - 1] + ((times[t] - times[t - 1]) * m[t - 1]) / (m[t - 1] - m[t]);
  }
  const over = (values: Float64Array): Grid => ({ ...lattice, values });
  return { times: found, grid: over(fillGaps(found, lattice.nx)), never: over(never), begun: over(begun) };
}

/** The land without some classes of places: where a surface has numbers. */
export function landWithout(land: Land, classes: readonly SurfaceClass[]): Land {
  const { box, nx, ny } = land.density;
  const values = land.density.values.map((v, k) => {
    const x = box.x0 + ((box.x1 - box.x0) * (k % nx)) / (nx - 1);
    const y = box.y0 + ((box.y1 - box.y0) * Math.floor(k / nx)) / (ny - 1);
    return classes.some(({ grid }) => valueAt(grid, x, y) > 0) ? 0 : v;
  });
  return { ...land, density: { ...land.density, values } };
}

/** The place of a class that is farthest from where it ends, on land: where its words go; null if it is nowhere on land. */
export function middleOf({ grid }: SurfaceClass, land: Land): { readonly x: number; readonly y: number } | null {
  const { box, nx, ny } = grid;
  const at = (k: number) => ({
    x: box.x0 + ((box.x1 - box.x0) * (k % nx)) / (nx - 1),
    y: box.y0 + ((box.y1 - box.y0) * Math.floor(k / nx)) / (ny - 1),
  });
  // Steps to the nearest node outside, by two passes over the lattice; its border counts as outside.
  const steps = Float64Array.from(grid.values, (v, k) => {
    const { x, y } = at(k);
    return v > 0 && valueAt(land.density, x, y) >= land.level && insideRings(land.coast, x, y) ? Infinity : 0;
  });
  const pass = (from: number, by: 1 | -1) => {
    for (let k = from; k >= 0 && k < nx * ny; k += by) {
      const [c, r] = [k % nx, Math.floor(k / nx)];
      const near = (dc: number, dr: number, far: number) => {
        const inside = c + dc >= 0 && c + dc < nx && r + dr >= 0 && r + dr < ny;
        return (inside ? steps[k + dc + dr * nx] : 0) + far;
      };
      const before = [near(-by, 0, 1), near(0, -by, 1), near(-by, -by, Math.SQRT2), near(by, -by, Math.SQRT2)];
      steps[k] = Math.min(steps[k], ...before);
    }
  };
  pass(0, 1);
  pass(nx * ny - 1, -1);
  let best = 0;
  for (let k = 1; k < steps.length; k++) if (steps[k] > steps[best]) best = k;
  return steps[best] > 0 ? at(best) : null;
}
