/**
 * Names of the groups on a map of single individuals: a pill with letter and name beside the middle of its group, where
 * it hides few dots, no other name and stands nearer to its own group than to any other. A thin line leads to the middle
 * of the group where the pill had to step aside.
 */
import { groupStyle } from "../theme.ts";
import { capital } from "../words.ts";
import { badge } from "./badge.ts";
import { sampled } from "./density.ts";
import type { MapLayout, Marks, Spot } from "./map-base.ts";
import type { MapData } from "./map-data.ts";
import { fitText, label, make, type Pen, shorten, textWidth } from "./svg.ts";

type Point = readonly [number, number];

/** A pill with its left edge, the middle of its height and its width, in px. */
interface Pill {
  readonly x: number;
  readonly y: number;
  readonly w: number;
}

const HALF_HEIGHT = 12;
const WIDEST_TEXT = 220;
/** Lattice of candidates around the middle of a group. */
const STEP = { x: 14, y: 9, across: 12, down: 14 };
const ROUNDS = 4;
/**
 * Costs in hidden dots of the own group: a hidden dot of another group, one close by (a name seems to speak of the dots
 * around it), a px away from the middle (more beyond `FAR`), standing nearer to another group, a line that meets another pill
 * or its line, lying on another pill.
 */
const COST = { stranger: 1.4, around: 0.8, near: 0.07, beyond: 0.3, wrongNeighbour: 30, crossed: 30, overlap: 1e4 };
const AROUND = 16;
/** Dots that candidates are weighed by, at most. */
const MOST_WEIGHED = 4000;
const FAR = 60;

/** Pills of all groups, and the spots they take. */
export function drawPills(pen: Pen, layout: MapLayout, map: MapData): Marks {
  // Every candidate is held against every dot: of very many some are enough.
  const some = sampled(map.sd.length, MOST_WEIGHED);
  const pointsOf = (chosen: (label: number) => boolean) =>
    Array.from(some.filter((i) => chosen(map.labels[i]))).map(
      (i): Point => [layout.x(map.places[2 * i]), layout.y(map.places[2 * i + 1])],
    );
  const named = map.groups.flatMap(({ group, letter, name }, rank) => {
    const own = pointsOf((label) => label === group);
    const others = pointsOf((label) => label !== group);
    if (own.length === 0) return [];
    const text = fitWords(capital(name), 12, WIDEST_TEXT);
    return [{ rank, letter, text, own, others, middle: middleOf(own), w: textWidth(text, 12, true) + 36 }];
  });
  const middles = named.map(({ middle }) => middle);
  const pills: Pill[] = named.map(({ middle: [mx, my], w }) => ({ x: mx - w / 2, y: my - 24, w }));
  // Each in turn takes the best place given the others, until nobody moves.
  for (let round = 0; round < ROUNDS; round++) {
    named.forEach(({ own, others, middle, w }, k) => {
      let best = { pill: pills[k], cost: Number.POSITIVE_INFINITY };
      for (let down = -STEP.down; down <= STEP.down; down++) {
        for (let across = -STEP.across; across <= STEP.across; across++) {
          const x = Math.min(Math.max(middle[0] - w / 2 + STEP.x * across, layout.left), pen.width - w - 1);
          const pill = { x, y: middle[1] + STEP.y * down, w };
          if (pill.y < layout.top + HALF_HEIGHT || pill.y > layout.bottom - HALF_HEIGHT) continue;
          const hidden =
            countInside(own, pill) +
            COST.stranger * countInside(others, pill) +
            COST.around * countInside(others, pill, AROUND);
          const away = distanceTo(pill, middle);
          const nearer = middles.some((m, j) => j !== k && distanceTo(pill, m) < away);
          const clash = pills.some((other, j) => j !== k && touch(pill, other));
          const crossed = pills.filter((other, j) => j !== k && crosses(pill, middle, other, middles[j])).length;
          const cost =
            hidden +
            COST.near * away +
            COST.beyond * Math.max(0, away - FAR) +
            (nearer ? COST.wrongNeighbour : 0) +
            COST.crossed * crossed +
            (clash ? COST.overlap : 0);
          if (cost < best.cost - 1e-9) best = { pill, cost };
        }
      }
      pills[k] = best.pill;
    });
  }
  const group = make(pen, "g");
  const spots: Spot[] = [];
  named.forEach(({ rank, middle }, k) => {
    group.append(...leader(pen, pills[k], middle, rank));
    const from = nearestOn(pills[k], middle);
    for (let at = 0; at <= 1; at += 0.2) {
      spots.push({ x: from[0] + at * (middle[0] - from[0]), y: from[1] + at * (middle[1] - from[1]), r: 8 });
    }
  });
  named.forEach(({ rank, letter, text }, k) => {
    const { x, y, w } = pills[k];
    for (let at = 0; at <= w; at += 12) spots.push({ x: x + at, y, r: 18 });
    group.append(
      make(pen, "rect", {
        x,
        y: y - HALF_HEIGHT,
        width: w,
        height: 2 * HALF_HEIGHT,
        rx: HALF_HEIGHT,
        fill: pen.tokens.surface,
        "fill-opacity": 0.94,
        stroke: pen.tokens.line,
      }),
      badge(pen, rank, letter, x + 13, y, 8),
      label(pen, text, x + 26, y + 4.3, { "font-size": 12, "font-weight": 600, fill: pen.tokens.ink }),
    );
  });
  return { group, spots };
}

