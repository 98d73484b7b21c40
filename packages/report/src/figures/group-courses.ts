/**
 * Courses of the groups as small multiples on one scale (Figure 1 A of the paper): median, 10 % to 90 % fan over the
 * members, and the number followed below the axis. A curve ends where too few are followed.
 */
import * as Plot from "@observablehq/plot";
import type { Marker } from "@trajectory-maps/core";
import { cell, timeWord, whole } from "../numbers.ts";
import type { StudyGroup } from "../study.ts";
import { groupStyle } from "../theme.ts";
import { capital } from "../words.ts";
import { badge } from "./badge.ts";
import { type ChartAxis, chart, roundTicks, timeAxis, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { type Canvas, fitText, label, make, makeRoot, type Pen, penOf, textWidth } from "./svg.ts";

export interface GroupCourses {
  readonly groups: readonly StudyGroup[];
  /** Sizes of the groups as they may be shown. */
  readonly sizes: readonly string[];
  readonly marker: Marker;
  readonly smallCell: number;
  /** A sentence under each panel, e.g. the share with an outcome. */
  readonly notes?: readonly { readonly strong: string; readonly rest: string }[];
}

/** Room for half of the last label, "year 10". */
const RIGHT = 22;

/** Fewest members followed for a curve to go on. */
export const fewestFollowed = (smallCell: number) => Math.max(5, smallCell);

/** How many of the times are drawn: up to the last one with enough members followed. */
export function shownLength(group: StudyGroup, smallCell: number): number {
  let n = group.times.length;
  while (n > 0 && group.followed[n - 1] < fewestFollowed(smallCell)) n--;
  return n;
}

/** Numbers followed are written at these times. */
export function followedTimes(group: StudyGroup): number[] {
  return roundTicks(group.times[0], group.times[group.times.length - 1], 4);
}

/** Members followed to a time (counted at the first listed time not before it, never too many), as it may be shown. */
export function followedText(group: StudyGroup, size: string, time: number, limit: number): string {
  let k = 0;
  while (k + 1 < group.times.length && group.times[k] < time - 1e-9) k++;
  // A size held back must not come in by another door.
  return size.startsWith("≥") && group.followed[k] >= limit ? size : cell(group.followed[k], limit);
}

/** All panels in one SVG, three in a row on a wide canvas. */
export function drawGroupCourses(data: GroupCourses, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 1112);
  const columns = Math.min(data.groups.length, pen.width >= 900 ? 3 : pen.width >= 560 ? 2 : 1);
  const gap = 30;
  const panelWidth = (pen.width - gap * (columns - 1)) / columns;
  const height = 168;
  const panelHeight = 26 + height + 24 + (data.notes === undefined ? 0 : 20) + 22;
  const root = makeRoot(pen, 10);
  const y = sharedAxis(data);
  data.groups.forEach((group, rank) => {
    const left = (rank % columns) * (panelWidth + gap);
    const top = Math.floor(rank / columns) * panelHeight;
    const panel = make(pen, "g", { transform: `translate(${left} ${top})` });
    drawPanel({ ...pen, width: panelWidth }, panel, data, rank, group, y, height);
    root.append(panel);
  });
  setHeight(pen, root, Math.ceil(data.groups.length / columns) * panelHeight - 14);
  return root;
}

