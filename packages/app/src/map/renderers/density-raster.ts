/**
 * Where everyone is, as shading beneath the dots of a cohort too large to draw each (design §2.1): the cells of
 * `densityCells` as a picture, made when dots change; moving and zooming only move it.
 */
import { type Box, DARKEST, type DensityCells, densityCells } from "@trajectory-maps/report";
import { toPx, toPy, type Viewport } from "../viewport.ts";
import type { Dots } from "./dot-renderer.ts";

/** Cells along the longer side of the map. */
const CELLS = 200;

/** Counts of all who do not fade, over the box of the map. */
export function cellsOfDots({ places, faded }: Pick<Dots, "places" | "faded">, box: Box): DensityCells {
  return densityCells(places, faded, box, { cells: CELLS, passes: 1 });
}

export interface DensityRaster {
  readonly element: HTMLCanvasElement;
  /** Takes new dots; shading is there only while some of them are not drawn. */
  setDots(dots: Dots, box: Box): void;
  /** Puts the picture where the viewport wants it. */
  draw(viewport: Viewport): void;
}

/** The shading; `colourOf` gives a token's colour as [r, g, b] in 0–255. */
export function densityRaster(
  document: Document,
  colourOf: (token: string) => readonly [number, number, number],
): DensityRaster {
  const element = document.createElement("canvas");
  element.className = "tm-density";
  element.setAttribute("aria-hidden", "true");
  element.style.display = "none";
  let box: Box | null = null;
  /** What was counted last: another colour of the dots leaves it as it is. */
  let counted: { readonly dots: Dots; readonly box: Box; readonly cells: DensityCells } | null = null;
  const cellsOf = (dots: Dots, around: Box): DensityCells => {
    const same = counted?.box === around && counted.dots.places === dots.places && counted.dots.faded === dots.faded;
    if (counted === null || !same) counted = { dots, box: around, cells: cellsOfDots(dots, around) };
    return counted.cells;
  };
  return {
    element,
    setDots(dots, around) {
      box = dots.style.order.length < dots.places.length / 2 ? around : null;
      element.style.display = box === null ? "none" : "block";
      if (box === null) return;
      const { nx, ny, counts, most } = cellsOf(dots, box);
      element.width = nx;
      element.height = ny;
      const picture = new ImageData(nx, ny);
      const [r, g, b] = colourOf("ink-2");
      const { data } = picture;
      for (let k = 0; k < counts.length; k++) {
        data[4 * k] = r;
        data[4 * k + 1] = g;
        data[4 * k + 2] = b;
        data[4 * k + 3] = Math.round(255 * DARKEST * Math.sqrt(counts[k] / Math.max(most, 1)));
      }
      element.getContext("2d")?.putImageData(picture, 0, 0);
    },
    draw(viewport) {
      if (box === null) return;
      const { style, width, height } = element;
      const cell = (Math.max(box.x1 - box.x0, box.y1 - box.y0) / CELLS) * viewport.unit;
      style.width = `${width}px`;
      style.height = `${height}px`;
      style.transform = `translate(${toPx(viewport, box.x0)}px,${toPy(viewport, box.y1)}px) scale(${cell})`;
    },
  };
}
