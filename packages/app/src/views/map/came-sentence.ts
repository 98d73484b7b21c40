/** What came next for the people like somebody, in words. */
import type { CameNext } from "@trajectory-maps/core/study";
import { counted } from "@trajectory-maps/report";
import type { MarkerWords } from "./words.ts";

export interface Came extends CameNext {
  readonly people: readonly unknown[];
  readonly from: number;
  readonly to: number;
  readonly threshold: number;
  readonly direction: "up" | "down";
}

/** Whether nobody was followed to the end is said first: none of none beyond a threshold would read as a good sign. */
export function cameSentence(
  { people, followed, crossed, from, to, threshold, direction, later }: Came,
  words: MarkerWords,
): string {
  if (to <= from) return `Known at ${words.when(from)}, where the map ends.`;
  const beyond = `${direction === "up" ? "above" : "below"} ${words.exact(threshold)}`;
  const these = counted(people.length, "person").replace("persons", "people");
  const lines = later.some(({ times }) => times.length > 0)
    ? " Their later values are the thin lines under the forecast."
    : "";
  const known = `By what was known of everybody at ${words.when(from)}.`;
  if (followed === 0) {
    const some = crossed === 0 ? "" : ` ${crossed} had a value ${beyond} before they were last measured.`;
    return `${known} Nobody of these ${these} was measured at ${words.when(to)} or later: they do not say how many come to be ${beyond} by then.${some}${lines}`;
  }
  return (
    `${known} Of these ${these}, ${followed} ${followed === 1 ? "was" : "were"} still measured at ${words.when(to)} or later; ` +
    `${crossed} had a value ${beyond} by then.${lines}`
  );
}
