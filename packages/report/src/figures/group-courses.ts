/**
 * Courses of the groups as small multiples on one scale (Figure 1 A of the paper): median, 10% to 90% fan over the
 * members, thin medians of the branches within, and the number followed below the axis. The median is solid while half of
 * the members are followed, which is what the name above it speaks of, dashed from there on, and ends where fewer than a
 * tenth are (core's `enoughFollowed`), or too few for any statement.
 */
import * as Plot from "@observablehq/plot";
import type { Marker } from "@trajectory-maps/core";
import { enoughFollowed } from "@trajectory-maps/core/study";
import { timeWord } from "../numbers.ts";
import { isCount, rough } from "../small-cells.ts";
import type { StudyGroup } from "../study.ts";
import { groupStyle } from "../theme.ts";
import { capital } from "../words.ts";
import { badge } from "./badge.ts";
import { type ChartAxis, chart, timeAxis, valueAxis } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import {
  type Canvas,
  type FigurePen,
  fitText,
  label,
  make,
  makeRoot,
  penOf,
  placed,
  textWidth,
  wrapText,
} from "./svg.ts";
import { roundSpan, roundTicks } from "./ticks.ts";

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
  const enough = Math.max(enoughFollowed(group.size), fewestFollowed(smallCell));
  let n = group.times.length;
  while (n > 0 && group.followed[n - 1] < enough) n--;
  return n;
}

/** Positions of the first and last time between which the course is a finding; the last is below the first if nowhere. */
export function solidRange(group: StudyGroup, smallCell: number): readonly [number, number] {
  const shown = shownLength(group, smallCell);
  const enough = Math.max(Math.ceil(group.size / 2), fewestFollowed(smallCell));
  let last = shown - 1;
  while (
    last >= 0 &&
    (group.until === undefined ? group.followed[last] < enough : group.times[last] > group.until + 1e-9)
  )
    last--;
  let first = 0;
  while (first < last && group.from !== undefined && group.times[first] < group.from - 1e-9) first++;
  return [first, last];
}

/** Position of the last time of the course at or before `time`, if the course is a finding there. */
export function solidIndex(group: StudyGroup, time: number, smallCell: number): number | undefined {
  let k = 0;
  while (k + 1 < group.times.length && group.times[k + 1] <= time + 1e-9) k++;
  const [from, to] = solidRange(group, smallCell);
  return k < from || k > to ? undefined : k;
}

/** The time until which the course is a finding; NaN if it is nowhere. */
export function solidUntil(group: StudyGroup, smallCell: number): number {
  return group.times[solidRange(group, smallCell)[1]] ?? Number.NaN;
}

/** Branches within the group that are large enough to be shown. */
export function shownParts(group: StudyGroup, smallCell: number): NonNullable<StudyGroup["parts"]> {
  return (group.parts ?? []).filter(({ numMembers }) => numMembers >= fewestFollowed(smallCell));
}

/** Numbers followed are written at these times. */
export function followedTimes(group: StudyGroup): number[] {
  return roundTicks(...roundSpan(group.times[0], group.times[group.times.length - 1], 4), 4);
}

/** Members followed to a time (counted at the first listed time not before it, never too many), as it may be shown. */
export function followedText(group: StudyGroup, size: string, time: number, limit: number): string {
  let k = 0;
  while (k + 1 < group.times.length && group.times[k] < time - 1e-9) k++;
  // All of them are the size as it is shown; and a size held back must not come in by another door.
  const hidden = !isCount(size) && group.followed[k] >= limit;
  if (hidden || group.followed[k] === group.size) return size;
  const text = rough(group.followed[k], limit);
  // Never more than there are.
  return Number(text) > group.size ? String(5 * Math.floor(group.size / 5)) : text;
}

/** All panels in one SVG, three in a row on a wide canvas. */
export function drawGroupCourses(data: GroupCourses, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 1112);
  const columns = Math.min(data.groups.length, pen.width >= 900 ? 3 : pen.width >= 560 ? 2 : 1);
  const gap = 30;
  const panelWidth = (pen.width - gap * (columns - 1)) / columns;
  const height = 168;
  // Names too long for their line take two, in all panels, so that plots stand in rows.
  const titles = data.groups.map((group, rank) => titleLines(group, data.sizes[rank], panelWidth));
  const nameHeight = titles.some((lines) => lines.length > 1) ? 40 : 24;
  const summaries = data.groups.map((group) => summaryLines(group, panelWidth));
  const titleHeight = nameHeight + SUMMARY_LINE * Math.max(...summaries.map((lines) => lines.length));
  const panelHeight = titleHeight + 2 + height + 24 + (data.notes === undefined ? 0 : 20) + 22;
  const root = makeRoot(pen, 10);
  const y = sharedAxis(data);
  data.groups.forEach((_, rank) => {
    const left = (rank % columns) * (panelWidth + gap);
    const top = Math.floor(rank / columns) * panelHeight;
    const panel = make(pen, "g", { transform: `translate(${left} ${top})` });
    drawPanel({ ...pen, width: panelWidth }, panel, data, rank, {
      lines: titles[rank],
      summary: summaries[rank],
      nameHeight,
      top: titleHeight,
      y,
      height,
    });
    root.append(panel);
  });
  setHeight(pen, root, Math.ceil(data.groups.length / columns) * panelHeight - 14);
  return root;
}

