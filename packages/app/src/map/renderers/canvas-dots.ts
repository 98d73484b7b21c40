/** Dots on a canvas, for cohorts too large for SVG where there is no WebGL. Dots of one look share a path. */
import { toPx, toPy } from "../viewport.ts";
import { type DotRenderer, type Dots, drawingOrder, lookOf } from "./dot-renderer.ts";

/** A renderer on a 2-D canvas; `colourOf` gives the colour of a token in the theme at hand. */
export function canvasDots(document: Document, colourOf: (token: string) => string): DotRenderer {
  const element = document.createElement("canvas");
  element.className = "tm-dots";
  element.setAttribute("aria-hidden", "true");
  const context = element.getContext("2d");
  let dots: Dots | null = null;
  let order = new Int32Array(0);
  let looks: string[] = [];
  let palette = new Map<string, string>();
  return {
    kind: "canvas",
    element,
    setDots(next) {
      dots = next;
      palette = new Map(next.colours.swatches.map(({ token }) => [token, colourOf(token)]));
      order = drawingOrder(next).slice();
      looks = Array.from(order, (i) => {
        const { opacity, ring } = lookOf(next, i);
        return `${next.colours.swatches[next.colours.positions[i]].token}|${ring ? 1 : 0}|${opacity.toFixed(2)}`;
      });
    },
    draw(viewport) {
      if (context === null || dots === null) return;
      const scale = element.ownerDocument.defaultView?.devicePixelRatio ?? 1;
      const [width, height] = [Math.round(viewport.width * scale), Math.round(viewport.height * scale)];
      if (element.width !== width || element.height !== height) {
        element.width = width;
        element.height = height;
      }
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.clearRect(0, 0, viewport.width, viewport.height);
      context.lineWidth = 1;
      const { places, style } = dots;
      let at = 0;
      // Neighbours in the order have nearly the same certainty: runs of one look are long.
      while (at < order.length) {
        const look = looks[at];
        const [token, ring, opacity] = look.split("|");
        context.globalAlpha = Number(opacity);
        context.fillStyle = palette.get(token) ?? "";
        context.strokeStyle = context.fillStyle;
        context.beginPath();
        for (; at < order.length && looks[at] === look; at++) {
          const i = order[at];
          const [x, y, r] = [toPx(viewport, places[2 * i]), toPy(viewport, places[2 * i + 1]), style.radius[i]];
          if (x < -8 || y < -8 || x > viewport.width + 8 || y > viewport.height + 8) continue;
          context.moveTo(x + r, y);
          context.arc(x, y, r, 0, 2 * Math.PI);
        }
        if (ring === "1") context.stroke();
        else context.fill();
      }
    },
    destroy: () => element.remove(),
  };
}
