/** Dots as SVG circles: sharp, exportable, in every browser. Moving is one transform; zooming moves every circle. */
import { make } from "@trajectory-maps/report";
import type { Pen } from "../pen.ts";
import { toPx, toPy, type Viewport } from "../viewport.ts";
import { type DotRenderer, type Dots, drawingOrder, lookOf } from "./dot-renderer.ts";

/** The circles of the dots, in px of the viewport. */
export function drawCircles(pen: Pen, dots: Dots, viewport: Viewport): SVGElement {
  const group = make(pen, "g");
  const colours = dots.colours.swatches.map(({ token }) => pen.colour(token));
  for (const i of drawingOrder(dots)) {
    const { opacity, line } = lookOf(dots, i);
    const colour = colours[dots.colours.positions[i]];
    const look =
      line > 0
        ? { fill: "none", stroke: colour, "stroke-width": line, "stroke-opacity": opacity }
        : { fill: colour, "fill-opacity": opacity };
    group.append(
      make(pen, "circle", {
        cx: toPx(viewport, dots.places[2 * i]),
        cy: toPy(viewport, dots.places[2 * i + 1]),
        r: dots.style.radius[i],
        ...look,
      }),
    );
  }
  return group;
}

/** A renderer that keeps one circle per dot. */
export function svgDots(pen: Pen): DotRenderer {
  const element = make(pen, "svg", { class: "tm-dots", "aria-hidden": "true" });
  let dots: Dots | null = null;
  let group: SVGElement | null = null;
  let drawn: Viewport | null = null;
  return {
    kind: "svg",
    element,
    setDots(next) {
      dots = next;
      drawn = null;
    },
    draw(viewport) {
      if (dots === null) return;
      if (drawn === null || group === null) {
        group = drawCircles(pen, dots, viewport);
        element.replaceChildren(group);
        element.style.transform = "";
        drawn = viewport;
      } else if (drawn.unit === viewport.unit) {
        const [dx, dy] = [viewport.originX - drawn.originX, viewport.originY - drawn.originY];
        element.style.transform = `translate(${dx}px,${dy}px)`;
      } else {
        element.style.transform = "";
        const order = drawingOrder(dots);
        for (let k = 0; k < order.length; k++) {
          const circle = group.childNodes[k] as SVGCircleElement;
          circle.setAttribute("cx", toPx(viewport, dots.places[2 * order[k]]).toFixed(2));
          circle.setAttribute("cy", toPy(viewport, dots.places[2 * order[k] + 1]).toFixed(2));
        }
        drawn = viewport;
      }
    },
    destroy: () => element.remove(),
  };
}
