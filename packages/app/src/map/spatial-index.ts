/**
 * Who is where: places [m,2] sorted into square cells, so that the individual under the pointer, the number within a
 * quarter of a prior sd and the members of a lasso are found without looking at everyone. Building is two passes;
 * a query visits only the cells its shape touches. Lists are in ascending order.
 */
import { contains, type Ring } from "@trajectory-maps/report";

export interface SpatialIndex {
  readonly places: Float64Array; // [m,2]
  /** Position of the nearest place within r, −1 if there is none. Ties go to the smaller position. */
  nearest(x: number, y: number, r: number): number;
  /** Number of places within r. */
  countWithin(x: number, y: number, r: number): number;
  /** Places within r, borders included. */
  within(x: number, y: number, r: number): Int32Array;
  /** Places in a box, borders included. */
  inBox(x0: number, x1: number, y0: number, y1: number): Int32Array;
  /** Places inside a closed ring. */
  inRing(ring: Ring): Int32Array;
}

/** Places per cell that balance the number of cells against places looked at. */
const PER_CELL = 4;

/** An index of places [m,2]; `strip` measures distance along the horizontal axis alone (maps of one dimension). */
export function spatialIndex(places: Float64Array, strip = false): SpatialIndex {
  const m = places.length / 2;
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < m; i++) {
    x0 = Math.min(x0, places[2 * i]);
    x1 = Math.max(x1, places[2 * i]);
    y0 = Math.min(y0, places[2 * i + 1]);
    y1 = Math.max(y1, places[2 * i + 1]);
  }
  if (m === 0) [x0, x1, y0, y1] = [0, 1, 0, 1];
  const area = Math.max((x1 - x0) * (y1 - y0), 1e-12);
  const side = Math.max(Math.sqrt((PER_CELL * area) / Math.max(m, 1)), (x1 - x0) / 1000, (y1 - y0) / 1000, 1e-6);
  const nx = Math.floor((x1 - x0) / side) + 1;
  const ny = Math.floor((y1 - y0) / side) + 1;
  const clamp = (k: number, n: number) => (k < 0 ? 0 : k >= n ? n - 1 : k);
  const column = (x: number) => clamp(Math.floor((x - x0) / side), nx);
  const row = (y: number) => clamp(Math.floor((y - y0) / side), ny);

  // Counting sort: members of cell k stand at start[k] .. start[k+1], in ascending order.
  const start = new Int32Array(nx * ny + 1);
  const cellOf = new Int32Array(m);
  for (let i = 0; i < m; i++) {
    cellOf[i] = row(places[2 * i + 1]) * nx + column(places[2 * i]);
    start[cellOf[i] + 1]++;
  }
  for (let k = 0; k < nx * ny; k++) start[k + 1] += start[k];
  const members = new Int32Array(m);
  const next = start.slice(0, nx * ny);
  for (let i = 0; i < m; i++) members[next[cellOf[i]]++] = i;

  /** Calls `see` for every place in the cells that a box touches. */
  const visit = (bx0: number, bx1: number, by0: number, by1: number, see: (i: number) => void) => {
    if (bx1 < x0 || bx0 > x1 || by1 < y0 || by0 > y1) return;
    const [c0, c1] = [column(bx0), column(bx1)];
    const [r0, r1] = [row(by0), row(by1)];
    for (let r = r0; r <= r1; r++) {
      for (let k = start[r * nx + c0]; k < start[r * nx + c1 + 1]; k++) see(members[k]);
    }
  };
  const visitDisc = (x: number, y: number, r: number, see: (i: number, squared: number) => void) => {
    visit(x - r, x + r, strip ? y0 : y - r, strip ? y1 : y + r, (i) => {
      const dx = places[2 * i] - x;
      const dy = strip ? 0 : places[2 * i + 1] - y;
      if (dx * dx + dy * dy <= r * r) see(i, dx * dx + dy * dy);
    });
  };
  const collect = (run: (see: (i: number) => void) => void): Int32Array => {
    const found: number[] = [];
    run((i) => found.push(i));
    return Int32Array.from(found).sort();
  };

  return {
    places,
    nearest(x, y, r) {
      let best = -1;
      let distance = r * r;
      visit(x - r, x + r, y - r, y + r, (i) => {
        const squared = (places[2 * i] - x) ** 2 + (places[2 * i + 1] - y) ** 2;
        if (squared > distance || (squared === distance && best !== -1 && i > best)) return;
        distance = squared;
        best = i;
      });
      return best;
    },
    countWithin(x, y, r) {
      let count = 0;
      visitDisc(x, y, r, () => count++);
      return count;
    },
    within: (x, y, r) => collect((see) => visitDisc(x, y, r, see)),
    inBox: (bx0, bx1, by0, by1) =>
      collect((see) =>
        visit(bx0, bx1, by0, by1, (i) => {
          const [x, y] = [places[2 * i], places[2 * i + 1]];
          if (x >= bx0 && x <= bx1 && y >= by0 && y <= by1) see(i);
        }),
      ),
    inRing(ring) {
      let [rx0, rx1, ry0, ry1] = [Infinity, -Infinity, Infinity, -Infinity];
      for (const [x, y] of ring) {
        rx0 = Math.min(rx0, x);
        rx1 = Math.max(rx1, x);
        ry0 = Math.min(ry0, y);
        ry1 = Math.max(ry1, y);
      }
      return collect((see) =>
        visit(rx0, rx1, ry0, ry1, (i) => {
          if (contains(ring, places[2 * i], places[2 * i + 1])) see(i);
        }),
      );
    },
  };
}

/**
 * The nearest place from (x, y) in a direction, within 45° of it; −1 if nobody is there. `except` is left out. The four
 * directions together reach everyone.
 */
export function nearestInDirection(
  places: Float64Array,
  x: number,
  y: number,
  direction: "left" | "right" | "up" | "down",
  except = -1,
): number {
  const [ux, uy] = { left: [-1, 0], right: [1, 0], up: [0, 1], down: [0, -1] }[direction];
  let best = -1;
  let distance = Infinity;
  for (let i = 0; i < places.length / 2; i++) {
    if (i === except) continue;
    const dx = places[2 * i] - x;
    const dy = places[2 * i + 1] - y;
    const along = dx * ux + dy * uy;
    const across = Math.abs(dx * uy - dy * ux);
    if (along <= 0 || across > along) continue;
    const squared = dx * dx + dy * dy;
    if (squared < distance) {
      distance = squared;
      best = i;
    }
  }
  return best;
}
