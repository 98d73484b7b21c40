/**
 * Where everyone is, as shading beneath the dots of a cohort too large to draw each (design §2.1): places counted in square
 * cells, smoothed once by [1 2 1] both ways, opacity by the root of the share of the fullest cell, so that thin regions
 * show beside full ones. The picture is made when dots change; moving and zooming only move it.
 */
import type { Box } from "@trajectory-maps/report";
import { toPx, toPy, type Viewport } from "../viewport.ts";
import type { Dots } from "./dot-renderer.ts";

/** Cells along the longer side of the map. */
const CELLS = 200;
/** Opacity of the fullest cell. */
const DARKEST = 0.5;

/** Counts of places in square cells, smoothed; the first row is at the top. */
export interface DensityCells {
  readonly nx: number;
  readonly ny: number;
  readonly counts: Float32Array; // [ny,nx]
  readonly most: number;
}

/** Counts of all who do not fade, over the box of the map. */
export function densityCells({ places, faded }: Pick<Dots, "places" | "faded">, box: Box): DensityCells {
  const side = Math.max(box.x1 - box.x0, box.y1 - box.y0) / CELLS;
  const nx = Math.ceil((box.x1 - box.x0) / side);
  const ny = Math.ceil((box.y1 - box.y0) / side);
  const raw = new Float32Array(nx * ny);
  for (let i = 0; i < places.length / 2; i++) {
    if (faded !== null && faded[i] === 1) continue;
    const c = Math.floor((places[2 * i] - box.x0) / side);
    const r = Math.floor((box.y1 - places[2 * i + 1]) / side);
    if (c >= 0 && c < nx && r >= 0 && r < ny) raw[r * nx + c]++;
  }
  const counts = smooth(smooth(raw, nx, ny, 1, nx), nx, ny, nx, 1);
  let most = 0;
  for (const count of counts) most = Math.max(most, count);
  return { nx, ny, counts, most };
}

/** [1 2 1]/4 along cells `step` apart; `across` leads to the next line of them. Beyond the border nobody is counted. */
function smooth(from: Float32Array, nx: number, ny: number, step: number, across: number): Float32Array {
  const [length, lines] = step === 1 ? [nx, ny] : [ny, nx];
  const out = new Float32Array(from.length);
  for (let line = 0; line < lines; line++) {
    for (let k = 0; k < length; k++) {
      const at = line * across + k * step;
      const before = k > 0 ? from[at - step] : 0;
      const after = k + 1 < length ? from[at + step] : 0;
      out[at] = 0.25 * before + 0.5 * from[at] + 0.25 * after;
    }
  }
  return out;
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
  return {
    element,
    setDots(dots, around) {
      box = dots.style.order.length < dots.places.length / 2 ? around : null;
      element.style.display = box === null ? "none" : "block";
      if (box === null) return;
      const { nx, ny, counts, most } = densityCells(dots, box);
      element.width = nx;
      element.height = ny;
      const picture = new ImageData(nx, ny);
      const [r, g, b] = colourOf("ink-2");
      counts.forEach((count, k) => {
        picture.data.set([r, g, b, Math.round(255 * DARKEST * Math.sqrt(count / Math.max(most, 1)))], 4 * k);
      });
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
