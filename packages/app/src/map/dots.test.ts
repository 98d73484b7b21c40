import type { Placements } from "@trajectory-maps/core";
import { placeSds } from "@trajectory-maps/core/models";
import { contains, dotOpacity } from "@trajectory-maps/report";
import { describe, expect, it } from "vitest";
import { dotColours } from "./dot-colours.ts";
import { dotStyle } from "./dot-style.ts";
import { placeOnPath, shareOnPath } from "./draw-lens.ts";
import { planeOf } from "./plane.ts";
import { regionRings } from "./region.ts";
import { drawingOrder, lookOf, plannedRenderer } from "./renderers/dot-renderer.ts";
import { combine } from "./selection.ts";
import { clampWindow, fromPx, fromPy, homeWindow, panBy, toPx, toPy, viewportOf, zoomAt } from "./viewport.ts";

/** Placements of which only certainty and visits are looked at. */
function certainties(area50: number[], visits: number[], q = 2): Placements {
  const m = area50.length;
  return {
    ids: area50.map((_, i) => `P${i}`),
    mapDimension: q,
    numObservations: Int32Array.from(visits),
    location: new Float64Array(m * q),
    covariance: new Float64Array(m * q * q),
    logLikelihood: new Float64Array(m),
    coefficients: new Float64Array(0),
    firstTime: new Float64Array(m),
    lastTime: new Float64Array(m),
    area50: Float64Array.from(area50),
    area90: Float64Array.from(area50),
    outsideMass: new Float64Array(m),
    numOutsideTimes: new Int32Array(m),
  };
}
const areaOf = (sd: number) => 2 * Math.PI * Math.LN2 * sd * sd;

describe("dot style", () => {
  it("takes the sd from the 50% region of a Gaussian in one, two and three dimensions", () => {
    expect(placeSds(certainties([2 * 0.6744897501960817 * 0.3], [2], 1))[0]).toBeCloseTo(0.3, 12);
    expect(placeSds(certainties([areaOf(0.3)], [2]))[0]).toBeCloseTo(0.3, 12);
    const volume = (4 / 3) * Math.PI * (1.5381722544550522 * 0.3) ** 3;
    expect(placeSds(certainties([volume], [2], 3))[0]).toBeCloseTo(0.3, 12);
  });

  it("fades with the sd within its limits, draws one visit as a ring and the vague first", () => {
    expect(dotOpacity(0.25)).toBeCloseTo(1.22 - 1.72 * 0.25, 12);
    expect([dotOpacity(0), dotOpacity(2)]).toEqual([0.95, 0.2]);
    const style = dotStyle(certainties([0.2, 0.5, 0.3].map(areaOf), [4, 1, 2]), 10);
    expect(Array.from(style.order)).toEqual([1, 2, 0]);
    expect(Array.from(style.ring)).toEqual([0, 1, 0]);
    expect(style.radius[0]).toBeCloseTo(2.1 + 1.1 * dotOpacity(0.2), 6);
  });

  it("draws a sample of the wanted size, always the same one", () => {
    const many = certainties(new Array(500).fill(0.1), new Array(500).fill(3));
    const [a, b] = [dotStyle(many, 200), dotStyle(many, 200)];
    expect(a.order).toHaveLength(200);
    expect(new Set(a.order).size).toBe(200);
    expect(a.order).toEqual(b.order);
  });
});

