/** From a row to the map: dots by the outcome and, on a plane, its share as terrain. */
import { explorer } from "../../state/explorer.svelte.ts";

export function showOutcome(outcome: string): void {
  const isFlat = explorer.fitted?.model.mapDimension === 2;
  explorer.show({ outcome, colour: `outcome:${outcome}`, ...(isFlat ? { terrain: "share" as const } : {}) });
  explorer.go("map");
}
