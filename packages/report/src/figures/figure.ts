/** A figure as the report and the exporter know it: a drawing with its words and the table of its numbers. */
import { FONT_STACK, type Theme } from "../theme.ts";
import { type Canvas, label, make, makeRoot, penOf, placed, serialize, wrapText } from "./svg.ts";

/** Numbers behind a figure, as text. */
export interface DataTable {
  readonly columns: readonly string[];
  /** Rows of cells; the first cell of a row is its heading. */
  readonly rows: readonly (readonly string[])[];
}

export interface Figure {
  /** Short name, unique in a report: also the file name of an export. */
  readonly key: string;
  readonly title: string;
  /** How to read it. */
  readonly caption: string;
  /** What it shows, in a sentence or two, for those who cannot see it. */
  readonly summary: string;
  readonly table: DataTable;
  /** Natural width in px. */
  readonly width: number;
  readonly draw: (canvas: Canvas) => SVGSVGElement;
}

export interface FigureExport {
  readonly document: Document;
  /** Default "light". */
  readonly theme?: Exclude<Theme, "page">;
  readonly width?: number;
  /** Line at the foot, e.g. name of the study and version. */
  readonly source?: string;
}

const MARGIN = 16;

/** A figure as a standalone SVG file: title, caption, drawing, source line; text stays text. */
export function figureToSvg(figure: Figure, options: FigureExport): string {
  const { document, theme = "light", source } = options;
  const inner = options.width === undefined ? figure.width : options.width - 2 * MARGIN;
  const drawing = figure.draw({ document, theme, width: inner, idPrefix: figure.key });
  const height = Number(drawing.getAttribute("height"));
  const pen = penOf({ document, theme, width: inner + 2 * MARGIN, idPrefix: figure.key }, inner);
  const lines = wrapText(figure.caption, 12, inner);
  const top = MARGIN + 20 + 17 * lines.length + 8;
  const total = top + height + (source === undefined ? 0 : 24) + MARGIN;
  const root = makeRoot(pen, total);
  root.setAttribute("role", "img");
  root.append(
    make(pen, "title", {}, figure.title),
    make(pen, "desc", {}, figure.summary),
    make(pen, "rect", { width: pen.width, height: Math.ceil(total), fill: pen.tokens.surface }),
    label(pen, figure.title, MARGIN, MARGIN + 13, { "font-size": 15, "font-weight": 600, fill: pen.tokens.ink }),
  );
  lines.forEach((line, k) => {
    root.append(label(pen, line, MARGIN, MARGIN + 33 + 17 * k, { "font-size": 12 }));
  });
  drawing.setAttribute("font-family", FONT_STACK);
  root.append(placed(drawing, MARGIN, top));
  if (source !== undefined) {
    root.append(label(pen, source, MARGIN, total - MARGIN + 2, { "font-size": 11, fill: pen.tokens.ink3 }));
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${serialize(root)}\n`;
}