describe("dot colours", () => {
  const style = dotStyle(certainties([0.1, 0.2, 0.3, 0.4].map(areaOf), [4, 1, 2, 8]), 10);

  it("never look the same in two groups: the seventh wears the first hue as a thick ring, one visit is a thin one", () => {
    const style = dotStyle(
      certainties(new Array(14).fill(0.05), [...new Array(7).fill(1), ...new Array(7).fill(4)]),
      99,
    );
    const labels = Int32Array.from({ length: 14 }, (_, i) => i % 7);
    const categories = Array.from({ length: 7 }, (_, k) => ({ name: `g${k}`, letter: "ABCDEFG"[k] }));
    const colours = dotColours({ kind: "category", title: "Group", categories, labels }, style);
    const dots = { places: new Float64Array(28), style, colours, faded: null };
    const looks = Array.from(labels, (k, i) => `${colours.swatches[k].token} ${lookOf(dots, i).line}`);
    expect(looks.slice(0, 7)).toEqual([0, 1, 2, 3, 4, 5].map((k) => `group-${k} 1`).concat("group-0 2"));
    expect(looks.slice(7)).toEqual([0, 1, 2, 3, 4, 5].map((k) => `group-${k} 0`).concat("group-0 2"));
  });

  it("give hues to categories, rings from the seventh on, and quiet ink to the unknown", () => {
    const categories = Array.from({ length: 8 }, (_, k) => ({ name: `g${k}`, letter: "ABCDEFGH"[k] }));
    const colours = dotColours({ kind: "category", title: "Group", labels: [0, 7, -1, 99], categories }, style);
    const tokens = Array.from(colours.positions, (p) => colours.swatches[p].token);
    expect(tokens).toEqual(["group-0", "group-1", "ink-3", "ink-3"]);
    expect(colours.swatches[7].hollow).toBe(true);
    expect(colours.carriesHue).toBe(true);
    expect(dotColours({ kind: "none" }, style).carriesHue).toBe(false);
  });

  it("give hues of groups to groups alone: what has no letter has others", () => {
    const categories = [{ name: "f" }, { name: "m" }];
    const { swatches } = dotColours({ kind: "category", title: "Sex", labels: [0, 1, 0, -1], categories }, style);
    expect(swatches.map(({ token }) => token)).toEqual(["category-0", "category-1", "ink-3"]);
    expect(swatches.some(({ hollow }) => hollow)).toBe(false);
  });

  it("are paler the less sure a group is", () => {
    const categories = [
      { name: "a", letter: "A" },
      { name: "b", letter: "B" },
    ];
    const shares = [1, 0, 0.7, 0.3, 0.51, 0.49, 0.05, 0.95];
    const colours = dotColours({ kind: "category", title: "Group", labels: [0, 0, 0, 1], categories, shares }, style);
    const [sure, rather, mixed, other] = colours.sure ?? [];
    expect([sure, other]).toEqual([1, 1]);
    expect(rather).toBeLessThan(1);
    expect(mixed).toBeLessThan(rather);
    expect(mixed).toBeGreaterThanOrEqual(0.5);
    const dots = { places: new Float64Array(8), style, colours, faded: null };
    expect(lookOf(dots, 2).opacity).toBeCloseTo(style.opacity[2] * mixed, 6);
    // However little is sure of it, a dot is seen.
    const vague = { ...style, opacity: style.opacity.map(() => 0.2) };
    expect(lookOf({ ...dots, style: vague }, 2).opacity).toBe(0.18);
  });

  it("give amounts steps of one hue, in order, and survive values that are all equal", () => {
    const { positions, swatches } = dotColours(
      { kind: "number", title: "Age", values: [30, 70, 50, Number.NaN] },
      style,
    );
    expect(positions[0]).toBeLessThan(positions[2]);
    expect(positions[2]).toBeLessThan(positions[1]);
    expect(swatches[positions[3]].name).toBe("unknown");
    const equal = dotColours({ kind: "number", title: "Age", values: [5, 5, 5, 5] }, style);
    expect(new Set(equal.positions).size).toBe(1);
  });

  it("say certainty with the most certain in the darkest step", () => {
    const { positions, swatches } = dotColours({ kind: "certainty" }, style);
    expect(swatches[positions[0]].token).toBe("sequential-6");
    expect(positions[0]).toBeGreaterThan(positions[3]);
  });

  it("leave the others at 10% and below the selected", () => {
    const dots = {
      places: new Float64Array(8),
      style,
      colours: dotColours({ kind: "none" }, style),
      faded: Uint8Array.of(1, 0, 1, 0),
    };
    expect(lookOf(dots, 0).opacity).toBe(0.1);
    expect(lookOf(dots, 3).opacity).toBeGreaterThan(0.1);
    expect(Array.from(drawingOrder(dots)).slice(2).sort()).toEqual([1, 3]);
  });
});

describe("the choice of a renderer", () => {
  it("is SVG for small cohorts, WebGL above, canvas where there is none", () => {
    expect(plannedRenderer("auto", 4999, true)).toEqual({ kind: "svg", most: 4999 });
    expect(plannedRenderer("auto", 5000, true)).toEqual({ kind: "webgl", most: 5000 });
    expect(plannedRenderer("auto", 12000, false)).toEqual({ kind: "canvas", most: 12000 });
    expect(plannedRenderer("webgl", 10, false).kind).toBe("canvas");
    expect(plannedRenderer("auto", 100_000, true).most).toBe(20_000);
    expect(plannedRenderer("auto", 30_000, false).most).toBe(20_000);
  });
});

