/**
 * Shifts of places on the map: an arrow per covariate from the centre of the map to where people with it stand on average before anything
 * is measured, with the 95% ellipse of its tip and its name. The terrain is that of the group map.
 */
import type { EffectTables } from "@trajectory-maps/core/models";
import { drawArrows } from "./arrows.ts";
import type { MapData } from "./map-data.ts";
import type { Canvas } from "./svg.ts";
import { drawSurface } from "./terrain-map.ts";

/** The map with its arrows as SVG. */
export function drawShiftMap(map: MapData, shifts: EffectTables["shifts"], canvas: Canvas): SVGSVGElement {
  const look: Parameters<typeof drawSurface>[2] = {
    title: map.value.title,
    colours: ({ tokens }) => tokens.land,
    lines: ({ tokens }) => tokens.iso,
    over: (pen, layout) => drawArrows(pen, layout, shifts),
  };
  return drawSurface(map, map.value, look, canvas);
}
