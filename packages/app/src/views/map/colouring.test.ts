import type { Groups, Placements } from "@trajectory-maps/core";
import type { Outcome } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import { fillGaps } from "../../map/gaps.ts";
import { FIRST_VIEW } from "../../state/view.ts";
import { colourOf, columnColours, terrainOf } from "./colouring.ts";

const table = {
  ids: ["c", "a", "b", "d"],
  columns: [
    { name: "age", cells: ["40", "51.5", "", "63"] },
    { name: "sex", cells: ["f", "m", "f", "m"] },
    { name: "note", cells: ["same", "same", "same", "same"] },
    { name: "ild", cells: ["0", "1", "1", "0"] },
  ],
};
const outcome = { name: "ild", labels: Uint8Array.of(1, 255, 0) } as Outcome;
const placements = { ids: ["a", "b", "c"], numObservations: Int32Array.of(1, 3, 9) } as unknown as Placements;
const sources = {
  placements,
  groups: { labels: Int32Array.of(1, 0, 1), groups: [{ letter: "A" }, { letter: "B" }] } as unknown as Groups,
  groupName: (k: number) => ["stable near 96", "falls"][k],
  outcomes: [outcome],
  table,
};

describe("colourings", () => {
  it("offers columns that are numbers or a few categories, and no outcome twice", () => {
    expect(columnColours(table, [outcome]).map((c) => c.key)).toEqual(["column:age", "column:sex"]);
    expect(columnColours(null, [])).toEqual([]);
    const numbers = { name: "patient_no", cells: ["3", "1", "2", "4", "5", "6"] };
    const ids = numbers.cells.map((c) => `p${c}`);
    const ages = { name: "age", cells: ["40", "51.5", "", "63", "40", "50"] };
    expect(columnColours({ ids, columns: [numbers, ages] }, []).map((c) => c.key)).toEqual(["column:age"]);
  });

  it("takes columns by id, not by row", () => {
    const colour = colourOf("column:age", sources);
    expect(colour).toMatchObject({ kind: "number", title: "Age" });
    expect(colour.kind === "number" && Array.from(colour.values)).toEqual([51.5, Number.NaN, 40]);
    expect(colourOf("column:sex", sources)).toMatchObject({ labels: Int32Array.of(1, 0, 0) });
  });

  it("shows cases darker than others and leaves the unknown apart; rings and hues of groups stay free", () => {
    const colour = colourOf("outcome:ild", sources);
    expect(colour).toMatchObject({
      labels: Int32Array.of(1, -1, 0),
      categories: [{ name: "without" }, { name: "with" }],
      ordered: true,
    });
    if (colour.kind !== "category") throw new Error("no categories");
    expect(colour.categories.some(({ hollow }) => hollow)).toBe(false);
  });

  it("orders visits in four classes and names groups with their letters", () => {
    expect(colourOf("visits", sources)).toMatchObject({ labels: Int32Array.of(0, 1, 3), ordered: true });
    expect(colourOf("group", sources)).toMatchObject({ categories: [{ letter: "A", name: "Stable near 96" }, {}] });
  });

  it("shows noise where individuals differ in it, as times the middle", () => {
    const noiseLevel = { mean: Float64Array.of(0, Math.log(4), -1), sd: new Float64Array(3) };
    const colour = colourOf("noise", { ...sources, placements: { ...sources.placements, noiseLevel } });
    expect(colour.kind === "number" && colour.values[1]).toBeCloseTo(2, 12);
    expect(colourOf("noise", sources)).toEqual({ kind: "none" });
  });

  it("is none for a key that says nothing here", () => {
    expect(colourOf("column:gone", sources)).toEqual({ kind: "none" });
  });
});

describe("terrains", () => {
  it("carry the time, the threshold or the coefficient they need", () => {
    expect(terrainOf({ ...FIRST_VIEW, terrain: "slope" }, 4, 60, 5, null)).toEqual({ kind: "slope", time: 4 });
    expect(terrainOf({ ...FIRST_VIEW, terrain: "crossing" }, 4, 60, 5, null)).toEqual({
      kind: "crossing",
      threshold: 60,
    });
    const rising = { ...FIRST_VIEW, terrain: "crossing" as const, direction: "above" as const };
    expect(terrainOf(rising, 4, 60, 5, null)).toMatchObject({ direction: "above" });
    const last = terrainOf({ ...FIRST_VIEW, terrain: "coefficient", coefficient: 99 }, 4, 60, 5, null);
    expect(last).toEqual({ kind: "coefficient", index: 4 });
  });

  it("of a share wait for the surface of that outcome", () => {
    const view = { ...FIRST_VIEW, terrain: "share" as const, outcome: "ild" };
    expect(terrainOf(view, 4, 60, 5, null)).toEqual({ kind: "none" });
    const axis = Float64Array.of(0, 1);
    const surface = {
      outcome: "ild",
      x: axis,
      y: axis,
      share: Float64Array.of(0.2, Number.NaN, 0.4, 0.2),
      outside: Int8Array.of(-1, 0, 0, 1),
    };
    const terrain = terrainOf(view, 4, 60, 5, surface);
    expect(terrain).toMatchObject({ kind: "surface", scale: "share" });
    // One node more on each side reaches beyond all land; what was not computed is hatched.
    expect(terrain).toMatchObject({ grid: { nx: 4, ny: 4, box: { x0: -1, x1: 2, y0: -1, y1: 2 } } });
    if (terrain.kind !== "surface") throw new Error("no surface");
    expect(Array.from(terrain.unsure ?? [])).toEqual([1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]);
    expect(terrain.grid.values.every(Number.isFinite)).toBe(true);
  });

  it("fill gaps from their borders", () => {
    const nan = Number.NaN;
    expect(Array.from(fillGaps(Float64Array.of(1, nan, nan), 3))).toEqual([1, 1, 1]);
    expect(Array.from(fillGaps(Float64Array.of(nan, nan), 2))).toEqual([nan, nan]);
  });
});
