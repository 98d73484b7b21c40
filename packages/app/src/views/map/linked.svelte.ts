/** The place under the pointer, in all maps of one set of places; null while it is on none. */
import type { MapPlace } from "../../map/types.ts";

class Linked {
  place: MapPlace | null = $state.raw(null);
  /** Whether a small map has the pointer: the large one then shows where it is. */
  fromSmall = $state(false);

  point(place: MapPlace | null, fromSmall: boolean): void {
    this.place = place === null ? null : { x: place.x, y: place.y };
    this.fromSmall = fromSmall && place !== null;
  }
}

export const linked = new Linked();
