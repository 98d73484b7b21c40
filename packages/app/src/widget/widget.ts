/**
 * The map for hosts that hand over plain data: an htmlwidget of R, a widget of Jupyter, or any page with the text of a model
 * file and places as arrays. `showMap(element, data, listener)` draws it; selection and opened individual come and go by their ids.
 */
import { loadModel, type Placements } from "@trajectory-maps/core";
import { lastShownTime } from "@trajectory-maps/core/study";
import { mountMap } from "../map/mount-map.ts";
import { combine } from "../map/selection.ts";
import type { MapCategory, MapColour, MapGroups, MapHandle, MapOptions, MapTerrain, MapTheme } from "../map/types.ts";

/** Places as columns, with null where a number is unknown. */
export interface WidgetPlaces {
  readonly ids: readonly string[];
  /** [m,q] and [m,q,q], row by row. */
  readonly location: readonly number[];
  readonly covariance: readonly number[];
  readonly visits: readonly number[];
  readonly firstTime: readonly (number | null)[];
  readonly lastTime: readonly (number | null)[];
  readonly area50: readonly (number | null)[];
}

export interface WidgetData {
  /** The text of model.json. */
  readonly model: string;
  readonly places: WidgetPlaces;
  /** Labels count from 0, −1 if unknown; values have null if unknown. */
  readonly colour?:
    | {
        readonly kind: "category";
        readonly title: string;
        readonly labels: number[];
        readonly categories: MapCategory[];
      }
    | { readonly kind: "number"; readonly title: string; readonly values: (number | null)[] }
    | null;
  readonly groups?: MapGroups | null;
  readonly terrain?: MapTerrain | null;
  readonly theme?: MapTheme;
}

export interface WidgetListener {
  onOpen?(id: string | null): void;
  onSelect?(ids: readonly string[]): void;
}

/** The map with what its host may change; the listener hears of wishes of the reader alone. Ids that nobody has are left out. */
export interface WidgetHandle extends MapHandle {
  open(id: string | null): void;
  select(ids: readonly string[]): void;
}

/** Draws the map of the data into an element, in place of a map that was there. */
export function showMap(element: HTMLElement, data: WidgetData, listener: WidgetListener = {}): WidgetHandle {
  const model = loadModel(data.model);
  const placements = placementsOf(data.places, model.mapDimension);
  const { ids, location } = placements;
  const q = model.mapDimension;
  const positions = new Map(ids.map((id, i) => [id, i]));
  let selection: MapOptions["selection"] = null;
  const show = (next: typeof selection) => {
    selection = next;
    map.update({ selection });
  };
  const open = (i: number | undefined) =>
    map.update({
      individual:
        i === undefined ? null : { index: i, location: location.slice(i * q, (i + 1) * q), label: ids[i] ?? "" },
    });
  const select = (next: typeof selection) => {
    show(next);
    listener.onSelect?.(Array.from(next ?? [], (i) => ids[i] ?? ""));
  };
  element.replaceChildren();
  const map = mountMap(element, {
    model,
    placements,
    theme: data.theme ?? "light",
    ...(data.colour && { colour: colourOf(data.colour) }),
    ...(data.groups && { groups: data.groups }),
    // Later, most of the land would be hatched: few are followed that long.
    terrain: data.terrain ?? { kind: "value", time: lastShownTime(placements) },
    onOpen(i) {
      open(i);
      listener.onOpen?.(ids[i] ?? null);
    },
    onSelect: (found, mode) => select(combine(selection, found, mode)),
    onClear(what) {
      if (what === "selection") select(null);
      if (what !== "individual") return;
      open(undefined);
      listener.onOpen?.(null);
    },
  });
  return {
    ...map,
    open: (id) => open(id === null ? undefined : positions.get(id)),
    select(chosen) {
      const found = chosen.flatMap((id) => positions.get(id) ?? []);
      show(combine(null, found, "replace"));
    },
  };
}

const numbers = (values: readonly (number | null)[]) => Float64Array.from(values, (value) => value ?? Number.NaN);

function colourOf(colour: NonNullable<WidgetData["colour"]>): MapColour {
  return colour.kind === "number" ? { ...colour, values: numbers(colour.values) } : colour;
}

/** What the map reads of placements; courses of individuals are not among it. */
function placementsOf(places: WidgetPlaces, mapDimension: number): Placements {
  const m = places.ids.length;
  return {
    ids: places.ids,
    mapDimension,
    numObservations: Int32Array.from(places.visits),
    location: Float64Array.from(places.location),
    covariance: Float64Array.from(places.covariance),
    firstTime: numbers(places.firstTime),
    lastTime: numbers(places.lastTime),
    area50: numbers(places.area50),
    area90: new Float64Array(m).fill(Number.NaN),
    logLikelihood: new Float64Array(m).fill(Number.NaN),
    coefficients: new Float64Array(0),
    outsideMass: new Float64Array(m),
    numOutsideTimes: new Int32Array(m),
  };
}
