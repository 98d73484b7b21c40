/** The bundled demonstration as a picture that answers the pointer: unpacked on the page itself, without its cohort. */
import type { Groups } from "@trajectory-maps/core";
import type { Fitted } from "../worker/api.ts";
import { unpackDemo } from "../worker/demo.ts";
import { packedDemo } from "./packed.ts";

export interface Miniature extends Pick<Fitted, "model" | "placements"> {
  readonly groups: Groups;
  /** What the three steps of the guide show: a dot, a place, a group. */
  readonly dot: number;
  readonly place: { readonly x: number; readonly y: number };
  readonly group: number;
}

/** Null where the page was built without the demonstration. */
export async function miniature(): Promise<Miniature | null> {
  const packed = await packedDemo();
  if (packed === null) return null;
  const { fitted, groups } = unpackDemo(packed);
  const { model, placements } = fitted;
  const q = placements.mapDimension;
  // The last group in order of letters ends lowest: its course is the easiest to see.
  const group = groups.groups.length - 1;
  const members = [...groups.labels.keys()].filter((i) => groups.labels[i] === group);
  const middle = (axis: number) => {
    const sorted = members.map((i) => placements.location[i * q + axis]).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  const dot = members.reduce((a, b) => (placements.numObservations[b] > placements.numObservations[a] ? b : a), 0);
  return { model, placements, groups, dot, place: { x: middle(0), y: middle(1) }, group };
}
