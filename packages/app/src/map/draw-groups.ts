/** Names of groups on the map: a pill with letter and name near the median place, moved to where it hides few dots. */
import { capital, fitText, textWidth } from "@trajectory-maps/report";
import type { PxBox } from "./draw-individual.ts";
import { make, type Pen, plain } from "./pen.ts";
import type { Ground } from "./scene.ts";
import type { MapGroups, MapPlace } from "./types.ts";
import { fromPx, fromPy, MARGIN, toPx, toPy, type Viewport } from "./viewport.ts";

/** A pill: its middle on the map and its size in px. */
export interface Pill extends MapPlace {
  readonly group: number;
  readonly letter: string;
  readonly words: string;
  readonly width: number;
}

export const PILL_HEIGHT = 22;
const WIDEST = 220;

/** Where the pills go in a viewport that shows the whole map. They stay at these places when it moves. */
export function placePills(scene: Ground, groups: MapGroups, viewport: Viewport): Pill[] {
  const { places, index } = scene;
  const taken: { x: number; y: number; w: number }[] = [];
  const pills: Pill[] = [];
  const sides = sidesByGroup(places, groups);
  groups.groups.forEach(({ letter, name }, group) => {
    const { xs, ys } = sides[group];
    if (xs.length === 0) return;
    const mx = toPx(viewport, median(xs));
    const my = toPy(viewport, median(ys));
    const words = shortName(plain(capital(name)), WIDEST);
    const w = textWidth(words, 12, true) + 32;
    let best = { x: mx, y: my, cost: Infinity };
    for (let dy = -7; dy <= 7; dy++) {
      for (let dx = -4; dx <= 4; dx++) {
        const x = Math.min(Math.max(mx + 26 * dx, MARGIN.left + w / 2), viewport.width - w / 2 - 4);
        const y = my + 18 * dy;
        if (y < PILL_HEIGHT || y > viewport.height - MARGIN.bottom) continue;
        if (taken.some((t) => Math.abs(t.y - y) < PILL_HEIGHT + 4 && Math.abs(t.x - x) < (t.w + w) / 2 + 6)) continue;
        const [a, b] = [fromPx(viewport, x - w / 2), fromPx(viewport, x + w / 2)];
        const hidden = index.countInBox(a, b, fromPy(viewport, y + 12), fromPy(viewport, y - 12));
        const share = (100 * hidden) / xs.length;
        const cost = share + 0.008 * ((x - mx) ** 2 + (y - my) ** 2) ** 0.75;
        if (cost < best.cost - 1e-9) best = { x, y, cost };
      }
    }
    taken.push({ x: best.x, y: best.y, w });
    pills.push({ x: fromPx(viewport, best.x), y: fromPy(viewport, best.y), group, letter, words, width: w });
  });
  return pills;
}

/** Both coordinates of the members of each group, in two passes over everyone. */
function sidesByGroup(places: Float64Array, { labels, groups }: MapGroups): { xs: Float64Array; ys: Float64Array }[] {
  const K = groups.length;
  const m = places.length / 2;
  const filled = new Int32Array(K);
  for (let i = 0; i < m; i++) if (labels[i] >= 0 && labels[i] < K) filled[labels[i]]++;
  const sides = Array.from(filled, (n) => ({ xs: new Float64Array(n), ys: new Float64Array(n) }));
  filled.fill(0);
  for (let i = 0; i < m; i++) {
    const g = labels[i];
    if (!(g >= 0 && g < K)) continue;
    sides[g].xs[filled[g]] = places[2 * i];
    sides[g].ys[filled[g]++] = places[2 * i + 1];
  }
  return sides;
}

/** A name that fits: whole, without its last clauses ("Falls, more slowly from year 3"), or its beginning. */
export function shortName(name: string, room: number): string {
  const fits = (words: string) => textWidth(words, 12, true) <= room;
  for (let words = name; words !== ""; words = words.slice(0, Math.max(words.lastIndexOf(", "), 0))) {
    // One word alone would say too little of the course.
    if (fits(words) && (words === name || words.includes(" "))) return words;
  }
  return fitText(name, 12, room, true);
}

/** The pills that cover none of the boxes: what is open is read first, and its group is named beside the map. */
export function pillsBeside(pills: readonly Pill[], viewport: Viewport, boxes: readonly PxBox[]): readonly Pill[] {
  return pills.filter(({ x, y, width }) => {
    const [cx, cy] = [toPx(viewport, x), toPy(viewport, y)];
    return !boxes.some(
      ([left, top, right, bottom]) =>
        left < cx + width / 2 && right > cx - width / 2 && top < cy + PILL_HEIGHT / 2 && bottom > cy - PILL_HEIGHT / 2,
    );
  });
}

/** The pills, in px. */
export function drawPills(pen: Pen, viewport: Viewport, pills: readonly Pill[]): SVGElement {
  const group = make(pen, "g");
  for (const { x, y, group: number, letter, words, width } of pills) {
    const [left, cy] = [toPx(viewport, x) - width / 2, toPy(viewport, y)];
    group.append(
      make(pen, "rect", {
        class: "tm-pill",
        x: left,
        y: cy - PILL_HEIGHT / 2,
        width,
        height: PILL_HEIGHT,
        rx: PILL_HEIGHT / 2,
        fill: pen.colour("surface"),
        "fill-opacity": 0.94,
        stroke: pen.colour("line"),
      }),
      ...badge(pen, number, letter, left + 12, cy),
      make(
        pen,
        "text",
        { x: left + 23, y: cy + 4.2, "font-size": 12, "font-weight": 550, fill: pen.colour("ink") },
        words,
      ),
    );
  }
  return group;
}

/** A disc with a letter; hollow from the seventh group on, when hues come again. */
export function badge(pen: Pen, group: number, letter: string, x: number, y: number): SVGElement[] {
  const colour = pen.colour(`group-${group % 6}`);
  const hollow = group >= 6;
  const disc = hollow
    ? { fill: pen.colour("surface"), stroke: colour, "stroke-width": 1.6, r: 6.2 }
    : { fill: colour, r: 7 };
  const ink = hollow ? pen.colour("ink") : pen.colour("surface");
  const text = { x, y: y + 3.6, "font-size": 10, "font-weight": 650, "text-anchor": "middle", fill: ink };
  return [make(pen, "circle", { cx: x, cy: y, ...disc }), make(pen, "text", text, plain(letter))];
}

/** The pill at a point in px, or null. */
export function pillAt(pills: readonly Pill[], viewport: Viewport, px: number, py: number): Pill | null {
  const hit = (pill: Pill) =>
    Math.abs(toPx(viewport, pill.x) - px) <= pill.width / 2 && Math.abs(toPy(viewport, pill.y) - py) <= PILL_HEIGHT / 2;
  return pills.find(hit) ?? null;
}

function median(values: Float64Array): number {
  return values.sort()[Math.floor(values.length / 2)];
}
