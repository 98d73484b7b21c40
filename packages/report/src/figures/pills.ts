/**
 * Names of the groups on a map of single individuals: a pill with letter and name beside the middle of its group, where
 * it hides few dots, no other name and stands nearer to its own group than to any other. A thin line leads to the middle
 * of the group where the pill had to step aside.
 */
import type { Numbers } from "../study.ts";
import { groupStyle } from "../theme.ts";
import { badge } from "./badge.ts";
import type { MapLayout } from "./map-base.ts";
import { fitText, label, make, type Pen, pathOf, textWidth } from "./svg.ts";

type Point = readonly [number, number];

/** A rectangle in px: its middle and half its size. */
export interface PxBox {
  readonly x: number;
  readonly y: number;
  readonly halfWidth: number;
  readonly halfHeight: number;
}

/** A pill: its middle and the middle of its group in map coordinates, so that it stays there when the map moves. */
export interface Pill {
  readonly x: number;
  readonly y: number;
  readonly middle: Point;
  /** Position of the group. */
  readonly rank: number;
  readonly letter: string;
  readonly words: string;
  /** px. */
  readonly width: number;
}

/** Individuals that are drawn as dots, with the group of each. */
export interface GroupedDots {
  readonly places: Numbers; // [m,2]
  readonly labels: Numbers; // [m]
  readonly drawn: Int32Array;
  readonly groups: readonly { readonly group: number; readonly letter: string; readonly name: string }[];
  /** How wide a name is where it will be seen. Default: the room it takes in the widest font it may be seen in. */
  readonly nameWidth?: (words: string) => number;
}

const HALF_HEIGHT = 11;
const TEXT_SIZE = 12;
/** How names are written, as CSS has it without the family. */
export const PILL_FONT = `600 ${TEXT_SIZE}px`;
const WIDEST_TEXT = 220;
/** Room for the badge and both ends. */
const BESIDE_TEXT = 33;
/** Candidates around the middle of a group, px, the nearest first: most others need not be weighed to the end. */
const STEPS = Array.from(
  { length: 25 * 29 },
  (_, k): Point => [14 * ((k % 25) - 12), 9 * (Math.floor(k / 25) - 14)],
).sort((a, b) => a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2);
const ROUNDS = 4;
/**
 * Costs in hidden dots of the own group: a hidden dot of another group, one close by (a name seems to speak of the dots
 * around it), a px away from the middle (more beyond `FAR`), standing nearer to another group, a line that meets another pill
 * or its line, lying on another pill.
 */
const COST = { stranger: 1.4, around: 0.8, near: 0.07, beyond: 0.3, wrongNeighbour: 30, crossed: 30, overlap: 1e4 };
const AROUND = 16;
const FAR = 60;
/** Of more dots than this each counts less: they lie on each other. */
const FULL_WEIGHT = 4000;

/** Where the pills of all groups go. Each in turn takes the best place given the others, until nobody moves. */
export function placePills(layout: MapLayout, dots: GroupedDots): Pill[] {
  const { nameWidth = (words) => textWidth(words, TEXT_SIZE, true) } = dots;
  const all = pointsOf(layout, dots);
  const inAll = boxCounter(layout, all);
  const weight = Math.min(1, FULL_WEIGHT / Math.max(1, all.length));
  const named = dots.groups.flatMap(({ group, letter, name }, rank) => {
    const own = pointsOf(layout, dots, group);
    if (own.length === 0) return [];
    const words = shortName(name, WIDEST_TEXT);
    const halfWidth = (nameWidth(words) + BESIDE_TEXT) / 2;
    return [{ rank, letter, words, halfWidth, inOwn: boxCounter(layout, own), middle: middleOf(own) }];
  });
  const middles = named.map(({ middle }) => middle);
  const boxAt = (x: number, y: number, halfWidth: number): PxBox => ({ x, y, halfWidth, halfHeight: HALF_HEIGHT });
  const boxes = named.map(({ middle: [x, y], halfWidth }) => boxAt(x, y - 24, halfWidth));
  for (let round = 0; round < ROUNDS; round++) {
    let moved = false;
    named.forEach(({ inOwn, middle, halfWidth }, k) => {
      const others = boxes.map((_, j) => j).filter((j) => j !== k);
      let best = { box: boxes[k], cost: Number.POSITIVE_INFINITY };
      for (const [dx, dy] of STEPS) {
        const y = middle[1] + dy;
        if (y < layout.top + HALF_HEIGHT || y > layout.bottom - HALF_HEIGHT) continue;
        const x = Math.max(Math.min(middle[0] + dx, layout.right - halfWidth), layout.left + halfWidth);
        const box = boxAt(x, y, halfWidth);
        const away = distanceTo(box, middle);
        const own = inOwn(box, 1);
        const hidden =
          own + COST.stranger * (inAll(box, 1) - own) + COST.around * (inAll(box, AROUND) - inOwn(box, AROUND));
        let cost = weight * hidden + COST.near * away + COST.beyond * Math.max(0, away - FAR);
        if (cost >= best.cost) continue;
        if (others.some((j) => touch(box, boxes[j]))) cost += COST.overlap;
        if (others.some((j) => distanceTo(box, middles[j]) < away)) cost += COST.wrongNeighbour;
        if (cost >= best.cost) continue;
        cost += COST.crossed * others.filter((j) => crosses(box, middle, boxes[j], middles[j])).length;
        if (cost < best.cost - 1e-9) best = { box, cost };
      }
      moved ||= best.box.x !== boxes[k].x || best.box.y !== boxes[k].y;
      boxes[k] = best.box;
    });
    if (!moved) break;
  }
  const onMap = ([px, py]: Point): Point => [(px - layout.x(0)) / layout.unit, (layout.y(0) - py) / layout.unit];
  return named.map(({ rank, letter, words, halfWidth, middle }, k) => {
    const [x, y] = onMap([boxes[k].x, boxes[k].y]);
    return { x, y, middle: onMap(middle), rank, letter, words, width: 2 * halfWidth };
  });
}

