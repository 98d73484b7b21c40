/**
 * The map with its groups (Figure 1 B of the paper). Shared reports draw counts: discs on a hexagonal lattice, area by
 * number of individuals, coloured by their most common group. With places of individuals allowed, dots that fade with
 * the doubt about the place. The terrain is grey: hue belongs to the groups.
 */
import { discSizes } from "../small-cells.ts";
import { groupStyle } from "../theme.ts";
import { capital } from "../words.ts";
import { badge } from "./badge.ts";
import { densityNote, dotOpacity, dotRadius, drawnInFigure, RING_RADIUS } from "./density.ts";
import { dotKey, drawKey, hatchKey, hollowKey } from "./key.ts";
import { levelRings } from "./land.ts";
import { drawLineLabels, placeLineLabels, type Spot } from "./line-labels.ts";
import {
  drawBands,
  drawCentre,
  drawCoast,
  drawDensity,
  drawDensityLegend,
  drawLines,
  drawRamp,
  landClip,
  levelText,
  type MapLayout,
  mapLayout,
  rampEnds,
} from "./map-base.ts";
import type { MapData } from "./map-data.ts";
import { CARD, drawScaleBar, drawSmallCurves, scaleBar, smallCurveNote } from "./map-frame.ts";
import { drawPills, pillBoxes, placePills } from "./pills.ts";
import { hatchPattern } from "./share.ts";
import { type Canvas, type FigurePen, fitText, label, make, makeRoot, type Pen, penOf, textWidth } from "./svg.ts";

/** Room for the column of small curves. */
export const LEFT = CARD.width + 10;

/** The group map as SVG. */
export function drawGroupMap(map: MapData, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 540);
  const layout = mapLayout(map.box, LEFT, 6, pen.width - LEFT, 1.08 * (pen.width - LEFT));
  const root = makeRoot(pen, 10);
  const clip = landClip(pen, root, layout, map.land, "land");
  const { value } = map;
  const ink = pen.tokens.ink2;
  const lines = levelRings(value.grid, value.levels);
  const beyond = value.beyond === undefined ? [] : levelRings(value.beyond, [0]);
  const hatched = beyond.some((rings) => rings.length > 0);
  if (hatched) root.append(hatchPattern(pen));
  root.append(
    drawBands(pen, layout, lines, pen.tokens.land, clip),
    ...(hatched ? [drawBands(pen, layout, beyond, ["none", `url(#${pen.id("hatch")})`], clip)] : []),
    drawLines(pen, layout, lines, clip, pen.tokens.iso),
  );
  root.append(drawCentre(pen, layout), drawCoast(pen, layout, map.land));
  const drawn = drawnInFigure(map.sd.length);
  const dots = map.individualLevel === "places";
  const some = dots && drawn.length < map.sd.length;
  if (some) root.append(drawDensity(pen, layout, map.places, null, map.box));
  const marks = dots ? drawDots(pen, layout, map, drawn) : drawDiscs(pen, layout, map);
  const groups = map.groups.map((group) => ({ ...group, name: capital(group.name) }));
  const pills = dots ? placePills(layout, { ...map, drawn, groups }) : [];
  const labels = lines.map((rings, k) => ({ words: levelText(value.levels[k], value.decimals), rings }));
  root.append(
    marks.group,
    drawLineLabels(pen, layout, placeLineLabels(layout, map.land, labels, pillBoxes(layout, pills), marks.spots)),
    drawPills(pen, layout, pills),
  );

  // Legend: scale bar beside the note on axes, terrain, marks, groups.
  let y = drawAxes(pen, root, layout, map) + 22;
  if (value.levels.length > 0) {
    const used = drawRamp(pen, root, 0, y, value.title, value.levels, pen.tokens.land, rampEnds(value));
    y = dots
      ? drawKey(pen, root, y + 20, [
          dotKey(pen, "certain place", { fill: ink }),
          dotKey(pen, "uncertain place", { fill: ink, "fill-opacity": 0.35 }),
          dotKey(pen, "one visit", { fill: "none", stroke: ink }),
        ])
      : drawKey(pen, root, y, [hollowKey(pen, `fewer than ${map.smallCell} individuals`)], { left: used + 12 });
    if (hatched) {
      y = drawKey(pen, root, y + 20, [
        hatchKey(pen, "beyond what was seen: too few similar individuals followed so long"),
      ]);
    }
    if (some) {
      y += 20;
      drawDensityLegend(pen, root, y, densityNote(drawn.length, map.sd.length));
    }
    y += 22;
  }
  y = drawGroupLegend(pen, root, map, y);
  setHeight(pen, root, y + 4);
  return root;
}

