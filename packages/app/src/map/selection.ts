/** Selections of individuals as ascending positions. */
import type { SelectMode } from "./types.ts";

/** A selection after replacing, adding or removing; null if nobody is left. */
export function combine(
  before: ArrayLike<number> | null | undefined,
  found: ArrayLike<number>,
  mode: SelectMode,
): Int32Array | null {
  const chosen = new Set(mode === "replace" ? [] : Array.from(before ?? []));
  for (let k = 0; k < found.length; k++) {
    if (mode === "remove") chosen.delete(found[k]);
    else chosen.add(found[k]);
  }
  return chosen.size === 0 ? null : Int32Array.from(chosen).sort();
}

/** 1 for everyone who is not selected, [m]; null if there is no selection. */
export function fadedBy(selection: ArrayLike<number> | null | undefined, m: number): Uint8Array | null {
  if (!selection) return null;
  const faded = new Uint8Array(m).fill(1);
  for (let k = 0; k < selection.length; k++) faded[selection[k]] = 0;
  return faded;
}
