/**
 * Where on the map those with and without an outcome differ: the local share of cases, hatched where its own interval is
 * wide, and outlined where the difference of the two average posteriors leaves the band in which it would stay, everywhere
 * at once, without any relation. All panels share one scale; its steps are finer where shares are small.
 */
import type { StudyDifferenceMap } from "../study.ts";
import { setHeight } from "./group-map.ts";
import { lineKey } from "./key.ts";
import { type Box, contourAt, type Grid, gridOf, type Land, type Ring, valueAt } from "./land.ts";
import { landClip, type MapLayout, mapLayout, ringPath } from "./map-base.ts";
import type { MapData } from "./map-data.ts";
import { drawScaleBar } from "./map-frame.ts";
import { drawShare, drawShareLegend, hatchPattern, landView, panelTitle, type ShareSurface } from "./share.ts";
import { type Canvas, make, makeRoot, type Pen, penOf } from "./svg.ts";

/** One outcome's panel; grids lie over the box of the map. */
export interface DifferencePanel extends ShareSurface {
  readonly title: string;
  readonly note: string;
  /** Difference minus the half-width of the band, and the same of its negative: positive where it leaves the band. */
  readonly above: Grid;
  readonly below: Grid;
}

/** What a panel is drawn on. */
export type Ground = Pick<MapData, "land" | "box" | "smallCell">;

/** Seven colours, six lines. */
const SHARE_LEVELS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8];
const STEP = 0.06;
const ASPECT = 0.86;
/** Individuals near a point for a share to be drawn there. */
const FEWEST = 10;
/** Smallest coloured part, in squared prior sd. */
const SPECK = 0.03;

/** Grids over the map from the surface's own lattice. */
export function differencePanel(title: string, note: string, map: StudyDifferenceMap, box: Box): DifferencePanel {
  const [xs, ys] = map.axes;
  const [nx, ny] = [xs.length, ys.length];
  const own = { x0: xs[0], x1: xs[nx - 1], y0: ys[0], y1: ys[ny - 1] };
  // First axis slowest there, rows by y here.
  const turned = (f: (c: number) => number): Grid => {
    const values = new Float64Array(nx * ny);
    for (let a = 0; a < nx; a++) for (let b = 0; b < ny; b++) values[b * nx + a] = f(a * ny + b);
    return { box: own, nx, ny, values };
  };
  const clamped = (grid: Grid) =>
    gridOf(box, STEP, (x, y) =>
      valueAt(grid, Math.min(Math.max(x, own.x0), own.x1), Math.min(Math.max(y, own.y0), own.y1)),
    );
  // Read back from JSON, a map has null where nothing is said; arithmetic would take it for 0.
  const number = (v: number | null) => v ?? Number.NaN;
  const excess = (sign: number) =>
    clamped(filled(turned((c) => sign * number(map.difference[c]) - number(map.halfWidth[c]))));
  return {
    title,
    note,
    share: clamped(filled(turned((c) => number(map.share[c])))),
    individuals: clamped(turned((c) => number(map.individuals[c]) || 0)),
    above: excess(1),
    below: excess(-1),
  };
}

/** Open points, which are not drawn, take the mean of their neighbours, so that no line runs along their border. */
function filled(grid: Grid): Grid {
  const { nx, ny } = grid;
  let values = grid.values.slice();
  if (!values.some((v) => Number.isFinite(v))) return { ...grid, values: values.fill(0) };
  while (values.some((v) => !Number.isFinite(v))) {
    const next = values.slice();
    for (let r = 0; r < ny; r++) {
      for (let c = 0; c < nx; c++) {
        if (Number.isFinite(values[r * nx + c])) continue;
        let sum = 0;
        let count = 0;
        for (const [dr, dc] of [
          [-1, 0],
          [1, 0],
          [0, -1],
          [0, 1],
        ]) {
          const [a, b] = [r + dr, c + dc];
          if (a < 0 || b < 0 || a >= ny || b >= nx || !Number.isFinite(values[a * nx + b])) continue;
          sum += values[a * nx + b];
          count++;
        }
        if (count > 0) next[r * nx + c] = sum / count;
      }
    }
    values = next;
  }
  return { ...grid, values };
}

