import { createRandom } from "@trajectory-maps/core/models";
import { describe, expect, it } from "vitest";
import { boxAround, contains, contourAt, gridOf, hexCells, landOf, smoothPlaces, valueAt } from "./land.ts";

const random = createRandom(3);
const places = Float64Array.from({ length: 1200 }, () => 0.7 * random.normal());

describe("land", () => {
  it("smoothing keeps the number of individuals", () => {
    const box = { x0: -4, x1: 4, y0: -4, y1: 4 };
    const used = Array.from({ length: 600 }, (_, i) => i);
    const { values, nx, ny } = smoothPlaces(places, used, box, 0.17);
    const area = (8 / (nx - 1)) * (8 / (ny - 1));
    expect(values.reduce((s, v) => s + v, 0) * area).toBeCloseTo(600, 2);
  });

  it("is where the density reaches the coast's level, and holds the middle of the places", () => {
    const box = boxAround(places);
    const land = landOf(places, undefined, box);
    expect(land.level).toBeCloseTo((1.3 * 16) / Math.PI, 12);
    expect(contains(land.coast[0], 0, 0)).toBe(true);
    for (const [x, y] of land.coast[0]) expect(valueAt(land.density, x, y)).toBeCloseTo(land.level, 0);
  });

  it("exists for a handful of individuals", () => {
    const few = places.slice(0, 16);
    expect(landOf(few, undefined, boxAround(few)).coast.length).toBeGreaterThan(0);
  });

  it("contour of a plane is a straight line at its level", () => {
    const grid = gridOf({ x0: -1, x1: 1, y0: -1, y1: 1 }, 0.1, (x) => 3 * x);
    const [ring] = contourAt(grid, 1.2)[0];
    const onLine = ring.filter(([x, y]) => x < 0.9 && Math.abs(y) < 0.9);
    expect(onLine.length).toBeGreaterThan(5);
    for (const [x] of onLine) expect(x).toBeCloseTo(0.4, 9);
  });

  it("cells of the lattice hold every individual once, each in the nearest cell", () => {
    const { cells, spacing } = hexCells(places, 11);
    expect(cells.flatMap(({ members }) => members).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 600 }, (_, i) => i),
    );
    for (const { x, y, members } of cells) {
      for (const i of members) {
        expect(Math.hypot(places[2 * i] - x, places[2 * i + 1] - y)).toBeLessThanOrEqual(spacing / Math.sqrt(3) + 1e-9);
      }
    }
  });
});
