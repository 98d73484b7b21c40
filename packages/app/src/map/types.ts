/**
 * The contract of the map: what `mountMap` takes, what it tells, what it returns. Nothing here knows a framework.
 * Places are in the shown frame of the model (docs/math/orientation.md); positions are positions in `placements`.
 */
import type { Placements, TrajectoryModel } from "@trajectory-maps/core";
import type { Course, ShiftRow } from "@trajectory-maps/core/models";
import type { Grid, Land, Ring } from "@trajectory-maps/report";

/** A place of the two axes that are shown. */
export interface MapPlace {
  readonly x: number;
  readonly y: number;
}

/** One category of a colouring. Groups have a letter, and hues that no other category takes. */
export interface MapCategory {
  readonly name: string;
  readonly letter?: string;
  /** Drawn as rings. Rings are also those with one visit: best left to maps where nobody has one. Default false. */
  readonly hollow?: boolean;
}

/** What the colour of a dot says. One encoding carries hue at a time: terrain is grey unless this is "none". */
export type MapColour =
  | { readonly kind: "none" }
  | {
      readonly kind: "category";
      readonly title: string;
      /** Position of each individual's category, −1 if unknown, [m]. */
      readonly labels: ArrayLike<number>;
      readonly categories: readonly MapCategory[];
      /** Probability of each category, [m,K]: dots that may be of several are paler. */
      readonly shares?: ArrayLike<number>;
      /** Categories have an order (1, 2–3, 4–7, 8+ visits): steps of one hue instead of hues. Default false. */
      readonly ordered?: boolean;
    }
  | {
      readonly kind: "number";
      readonly title: string;
      /** NaN if unknown, [m]. */
      readonly values: ArrayLike<number>;
      readonly unit?: string;
    }
  | { readonly kind: "certainty" };

/** The surface under the dots. Times are in the marker's unit of time. */
export type MapTerrain =
  | { readonly kind: "none" }
  | { readonly kind: "value"; readonly time: number }
  | { readonly kind: "slope"; readonly time: number }
  /** Spline coefficient, counted from 0. */
  | { readonly kind: "coefficient"; readonly index: number }
  | { readonly kind: "sd"; readonly time: number }
  /**
   * When the median course of the place is first beyond the threshold (original scale). Direction: by default the way
   * courses go on the whole. Places that begin beyond it, or never are, have no time and are drawn apart.
   */
  | { readonly kind: "crossing"; readonly threshold: number; readonly direction?: "below" | "above" }
  | { readonly kind: "density" }
  | {
      /** Computed elsewhere, e.g. the share with an outcome. */
      readonly kind: "surface";
      readonly title: string;
      readonly unit: string;
      readonly grid: Grid;
      /** "share": values 0 to 1, written as percentages. Default "value". */
      readonly scale?: "value" | "share" | "difference";
      /** 1 where the surface is not to be trusted, on the same lattice: hatched. */
      readonly unsure?: ArrayLike<number>;
    };

export interface MapGroups {
  /** Position of each individual's group, −1 if none, [m]. */
  readonly labels: ArrayLike<number>;
  readonly groups: readonly { readonly letter: string; readonly name: string }[];
}

/** A region of the map: lattice cells as `highestDensityRegion` gives them, or rings. */
export type MapRegion =
  | {
      /** Middles of the cells, [n,q]. */
      readonly cells: Float64Array;
      /** Side of a cell. Default: the smallest distance between two cells. */
      readonly step?: number;
    }
  | { readonly rings: readonly Ring[] };

/** The individual that is open beside the map. */
export interface MapIndividual {
  /** Position in `placements`; null for a new individual, who is in none. */
  readonly index: number | null;
  /** [q] */
  readonly location: ArrayLike<number>;
  readonly label: string;
  readonly region50?: MapRegion;
  readonly region90?: MapRegion;
  /** Probability of each group by what is known of the individual: its dot wears the likeliest, its ring is split by them. */
  readonly shares?: ArrayLike<number>;
  /** Only earlier visits are used: the dot wears nothing that was known later. Default false. */
  readonly early?: boolean;
  /** Places as visits arrived, first to last. */
  readonly trail?: readonly { readonly time: number; readonly location: ArrayLike<number> }[];
}

export type MapTool = "point" | "lasso" | "box";
export type MapTheme = "light" | "dark" | "system";
export type RendererChoice = "auto" | "svg" | "canvas" | "webgl";
export type SelectMode = "replace" | "add" | "remove";

