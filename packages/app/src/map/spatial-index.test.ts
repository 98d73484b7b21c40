import { createRandom } from "@trajectory-maps/core/models";
import type { Ring } from "@trajectory-maps/report";
import { describe, expect, it } from "vitest";
import { nearestInDirection, spatialIndex } from "./spatial-index.ts";

const random = createRandom(5);
const places = Float64Array.from({ length: 2 * 1500 }, () => random.normal());
const index = spatialIndex(places);
const all = Array.from({ length: places.length / 2 }, (_, i) => i);
const distance = (i: number, x: number, y: number) => Math.hypot(places[2 * i] - x, places[2 * i + 1] - y);

describe("spatialIndex", () => {
  it("finds the nearest place, and none beyond its reach", () => {
    for (const [x, y] of [
      [0, 0],
      [0.4, -1.1],
      [2.5, 2.5],
    ]) {
      const near = all.filter((i) => distance(i, x, y) <= 0.3);
      const best = near.sort((a, b) => distance(a, x, y) - distance(b, x, y))[0] ?? -1;
      expect(index.nearest(x, y, 0.3)).toBe(best);
    }
    expect(index.nearest(50, 0, 0.3)).toBe(-1);
    expect(spatialIndex(new Float64Array(0)).nearest(0, 0, 1)).toBe(-1);
  });

  it("counts and lists those within a radius, as looking at everyone does", () => {
    for (const r of [0.05, 0.25, 3]) {
      const slow = all.filter((i) => distance(i, 0.2, 0.1) <= r);
      expect(Array.from(index.within(0.2, 0.1, r))).toEqual(slow);
      expect(index.countWithin(0.2, 0.1, r)).toBe(slow.length);
    }
  });

  it("gives the same set for a region by lasso, by box and by radius", () => {
    const box: Ring = [
      [-0.5, -1],
      [0.75, -1],
      [0.75, 0.5],
      [-0.5, 0.5],
      [-0.5, -1],
    ];
    const byBox = index.inBox(-0.5, 0.75, -1, 0.5);
    expect(byBox.length).toBeGreaterThan(100);
    expect(index.inRing(box)).toEqual(byBox);
    const circle: Ring = Array.from({ length: 2001 }, (_, k) => [
      0.2 + 0.6 * Math.cos((2 * Math.PI * k) / 2000),
      0.1 + 0.6 * Math.sin((2 * Math.PI * k) / 2000),
    ]);
    // A ring of 2,000 corners differs from its circle by less than the distance of any place to it.
    expect(index.inRing(circle)).toEqual(index.within(0.2, 0.1, 0.6));
  });

  it("lists who is in a box of any size, borders included", () => {
    const boxes = Array.from({ length: 100 }, () => {
      const [a, b, c, d] = Array.from({ length: 4 }, () => 1.6 * random.normal());
      return [Math.min(a, b), Math.max(a, b), Math.min(c, d), Math.max(c, d)] as const;
    });
    // Corners at places themselves, a line, everything.
    boxes.push([places[0], places[2], -9, 9], [places[4], places[4], -9, 9], [-9, 9, -9, 9], [7, 8, 0, 1]);
    for (const [x0, x1, y0, y1] of boxes) {
      const inside = (i: number) =>
        places[2 * i] >= x0 && places[2 * i] <= x1 && places[2 * i + 1] >= y0 && places[2 * i + 1] <= y1;
      expect(Array.from(index.inBox(x0, x1, y0, y1))).toEqual(all.filter(inside));
    }
  });

  it("measures along the line alone on a strip", () => {
    const strip = spatialIndex(places, true);
    expect(strip.countWithin(0.3, 9, 0.25)).toBe(all.filter((i) => Math.abs(places[2 * i] - 0.3) <= 0.25).length);
  });

  it("serves places that all coincide", () => {
    const same = spatialIndex(new Float64Array(20).fill(0.5));
    expect(same.countWithin(0.5, 0.5, 0.1)).toBe(10);
    expect(same.nearest(0.5, 0.5, 0.1)).toBe(0);
  });
});

describe("nearestInDirection", () => {
  it("stays within 45 degrees and takes the nearest there", () => {
    const few = Float64Array.from([0, 0, 1, 0, 0.5, 0.9, -1, 0.2, 0, -3]);
    expect(nearestInDirection(few, 0, 0, "right", 0)).toBe(1);
    expect(nearestInDirection(few, 0, 0, "up", 0)).toBe(2);
    expect(nearestInDirection(few, 0, 0, "left", 0)).toBe(3);
    expect(nearestInDirection(few, 0, 0, "down", 0)).toBe(4);
    expect(nearestInDirection(few, 1, 0, "right", 1)).toBe(-1);
  });

  it("reaches everyone by the four arrows", () => {
    const some = places.slice(0, 2 * 120);
    const seen = new Set([0]);
    const open = [0];
    for (let i = open.pop(); i !== undefined; i = open.pop()) {
      for (const direction of ["left", "right", "up", "down"] as const) {
        const next = nearestInDirection(some, some[2 * i], some[2 * i + 1], direction, i);
        if (next >= 0 && !seen.has(next)) {
          seen.add(next);
          open.push(next);
        }
      }
    }
    // A place can be nobody's nearest in a cone; that is rare, and a search by name finds it.
    expect(seen.size).toBeGreaterThanOrEqual(115);
  });
});