const SUMMARY_LINE = 16;

/** The course in numbers in one line, or two. */
function summaryLines({ summary }: StudyGroup, width: number): string[] {
  if (summary === undefined) return [];
  const [first, ...rest] = wrapText(summary, 12, width - 27);
  return rest.length === 0 ? [first] : [first, fitText(rest.join(" "), 12, width - 27)];
}

/** The name of a group in one line, or two where its size leaves too little room. */
function titleLines(group: StudyGroup, size: string, width: number): string[] {
  const name = capital(group.name);
  const room = width - 27 - textWidth(`${size} individuals`, 12) - 12;
  if (textWidth(name, 13.5, true) <= room) return [name];
  const lines = wrapText(name, 13, room, true);
  return lines.length <= 2 ? lines : [lines[0], fitText(lines.slice(1).join(" "), 13, room, true)];
}

interface PanelLayout {
  readonly lines: readonly string[];
  readonly summary: readonly string[];
  readonly nameHeight: number;
  readonly top: number;
  readonly y: ChartAxis;
  readonly height: number;
}

function drawPanel(
  pen: FigurePen,
  panel: Element,
  data: GroupCourses,
  rank: number,
  { lines, summary, nameHeight, top, y, height }: PanelLayout,
) {
  const { tokens } = pen;
  const group = data.groups[rank];
  const { colour } = groupStyle(tokens, rank);
  const size = lines.length > 1 ? 13 : 13.5;
  panel.append(badge(pen, rank, group.letter, 9.5, 10, 9.5));
  lines.forEach((line, k) => {
    panel.append(label(pen, line, 27, 15 + 16 * k, { "font-size": size, "font-weight": 600, fill: tokens.ink }));
  });
  summary.forEach((words, k) => {
    panel.append(label(pen, words, 27, nameHeight + 7 + SUMMARY_LINE * k, { "font-size": 12, fill: tokens.ink2 }));
  });
  panel.append(
    label(pen, `${data.sizes[rank]} individuals`, pen.width, 15, {
      "font-size": 12,
      "text-anchor": "end",
      fill: tokens.ink3,
    }),
  );
  const n = shownLength(group, data.smallCell);
  const [solidFrom, solidTo] = solidRange(group, data.smallCell);
  const rows = Array.from({ length: n }, (_, k) => ({
    t: group.times[k],
    m: group.median[k],
    l: group.lower[k],
    u: group.upper[k],
  }));
  const solid = rows.slice(solidFrom, solidTo + 1);
  const parts = shownParts(group, data.smallCell).map(({ median, from, until }) =>
    Array.from(median, (m, k) => ({ t: group.times[k], m })).filter(({ t }) => t >= from - 1e-9 && t <= until + 1e-9),
  );
  const word = timeWord(data.marker.timeUnit);
  const x = timeAxis(group.times[0], group.times[group.times.length - 1], word);
  const [first, last] = x.domain;
  const drawing = chart(pen, {
    height,
    marginLeft: 34,
    marginRight: RIGHT,
    x,
    y,
    marks: [
      Plot.areaY(solid, { x: "t", y1: "l", y2: "u", fill: colour, fillOpacity: 0.17, curve: "monotone-x" }),
      ...parts.map((part) =>
        Plot.line(part, { x: "t", y: "m", stroke: colour, strokeWidth: 0.9, strokeOpacity: 0.75, curve: "monotone-x" }),
      ),
      ...[rows.slice(0, solidFrom + 1), rows.slice(Math.max(0, solidTo))].map((rest) =>
        Plot.line(rest, {
          x: "t",
          y: "m",
          stroke: colour,
          strokeWidth: 1.4,
          strokeDasharray: "2 3",
          curve: "monotone-x",
        }),
      ),
      Plot.line(solid, {
        x: "t",
        y: "m",
        stroke: colour,
        strokeWidth: 2.5,
        curve: "monotone-x",
        strokeLinecap: "round",
      }),
    ],
  });
  panel.append(placed(drawing, 0, top));
  if (n === 0)
    panel.append(label(pen, "Too few members to draw a course.", 40, top + height / 2, { fill: tokens.ink3 }));
  drawFollowed(pen, panel, group, data.sizes[rank], data.smallCell, top + height + 14, first, last);
  const note = data.notes?.[rank];
  if (note !== undefined) {
    const line = make(pen, "text", { x: 0, y: top + height + 37, "font-size": 12.5, fill: tokens.ink2 });
    line.append(
      make(pen, "tspan", { "font-weight": 600, fill: tokens.ink }, note.strong),
      note.strong === "" ? note.rest : ` ${note.rest}`,
    );
    panel.append(line);
  }
}

/** Numbers followed, under the labels of the axis. */
function drawFollowed(
  pen: FigurePen,
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
    const [from, to] = solidRange(group, smallCell);
    for (let k = 0; k < shownLength(group, smallCell); k++) {
      const inside = k >= from && k <= to;
      low = Math.min(low, inside ? group.lower[k] : group.median[k]);
      high = Math.max(high, inside ? group.upper[k] : group.median[k]);
    }
  }
  return valueAxis(low, high, marker.transform);
}
