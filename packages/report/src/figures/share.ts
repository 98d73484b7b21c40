/**
 * A share over the map: bands, lines, and hatching where it is uncertain. Smoothed with a Gaussian of Scott's width
 * h = n^(−1/6) sd,
 *   s(x) = Σ K_i c_i / Σ K_i,  effective number n(x) = (Σ K_i)² / Σ K_i²,
 * hatched where the 95% interval is wider than ±20 points or n(x) is below the limit for small cells.
 */
import { percent, wilson } from "../numbers.ts";
import type { Numbers } from "../study.ts";
import { drawKey, hatchKey, type KeyEntry } from "./key.ts";
import { type Box, type Grid, type Land, levelRings, smoothPlaces } from "./land.ts";
import { drawLineLabels, placeLineLabels } from "./line-labels.ts";
import { drawBands, drawCoast, drawLines, drawRamp, type MapLayout } from "./map-base.ts";
import { type FigurePen, fitText, label, make, type Pen } from "./svg.ts";

/** A share and the effective number of individuals behind it, on one lattice. */
export interface ShareSurface {
  readonly share: Grid;
  readonly individuals: Grid;
}

/** Half-width of an interval from which on a share is hatched. */
const VAGUE = 0.2;

/** Lines ten points apart, or twenty over a wide range: never finer, so that chance does not look like mountains. */
export function shareLevels(low: number, high: number): number[] {
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
export function landView(lands: readonly Land[], box: Box): Box {
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

/** Smoothed share of cases and effective number of individuals. */
export function shareSurface(places: Float64Array, known: readonly number[], labels: Numbers, box: Box): ShareSurface {
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

/** Half-width of the pointwise 95% interval of a share (Wilson's, with the effective number); 1 where too few are near. */
export function halfWidths({ share, individuals }: ShareSurface, smallCell: number): Float64Array {
  return share.values.map((s, k) => {
    const n = individuals.values[k];
    if (!(n >= smallCell)) return 1;
    const { lower, upper } = wilson(s * n, n);
    return (upper - lower) / 2;
  });
}

/**
 * The surface with its lines, hatching where it is uncertain, coast and labels, in the order of drawing.
 * @param near the part of the land on which the share is drawn. Default all of it.
 */
export function drawShare(
  pen: Pen,
  layout: MapLayout,
  land: Land,
  surface: ShareSurface,
  levels: readonly number[],
  smallCell: number,
  clip: string,
  near?: { readonly clip: string; readonly land: Land },
): SVGElement[] {
  const { share } = surface;
  const lines = levelRings(share, levels);
  const doubt = levelRings({ ...share, values: halfWidths(surface, smallCell) }, [VAGUE]);
  const labels = lines.map((rings, k) => ({ words: percent(levels[k]), rings }));
  const shown = near?.clip ?? clip;
  const known = make(pen, "g", { "clip-path": clip });
  known.append(
    drawBands(pen, layout, lines, shareRamp(pen, levels), shown),
    drawLines(pen, layout, lines, shown, pen.tokens.surface),
  );
  return [
    drawBands(pen, layout, [], [pen.tokens.sunken], clip),
    known,
    drawBands(pen, layout, doubt, ["none", `url(#${pen.id("hatch")})`], clip),
    drawCoast(pen, layout, land),
    drawLineLabels(pen, layout, placeLineLabels(layout, near?.land ?? land, labels, [])),
  ];
}

/** The ramp of shares, the sign of doubt and what else there is; returns the middle of the last row. */
export function drawShareLegend(
  pen: FigurePen,
  root: Element,
  levels: readonly number[],
  top: number,
  more: readonly KeyEntry[] = [],
): number {
  if (levels.length === 0) return drawKey(pen, root, top, more);
  const ends = [`under ${percent(levels[0])}`, `over ${percent(levels[levels.length - 1])}`] as const;
  const left = drawRamp(pen, root, 0, top, "share with the outcome", levels, shareRamp(pen, levels), ends) + 12;
  return drawKey(pen, root, top, [hatchKey(pen, "95% interval wider than ±20 points"), ...more], { left });
}

/** Title and note above a panel. */
export function panelTitle(
  pen: Pen,
  { title, note }: { readonly title: string; readonly note: string },
  left: number,
  top: number,
  width: number,
): SVGElement[] {
  const bold = { "font-size": 13, "font-weight": 600, fill: pen.tokens.ink };
  return [
    label(pen, fitText(title, 13, width, true), left, top + 13, bold),
    label(pen, fitText(note, 12, width), left, top + 31, { "font-size": 12 }),
  ];
}

/** The pattern of doubt; once in each figure. */
export function hatchPattern(pen: Pen): SVGElement {
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
