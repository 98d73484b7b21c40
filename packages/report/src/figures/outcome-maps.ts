/**
 * Maps of several models side by side, coloured by an outcome (Figure 3 of the paper). Places of the other models are
 * turned, mirrored, moved and scaled as a whole to lie as close as possible to those of the map (Procrustes); this
 * changes no distance ratio. Surface: the smoothed share of cases (share.ts).
 */

import { procrustes } from "@trajectory-maps/core/models";
import type { Numbers, StudyOutcome } from "../study.ts";
import { midSentence, outcomeName } from "../words.ts";
import { densityNote, drawnInFigure } from "./density.ts";
import { setHeight } from "./group-map.ts";
import { dotKey, drawKey, hollowKey } from "./key.ts";
import { type Box, boxAround, type Grid, type Land, landOf, valueAt } from "./land.ts";
import {
  drawBands,
  drawCoast,
  drawDensity,
  drawDensityLegend,
  landClip,
  type MapLayout,
  mapLayout,
} from "./map-base.ts";
import { type MapData, SHORE } from "./map-data.ts";
import { drawScaleBar } from "./map-frame.ts";
import { drawShare, drawShareLegend, hatchPattern, landView, panelTitle, shareLevels, shareSurface } from "./share.ts";
import { type Canvas, fitText, make, makeRoot, type Pen, penOf } from "./svg.ts";

/** One model's panel. */
export interface OutcomePanel {
  readonly title: string;
  /** A line under the title, e.g. the effect size. */
  readonly note: string;
  readonly places: Float64Array; // [m,2], aligned
  readonly land: Land;
  readonly share: Grid;
  /** Effective number of individuals. */
  readonly individuals: Grid;
}

export interface OutcomeMaps {
  readonly outcome: string;
  readonly panels: readonly OutcomePanel[];
  readonly box: Box;
  readonly levels: readonly number[];
  readonly labels: Numbers;
  readonly visits: Numbers;
  readonly smallCell: number;
  readonly individualLevel: "none" | "places";
  /** Part of the box that is drawn: the land, or all places where they are drawn. */
  readonly view: Box;
  /** Smoothed share at the individuals' places, 10th, 50th and 90th percentile by panel. */
  readonly spread: readonly (readonly [number, number, number])[];
}

/** Prepares panels: the models in the order given, the map itself last. */
export function prepareOutcomeMaps(
  map: MapData,
  outcome: StudyOutcome,
  others: readonly { readonly title: string; readonly note: string; readonly places: Float64Array }[],
  own: { readonly title: string; readonly note: string },
): OutcomeMaps {
  const m = map.visits.length;
  const aligned = [
    ...others.map((other) => ({ ...other, places: alignPlaces(other.places, map.places, m) })),
    { ...own, places: map.places },
  ];
  const known: number[] = [];
  for (let i = 0; i < m; i++) if (outcome.labels[i] === 0 || outcome.labels[i] === 1) known.push(i);
  const every = new Float64Array(aligned.length * 2 * m);
  aligned.forEach(({ places }, k) => {
    every.set(places, k * 2 * m);
  });
  const box = boxAround(every, SHORE);
  const panels = aligned.map(({ title, note, places }) => ({
    title,
    note,
    places,
    land: landOf(places, map.visits, box),
    ...shareSurface(places, known, outcome.labels, box),
  }));
  const spread = panels.map(({ share, places }) => {
    const at = known.map((i) => valueAt(share, places[2 * i], places[2 * i + 1])).sort((a, b) => a - b);
    const pick = (p: number) => at[Math.round((at.length - 1) * p)];
    return [pick(0.1), pick(0.5), pick(0.9)] as const;
  });
  const overall = known.reduce((s, i) => s + outcome.labels[i], 0) / Math.max(1, known.length);
  const low = Math.min(overall, ...spread.map((s) => s[0]));
  const high = Math.max(overall, ...spread.map((s) => s[2]));
  const levels = shareLevels(low, high);
  const { visits, smallCell, individualLevel } = map;
  const view =
    individualLevel === "places"
      ? boxAround(
          every,
          0.12,
          panels.map(({ land }) => land),
        )
      : landView(
          panels.map(({ land }) => land),
          box,
        );
  return {
    outcome: outcome.name,
    panels,
    box,
    view,
    levels,
    labels: outcome.labels,
    visits,
    smallCell,
    individualLevel,
    spread,
  };
}