function drawPanel(
  pen: Pen,
  panel: Element,
  data: GroupCourses,
  rank: number,
  group: StudyGroup,
  y: ChartAxis,
  height: number,
) {
  const { tokens } = pen;
  const { colour } = groupStyle(tokens, rank);
  const count = `${data.sizes[rank]} individuals`;
  const name = capital(group.name);
  const room = pen.width - 27 - textWidth(count, 12) - 12;
  const size = textWidth(name, 13.5, true) <= room ? 13.5 : 12;
  panel.append(badge(pen, rank, group.letter, 9.5, 10, 9.5));
  panel.append(
    label(pen, fitText(name, size, room, true), 27, 15, { "font-size": size, "font-weight": 600, fill: tokens.ink }),
    label(pen, count, pen.width, 15, { "font-size": 12, "text-anchor": "end", fill: tokens.ink3 }),
  );
  const n = shownLength(group, data.smallCell);
  const rows = Array.from({ length: n }, (_, k) => ({
    t: group.times[k],
    m: group.median[k],
    l: group.lower[k],
    u: group.upper[k],
  }));
  const word = timeWord(data.marker.timeUnit);
  const first = group.times[0];
  const last = group.times[group.times.length - 1];
  const drawing = chart(pen, {
    height,
    marginLeft: 34,
    marginRight: RIGHT,
    x: timeAxis(first, last, word),
    y,
    marks: [
      Plot.areaY(rows, { x: "t", y1: "l", y2: "u", fill: colour, fillOpacity: 0.17, curve: "monotone-x" }),
      Plot.line(rows, {
        x: "t",
        y: "m",
        stroke: colour,
        strokeWidth: 2.3,
        curve: "monotone-x",
        strokeLinecap: "round",
      }),
    ],
  });
  drawing.setAttribute("x", "0");
  drawing.setAttribute("y", "24");
  panel.append(drawing);
  if (n === 0)
    panel.append(label(pen, "Too few members to draw a course.", 40, 24 + height / 2, { fill: tokens.ink3 }));
  drawFollowed(pen, panel, group, data.sizes[rank], data.smallCell, 24 + height + 14, first, last);
  const note = data.notes?.[rank];
  if (note !== undefined) {
    const line = make(pen, "text", { x: 0, y: 24 + height + 37, "font-size": 12.5, fill: tokens.ink2 });
    line.append(make(pen, "tspan", { "font-weight": 600, fill: tokens.ink }, note.strong), ` ${note.rest}`);
    panel.append(line);
  }
}

/** Numbers followed, under the labels of the axis. */
function drawFollowed(
  pen: Pen,
  panel: Element,
  group: StudyGroup,
  size: string,
  limit: number,
  y: number,
  first: number,
  last: number,
): void {
  const x = (t: number) => 34 + ((pen.width - 34 - RIGHT) * (t - first)) / (last - first);
  const ticks = followedTimes(group);
  panel.append(label(pen, "n", 0, y, { fill: pen.tokens.ink3 }));
  ticks.forEach((t) => {
    panel.append(
      label(pen, followedText(group, size, t, limit), x(t), y, { "text-anchor": "middle", fill: pen.tokens.ink2 }),
    );
  });
}

/** One y axis for all panels: the range of the drawn fans; a log scale for a marker modelled on one. */
function sharedAxis({ groups, marker, smallCell }: GroupCourses): ChartAxis {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const group of groups) {
    for (let k = 0; k < shownLength(group, smallCell); k++) {
      low = Math.min(low, group.lower[k]);
      high = Math.max(high, group.upper[k]);
    }
  }
  if (!(high > low)) [low, high] = [0, 1];
  if (marker.transform === "log" && low > 0) {
    const ticks: number[] = [];
    const octaves = Math.log2(high / low);
    const base = octaves > 9 ? 10 : octaves > 4 ? 4 : 2;
    for (let e = Math.floor(Math.log(low) / Math.log(base)); e <= Math.ceil(Math.log(high) / Math.log(base)); e++)
      ticks.push(base ** e);
    const inside = ticks.filter((t) => t >= low * 0.7 && t <= high * 1.4);
    return {
      type: "log",
      domain: [Math.min(low, ...inside), Math.max(high, ...inside)],
      ticks: inside,
      format: (v) => (v >= 1000 ? whole(v) : trim(v)),
    };
  }
  const ticks = roundTicks(low, high, 4);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : high - low;
  return {
    domain: [Math.min(low, ticks[0]), Math.max(high, ticks[ticks.length - 1]) + 0.05 * step],
    ticks,
    format: trim,
  };
}
