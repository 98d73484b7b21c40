/** What marks, colours and terrain mean: a footer in the page, and the same lines in a file. */
import { badge, make, textWidth } from "@trajectory-maps/report";
import { middleOf, type SurfaceClass } from "./crossing.ts";
import { bandToken } from "./draw-terrain.ts";
import { type Pen, plain } from "./pen.ts";
import { RING_LINES } from "./renderers/dot-renderer.ts";
import type { Scene } from "./scene.ts";
import type { Surface } from "./surfaces.ts";

/** One entry: a small drawing of given width, then words. */
interface Entry {
  readonly words: string;
  readonly width: number;
  /** Draws around the middle of the left edge. */
  readonly draw: (x: number, y: number) => SVGElement[];
  readonly side: "left" | "right";
}

/** The entries of the legend, in reading order. */
function entriesOf(pen: Pen, scene: Scene): Entry[] {
  const ink = pen.tokens.ink2;
  const mark = (words: string, attributes: Record<string, string | number>): Entry => ({
    words,
    width: 10,
    draw: (x, y) => [make(pen, "circle", { cx: x + 5, cy: y, r: 3.4, ...attributes })],
    side: "left",
  });
  const hollow = { fill: "none", stroke: ink, "stroke-width": 1.2, r: 3 };
  const also = scene.colours.sure === null ? "" : " or group";
  const entries = [
    mark("certain place", { fill: ink }),
    mark(`uncertain place${also}`, { fill: ink, "fill-opacity": 0.3 }),
  ];
  if (scene.style.ring.includes(1)) entries.push(mark("one visit", hollow));
  const again = scene.colours.swatches.filter(({ hollow: isRing }) => isRing).map(({ letter }) => letter);
  if (again.length > 0 && pillsShown(scene)) {
    const letters = again.length === 1 ? again[0] : `${again[0]} to ${again[again.length - 1]}`;
    entries.push(mark(`group ${letters}`, { ...hollow, "stroke-width": RING_LINES.again }));
  }
  return [...entries, ...colourEntries(pen, scene), ...terrainEntries(pen, scene)];
}

function colourEntries(pen: Pen, scene: Scene): Entry[] {
  const { title, swatches, positions } = scene.colours;
  // Groups are named on the map itself.
  const named = scene.options.colour?.kind === "category" && pillsShown(scene);
  if (title === "" || named) return [];
  const used = new Set(positions);
  return swatches.flatMap(({ token, hollow, name, letter }, k): Entry[] => {
    if (name === "" || (k === swatches.length - 1 && name === "unknown" && !used.has(k))) return [];
    const words = k === 0 ? `${title}: ${name}` : name;
    const colour = pen.colour(token);
    const look = hollow
      ? { fill: "none", stroke: colour, "stroke-width": RING_LINES.again, r: 3.2 }
      : { fill: colour, r: 4 };
    const draw = (x: number, y: number) =>
      letter === ""
        ? [make(pen, "circle", { cx: x + 6, cy: y, ...look })]
        : [badge(pen, k, plain(letter), x + 7, y, 7)];
    return [{ words: plain(words), width: letter === "" ? 12 : 15, draw, side: "left" }];
  });
}

/** Whether the groups stand on the map with their names: dots are coloured by these groups. */
export function pillsShown(scene: Scene): boolean {
  const { colour, groups } = scene.options;
  if (!groups || colour?.kind !== "category") return false;
  return (
    colour.categories.length === groups.groups.length &&
    colour.categories.every((c, k) => c.letter === groups.groups[k].letter)
  );
}

function terrainEntries(pen: Pen, scene: Scene): Entry[] {
  const { surface } = scene;
  if (surface === null) return [];
  const classes = surface.classes
    .filter((places) => middleOf(places, scene.land) !== null)
    .map((places) => classEntry(pen, places));
  if (surface.levels.length === 0) return classes;
  return [...classes, ...numberEntries(pen, scene, surface)];
}

