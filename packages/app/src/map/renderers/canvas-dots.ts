/**
 * Dots on a canvas, for cohorts too large for SVG where there is no WebGL. Every look (colour, certainty, ring) is drawn
 * once as a small picture and stamped wherever it is needed, which is faster than a circle each.
 */
import { toPx, toPy } from "../viewport.ts";
import { type DotRenderer, type Dots, drawingOrder, lookOf } from "./dot-renderer.ts";

/** Half a picture's side in px. */
const HALF = 5;
/** Steps of opacity that the eye can tell apart. */
const OPACITY_STEPS = 20;

/** A renderer on a 2-D canvas; `colourOf` gives the colour of a token in the theme at hand. */
export function canvasDots(document: Document, colourOf: (token: string) => string): DotRenderer {
  const element = document.createElement("canvas");
  element.className = "tm-dots";
  element.setAttribute("aria-hidden", "true");
  // Small pictures by the thousand are the processor's work: without a card there is nobody else to do it.
  const context = element.getContext("2d", { willReadFrequently: true });
  let dots: Dots | null = null;
  let order = new Int32Array(0);
  let stamps: HTMLCanvasElement[] = [];
  let stampOf = new Uint16Array(0);
  let drawnRatio = 0;

  const ratioNow = () => document.defaultView?.devicePixelRatio ?? 1;
  const prepare = (next: Dots) => {
    drawnRatio = ratioNow();
    order = drawingOrder(next).slice();
    stampOf = new Uint16Array(order.length);
    stamps = [];
    const known = new Map<string, number>();
    const palette = next.colours.swatches.map(({ token }) => colourOf(token));
    order.forEach((i, k) => {
      const { opacity, ring } = lookOf(next, i);
      const step = Math.round(opacity * OPACITY_STEPS);
      const radius = Math.round(next.style.radius[i] * 10) / 10;
      const position = next.colours.positions[i];
      const key = `${position} ${ring ? 1 : 0} ${step} ${radius}`;
      let at = known.get(key);
      if (at === undefined) {
        at = stamps.length;
        known.set(key, at);
        stamps.push(makeStamp(document, palette[position], step / OPACITY_STEPS, radius, ring, drawnRatio));
      }
      stampOf[k] = at;
    });
  };
  return {
    kind: "canvas",
    element,
    setDots(next) {
      dots = next;
      prepare(next);
    },
    draw(viewport) {
      if (context === null || dots === null) return;
      const ratio = ratioNow();
      if (ratio !== drawnRatio) prepare(dots);
      const [width, height] = [Math.round(viewport.width * ratio), Math.round(viewport.height * ratio)];
      if (element.width !== width || element.height !== height) {
        element.width = width;
        element.height = height;
      }
      context.clearRect(0, 0, width, height);
      const { places } = dots;
      for (let k = 0; k < order.length; k++) {
        const x = toPx(viewport, places[2 * order[k]]);
        const y = toPy(viewport, places[2 * order[k] + 1]);
        if (x < -HALF || y < -HALF || x > viewport.width + HALF || y > viewport.height + HALF) continue;
        context.drawImage(stamps[stampOf[k]], (x - HALF) * ratio, (y - HALF) * ratio);
      }
    },
    destroy: () => element.remove(),
  };
}

/** A dot or ring in the middle of a small canvas. */
function makeStamp(
  document: Document,
  colour: string,
  opacity: number,
  radius: number,
  ring: boolean,
  ratio: number,
): HTMLCanvasElement {
  const stamp = document.createElement("canvas");
  stamp.width = Math.ceil(2 * HALF * ratio);
  stamp.height = stamp.width;
  // In the same memory as the canvas they are stamped on.
  const pen = stamp.getContext("2d", { willReadFrequently: true });
  if (pen === null) return stamp;
  pen.scale(ratio, ratio);
  pen.globalAlpha = opacity;
  pen.fillStyle = colour;
  pen.strokeStyle = colour;
  pen.beginPath();
  pen.arc(HALF, HALF, radius, 0, 2 * Math.PI);
  if (ring) pen.stroke();
  else pen.fill();
  return stamp;
}
