/** What tests read off the dots of a map. */
import type { Locator } from "playwright-core";

/** Number of dots that are not faded; those with one visit are rings. */
export function numSelected(dots: Locator): Promise<number> {
  const opacity = (all: (Element | SVGElement)[]) =>
    all.map((dot) => Number(dot.getAttribute("fill-opacity") ?? dot.getAttribute("stroke-opacity")));
  return dots.evaluateAll(opacity).then((found) => found.filter((own) => own > 0.1).length);
}