/** Middle of the window in map coordinates and magnification: 1 shows all, at most 20. */
export interface MapWindow {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** What the terrain lens shows. */
export interface LensReading extends MapPlace {
  /** Whether the place is on land; off it no course is told. */
  readonly onLand: boolean;
  readonly course: Course | null;
  /** Last time to which enough similar individuals are followed; the course is dashed from there on. */
  readonly seenTo: number;
  /** Individuals within a quarter of a prior sd. */
  readonly numNear: number;
  /** The individual under the pointer, or null. */
  readonly individual: number | null;
  /** Whether the course is that individual's own, by all that was measured of them, and not the place's. */
  readonly own: boolean;
}

export interface MapOptions {
  readonly model: TrajectoryModel;
  readonly placements: Placements;
  /** Default none. */
  readonly colour?: MapColour;
  /** Default the value at the last time of the model. */
  readonly terrain?: MapTerrain;
  /** Pills with letter and name are drawn while dots are coloured by category. */
  readonly groups?: MapGroups | null;
  /** Selected individuals; all others fade to 10%. Null or left out: nobody is selected. */
  readonly selection?: ArrayLike<number> | null;
  /** Individuals with a ring around them, e.g. of the group under the pointer. */
  readonly outline?: ArrayLike<number> | null;
  readonly individual?: MapIndividual | null;
  /** Shifts of places by covariates (`covariateEffects`), drawn from the middle of the map. */
  readonly arrows?: readonly ShiftRow[];
  /** Up to two pinned places of the lens. */
  readonly pins?: readonly MapPlace[];
  /** Default "point". */
  readonly tool?: MapTool;
  /** Default "system". */
  readonly theme?: MapTheme;
  /** Default "auto": SVG below 5,000 individuals, above it WebGL 2, or canvas where there is none. */
  readonly renderer?: RendererChoice;
  /**
   * The land of the first two axes, if it was found elsewhere, e.g. by `landOfPlacements` in a worker; `coast` has been
   * heeded there. Default: found here.
   */
  readonly land?: Land;
  readonly coast?: { readonly smoothing?: number; readonly individuals?: number };
  /** Default: what the reader's system asks for. */
  readonly reducedMotion?: boolean;
  readonly view?: MapWindow;
  /** Which two axes of a three-dimensional map are shown. Default [0, 1]. */
  readonly axes?: readonly [number, number];
  /** Footer with what marks and terrain mean. Default true. */
  readonly legend?: boolean;
  /** Why the map should not be used: said above it, and hue goes. Default: what the model's own verdict says; null for none. */
  readonly caveat?: string | null;
  /** Name of the map for a screen reader. Default "Map of … individuals", with the keys. */
  readonly label?: string;
  /** Sentence above the map; null for none. Default "Each dot is one individual. …". */
  readonly sentence?: string | null;
  /** Course and band of an individual's own, shown while the pointer is at their dot. Default: the place's. */
  readonly courseOf?: (index: number) => Promise<Course>;
  /** The sentence a screen reader speaks for an individual. */
  readonly describe?: (index: number) => string;
  /** Called when an individual is opened by click or Enter. */
  readonly onOpen?: (index: number) => void;
  /** Called by a click on nothing or Escape: what is to be cleared, in the order of the list. */
  readonly onClear?: (what: "pins" | "individual" | "selection" | "nothing") => void;
  /** Called with the chosen individuals and, in words, how they were chosen. */
  readonly onSelect?: (indices: Int32Array, mode: SelectMode, how: string) => void;
  readonly onHover?: (reading: LensReading | null) => void;
  readonly onPin?: (pins: readonly MapPlace[]) => void;
  /** Called while a path is dragged between two pins, with the share of the way and the reading there. */
  readonly onPath?: (share: number, reading: LensReading) => void;
  readonly onView?: (view: MapWindow) => void;
  /** Called by G on an individual, or a click on a pill: position of the group. */
  readonly onGroup?: (group: number) => void;
  readonly onTool?: (tool: MapTool) => void;
  readonly onAxes?: (axes: readonly [number, number]) => void;
}

export interface MapSvgOptions {
  readonly title?: string;
  /** Line at the foot, e.g. cohort, model and version. */
  readonly source?: string;
  /** Default 900. */
  readonly width?: number;
}

export interface MapHandle {
  /** The element that holds the map; inside the one given to `mountMap`. */
  readonly element: HTMLElement;
  /** Changes what is given and leaves the rest. Never moves the map, unless `view` is given. */
  update(partial: Partial<MapOptions>): void;
  destroy(): void;
  /** The map as it stands as a file: light theme, live text, title, legend, scale bar and source line. */
  toSvg(options?: MapSvgOptions): string;
  /** The lens at a place, without drawing it. */
  courseAt(x: number, y: number): LensReading;
  /** Moves the window; left-out fields stay. */
  zoomTo(view: Partial<MapWindow>): void;
  focus(): void;
  /** Individuals within r prior sd of a place: the keyboard's twin of lasso and box. */
  within(x: number, y: number, r: number): Int32Array;
}
