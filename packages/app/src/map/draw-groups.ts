/** Names of groups on the map: where they go, which are shown beside what is open, and which is under the pointer. */
import { capital, PILL_FONT, type Pill, type PxBox, pillBox, placePills } from "@trajectory-maps/report";
import { pillsShown } from "./legend.ts";
import { plain } from "./pen.ts";
import type { Scene } from "./scene.ts";
import { homeWindow, layoutOf, type Viewport, viewportOf } from "./viewport.ts";

/**
 * The pills of a scene, placed where the whole map is shown. They stay at these places when it moves. `nameWidth` measures
 * names where the font is known.
 */
export function scenePills(scene: Scene, { width, height }: Viewport, nameWidth?: (words: string) => number): Pill[] {
  const { groups } = scene.options;
  if (!groups || !pillsShown(scene)) return [];
  return placePills(layoutOf(viewportOf(width, height, scene.box, homeWindow(scene.box))), {
    places: scene.places,
    labels: groups.labels,
    drawn: scene.style.order,
    ...(nameWidth !== undefined && { nameWidth }),
    groups: groups.groups.map(({ letter, name }, group) => ({
      group,
      letter: plain(letter),
      name: plain(capital(name)),
    })),
  });
}

/** The pills that cover none of the boxes: what is open is read first, and its group is named beside the map. */
export function pillsBeside(pills: readonly Pill[], viewport: Viewport, boxes: readonly PxBox[]): readonly Pill[] {
  return pills.filter((pill) => {
    const own = pillBox(layoutOf(viewport), pill);
    return !boxes.some(
      ({ x, y, halfWidth, halfHeight }) =>
        Math.abs(x - own.x) < halfWidth + own.halfWidth && Math.abs(y - own.y) < halfHeight + own.halfHeight,
    );
  });
}

/** The pill at a point in px, or null. */
export function pillAt(pills: readonly Pill[], viewport: Viewport, px: number, py: number): Pill | null {
  const hit = (pill: Pill) => {
    const { x, y, halfWidth, halfHeight } = pillBox(layoutOf(viewport), pill);
    return Math.abs(x - px) <= halfWidth && Math.abs(y - py) <= halfHeight;
  };
  return pills.find(hit) ?? null;
}

/** Measures names in the font of an element; undefined where there is nothing to measure with. */
export function nameWidthIn(element: Element): ((words: string) => number) | undefined {
  const context = element.ownerDocument.createElement("canvas").getContext("2d");
  if (context === null) return undefined;
  context.font = `${PILL_FONT} ${getComputedStyle(element).fontFamily}`;
  return (words) => Math.ceil(context.measureText(words).width);
}
