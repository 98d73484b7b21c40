import { createRandom } from "@trajectory-maps/core/models";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { bandPath, DARKEST, densityBands, densityCells, densityNote, drawnInFigure, sampled } from "./density.ts";
import { boxAround, contains } from "./land.ts";
import { drawDensity, mapLayout } from "./map-base.ts";
import { penOf, serialize } from "./svg.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };

function cloud(m: number, seed: number): Float64Array {
  const random = createRandom(seed);
  return Float64Array.from({ length: 2 * m }, () => random.normal());
}

/** Opacity of all bands together at a point: what lies under an even number of a band's rings is not in it. */
function opacityAt(bands: ReturnType<typeof densityBands>, x: number, y: number): number {
  let through = 1;
  for (const { rings, opacity } of bands) {
    if (rings.filter((ring) => contains(ring, x, y)).length % 2 === 1) through *= 1 - opacity;
  }
  return 1 - through;
}

describe("sampled", () => {
  it("takes all of few, and the same ones of many, spread over them", () => {
    expect(Array.from(sampled(4, 9))).toEqual([0, 1, 2, 3]);
    const some = sampled(1000, 100);
    expect(new Set(some).size).toBe(100);
    expect(some).toEqual(sampled(1000, 100));
    for (let part = 0; part < 10; part++) {
      expect(some.filter((i) => Math.floor(i / 100) === part).length).toBeGreaterThan(5);
    }
  });
});

describe("drawnInFigure", () => {
  it("is everyone of a cohort that fits, and few of a larger one, for all panels together", () => {
    expect(drawnInFigure(20_000)).toHaveLength(20_000);
    expect(drawnInFigure(20_001)).toHaveLength(4_000);
    expect(drawnInFigure(6_000, 3)).toHaveLength(6_000);
    expect(drawnInFigure(9_000, 3)).toHaveLength(1_333);
  });
});

describe("densityBands", () => {
  const places = cloud(60_000, 4);
  const box = boxAround(places, 0.12);
  const bands = densityBands(places, null, box);

  it("show what the cells show: the root of the share of the fullest, within a band", () => {
    const { nx, ny, side, counts, most } = densityCells(places, null, box, { cells: 128, passes: 2 });
    for (let r = 4; r < ny; r += 9) {
      for (let c = 4; c < nx; c += 9) {
        const wanted = DARKEST * Math.sqrt(counts[r * nx + c] / most);
        const [x, y] = [box.x0 + (c + 0.5) * side, box.y1 - (r + 0.5) * side];
        // Half a band of 1/16 by rounding to bands, and contours are straight between the middles of cells.
        expect(Math.abs(opacityAt(bands, x, y) - wanted)).toBeLessThan(DARKEST / 16 + 1e-6);
      }
    }
  });

  it("leave out whom they are told to, and are none of nobody", () => {
    const left = new Uint8Array(60_000).fill(1);
    expect(densityBands(places, left, box)).toEqual([]);
    left.fill(0, 30_000);
    const half = places.subarray(60_000);
    expect(densityBands(places, left, box)).toEqual(densityBands(half, null, box));
  });

  it("take no more room for many than for some, whatever their shape", () => {
    const random = createRandom(9);
    const clouds = {
      some: cloud(20_000, 2),
      many: cloud(300_000, 3),
      even: Float64Array.from({ length: 200_000 }, () => 6 * random.uniform() - 3),
      speckled: Float64Array.from(
        { length: 60_000 },
        (_, k) => (((k >> 1) * 37) % 150) / 25 + ((k % 2) * Math.floor(k / 3000)) / 9,
      ),
    };
    for (const [name, some] of Object.entries(clouds)) {
      const around = boxAround(some, 0.12);
      const layout = mapLayout(around, 0, 0, 480, 520);
      const group = drawDensity(penOf({ document }, 540), layout, some, null, around);
      expect(serialize(group).length, name).toBeLessThan(260_000);
      expect(group.children.length, name).toBeGreaterThan(3);
    }
  });

  it("are written in tenths of a px", () => {
    const d = bandPath(
      {
        rings: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ],
        opacity: 1,
      },
      (x) => 3.333 * x,
      (y) => 10 - y,
    );
    expect(d).toBe("M0,10L3.3,10L3.3,9Z");
  });
});

describe("densityNote", () => {
  it("says how many are drawn and who is shaded", () => {
    expect(densityNote(20_000, 412_310)).toBe("shading: where all 412,310 are; 20,000 of them as dots");
  });
});
