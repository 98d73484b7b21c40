/**
 * What the page shows, apart from data: step, colouring, terrain, what is open. It is plain JSON, travels in the URL
 * fragment (so that Back works and a link restores it) and is what undo goes back through. Ids are not in it, nor any
 * measurement or time of a visit: an individual is a position, a selection a bitmap of positions, what was known at a time
 * a number of visits. Beside the view the fragment says of which study it is, by its size alone.
 */
import type { MapPlace, MapTool, MapWindow } from "../map/types.ts";

export const STEPS = ["data", "fit", "map", "outcomes", "models", "report"] as const;
/** A step of a study, or the page for one patient by a model alone, which is none. */
export type Step = (typeof STEPS)[number] | "patient";

const TERRAINS = ["none", "value", "slope", "coefficient", "sd", "crossing", "density", "share"] as const;
export type TerrainKind = (typeof TERRAINS)[number];
const TOOLS: readonly MapTool[] = ["point", "lasso", "box"];

export interface View {
  readonly step: Step;
  /** Position of the marker that panels of one marker show. */
  readonly marker: number;
  /** "group", "none", "visits", "certainty", "outcome:NAME" or "column:NAME". */
  readonly colour: string;
  readonly terrain: TerrainKind;
  /** Time of terrains that have one; null: the last. */
  readonly terrainTime: number | null;
  /** Spline coefficient of the terrain, from 0. */
  readonly coefficient: number;
  readonly threshold: number | null;
  /** Side of the threshold that is asked about; null: the way courses go on the whole. */
  readonly direction: "below" | "above" | null;
  /** Outcome whose share is shown in the rail, in the share terrain and on the outcomes page. */
  readonly outcome: string | null;
  /** Group that is filtered to, or null. */
  readonly group: number | null;
  /** Position of the open individual, −1 for the new one (what-if), or null. */
  readonly individual: number | null;
  /** Position of the individual compared with it. */
  readonly compared: number | null;
  readonly knownAt: number | null;
  readonly pins: readonly MapPlace[];
  readonly tool: MapTool;
  /** Whether the table stands in the place of the map. */
  readonly table: boolean;
  readonly window: MapWindow | null;
  readonly axes: readonly [number, number];
  /** Selected positions and how they were chosen. */
  readonly selection: { readonly members: readonly number[]; readonly how: string } | null;
}

export const FIRST_VIEW: View = {
  step: "data",
  marker: 0,
  colour: "group",
  terrain: "value",
  terrainTime: null,
  coefficient: 1,
  threshold: null,
  direction: null,
  outcome: null,
  group: null,
  individual: null,
  compared: null,
  knownAt: null,
  pins: [],
  tool: "point",
  table: false,
  window: null,
  axes: [0, 1],
  selection: null,
};

/** What a fragment says beside the view. */
export interface LinkFacts {
  /** Individuals and observations of the study; null if there is none. Positions mean nothing in another. */
  readonly of: readonly [individuals: number, observations: number] | null;
  /** Visits that are used of the open individual; null: all. */
  readonly visits: number | null;
  /** The example that is shown, which every page can open; null for one's own data. */
  readonly demo: "lung" | null;
}

/** A view and what its address says beside it. */
export interface Link extends LinkFacts {
  readonly view: View;
}

const NO_FACTS: LinkFacts = { of: null, visits: null, demo: null };

/** Selections of positions above this are left out of the fragment: it would be too long for some browsers. */
const LARGEST_POSITION = 40_000;

/** The view as a fragment; only what differs from the first view is written, and no time of a visit. */
export function viewToFragment(view: View, { of, visits, demo }: LinkFacts = NO_FACTS): string {
  const parts: string[] = [view.step];
  if (demo !== null) parts.push(`demo=${demo}`);
  else if (of !== null) parts.push(`of=${of.join("x")}`);
  if (visits !== null) parts.push(`visits=${visits}`);
  for (const key of Object.keys(FIRST_VIEW) as (keyof View)[]) {
    if (key === "step" || key === "knownAt") continue;
    const value = view[key];
    if (JSON.stringify(value) === JSON.stringify(FIRST_VIEW[key])) continue;
    if (key === "selection") {
      const { members, how } = view.selection!;
      if (largest(members) > LARGEST_POSITION) continue;
      parts.push(`selection=${encodeURIComponent(JSON.stringify({ bits: toBitmap(members), how: withoutIds(how) }))}`);
    } else parts.push(`${key}=${encodeURIComponent(JSON.stringify(value))}`);
  }
  return `#${parts.join("&")}`;
}

