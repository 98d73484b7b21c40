/** From the names of the menus to what the map draws: colours of dots and the terrain under them. */
import type { Groups, Placements } from "@trajectory-maps/core";
import { namesIndividuals, type Outcome, type SubjectsTable } from "@trajectory-maps/core/ingest";
import { noiseRatio } from "@trajectory-maps/core/models";
import { capital, type Grid, outcomeName } from "@trajectory-maps/report";
import { fillGaps } from "../../map/gaps.ts";
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

/** Columns with more categories than there are hues, and words instead of numbers, are no colouring. */
const MOST_CATEGORIES = 6;
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

/** Columns of the table of individuals that can colour dots: numbers, or a few categories, and nothing that names individuals. */
export function columnColours(table: SubjectsTable | null, outcomes: readonly Outcome[]): ColourChoice[] {
  if (table === null) return [];
  const used = new Set(outcomes.map((o) => o.name));
  return table.columns
    .filter(({ name, cells }, k) => !used.has(name) && readColumn(cells) !== null && !namesIndividuals(table, k))
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
      shares: groups.membership,
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
      // Dark and light of one hue: told apart without colour, and taken for no group.
      labels: Int32Array.from(outcome.labels, (v) => (v === MISSING ? -1 : v)),
      categories: [{ name: "without" }, { name: "with" }],
      ordered: true,
    };
  }
  const column = table?.columns.find(({ name }) => `column:${name}` === key);
  if (column === undefined || table === null) return { kind: "none" };
  const read = columnValues(column.cells, rowsOf(table, placements.ids));
  const title = outcomeName(column.name);
  if (read === null) return { kind: "none" };
  if (read.kind === "number") return { kind: "number", title, values: read.values };
  return { kind: "category", title, labels: read.labels, categories: read.names.map((name) => ({ name })) };
}

/** Row of each individual in a table, −1 if there is none, [m]. */
export function rowsOf(table: SubjectsTable, ids: readonly string[]): Int32Array {
  const row = new Map(table.ids.map((id, r) => [id, r]));
  return Int32Array.from(ids, (id) => row.get(id) ?? -1);
}

/** A column as numbers (NaN if unknown) or categories (−1 if unknown) of the individuals in the given rows; null for anything else. */
export function columnValues(cells: readonly string[], rows: Int32Array) {
  const read = readColumn(cells);
  if (read === null) return null;
  if (read.kind === "number") {
    return { kind: read.kind, values: Float64Array.from(rows, (r) => (r < 0 ? Number.NaN : read.values[r])) };
  }
  return { kind: read.kind, names: read.names, labels: rows.map((r) => (r < 0 ? -1 : read.labels[r])) };
}

/** Cells as numbers, or as at most six categories in text order; null for anything else. */
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
      return { kind: "crossing", threshold, ...(view.direction === null ? {} : { direction: view.direction }) };
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
function surfaceOverLand(
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