/** The pill in px. */
export function pillBox(layout: MapLayout, { x, y, width }: Pill): PxBox {
  return { x: layout.x(x), y: layout.y(y), halfWidth: width / 2, halfHeight: HALF_HEIGHT };
}

/** What the pills and their lines cover, in px: numbers on lines keep away from it. */
export function pillBoxes(layout: MapLayout, pills: readonly Pill[]): PxBox[] {
  return pills.flatMap((pill) => {
    const box = pillBox(layout, pill);
    const to = middleIn(layout, pill);
    const from = nearestOn(box, to);
    const onLine = [0.25, 0.5, 0.75, 1].map((s) => between(from, to, s));
    return [box, ...onLine.map(([x, y]) => ({ x, y, halfWidth: 5, halfHeight: 5 }))];
  });
}

/** The pills, in px, above all their lines. */
export function drawPills(pen: Pen, layout: MapLayout, pills: readonly Pill[]): SVGElement {
  const group = make(pen, "g");
  for (const pill of pills) group.append(...leader(pen, pillBox(layout, pill), middleIn(layout, pill), pill.rank));
  for (const pill of pills) {
    const { x, y, halfWidth } = pillBox(layout, pill);
    const left = x - halfWidth;
    group.append(
      make(pen, "rect", {
        class: "tm-pill",
        x: left,
        y: y - HALF_HEIGHT,
        width: pill.width,
        height: 2 * HALF_HEIGHT,
        rx: HALF_HEIGHT,
        fill: pen.tokens.surface,
        "fill-opacity": 0.94,
        stroke: pen.tokens.line,
      }),
      badge(pen, pill.rank, pill.letter, left + 12, y, 7.4),
      label(pen, pill.words, left + 24, y + 4.2, {
        "font-size": TEXT_SIZE,
        "font-weight": 600,
        fill: pen.tokens.ink,
      }),
    );
  }
  return group;
}

/** A name that fits: whole, without its last clauses ("Falls, more slowly from year 3"), or its first words. */
export function shortName(name: string, room: number): string {
  const fits = (words: string) => textWidth(words, TEXT_SIZE, true) <= room;
  for (let words = name; words !== ""; words = words.slice(0, Math.max(words.lastIndexOf(", "), 0))) {
    // One word alone would say too little of the course.
    if (fits(words) && (words === name || words.includes(" "))) return words;
  }
  const whole = fitText(name, TEXT_SIZE, room, true)
    .slice(0, -1)
    .replace(/\s+\S*$/, "");
  return `${whole.replace(/(,|\s+(to|by|from|a|per|then|near))+$/, "")} …`;
}

/** A line from the edge of the pill to a ring at the middle of the group; nothing where the pill stands on it. */
function leader(pen: Pen, box: PxBox, middle: Point, rank: number): SVGElement[] {
  if (distanceTo(box, middle) < 4) return [];
  const { colour } = groupStyle(pen.tokens, rank);
  const d = pathOf([nearestOn(box, middle), middle]);
  const ring = { cx: middle[0], cy: middle[1], r: 3.6 };
  return [
    make(pen, "path", { d, fill: "none", stroke: pen.tokens.surface, "stroke-width": 3.4, "stroke-opacity": 0.8 }),
    make(pen, "path", { d, fill: "none", stroke: colour, "stroke-width": 1.3 }),
    make(pen, "circle", { ...ring, fill: pen.tokens.surface, stroke: colour, "stroke-width": 1.6 }),
  ];
}

