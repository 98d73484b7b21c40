/** From the names of the menus to what the map draws: colours of dots and the terrain under them. */
import type { Groups, Placements } from "@trajectory-maps/core";
import type { Outcome, SubjectsTable } from "@trajectory-maps/core/ingest";
import { noiseRatio } from "@trajectory-maps/core/models";
import { capital, type Grid, outcomeName } from "@trajectory-maps/report";
import type { MapColour, MapTerrain } from "../../map/types.ts";
import type { View } from "../../state/view.ts";
import type { ShareSurface } from "../../worker/api.ts";
import { visitClass } from "./cohort-facts.ts";

export interface ColourChoice {
  /** As in `View.colour`. */
  readonly key: string;
  readonly name: string;
}

interface Sources {
  readonly placements: Placements;
  readonly groups: Groups | null;
  readonly groupName: (k: number) => string;
  readonly outcomes: readonly Outcome[];
  readonly table: SubjectsTable | null;
}

/** Columns with more categories than this, and words instead of numbers, are no colouring. */
const MOST_CATEGORIES = 12;
const MISSING = 255;

/** What dots can be coloured by, apart from outcomes and columns. */
export const PLAIN_COLOURS: readonly ColourChoice[] = [
  { key: "group", name: "Group" },
  { key: "visits", name: "Visits" },
  { key: "certainty", name: "Certainty" },
  { key: "none", name: "None" },
];

/** Offered where individuals differ in their noise. */
export const NOISE_COLOUR: ColourChoice = { key: "noise", name: "Noise" };

/** Columns of the table of individuals that can colour dots: numbers, or a few categories. */
export function columnColours(table: SubjectsTable | null, outcomes: readonly Outcome[]): ColourChoice[] {
  if (table === null) return [];
  const used = new Set(outcomes.map((o) => o.name));
  return table.columns
    .filter(({ name, cells }) => !used.has(name) && readColumn(cells) !== null)
    .map(({ name }) => ({ key: `column:${name}`, name: outcomeName(name) }));
}

/** The colouring of a key; no colour for a key that says nothing here. */
export function colourOf(key: string, sources: Sources): MapColour {
  const { placements, groups, outcomes, table } = sources;
  if (key === "group" && groups !== null) {
    return {
      kind: "category",
      title: "Group",
      labels: groups.labels,
      categories: groups.groups.map(({ letter }, k) => ({ name: capital(sources.groupName(k)), letter })),
    };
  }
  if (key === "visits") {
    return {
      kind: "category",
      title: "Visits",
      labels: Int32Array.from(placements.numObservations, visitClass),
      categories: [{ name: "1" }, { name: "2–3" }, { name: "4–7" }, { name: "8+" }],
      ordered: true,
    };
  }
  const { noiseLevel } = placements;
  if (key === "noise" && noiseLevel !== undefined) {
    const values = Float64Array.from(placements.ids, (_, i) => noiseRatio(noiseLevel, i).ratio);
    return { kind: "number", title: "Noise sd, times the middle", values };
  }
  if (key === "certainty") return { kind: "certainty" };
  const outcome = outcomes.find((o) => `outcome:${o.name}` === key);
  if (outcome !== undefined) {
    return {
      kind: "category",
      title: outcomeName(outcome.name),
      // Cases filled, the others as rings: told apart without colour.
      labels: Int32Array.from(outcome.labels, (v) => (v === MISSING ? -1 : v === 1 ? 0 : 1)),
      categories: [{ name: "with" }, { name: "without", hollow: true }],
    };
  }
  const column = table?.columns.find(({ name }) => `column:${name}` === key);
  if (column === undefined || table === null) return { kind: "none" };
  const read = readColumn(column.cells);
  if (read === null) return { kind: "none" };
  const row = new Map(table.ids.map((id, r) => [id, r]));
  const rows = placements.ids.map((id) => row.get(id) ?? -1);
  const title = outcomeName(column.name);
  if (read.kind === "number") {
    return { kind: "number", title, values: Float64Array.from(rows, (r) => (r < 0 ? Number.NaN : read.values[r])) };
  }
  return {
    kind: "category",
    title,
    labels: Int32Array.from(rows, (r) => (r < 0 ? -1 : read.labels[r])),
    categories: read.names.map((name) => ({ name })),
  };
}