/** The view of a fragment, and what it says beside; parts that cannot be read are as in the first view. */
export function linkOf(fragment: string): Link {
  const parts = fragment.replace(/^#/, "").split("&");
  const part = (pattern: RegExp) => parts.map((text) => pattern.exec(text)).find((found) => found !== null);
  const of = part(/^of=(\d{1,9})x(\d{1,12})$/);
  const visits = part(/^visits=(\d{1,6})$/);
  const demo = part(/^demo=lung$/) === undefined ? null : "lung";
  return {
    view: viewFromParts(parts, demo === null ? "data" : "map"),
    of: of === undefined ? null : [Number(of[1]), Number(of[2])],
    visits: visits === undefined ? null : Number(visits[1]),
    demo,
  };
}

/** The view without people: what may be taken over for another study. */
export function withoutPeople(view: View): View {
  const { individual, compared, knownAt, selection, group, pins, window } = FIRST_VIEW;
  return { ...view, individual, compared, knownAt, selection, group, pins, window };
}

function viewFromParts(parts: readonly string[], first: Step): View {
  const step = [...STEPS, "patient" as const].find((name) => name === parts[0]) ?? first;
  const view: Record<string, unknown> = { ...FIRST_VIEW, step };
  for (const part of parts) {
    const at = part.indexOf("=");
    const key = part.slice(0, at);
    if (at < 1 || !Object.hasOwn(FIRST_VIEW, key) || key === "step") continue;
    try {
      const value: unknown = JSON.parse(decodeURIComponent(part.slice(at + 1)));
      view[key] = key === "selection" ? readSelection(value) : checked(key as keyof View, value);
    } catch {
      // A fragment typed by hand may hold anything; what cannot be read is left out.
    }
  }
  return view as unknown as View;
}

/** The value if it has the kind of the first view's, else the first view's. */
function checked(key: keyof View, value: unknown): unknown {
  const first = FIRST_VIEW[key];
  if (key === "pins") return Array.isArray(value) ? value.filter(isPlace).slice(0, 2) : first;
  if (key === "axes") {
    const ok =
      Array.isArray(value) &&
      value.length === 2 &&
      value[0] !== value[1] &&
      value.every((v) => v === 0 || v === 1 || v === 2);
    return ok ? value : first;
  }
  if (key === "window") return isPlace(value) && typeof (value as MapWindow).zoom === "number" ? value : null;
  if (key === "terrain") return TERRAINS.find((terrain) => terrain === value) ?? first;
  if (key === "tool") return TOOLS.find((tool) => tool === value) ?? first;
  if (key === "individual") return isPosition(value) || value === -1 ? value : null;
  if (key === "group" || key === "compared") return isPosition(value) ? value : null;
  if (key === "coefficient" || key === "marker") return isPosition(value) ? value : first;
  if (key === "direction") return value === "below" || value === "above" ? value : null;
  if (key === "outcome") return typeof value === "string" ? value : null;
  if (first === null) return typeof value === "number" && Number.isFinite(value) ? value : null;
  return typeof value === typeof first ? value : first;
}

function isPlace(value: unknown): value is MapPlace {
  const place = value as MapPlace | null;
  return typeof place === "object" && place !== null && isNear(place.x) && isNear(place.y);
}

/** No map reaches a thousand prior sd from its middle. */
function isNear(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) < 1000;
}

function isPosition(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function readSelection(value: unknown): View["selection"] {
  const { bits, how } = value as { bits?: unknown; how?: unknown };
  if (typeof bits !== "string" || typeof how !== "string") return null;
  const members = fromBitmap(bits);
  return members.length === 0 ? null : { members, how };
}

/** The largest position, −1 of none; a spread would overflow the stack for large selections. */
function largest(members: readonly number[]): number {
  return members.reduce((top, i) => Math.max(top, i), -1);
}

/** Beginnings of what may be told of how a selection was made; what follows them may hold an id, or text typed in. */
const HOWS: readonly (readonly [string, string])[] = [
  ["inside a lasso on the map", "inside a lasso on the map"],
  ["inside a box on the map", "inside a box on the map"],
  ["within ¼ map unit of a place", "within ¼ map unit of a place"],
  ["within ¼ map unit of", "within ¼ map unit of an individual"],
  ["table filter", "table filter"],
  ["filter:", "filter under the map"],
  ["table", "table"],
];

/** How a selection was made, for an address that others may see: known words alone. */
export function withoutIds(how: string): string {
  return how
    .split(/(; added: |; taken out: )/)
    .map((part, k) => {
      if (k % 2 === 1) return part;
      const group = /^group [A-Z]{1,2}$/.exec(part);
      return group?.[0] ?? HOWS.find(([beginning]) => part.startsWith(beginning))?.[1] ?? "by hand";
    })
    .join("");
}

function toBitmap(members: readonly number[]): string {
  const bytes = new Uint8Array((largest(members) >> 3) + 1);
  for (const i of members) bytes[i >> 3] |= 1 << (i & 7);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

function fromBitmap(text: string): number[] {
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const members: number[] = [];
  for (let b = 0; b < bytes.length; b++) {
    for (let k = 0; k < 8; k++) if (bytes.charCodeAt(b) & (1 << k)) members.push(8 * b + k);
  }
  return members;
}
