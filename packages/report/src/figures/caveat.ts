/** A map that should not be used says so on its drawing: the words of its verdict across it, and what carries hue in grey. */
import type { MapVerdict } from "@trajectory-maps/core";
import type { Figure } from "./figure.ts";
import { label, make, makeRoot, type Pen, penOf, placed, wrapText } from "./svg.ts";

/** What is written on a map, in the words of its verdict; null where it may be used. */
export function caveatOf({ colour, headline }: MapVerdict): string | null {
  return colour === "grey" ? headline : null;
}

const FONT = 12;
const LINE = 17;
const INSET = 10;

/** The words in a box of the given width, and how high it is. */
export function drawCaveat(
  pen: Pen,
  words: string,
  x: number,
  y: number,
  width: number,
): { readonly group: SVGElement; readonly height: number } {
  const lines = wrapText(words, FONT, width - 2 * INSET, true);
  const height = LINE * lines.length + INSET + 4;
  const box = { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 5 };
  const group = make(
    pen,
    "g",
    { "data-caveat": "" },
    make(pen, "rect", { ...box, fill: pen.tokens.badSoft, stroke: pen.tokens.badLine }),
    ...lines.map((line, k) =>
      label(pen, line, x + INSET, y + INSET + 8 + LINE * k, {
        fill: pen.tokens.bad,
        "font-size": FONT,
        "font-weight": 600,
      }),
    ),
  );
  return { group, height };
}

/** A figure of a map under its caveat; without one as it is. */
export function withCaveat(figure: Figure, caveat: string | null): Figure {
  if (caveat === null) return figure;
  return {
    ...figure,
    summary: `${caveat} ${figure.summary}`,
    draw: (canvas) => {
      const pen = penOf(canvas, figure.width);
      const drawing = figure.draw({ ...canvas, grey: true });
      const { group, height } = drawCaveat(pen, caveat, 0, 0, pen.width);
      const top = height + 12;
      return makeRoot(pen, top + Number(drawing.getAttribute("height")), group, placed(drawing, 0, top));
    },
  };
}