/** Cells as numbers, or as at most twelve categories in text order; null for anything else. */
function readColumn(cells: readonly string[]) {
  const values = Float64Array.from(cells, (c) => (c.trim() === "" ? Number.NaN : Number(c)));
  const filled = cells.filter((c) => c.trim() !== "").length;
  const names = [...new Set(cells.map((c) => c.trim()))].filter((c) => c !== "").sort();
  if (names.length < 2) return null;
  const numbers = values.filter((v) => Number.isFinite(v)).length;
  if (numbers === filled && names.length > 2) return { kind: "number" as const, values };
  if (names.length > MOST_CATEGORIES) return null;
  return { kind: "category" as const, names, labels: Int32Array.from(cells, (c) => names.indexOf(c.trim())) };
}

/** The terrain of a view. The share of an outcome waits for its surface; until then there is none. */
export function terrainOf(
  view: View,
  time: number,
  threshold: number,
  numBasis: number,
  surface: ShareSurface | null,
): MapTerrain {
  switch (view.terrain) {
    case "none":
    case "density":
      return { kind: view.terrain };
    case "value":
    case "slope":
    case "sd":
      return { kind: view.terrain, time };
    case "coefficient":
      return { kind: "coefficient", index: Math.min(numBasis - 1, Math.max(0, Math.round(view.coefficient))) };
    case "crossing":
      return { kind: "crossing", threshold };
    case "share": {
      if (surface === null || surface.outcome !== view.outcome) return { kind: "none" };
      const { x, y, share, outside } = surface;
      return {
        kind: "surface",
        title: `Share with ${outcomeName(surface.outcome)}`,
        unit: "",
        scale: "share",
        // Hatched where those with and without it do not differ beyond the band, or too few are near for a share at all.
        ...surfaceOverLand(x, y, share, (k) => outside[k] === 0),
      };
    }
  }
}

/** Water around places that land may still cover, in prior sd. */
const SHELF = 0.6;

/**
 * A surface over the whole land: its lattice [ny,nx] continued on all sides as far as land can reach, gaps filled from
 * their borders. `doubtful` says of a node whether its value is not to be trusted; what was filled never is.
 */
export function surfaceOverLand(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  values: Float64Array,
  doubtful: (node: number) => boolean,
): { readonly grid: Grid; readonly unsure: Uint8Array } {
  const [nx, ny] = [x.length, y.length];
  const [dx, dy] = [(x[nx - 1] - x[0]) / (nx - 1), (y[ny - 1] - y[0]) / (ny - 1)];
  const [a, b] = [Math.ceil(SHELF / dx), Math.ceil(SHELF / dy)];
  const [wide, high] = [nx + 2 * a, ny + 2 * b];
  const all = new Float64Array(wide * high).fill(Number.NaN);
  const unsure = new Uint8Array(wide * high).fill(1);
  for (let r = 0; r < ny; r++) {
    for (let c = 0; c < nx; c++) {
      const [from, to] = [r * nx + c, (r + b) * wide + c + a];
      all[to] = values[from];
      unsure[to] = doubtful(from) || Number.isNaN(values[from]) ? 1 : 0;
    }
  }
  const box = { x0: x[0] - a * dx, x1: x[nx - 1] + a * dx, y0: y[0] - b * dy, y1: y[ny - 1] + b * dy };
  return { grid: { box, nx: wide, ny: high, values: fillGaps(all, wide) }, unsure };
}

/** A lattice [ny,nx] whose gaps (NaN) take the mean of their known neighbours, from the border of the gap inwards. */
export function fillGaps(values: Float64Array, nx: number): Float64Array {
  const out = values.slice();
  const ny = values.length / nx;
  let gaps = Array.from(out.keys()).filter((k) => Number.isNaN(out[k]));
  while (gaps.length > 0) {
    const before = out.slice();
    const left: number[] = [];
    for (const k of gaps) {
      const [r, c] = [Math.floor(k / nx), k % nx];
      let [sum, n] = [0, 0];
      for (let i = Math.max(0, r - 1); i <= Math.min(ny - 1, r + 1); i++) {
        for (let j = Math.max(0, c - 1); j <= Math.min(nx - 1, c + 1); j++) {
          const v = before[i * nx + j];
          if (Number.isNaN(v)) continue;
          sum += v;
          n++;
        }
      }
      if (n === 0) left.push(k);
      else out[k] = sum / n;
    }
    // Nothing known anywhere: there is nothing to fill from.
    if (left.length === gaps.length) return out;
    gaps = left;
  }
  return out;
}
