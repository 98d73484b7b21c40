/** Making SVG with a given document: elements, text and its width without a browser, and writing it out as a file. */
import { FONT_STACK, greyTokens, type Theme, type Tokens, tokensOf } from "../theme.ts";

const SVG = "http://www.w3.org/2000/svg";

/** Where and how a figure is drawn. */
export interface Canvas {
  readonly document: Document;
  /** Width in px; every figure has its own default. */
  readonly width?: number;
  /** Default "light". */
  readonly theme?: Theme;
  /** Whether what carries hue is drawn in grey. Default false. */
  readonly grey?: boolean;
  /** Put before the ids of clip paths and patterns, so that many figures can share a page. Default "figure". */
  readonly idPrefix?: string;
}

/** Where and in which colours something is drawn. */
export interface Pen {
  readonly document: Document;
  readonly tokens: Tokens;
  /** An id that nothing else of the page has. */
  readonly id: (name: string) => string;
}

/** A canvas with its choices made. */
export interface FigurePen extends Pen {
  readonly width: number;
}

export function penOf(canvas: Canvas, defaultWidth: number): FigurePen {
  const { document, width = defaultWidth, theme = "light", grey = false, idPrefix = "figure" } = canvas;
  const tokens = grey ? greyTokens(tokensOf(theme)) : tokensOf(theme);
  return { document, width, tokens, id: (name) => `${idPrefix}-${name}` };
}

export type Attributes = Readonly<Record<string, string | number | undefined>>;
type Child = Element | string | undefined;

/** An SVG element with attributes and children; undefined ones are left out. */
export function make(pen: Pen, name: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = pen.document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, typeof value === "number" ? shorten(value) : value);
  }
  for (const child of children) {
    if (child !== undefined) element.append(child);
  }
  return element;
}

/** The root of a figure: sized, with the type of the house. */
export function makeRoot(pen: FigurePen, height: number, ...children: Child[]): SVGSVGElement {
  const root = make(pen, "svg", {
    xmlns: SVG,
    width: pen.width,
    height,
    viewBox: `0 0 ${shorten(pen.width)} ${shorten(height)}`,
    "font-family": FONT_STACK,
    "font-size": 11,
    style: "font-variant-numeric:tabular-nums",
  });
  for (const child of children) if (child !== undefined) root.append(child);
  return root as SVGSVGElement;
}

/** A drawing with its upper left corner moved there. */
export function placed(drawing: SVGSVGElement, x: number, y: number): SVGSVGElement {
  drawing.setAttribute("x", String(x));
  drawing.setAttribute("y", String(y));
  return drawing;
}

/** Text at a point. */
export function label(pen: Pen, text: string, x: number, y: number, attributes: Attributes = {}): SVGElement {
  return make(pen, "text", { x, y, fill: pen.tokens.ink2, ...attributes }, text);
}

/** Text with a halo of the surface's colour, so that it reads over dots and lines. */
export function haloText(pen: Pen, text: string, x: number, y: number, attributes: Attributes = {}): SVGElement {
  return label(pen, text, x, y, {
    fill: pen.tokens.ink,
    stroke: pen.tokens.surface,
    "stroke-width": 3.2,
    "stroke-linejoin": "round",
    "paint-order": "stroke",
    "font-size": 10.5,
    ...attributes,
  });
}

/** A coordinate with two decimals at most: small files, equal bytes. */
export function shorten(x: number): string {
  return String(Math.round(x * 100) / 100 + 0);
}

/** A path through points [x, y] pairs. */
export function pathOf(points: readonly (readonly [number, number])[], closed = false): string {
  if (points.length === 0) return "";
  return `M${points.map(([x, y]) => `${shorten(x)},${shorten(y)}`).join("L")}${closed ? "Z" : ""}`;
}

// Advance widths of Inter in thousandths of the size, from the space to the tilde; regular, then semibold.
const REGULAR =
  "281 288 466 633 642 982 644 300 365 365 501 662 288 460 288 360 631 407 610 618 646 593 620 566 619 620 288 302 662 662 662 511 966 690 654 730 722 601 590 746 743 269 571 672 565 903 753 765 639 765 644 642 646 744 690 985 682 679 629 365 360 365 471 456 323 562 612 571 612 583 370 613 591 242 242 549 242 876 591 600 612 612 376 528 327 591 562 818 546 562 552 426 333 426 662"
    .split(" ")
    .map(Number);
const SEMIBOLD =
  "252 321 523 644 650 1004 663 326 373 373 540 673 319 465 319 379 660 423 623 636 666 612 640 576 640 640 319 329 673 673 673 543 999 728 659 737 722 605 588 749 746 277 580 703 565 922 759 769 645 773 652 650 660 736 728 1020 720 713 652 373 379 373 481 469 351 574 624 583 624 591 389 625 612 262 262 569 262 900 612 609 624 624 397 549 353 612 587 839 569 588 566 455 359 455 673"
    .split(" ")
    .map(Number);
const OTHER = 680;
/** The widest fonts that may stand in for Inter (DejaVu Sans, Verdana) run this much wider, and their bold more so. */
const WIDEST = { regular: 1.12, semibold: 1.18 };

/** Room in px that a text may take in any font of the stack: layouts by it do not overlap where Inter is missing. */
export function textWidth(text: string, size: number, bold = false): number {
  const widths = bold ? SEMIBOLD : REGULAR;
  let sum = 0;
  for (const char of text) {
    const code = char.codePointAt(0)! - 32;
    // Figures are set in tables, one width for all.
    if (code >= 16 && code < 26) sum += 640;
    else sum += widths[code] ?? OTHER;
  }
  return (sum * size * (bold ? WIDEST.semibold : WIDEST.regular)) / 1000;
}

/** The text, or its beginning with an ellipsis, so that it fits. */
export function fitText(text: string, size: number, width: number, bold = false): string {
  if (textWidth(text, size, bold) <= width) return text;
  const chars = [...text];
  while (chars.length > 1 && textWidth(`${chars.join("")}…`, size, bold) > width) chars.pop();
  return `${chars.join("").trimEnd()}…`;
}

/** The text in lines no wider than asked for; a single long word may stick out. */
export function wrapText(text: string, size: number, width: number, bold = false): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines[lines.length - 1];
    if (last !== undefined && textWidth(`${last} ${word}`, size, bold) <= width) lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

const TEXT_ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Markup made harmless; control characters, which XML cannot hold, are dropped. */
export function escapeText(text: string): string {
  return [...text]
    .filter((c) => c >= " " || c === "\n" || c === "\t")
    .join("")
    .replace(/[&<>"]/g, (c) => TEXT_ESCAPES[c]);
}

/**
 * An element as well-formed text, the same in every DOM: attributes in their order, everything escaped. Labels that a
 * screen reader may not find on plain groups are dropped: the figure around the drawing speaks for it.
 */
export function serialize(element: Element): string {
  const name = element.localName ?? element.tagName;
  let attributes = "";
  for (const { name: key, value } of Array.from(element.attributes)) {
    if (key === "aria-label" || key === "aria-description" || key === "class") continue;
    attributes += ` ${key}="${escapeText(value)}"`;
  }
  let inside = "";
  for (const child of Array.from(element.childNodes)) {
    if (child.nodeType === 1) {
      if ((child as Element).localName !== "style") inside += serialize(child as Element);
    } else if (child.nodeType === 3) inside += escapeText(child.nodeValue ?? "");
  }
  return inside === "" ? `<${name}${attributes}/>` : `<${name}${attributes}>${inside}</${name}>`;
}