const middleIn = (layout: MapLayout, { middle: [x, y] }: Pill): Point => [layout.x(x), layout.y(y)];

/** Dots in px: those of one group, or all. */
function pointsOf(layout: MapLayout, { places, labels, drawn }: GroupedDots, group?: number): Point[] {
  const points: Point[] = [];
  for (const i of drawn) {
    if (group === undefined || labels[i] === group) points.push([layout.x(places[2 * i]), layout.y(places[2 * i + 1])]);
  }
  return points;
}

/**
 * Counts points in boxes widened by a margin, to the nearest 4 px: of the sums over all cells above and to the left, those
 * at the four corners give the count.
 */
function boxCounter(layout: MapLayout, points: readonly Point[]): (box: PxBox, margin: number) => number {
  const side = 4;
  const { left, top, right, bottom } = layout;
  const [nx, ny] = [Math.ceil((right - left) / side) + 1, Math.ceil((bottom - top) / side) + 1];
  const sums = new Int32Array(nx * ny);
  const clamp = (v: number, n: number) => Math.min(n - 1, Math.max(0, v));
  for (const [x, y] of points) {
    // Row 0 and column 0 stay empty.
    const c = clamp(Math.floor((x - left) / side) + 1, nx);
    const r = clamp(Math.floor((y - top) / side) + 1, ny);
    if (c > 0 && r > 0) sums[r * nx + c]++;
  }
  for (let r = 1; r < ny; r++) {
    for (let c = 1; c < nx; c++)
      sums[r * nx + c] += sums[r * nx + c - 1] + sums[(r - 1) * nx + c] - sums[(r - 1) * nx + c - 1];
  }
  return ({ x, y, halfWidth, halfHeight }, margin) => {
    const column = (v: number) => clamp(Math.round((v - left) / side), nx);
    const row = (v: number) => nx * clamp(Math.round((v - top) / side), ny);
    const [c0, c1] = [column(x - halfWidth - margin), column(x + halfWidth + margin)];
    const [r0, r1] = [row(y - halfHeight - margin), row(y + halfHeight + margin)];
    return sums[r1 + c1] - sums[r1 + c0] - sums[r0 + c1] + sums[r0 + c0];
  };
}

/** The member nearest to the median of the members: always a place where the group is. */
function middleOf(members: readonly Point[]): Point {
  const median = (axis: 0 | 1) => Float64Array.from(members, (p) => p[axis]).sort()[Math.floor(members.length / 2)];
  const [x, y] = [median(0), median(1)];
  const from = ([a, b]: Point) => (a - x) ** 2 + (b - y) ** 2;
  return members.reduce((best, p) => (from(p) < from(best) ? p : best));
}

/** Where a line from a point meets the pill. */
function nearestOn({ x, y, halfWidth, halfHeight }: PxBox, [px, py]: Point): Point {
  const reach = halfWidth - halfHeight;
  return [Math.min(Math.max(px, x - reach), x + reach), Math.min(Math.max(py, y - halfHeight), y + halfHeight)];
}

function distanceTo({ x, y, halfWidth, halfHeight }: PxBox, [px, py]: Point): number {
  return Math.sqrt(Math.max(Math.abs(px - x) - halfWidth, 0) ** 2 + Math.max(Math.abs(py - y) - halfHeight, 0) ** 2);
}

const between = (p: Point, q: Point, s: number): Point => [p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])];

/** Whether the line of one pill runs over the other pill, the other's over this one, or the two lines cross. */
function crosses(a: PxBox, toA: Point, b: PxBox, toB: Point): boolean {
  const [fromA, fromB] = [nearestOn(a, toA), nearestOn(b, toB)];
  const over = (from: Point, to: Point, box: PxBox) =>
    [0.2, 0.4, 0.6, 0.8, 1].some((s) => distanceTo(box, between(from, to, s)) < 3);
  const side = (p: Point, q: Point, r: Point) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
  const apart = (p: Point, q: Point, r: Point, s: Point) => side(p, q, r) * side(p, q, s) < 0;
  return over(fromA, toA, b) || over(fromB, toB, a) || (apart(fromA, toA, fromB, toB) && apart(fromB, toB, fromA, toA));
}

function touch(a: PxBox, b: PxBox): boolean {
  return Math.abs(a.y - b.y) < a.halfHeight + b.halfHeight + 4 && Math.abs(a.x - b.x) < a.halfWidth + b.halfWidth + 6;
}
