/**
 * The flow of rows and individuals into the analyses as boxes: a column from the table to the map, with what was left out
 * beside it, and a row of analyses below.
 */
import { setHeight } from "./group-map.ts";
import { type Canvas, type FigurePen, label, make, makeRoot, penOf, wrapText } from "./svg.ts";

/** One box: its first line strong. */
export interface FlowBox {
  readonly title: string;
  readonly lines: readonly string[];
}

export interface Flow {
  /** From the table to the map; `aside` says what left the flow behind this box. */
  readonly steps: readonly (FlowBox & { readonly aside?: FlowBox })[];
  readonly analyses: readonly FlowBox[];
}

const PAD = 10;
const LINE = 16;
const GAP = 22;

/** Boxes and arrows as SVG. */
export function drawFlow({ steps, analyses }: Flow, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 760);
  const root = makeRoot(pen, 10);
  const main = Math.min(320, 0.44 * pen.width);
  const left = pen.width >= 640 ? (pen.width - main) / 2 - 60 : 0;
  const asideLeft = left + main + 44;
  let y = 1;
  steps.forEach((step, k) => {
    const height = drawBox(pen, root, step, left, y, main);
    const bottom = y + height;
    let next = bottom + GAP;
    if (step.aside !== undefined) {
      // What leaves does so on the way to the next box.
      const asideY = bottom + 8;
      const asideHeight = drawBox(pen, root, step.aside, asideLeft, asideY, Math.min(main, pen.width - asideLeft - 1));
      drawArrow(pen, root, left + main / 2, asideY + asideHeight / 2, asideLeft, asideY + asideHeight / 2);
      next = asideY + asideHeight + 8;
    }
    if (k < steps.length - 1) drawArrow(pen, root, left + main / 2, bottom, left + main / 2, next);
    y = k < steps.length - 1 ? next : bottom;
  });
  if (analyses.length > 0) {
    const columns = Math.min(analyses.length, Math.max(1, Math.floor((pen.width + 14) / 174)));
    const width = (pen.width - 14 * (columns - 1)) / columns;
    const bar = y + GAP / 2;
    const centre = (k: number) => (k % columns) * (width + 14) + width / 2;
    const line = { stroke: pen.tokens.iso, fill: "none", "stroke-width": 1.2 };
    const ends = [left + main / 2, centre(0), centre(columns - 1)];
    root.append(
      make(pen, "path", {
        d: `M${left + main / 2},${y}V${bar}M${Math.min(...ends)},${bar}H${Math.max(...ends)}`,
        ...line,
      }),
    );
    y = bar;
    for (let from = 0; from < analyses.length; from += columns) {
      const row = analyses.slice(from, from + columns);
      if (from === 0) for (const k of row.keys()) drawArrow(pen, root, centre(k), y, centre(k), y + GAP / 2 + 6);
      const top = y + (from === 0 ? GAP / 2 + 6 : 12);
      const height = Math.max(...row.map((box) => boxHeight(box, width)));
      for (const [k, box] of row.entries()) drawBox(pen, root, box, centre(k) - width / 2, top, width, height);
      y = top + height;
    }
  }
  setHeight(pen, root, y + 2);
  return root;
}

const titleLines = ({ title }: FlowBox, width: number) => wrapText(title, 12.5, width - 2 * PAD, true);
const textLines = ({ lines }: FlowBox, width: number) => lines.flatMap((line) => wrapText(line, 12, width - 2 * PAD));

function boxHeight(box: FlowBox, width: number): number {
  return LINE * (titleLines(box, width).length + textLines(box, width).length) + 2 * PAD - 2;
}

function drawBox(
  pen: FigurePen,
  root: Element,
  box: FlowBox,
  x: number,
  y: number,
  width: number,
  height = boxHeight(box, width),
): number {
  const { tokens } = pen;
  root.append(make(pen, "rect", { x, y, width, height, rx: 4, fill: tokens.sunken, stroke: tokens.line2 }));
  const titles = titleLines(box, width);
  [...titles, ...textLines(box, width)].forEach((line, k) => {
    const strong = k < titles.length;
    root.append(
      label(pen, line, x + PAD, y + PAD + 11 + LINE * k, {
        "font-size": strong ? 12.5 : 12,
        ...(strong ? { "font-weight": 600, fill: tokens.ink } : {}),
      }),
    );
  });
  return height;
}

/** A line with a head at its end, down or to the right. */
function drawArrow(pen: FigurePen, root: Element, x1: number, y1: number, x2: number, y2: number): void {
  const colour = pen.tokens.iso;
  const head =
    y2 > y1
      ? `M${x2 - 4},${y2 - 6}L${x2},${y2}L${x2 + 4},${y2 - 6}`
      : `M${x2 - 6},${y2 - 4}L${x2},${y2}L${x2 - 6},${y2 + 4}`;
  const d = `M${x1},${y1}L${x2},${y2}${head}`;
  root.append(make(pen, "path", { d, fill: "none", stroke: colour, "stroke-width": 1.2 }));
}
