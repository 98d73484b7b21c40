import { createRandom } from "@trajectory-maps/core/models";
import { describe, expect, it } from "vitest";
import { boxAround, contourAt, gridOf, insideRings, landOf, valueAt } from "./land.ts";
import { placeLineLabels } from "./line-labels.ts";
import type { MapLayout } from "./map-base.ts";

describe("numbers on contour lines", () => {
  it("stand on land that is drawn, not on an island that was left out", () => {
    const random = createRandom(4);
    const crowd = Array.from({ length: 400 }, () => 0.5 * random.normal());
    // Four together are dense enough for a coast, and too few for an island.
    const few = [2.4, -1, 2.41, -1.01, 2.42, -0.99, 2.4, -1.02];
    const places = [...crowd, ...few];
    const box = boxAround(places);
    const land = landOf(places, undefined, box);
    const island = [2.4, -1] as const;
    expect(valueAt(land.density, ...island)).toBeGreaterThan(land.level);
    expect(insideRings(land.coast, ...island)).toBe(false);
    expect(insideRings(land.coast, 0, 0)).toBe(true);
    const unit = 100;
    const layout: MapLayout = {
      left: 0,
      top: 0,
      right: unit * (box.x1 - box.x0),
      bottom: unit * (box.y1 - box.y0),
      unit,
      x: (u) => unit * (u - box.x0),
      y: (v) => unit * (box.y1 - v),
    };
    // A line through the island alone goes without a number; one through the land has one there.
    const line = (at: number) => ({
      words: String(at),
      rings: contourAt(
        gridOf(box, 0.05, (x) => x),
        at,
      ).flat(),
    });
    const labels = placeLineLabels(layout, land, [line(0), line(2.41)], []);
    expect(labels.map(({ words }) => words)).toEqual(["0"]);
    expect(insideRings(land.coast, labels[0].x, labels[0].y)).toBe(true);
  });
});