/** Panels, three in a row on a wide canvas. */
export function drawDifferenceMaps(panels: readonly DifferencePanel[], map: MapData, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 1112);
  const gap = 26;
  const columns = pen.width >= 900 ? 3 : pen.width >= 520 ? 2 : 1;
  const width = (pen.width - gap * (columns - 1)) / columns;
  const root = makeRoot(pen, 10, hatchPattern(pen));
  const view = landView([map.land], map.box);
  let [y, bottom] = [0, 0];
  panels.forEach((panel, k) => {
    const left = (k % columns) * (width + gap);
    if (k > 0 && k % columns === 0) y = bottom + 26;
    root.append(...panelTitle(pen, panel, left, y, width));
    const layout = mapLayout(view, left, y + 44, width, width * ASPECT);
    drawPanel(pen, root, panel, map, layout, String(k));
    bottom = Math.max(bottom, layout.bottom);
    if (k === panels.length - 1) root.append(drawScaleBar(pen, layout, left + width - 1, bottom + 16));
  });
  const below = drawShareLegend(pen, root, SHARE_LEVELS, bottom + 40, [
    lineKey(pen, "more than without any relation", outline(pen, undefined)),
    lineKey(pen, "fewer", outline(pen, "5 3")),
  ]);
  setHeight(pen, root, below + 12);
  return root;
}

/** One outcome alone and small, without words: share and outlines. */
export function drawDifferenceThumb(map: StudyDifferenceMap, ground: Ground, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 160);
  const root = makeRoot(pen, 10, hatchPattern(pen));
  const layout = mapLayout(landView([ground.land], ground.box), 0, 0, pen.width, pen.width * ASPECT);
  drawPanel(pen, root, differencePanel("", "", map, ground.box), ground, layout, "thumb", false);
  setHeight(pen, root, layout.bottom);
  return root;
}

/** Share, hatching and outlines of a panel on the land. */
function drawPanel(
  pen: Pen,
  root: SVGElement,
  panel: DifferencePanel,
  ground: Ground,
  layout: MapLayout,
  key: string,
  labelled = true,
): void {
  const { land, smallCell } = ground;
  const clip = landClip(pen, root, layout, land, `land-${key}`);
  // No colour where too few are near: a share of few would give them away, and says little.
  const near = nearLand(ground, panel, Math.max(smallCell, FEWEST));
  const shown = landClip(pen, root, layout, near, `near-${key}`);
  const share = drawShare(pen, layout, land, panel, SHARE_LEVELS, smallCell, clip, { clip: shown, land: near });
  root.append(...(labelled ? share : share.slice(0, -1)));
  for (const [grid, dashes] of [
    [panel.above, undefined],
    [panel.below, "5 3"],
  ] as const) {
    const d = ringPath(layout, contourAt(grid, 0).flat());
    if (d !== "") root.append(make(pen, "path", { d, "clip-path": shown, ...outline(pen, dashes) }));
  }
}

/** The part of the land with enough individuals around: both ratios to their limits are 1 or more. */
function nearLand(map: Ground, panel: DifferencePanel, fewest: number): Land {
  const { density, level } = map.land;
  const { individuals } = panel;
  const ratio = gridOf(map.box, STEP, (x, y) =>
    Math.min(valueAt(density, x, y) / level, valueAt(individuals, x, y) / fewest),
  );
  // Specks say nothing and draw the eye.
  const parts = contourAt(ratio, 1).filter(([outer]) => ringArea(outer) >= SPECK);
  return { density: ratio, level: 1, coast: parts.flat() };
}

function ringArea(ring: Ring): number {
  const twice = ring.reduce((sum, [x, y], k) => {
    const [u, v] = ring[(k + 1) % ring.length];
    return sum + x * v - u * y;
  }, 0);
  return Math.abs(twice) / 2;
}

const outline = (pen: Pen, dashes: string | undefined) => ({
  fill: "none",
  stroke: pen.tokens.ink,
  "stroke-width": 1.7,
  "stroke-dasharray": dashes,
});