/** A line from the edge of the pill to a ring at the middle of the group; nothing where the pill stands on it. */
function leader(pen: Pen, pill: Pill, [mx, my]: Point, rank: number): SVGElement[] {
  if (distanceTo(pill, [mx, my]) < 4) return [];
  const { colour } = groupStyle(pen.tokens, rank);
  const [fromX, fromY] = nearestOn(pill, [mx, my]);
  const d = `M${shorten(fromX)},${shorten(fromY)}L${shorten(mx)},${shorten(my)}`;
  return [
    make(pen, "path", { d, fill: "none", stroke: pen.tokens.surface, "stroke-width": 3.4, "stroke-opacity": 0.8 }),
    make(pen, "path", { d, fill: "none", stroke: colour, "stroke-width": 1.3 }),
    make(pen, "circle", { cx: mx, cy: my, r: 3.6, fill: pen.tokens.surface, stroke: colour, "stroke-width": 1.6 }),
  ];
}

/** Where a line from a point meets the pill. */
function nearestOn({ x, y, w }: Pill, [px, py]: Point): Point {
  return [
    Math.min(Math.max(px, x + HALF_HEIGHT), x + w - HALF_HEIGHT),
    Math.min(Math.max(py, y - HALF_HEIGHT), y + HALF_HEIGHT),
  ];
}

/** The member nearest to the median of the members: always a place where the group is. */
function middleOf(members: readonly Point[]): Point {
  const median = (axis: 0 | 1) => members.map((p) => p[axis]).sort((a, b) => a - b)[Math.floor(members.length / 2)];
  const [x, y] = [median(0), median(1)];
  const from = ([a, b]: Point) => (a - x) ** 2 + (b - y) ** 2;
  return members.reduce((best, p) => (from(p) < from(best) ? p : best));
}

function distanceTo({ x, y, w }: Pill, [px, py]: Point): number {
  return Math.hypot(Math.max(x - px, 0, px - x - w), Math.max(Math.abs(py - y) - HALF_HEIGHT, 0));
}

function countInside(points: readonly Point[], { x, y, w }: Pill, margin = 1): number {
  let count = 0;
  for (const [a, b] of points)
    if (a > x - margin && a < x + w + margin && Math.abs(b - y) < HALF_HEIGHT + margin) count++;
  return count;
}

/** Whether the line of one pill runs over the other pill, the other's over this one, or the two lines cross. */
function crosses(a: Pill, toA: Point, b: Pill, toB: Point): boolean {
  const [fromA, fromB] = [nearestOn(a, toA), nearestOn(b, toB)];
  const between = (p: Point, q: Point, s: number): Point => [p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])];
  const over = (from: Point, to: Point, pill: Pill) =>
    [0.2, 0.4, 0.6, 0.8, 1].some((s) => distanceTo(pill, between(from, to, s)) < 3);
  const side = (p: Point, q: Point, r: Point) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
  const apart = (p: Point, q: Point, r: Point, s: Point) => side(p, q, r) * side(p, q, s) < 0;
  return over(fromA, toA, b) || over(fromB, toB, a) || (apart(fromA, toA, fromB, toB) && apart(fromB, toB, fromA, toA));
}

function touch(a: Pill, b: Pill): boolean {
  return Math.abs(a.y - b.y) < 2 * HALF_HEIGHT + 4 && a.x < b.x + b.w + 6 && b.x < a.x + a.w + 6;
}

/** As `fitText`, but cut after a whole word that can end a phrase. */
function fitWords(text: string, size: number, width: number): string {
  const fitted = fitText(text, size, width, true);
  if (fitted === text) return text;
  const whole = fitted.slice(0, -1).replace(/\s+\S*$/, "");
  return `${whole.replace(/(,|\s+(to|by|from|a|then|near))+$/, "")} …`;
}
