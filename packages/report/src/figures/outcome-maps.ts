/**
 * Maps of several models side by side, coloured by an outcome (Figure 3 of the paper). Places of the other models are
 * turned, mirrored, moved and scaled as a whole to lie as close as possible to those of the map (Procrustes); this
 * changes no distance ratio. Surface: share of cases, smoothed with a Gaussian of Scott's width h = n^(−1/6) sd,
 *   s(x) = Σ K_i c_i / Σ K_i,  effective number n(x) = (Σ K_i)² / Σ K_i²,
 * drawn on land where n(x) reaches the limit for small cells and hatched where its 95 % interval is wider than ±20 points.
 */
import { procrustes } from "@trajectory-maps/core";
import { percent, wilson } from "../numbers.ts";
import type { Numbers, StudyOutcome } from "../study.ts";
import { setHeight } from "./group-map.ts";
import { type Box, boxAround, type Grid, type Land, landOf, smoothPlaces, valueAt } from "./land.ts";
import {
  drawBands,
  drawCoast,
  drawLineLabels,
  drawLines,
  drawRamp,
  drawScaleBar,
  landClip,
  mapLayout,
} from "./map-base.ts";
import type { MapData } from "./map-data.ts";
import { type Canvas, fitText, label, make, makeRoot, type Pen, penOf, textWidth } from "./svg.ts";

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
  const box = boxAround(every, 0.3);
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
      ? box
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

/** Lines ten points apart, or twenty over a wide range: never finer, so that chance does not look like mountains. */
function shareLevels(low: number, high: number): number[] {
  const step = high - low > 0.65 ? 0.2 : 0.1;
  const levels: number[] = [];
  for (let k = Math.max(1, Math.floor(low / step)); k * step < Math.min(1, high + step / 2); k++) {
    levels.push(Math.round(100 * k * step) / 100);
  }
  return levels.slice(0, 6);
}

/** Colours of the bands: from the light end on, one step each. */
function shareRamp(pen: Pen, levels: readonly number[]): readonly string[] {
  return pen.tokens.sequential.slice(0, Math.max(2, levels.length + 1));
}

