/**
 * What the page shows, apart from data: step, colouring, terrain, what is open. It is plain JSON, travels in the URL
 * fragment (so that Back works and a link restores it) and is what undo goes back through. Ids are not in it, nor any
 * measurement: an individual is a position, a selection a bitmap of positions.
 */
import type { MapPlace, MapTool, MapWindow } from "../map/types.ts";

export const STEPS = ["data", "fit", "map", "outcomes", "models", "report"] as const;
export type Step = (typeof STEPS)[number];

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

/** Selections of positions above this are left out of the fragment: it would be too long for some browsers. */
const LARGEST_POSITION = 40_000;

/** The view as a fragment; only what differs from the first view is written. */
export function viewToFragment(view: View): string {
  const parts: string[] = [view.step];
  for (const key of Object.keys(FIRST_VIEW) as (keyof View)[]) {
    if (key === "step") continue;
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

/** The view of a fragment; parts that cannot be read are as in the first view. */
export function viewFromFragment(fragment: string): View {
  const [step, ...parts] = fragment.replace(/^#/, "").split("&");
  const view: Record<string, unknown> = { ...FIRST_VIEW };
  if ((STEPS as readonly string[]).includes(step)) view.step = step;
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
  ["within ¼ prior sd of a place", "within ¼ prior sd of a place"],
  ["within ¼ prior sd of", "within ¼ prior sd of an individual"],
  ["table filter", "table filter"],
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