describe("the window", () => {
  const box = { x0: -3, x1: 2.5, y0: -2.2, y1: 2.2 };

  it("takes px to the map and back, one prior sd being as long upwards as to the right", () => {
    const v = viewportOf(700, 600, box, { x: 0.3, y: -0.2, zoom: 3 });
    expect(fromPx(v, toPx(v, 1.7))).toBeCloseTo(1.7, 12);
    expect(fromPy(v, toPy(v, -0.4))).toBeCloseTo(-0.4, 12);
    expect(toPx(v, 1) - toPx(v, 0)).toBeCloseTo(toPy(v, 0) - toPy(v, 1), 9);
  });

  it("holds the place under the pointer while it zooms, between 1 and 20", () => {
    const v = viewportOf(700, 600, box, homeWindow(box));
    const [x, y] = [fromPx(v, 200), fromPy(v, 150)];
    const closer = viewportOf(700, 600, box, zoomAt(v, 2.5, 200, 150));
    expect(toPx(closer, x)).toBeCloseTo(200, 9);
    expect(toPy(closer, y)).toBeCloseTo(150, 9);
    expect(zoomAt(v, 1e6, 0, 0).zoom).toBe(20);
    expect(zoomAt(v, 1e-6, 0, 0).zoom).toBe(1);
  });

  it("moves with the hand and keeps its middle in the box", () => {
    const v = viewportOf(700, 600, box, homeWindow(box));
    const moved = viewportOf(700, 600, box, panBy(v, 30, -20));
    expect(toPx(moved, 0) - toPx(v, 0)).toBeCloseTo(30, 9);
    expect(toPy(moved, 0) - toPy(v, 0)).toBeCloseTo(-20, 9);
    expect(clampWindow({ x: 99, y: -99, zoom: 50 }, box)).toEqual({ x: 2.5, y: -2.2, zoom: 20 });
  });
});

describe("regions", () => {
  const square = (step: number, turn: number) => {
    const cells: number[] = [];
    for (let a = -2; a <= 2; a++) {
      for (let b = -2; b <= 2; b++) {
        cells.push(step * (a * Math.cos(turn) - b * Math.sin(turn)), step * (a * Math.sin(turn) + b * Math.cos(turn)));
      }
    }
    return Float64Array.from(cells);
  };

  it("of lattice cells cover the area of the cells, however the lattice is turned", () => {
    for (const turn of [0, 0.6]) {
      const rings = regionRings({ cells: square(0.2, turn), step: 0.2 }, planeOf(2), 1);
      expect(rings).toHaveLength(1);
      const area = Math.abs(
        rings[0].reduce((s, [x, y], k) => {
          const [u, v] = rings[0][(k + 1) % rings[0].length];
          return s + (x * v - u * y) / 2;
        }, 0),
      );
      // The area of 25 cells of 0.04, to the fineness of the lattice on which they are spread.
      expect(Math.abs(area - 1)).toBeLessThan(0.04);
      expect(contains(rings[0], 0.3 * Math.cos(turn), 0.3 * Math.sin(turn))).toBe(true);
    }
  });

  it("of a single cell do not vanish, and the step is found when it is not given", () => {
    expect(regionRings({ cells: Float64Array.of(0.4, 0.1), step: 0.25 }, planeOf(2), 1)).toHaveLength(1);
    const [given, found] = [{ cells: square(0.2, 0.3), step: 0.2 }, { cells: square(0.2, 0.3) }];
    expect(regionRings(found, planeOf(2), 1)[0].length).toBe(regionRings(given, planeOf(2), 1)[0].length);
    expect(regionRings({ cells: new Float64Array(0) }, planeOf(2), 1)).toEqual([]);
  });

  it("of one dimension are bands, apart where cells are apart", () => {
    const rings = regionRings({ cells: Float64Array.of(0, 0.1, 0.2, 1, 1.1), step: 0.1 }, planeOf(1), 0.8);
    expect(rings.map((ring) => [ring[0][0], ring[1][0]].map((v) => Math.round(v * 100) / 100))).toEqual([
      [-0.05, 0.25],
      [0.95, 1.15],
    ]);
  });
});

describe("small parts", () => {
  it("combine selections by replacing, adding and removing", () => {
    expect(combine([1, 2], [3], "replace")).toEqual(Int32Array.of(3));
    expect(combine([5, 2], [2, 3], "add")).toEqual(Int32Array.of(2, 3, 5));
    expect(combine([1, 2, 3], [2], "remove")).toEqual(Int32Array.of(1, 3));
    expect(combine([1], [1], "remove")).toBeNull();
  });

  it("walk the path between two pins and back to the share of a point beside it", () => {
    const pins = [
      { x: 0, y: 0 },
      { x: 2, y: 0 },
    ];
    expect(placeOnPath(pins, 0.25)).toEqual({ x: 0.5, y: 0 });
    expect(shareOnPath(pins, { x: 0.5, y: 7 })).toBe(0.25);
    expect(shareOnPath(pins, { x: -4, y: 0 })).toBe(0);
    expect(shareOnPath([pins[0], pins[0]], { x: 1, y: 1 })).toBe(0);
  });

  it("show two axes of three with the third at its centre", () => {
    const plane = planeOf(3, [0, 2]);
    const place = new Float64Array(3);
    plane.liftInto(1.5, -0.5, place);
    expect(Array.from(place)).toEqual([1.5, 0, -0.5]);
    expect(plane.drop(place)).toEqual({ x: 1.5, y: -0.5 });
  });
});
