/** Courses by covariate as small multiples: a panel per covariate and marker, a line per chosen value, one scale per marker. */
import * as Plot from "@observablehq/plot";
import type { CovariateCourses } from "../covariates.ts";
import { timeWord } from "../numbers.ts";
import { chart, timeAxis, valueAxis } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { drawKey, lineKey } from "./key.ts";
import { type Canvas, type FigurePen, fitText, label, make, makeRoot, penOf, placed } from "./svg.ts";

const HEIGHT = 168;
const TITLE = 22;
const GAP = 30;
/** From the reference or the lowest value on: also told apart without colour. */
const DASHES = [undefined, "7 3", "2 3", "9 3 2 3", "1 2", "12 4"];

/** All panels in one SVG, three in a row on a wide canvas. */
export function drawCovariateCourses(panels: readonly CovariateCourses[], canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 1112);
  const columns = Math.min(panels.length, pen.width >= 900 ? 3 : pen.width >= 560 ? 2 : 1);
  const width = Math.min((pen.width - GAP * (columns - 1)) / columns, 420);
  const root = makeRoot(pen, 10);
  let top = 0;
  for (let first = 0; first < panels.length; first += columns) {
    const row = panels.slice(first, first + columns);
    const heights = row.map((panel, k) => {
      const group = make(pen, "g", { transform: `translate(${k * (width + GAP)} ${top})` });
      root.append(group);
      const alike = panels.filter(({ marker }) => marker.name === panel.marker.name);
      return drawPanel({ ...pen, width }, group, panel, rangeOf(alike));
    });
    top += Math.max(...heights) + 18;
  }
  setHeight(pen, root, top - 10);
  return root;
}

function rangeOf(panels: readonly CovariateCourses[]): readonly [number, number] {
  const values = panels.flatMap(({ courses }) => courses.flatMap(({ median }) => Array.from(median)));
  return [Math.min(...values), Math.max(...values)];
}

/** Draws a panel; returns its height. */
function drawPanel(
  pen: FigurePen,
  panel: Element,
  { covariate, marker, times, courses }: CovariateCourses,
  [low, high]: readonly [number, number],
): number {
  const { tokens } = pen;
  const unit = marker.unit === "" ? "" : `, ${marker.unit}`;
  const title = { "font-size": 13, "font-weight": 600, fill: tokens.ink };
  panel.append(label(pen, fitText(covariate, 13, pen.width, true), 0, 12, title));
  const look = (k: number) => ({
    stroke: [tokens.ink, tokens.accent, tokens.warn, tokens.good, tokens.bad, tokens.ink3][k % 6],
    strokeDasharray: DASHES[k % DASHES.length],
  });
  const drawing = chart(pen, {
    height: HEIGHT,
    x: timeAxis(times[0], times[times.length - 1], timeWord(marker.timeUnit)),
    y: valueAxis(low, high, marker.transform),
    yTitle: `${marker.name}${unit}`,
    marginRight: 22,
    marks: courses.map(({ median }, k) =>
      Plot.line(
        Array.from(times, (t, j) => ({ t, m: median[j] })),
        { x: "t", y: "m", strokeWidth: 2, strokeLinejoin: "round", ...look(k) },
      ),
    ),
  });
  panel.append(placed(drawing, 0, TITLE));
  const entries = courses.map(({ words }, k) => {
    const { stroke, strokeDasharray } = look(k);
    return lineKey(pen, fitText(words, 11, pen.width - 30), {
      stroke,
      "stroke-width": 2,
      "stroke-dasharray": strokeDasharray,
    });
  });
  return drawKey(pen, panel, TITLE + HEIGHT + 12, entries) + 10;
}