/** Small curves, what they are, and the scale bar beside or beneath it; returns the y of the bar. */
export function drawAxes(pen: FigurePen, root: Element, layout: MapLayout, map: MapData): number {
  const rowY = layout.bottom + 12 + CARD.height / 2;
  const note = smallCurveNote(map.mapDimension, map.transform);
  const bar = scaleBar(layout);
  const beside = textWidth(note, 11) + textWidth(bar.words, 11) + bar.length + 24 <= pen.width;
  const noteY = rowY + CARD.height / 2 + 20;
  const y = beside ? noteY : noteY + 18;
  const at = { rowY, columnX: CARD.width / 2 + 1, left: 0, right: pen.width };
  root.append(
    drawSmallCurves(pen, layout, map.curves, map.transform, at),
    label(pen, note, 0, noteY + 4, { fill: pen.tokens.ink3 }),
    drawScaleBar(pen, layout, pen.width - 1, y),
  );
  return y;
}

/** Rank (order of the letters) of each group number. */
function ranksOf(map: Pick<MapData, "groups">): Map<number, number> {
  return new Map(map.groups.map(({ group }, rank) => [group, rank]));
}

/** Marks on the map, and the spots they take. */
interface Marks {
  readonly group: SVGElement;
  readonly spots: readonly Spot[];
}

function drawDiscs(pen: Pen, layout: MapLayout, map: MapData): Marks {
  const group = make(pen, "g");
  const spots: Spot[] = [];
  const ranks = ranksOf(map);
  const sizes = discSizes(
    map.cells.map(({ members }) => members.length),
    map.smallCell,
  );
  const most = Math.max(1, ...sizes.map((size) => size ?? 0));
  // Cells of a small cohort are wide; beyond 16 px a disc only hides the land.
  const largest = Math.min(16, 0.47 * map.spacing * layout.unit);
  for (const [k, { x, y, members }] of map.cells.entries()) {
    const [cx, cy] = [layout.x(x), layout.y(y)];
    const size = sizes[k];
    if (size === null) {
      group.append(make(pen, "circle", { cx, cy, r: 2.4, fill: "none", stroke: pen.tokens.ink3 }));
      spots.push({ x: cx, y: cy, r: 3 });
      continue;
    }
    const r = largest * Math.sqrt(size / most);
    const rank = commonRank(members, map, ranks);
    spots.push({ x: cx, y: cy, r });
    if (rank < 0) group.append(make(pen, "circle", { cx, cy, r, fill: pen.tokens.ink3 }));
    else if (r >= 7.5) group.append(badge(pen, rank, map.groups[rank].letter, cx, cy, r));
    else group.append(make(pen, "circle", { cx, cy, r, fill: groupStyle(pen.tokens, rank).colour }));
  }
  return { group, spots };
}

/**
 * The most common group among members, by rank; the first of equals, −1 without any. A group whose own size is held back gives no cell its colour: it would have a
 * share of it at least.
 */
function commonRank(members: readonly number[], map: MapData, ranks: ReadonlyMap<number, number>): number {
  const counts = new Array<number>(map.groups.length).fill(0);
  for (const i of members) {
    const rank = ranks.get(map.labels[i]);
    if (rank !== undefined && map.groups[rank].size >= map.smallCell) counts[rank]++;
  }
  const best = Math.max(0, ...counts);
  return best === 0 ? -1 : counts.indexOf(best);
}

/** On paper and without zoom a dot needs a third. */
const FAINTEST = 0.33;

function drawDots(pen: Pen, layout: MapLayout, map: MapData, drawn: Int32Array): Marks {
  const group = make(pen, "g");
  const ranks = ranksOf(map);
  const order = drawn.slice().sort((a, b) => map.sd[b] - map.sd[a] || a - b);
  const spots: Spot[] = [];
  for (const i of order) {
    const [cx, cy] = [layout.x(map.places[2 * i]), layout.y(map.places[2 * i + 1])];
    const rank = ranks.get(map.labels[i]);
    const colour = rank === undefined ? pen.tokens.ink2 : groupStyle(pen.tokens, rank).colour;
    const opacity = dotOpacity(map.sd[i], FAINTEST);
    const single = map.visits[i] === 1;
    group.append(
      make(pen, "circle", {
        cx,
        cy,
        r: single ? RING_RADIUS : dotRadius(opacity),
        ...(single
          ? { fill: "none", stroke: colour, "stroke-opacity": 0.8 }
          : { fill: colour, "fill-opacity": opacity }),
      }),
    );
    spots.push({ x: cx, y: cy, r: 2 });
  }
  return { group, spots };
}

/** Letters and names; returns the y below. */
function drawGroupLegend(pen: FigurePen, root: Element, { groups }: MapData, top: number): number {
  if (groups.length === 0) return top;
  const entries = groups.map(({ letter, name }, rank) => ({
    words: fitText(capital(name), 12, pen.width - 30),
    width: 16,
    draw: (x: number, y: number) => badge(pen, rank, letter, x + 8, y, 8),
  }));
  return drawKey(pen, root, top, entries, { fontSize: 12, rowHeight: 22 }) + 12;
}

/** Sets the height of a root that was drawn before it was known. */
export function setHeight(pen: FigurePen, root: SVGSVGElement, height: number): void {
  root.setAttribute("height", String(Math.ceil(height)));
  root.setAttribute("viewBox", `0 0 ${pen.width} ${Math.ceil(height)}`);
}