/** X turned, mirrored, moved and scaled to the spread of Y, as close to Y as possible. */
function alignPlaces(X: Float64Array, Y: Float64Array, m: number): Float64Array {
  const { rotation: R, fromCenter, toCenter } = procrustes(X, Y, m, 2);
  const spreadOf = (Z: Float64Array, center: Float64Array) => {
    let sum = 0;
    for (let k = 0; k < 2 * m; k++) sum += (Z[k] - center[k % 2]) ** 2;
    return Math.sqrt(sum);
  };
  const scale = spreadOf(Y, toCenter) / Math.max(spreadOf(X, fromCenter), 1e-12);
  const out = new Float64Array(2 * m);
  for (let i = 0; i < m; i++) {
    const [a, b] = [X[2 * i] - fromCenter[0], X[2 * i + 1] - fromCenter[1]];
    out[2 * i] = toCenter[0] + scale * (a * R[0] + b * R[2]);
    out[2 * i + 1] = toCenter[1] + scale * (a * R[1] + b * R[3]);
  }
  return out;
}

/** The panels as SVG. */
export function drawOutcomeMaps(maps: OutcomeMaps, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 1112);
  const gap = 26;
  const count = maps.panels.length;
  const panelWidth = Math.min(460, (pen.width - gap * (count - 1)) / count);
  const root = makeRoot(pen, 10);
  const places = maps.individualLevel === "places";
  const drawn = drawnInFigure(maps.visits.length, count);
  if (!places) root.append(hatchPattern(pen));
  let bottom = 0;
  maps.panels.forEach((panel, k) => {
    const left = k * (panelWidth + gap);
    root.append(...panelTitle(pen, panel, left, 0, panelWidth));
    const layout = mapLayout(maps.view, left, 44, panelWidth, panelWidth * 1.1);
    const clip = landClip(pen, root, layout, panel.land, `land-${k}`);
    if (places) {
      root.append(drawBands(pen, layout, [], [pen.tokens.sunken], clip));
      if (drawn.length < maps.visits.length) root.append(drawDensity(pen, layout, panel.places, null, maps.view));
      root.append(drawCoast(pen, layout, panel.land), drawCases(pen, layout, panel, maps, drawn));
    } else {
      root.append(...drawShare(pen, layout, panel.land, panel, maps.levels, maps.smallCell, clip));
    }
    bottom = Math.max(bottom, layout.bottom);
    if (k === count - 1) root.append(drawScaleBar(pen, layout, left + panelWidth - 1, layout.bottom + 16));
  });
  let y = bottom + 16;
  if (places) {
    const cases = dotKey(pen, `with ${fitText(midSentence(outcomeName(maps.outcome)), 11, 240)}`, {
      fill: pen.tokens.group[5],
    });
    drawKey(pen, root, y, [cases, hollowKey(pen, "without")]);
  } else drawShareLegend(pen, root, maps.levels, y);
  if (places && drawn.length < maps.visits.length) {
    y += 20;
    drawDensityLegend(pen, root, y, densityNote(drawn.length, maps.visits.length));
  }
  setHeight(pen, root, y + 10);
  return root;
}

/** Dots of single individuals: cases filled and on top, the others hollow. */
function drawCases(pen: Pen, layout: MapLayout, panel: OutcomePanel, maps: OutcomeMaps, drawn: Int32Array) {
  const group = make(pen, "g");
  const order = drawn.slice().sort();
  for (const label of [0, 1]) {
    for (const i of order) {
      if (maps.labels[i] !== label) continue;
      const [cx, cy] = [layout.x(panel.places[2 * i]), layout.y(panel.places[2 * i + 1])];
      const style =
        label === 1
          ? { r: 2.7, fill: pen.tokens.group[5], "fill-opacity": 0.85 }
          : { r: 2.2, fill: "none", stroke: pen.tokens.ink3, "stroke-opacity": 0.55 };
      group.append(make(pen, "circle", { cx, cy, ...style }));
    }
  }
  return group;
}
