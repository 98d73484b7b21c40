/** The map that is on the page, if there is one, for saving its picture. The map view registers it. */
import type { MapHandle } from "../map/types.ts";

let current: MapHandle | null = null;

export function registerMap(handle: MapHandle | null): void {
  current = handle;
}

/** The map as it stands as a file of SVG, or null if no map is shown. */
export function mapSvg(title: string, source: string): string | null {
  return current?.toSvg({ title, source }) ?? null;
}

/** The map as it stands as an element, for printing; null if no map is shown. */
export function mapPicture(title: string, source: string): Element | null {
  const text = mapSvg(title, source);
  if (text === null) return null;
  const { documentElement } = new DOMParser().parseFromString(text, "image/svg+xml");
  documentElement.removeAttribute("width");
  documentElement.removeAttribute("height");
  return document.importNode(documentElement, true);
}
