/**
 * Dots on a canvas, for cohorts too large for SVG where there is no WebGL. Every look (colour, certainty, ring) is drawn
 * once as a small picture and laid on the bytes of the canvas wherever it is needed.
 */
import { toPx, toPy } from "../viewport.ts";
import { type DotRenderer, type Dots, drawingOrder, lookOf } from "./dot-renderer.ts";
import { divideInto, type Look, layStamp, makeStamp, PHASES, type Stamp } from "./stamps.ts";

/** Steps of opacity that the eye can tell apart. */
const OPACITY_STEPS = 20;

/** A renderer on a 2-D canvas; `colourOf` gives a token's colour as [r, g, b] in 0–255. */
export function canvasDots(
  document: Document,
  colourOf: (token: string) => readonly [number, number, number],
): DotRenderer {
  const element = document.createElement("canvas");
  element.className = "tm-dots";
  element.setAttribute("aria-hidden", "true");
  // The processor writes every pixel: without a card there is nobody else to do it.
  const context = element.getContext("2d", { willReadFrequently: true });
  let dots: Dots | null = null;
  let order = new Int32Array(0);
  let looks: Look[] = [];
  let lookAt = new Uint16Array(0);
  /** Pictures of look k from position PHASES² k on, made when first needed. */
  let stamps: (Stamp | undefined)[] = [];
  let drawnRatio = 0;
  let bytes = new Uint8Array(0);
  let picture: ImageData | null = null;

  const ratioNow = () => document.defaultView?.devicePixelRatio ?? 1;
  const prepare = (next: Dots) => {
    drawnRatio = ratioNow();
    order = drawingOrder(next).slice();
    lookAt = new Uint16Array(order.length);
    looks = [];
    stamps = [];
    const known = new Map<number, number>();
    const palette = next.colours.swatches.map(({ token }) => colourOf(token));
    order.forEach((i, k) => {
      const { opacity, line } = lookOf(next, i);
      const step = Math.round(opacity * OPACITY_STEPS);
      const tenths = Math.round(next.style.radius[i] * 10);
      const position = next.colours.positions[i];
      const key = ((position * 3 + line) * (OPACITY_STEPS + 1) + step) * 1000 + tenths;
      let at = known.get(key);
      if (at === undefined) {
        at = looks.length;
        known.set(key, at);
        looks.push({
          colour: palette[position],
          opacity: step / OPACITY_STEPS,
          radius: (tenths / 10) * drawnRatio,
          line: line * drawnRatio,
        });
      }
      lookAt[k] = at;
    });
  };
  const stampOf = (look: number, phaseX: number, phaseY: number): Stamp => {
    const at = (look * PHASES + phaseY) * PHASES + phaseX;
    stamps[at] ??= makeStamp(looks[look], phaseX, phaseY);
    return stamps[at];
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
      if (width === 0 || height === 0) return;
      if (picture === null || element.width !== width || element.height !== height) {
        element.width = width;
        element.height = height;
        picture = context.createImageData(width, height);
        bytes = new Uint8Array(4 * width * height);
      }
      bytes.fill(0);
      const { places } = dots;
      for (let k = 0; k < order.length; k++) {
        // The middle of pixel n is at n + ½.
        const x = Math.round((toPx(viewport, places[2 * order[k]]) * ratio - 0.5) * PHASES);
        const y = Math.round((toPy(viewport, places[2 * order[k] + 1]) * ratio - 0.5) * PHASES);
        const [px, py] = [Math.floor(x / PHASES), Math.floor(y / PHASES)];
        layStamp(bytes, width, height, stampOf(lookAt[k], x - px * PHASES, y - py * PHASES), px, py);
      }
      divideInto(bytes, picture.data);
      context.putImageData(picture, 0, 0);
    },
    destroy: () => element.remove(),
  };
}