/** The box around all coasts. */
function landView(lands: readonly Land[], box: Box): Box {
  const points = lands.flatMap(({ coast }) => coast.flat());
  if (points.length === 0) return box;
  const pick = (axis: 0 | 1, choose: (...v: number[]) => number) =>
    points.reduce((best, point) => choose(best, point[axis]), points[0][axis]);
  return {
    x0: pick(0, Math.min) - 0.05,
    x1: pick(0, Math.max) + 0.05,
    y0: pick(1, Math.min) - 0.05,
    y1: pick(1, Math.max) + 0.05,
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

/** Smoothed share of cases and effective number of individuals. */
function shareSurface(places: Float64Array, known: readonly number[], labels: Numbers, box: Box) {
  const n = Math.max(2, known.length);
  let variance = 0;
  for (const axis of [0, 1]) {
    const mean = known.reduce((s, i) => s + places[2 * i + axis] / n, 0);
    variance += known.reduce((s, i) => s + (places[2 * i + axis] - mean) ** 2 / n, 0) / 2;
  }
  const h = Math.max(0.2, Math.sqrt(variance) * n ** (-1 / 6));
  const all = smoothPlaces(places, known, box, h);
  const cases = smoothPlaces(places, known, box, h, (i) => labels[i]);
  // K² of width h is a Gaussian of width h/√2 over 4πh².
  const squares = smoothPlaces(places, known, box, h / Math.SQRT2);
  const share = all.values.map((v, k) => (v > 0 ? cases.values[k] / v : 0));
  const individuals = all.values.map((v, k) => (v > 0 ? (v * v * 4 * Math.PI * h * h) / squares.values[k] : 0));
  return { share: { ...all, values: share }, individuals: { ...all, values: individuals } };
}

/** The panels as SVG. */
export function drawOutcomeMaps(maps: OutcomeMaps, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 1112);
  const gap = 26;
  const count = maps.panels.length;
  const panelWidth = Math.min(460, (pen.width - gap * (count - 1)) / count);
  const root = makeRoot(pen, 10);
  const places = maps.individualLevel === "places";
  if (!places) root.append(hatchPattern(pen));
  let bottom = 0;
  maps.panels.forEach((panel, k) => {
    const left = k * (panelWidth + gap);
    root.append(
      label(pen, fitText(panel.title, 13, panelWidth, true), left, 13, {
        "font-size": 13,
        "font-weight": 600,
        fill: pen.tokens.ink,
      }),
    );
    root.append(label(pen, fitText(panel.note, 12, panelWidth), left, 31, { "font-size": 12 }));
    const layout = mapLayout(maps.view, left, 44, panelWidth, panelWidth * 1.1);
    const clip = landClip(pen, root, layout, panel.land, `land-${k}`);
    if (places) {
      root.append(drawBands(pen, layout, panel.share, [], [pen.tokens.sunken], clip));
      root.append(drawCoast(pen, layout, panel.land), drawCases(pen, layout, panel, maps));
    } else {
      root.append(drawBands(pen, layout, panel.share, maps.levels, shareRamp(pen, maps.levels), clip));
      root.append(drawLines(pen, layout, panel.share, maps.levels, clip, pen.tokens.surface));
      root.append(drawDoubt(pen, layout, panel, maps, clip));
      root.append(drawCoast(pen, layout, panel.land));
      root.append(
        drawLineLabels(pen, layout, panel.land, { grid: panel.share, levels: maps.levels }, (v) => percent(v), []),
      );
    }
    bottom = Math.max(bottom, layout.bottom);
    if (k === count - 1) root.append(drawScaleBar(pen, layout, left + panelWidth - 1, layout.bottom + 16));
  });
  const y = bottom + 16;
  if (places) drawCaseLegend(pen, root, maps.outcome, y);
  else drawShareLegend(pen, root, maps, y);
  setHeight(pen, root, y + 10);
  return root;
}

function drawShareLegend(pen: Pen, root: Element, maps: OutcomeMaps, y: number): void {
  const { levels } = maps;
  if (levels.length === 0) return;
  const ends = [`under ${percent(levels[0])}`, `over ${percent(levels[levels.length - 1])}`] as const;
  const x = drawRamp(pen, root, 0, y, "share with the outcome", levels, shareRamp(pen, levels), ends) + 12;
  root.append(
    make(pen, "rect", {
      x,
      y: y - 6,
      width: 18,
      height: 12,
      fill: `url(#${pen.id("hatch")})`,
      stroke: pen.tokens.line2,
    }),
  );
  root.append(label(pen, "95% interval wider than ±20 points", x + 25, y + 4));
}

function drawCaseLegend(pen: Pen, root: Element, outcome: string, y: number): void {
  const name = fitText(outcome, 11, 240);
  root.append(
    make(pen, "circle", { cx: 4, cy: y, r: 3, fill: pen.tokens.group[5] }),
    label(pen, `with ${name}`, 13, y + 4),
  );
  const x = 13 + textWidth(`with ${name}`, 11) + 18;
  root.append(
    make(pen, "circle", { cx: x + 4, cy: y, r: 2.6, fill: "none", stroke: pen.tokens.ink3 }),
    label(pen, "without", x + 13, y + 4),
  );
}

/** Dots of single individuals: cases filled and on top, the others hollow. */
function drawCases(
  pen: Pen,
  layout: { x: (v: number) => number; y: (v: number) => number },
  panel: OutcomePanel,
  maps: OutcomeMaps,
) {
  const group = make(pen, "g");
  for (const label of [0, 1]) {
    for (let i = 0; i < maps.visits.length; i++) {
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

/** Hatching where the share is uncertain, and water where too few are near. */
function drawDoubt(
  pen: Pen,
  layout: ReturnType<typeof mapLayout>,
  panel: OutcomePanel,
  maps: OutcomeMaps,
  clip: string,
): SVGElement {
  const width = panel.share.values.map((s, k) => {
    const n = panel.individuals.values[k];
    if (n < maps.smallCell) return 1;
    const { lower, upper } = wilson(s * n, n);
    return (upper - lower) / 2;
  });
  const vague = drawBands(
    pen,
    layout,
    { ...panel.share, values: width },
    [0.2],
    ["none", `url(#${pen.id("hatch")})`],
    clip,
  );
  return vague;
}

function hatchPattern(pen: Pen): SVGElement {
  return make(
    pen,
    "pattern",
    { id: pen.id("hatch"), width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    make(pen, "line", {
      x1: 0,
      y1: 0,
      x2: 0,
      y2: 6,
      stroke: pen.tokens.ink,
      "stroke-opacity": 0.5,
      "stroke-width": 1.2,
    }),
  );
}
