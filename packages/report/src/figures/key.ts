/** Keys of figures: small drawings, each with its words, as many in a row as fit. */
import { type Attributes, type FigurePen, label, make, type Pen, shorten, textWidth } from "./svg.ts";

export interface KeyEntry {
  readonly words: string;
  /** px of the drawing. */
  readonly width: number;
  /** Draws to the right of x, around the height y. */
  readonly draw: (x: number, y: number) => SVGElement;
}

interface KeyOptions {
  /** Where the first row begins; the others begin at 0. */
  readonly left?: number;
  readonly fontSize?: number;
  readonly rowHeight?: number;
}

/** Draws the entries; returns the height of the last row's middle. */
export function drawKey(
  pen: FigurePen,
  root: Element,
  top: number,
  entries: readonly KeyEntry[],
  { left = 0, fontSize = 11, rowHeight = 20 }: KeyOptions = {},
): number {
  let [x, y] = [left, top];
  for (const { words, width, draw } of entries) {
    const room = width + 6 + textWidth(words, fontSize);
    if (x > 0 && x + room > pen.width) [x, y] = [0, y + rowHeight];
    root.append(draw(x, y), label(pen, words, x + width + 6, y + 0.36 * fontSize, { "font-size": fontSize }));
    x += room + 16;
  }
  return y;
}

/** A dot with its words. */
export function dotKey(pen: Pen, words: string, look: Attributes): KeyEntry {
  return { words, width: 8, draw: (x, y) => make(pen, "circle", { cx: x + 4, cy: y, r: 3, ...look }) };
}

/** A piece of a line with its words. */
export function lineKey(pen: Pen, words: string, look: Attributes): KeyEntry {
  const d = (x: number, y: number) => `M${shorten(x)},${shorten(y)}h22`;
  return { words, width: 22, draw: (x, y) => make(pen, "path", { d: d(x, y), fill: "none", ...look }) };
}

/** A hatched box, in a figure that has the pattern of doubt. */
export function hatchKey(pen: Pen, words: string): KeyEntry {
  const look = { width: 18, height: 12, fill: `url(#${pen.id("hatch")})`, stroke: pen.tokens.line2 };
  return { words, width: 18, draw: (x, y) => make(pen, "rect", { x, y: y - 6, ...look }) };
}

/** A hollow dot: too few to be counted, or without the outcome. */
export function hollowKey(pen: Pen, words: string): KeyEntry {
  return dotKey(pen, words, { r: 2.6, fill: "none", stroke: pen.tokens.ink3 });
}