/** A piece of the places that have a word instead of a number. */
function classEntry(pen: Pen, { kind, words }: SurfaceClass): Entry {
  const draw = (x: number, y: number) => {
    const lines = [3, 6.5, 10].map((at) =>
      kind === "never" ? `M${x} ${y - 6.5 + at}h16` : `M${x + 1.5 + at} ${y - 5}v10`,
    );
    const frame = { x, y: y - 5, width: 16, height: 10, fill: pen.tokens.surface, stroke: pen.tokens.line2 };
    return [make(pen, "rect", frame), make(pen, "path", { d: lines.join(""), stroke: pen.tokens.iso, fill: "none" })];
  };
  return { words: plain(words), width: 16, draw, side: "left" };
}

function numberEntries(pen: Pen, scene: Scene, surface: Surface): Entry[] {
  const { levels, title, unit, write } = surface;
  const [low, high] = [write(levels[0]), write(levels[levels.length - 1])];
  const words = `${title}${unit === "" ? "" : `, ${unit}`}`;
  const step = 11;
  const [before, ramp] = [textWidth(low, 12) + 6, step * (levels.length + 1)];
  const draw = (x: number, y: number) => {
    const text = (t: string, at: number) =>
      make(pen, "text", { x: at, y: y + 4.2, "font-size": 12, fill: pen.tokens.ink2 }, t);
    const bands = Array.from({ length: levels.length + 1 }, (_, k) =>
      make(pen, "rect", {
        x: x + before + k * step,
        y: y - 5,
        width: step,
        height: 10,
        fill: pen.colour(bandToken(surface, scene.colours.carriesHue, k)),
      }),
    );
    const frame = {
      x: x + before,
      y: y - 5,
      width: ramp,
      height: 10,
      rx: 2,
      fill: "none",
      stroke: pen.tokens.line2,
    };
    return [text(low, x), ...bands, make(pen, "rect", frame), text(high, x + before + ramp + 6)];
  };
  const ramps: Entry = { words: plain(words), width: before + ramp + 6 + textWidth(high, 12), draw, side: "right" };
  if (surface.unsure === null || surface.unsure.grid.values.every((v) => !(v > 0.5))) return [ramps];
  const hatch = (x: number, y: number) => {
    const look = { fill: "none", stroke: pen.tokens.ink3, "stroke-width": 1 };
    const d = `M${x} ${y}l5 -5M${x} ${y + 5}l10 -10M${x + 5} ${y + 5}l10 -10M${x + 10} ${y + 5}l5 -5`;
    return [make(pen, "path", { d, ...look })];
  };
  return [{ words: surface.unsure.words, width: 16, draw: hatch, side: "left" }, ramps];
}

/** Fills the footer of the page. */
export function showLegend(pen: Pen, footer: HTMLElement, scene: Scene): void {
  const items = entriesOf(pen, scene).map(({ words, width, draw, side }) => {
    const item = pen.document.createElement("span");
    item.className = side === "right" ? "tm-key tm-key-terrain" : "tm-key";
    // A long name of a marker is cut before it takes the room of its colours.
    item.title = words;
    const label = pen.document.createElement("span");
    label.textContent = words;
    const drawing = make(pen, "svg", { width: Math.ceil(width) + 2, height: 16, "aria-hidden": "true" }, ...draw(1, 8));
    item.append(...(side === "right" ? [label, drawing] : [drawing, label]));
    return item;
  });
  footer.replaceChildren(...items);
}

/** The legend of a file at (x, y), as many entries in a row as fit; returns the group and its height. */
export function drawLegend(
  pen: Pen,
  scene: Scene,
  x: number,
  y: number,
  width: number,
): { readonly group: SVGElement; readonly height: number } {
  const group = make(pen, "g");
  let [left, top] = [x, y];
  for (const { words, width: drawn, draw, side } of entriesOf(pen, scene)) {
    const long = textWidth(words, 12);
    const all = drawn + 6 + long;
    if (left > x && left + all > x + width) [left, top] = [x, top + 22];
    const text = { y: top + 4.2, "font-size": 12, fill: pen.tokens.ink2 };
    if (side === "left") group.append(...draw(left, top), make(pen, "text", { x: left + drawn + 6, ...text }, words));
    else group.append(make(pen, "text", { x: left, ...text }, words), ...draw(left + long + 8, top));
    left += all + 16;
  }
  return { group, height: top - y + 22 };
}
