/** When a course crosses a threshold, as a line of the facts: in words, an estimate and its interval. */
import type { Crossing } from "@trajectory-maps/core/models";
import { percentChance } from "@trajectory-maps/report";
import { isNear } from "../../patient/patient-words.ts";
import type { MarkerWords } from "./words.ts";

export interface CrossingFact {
  readonly title: string;
  readonly estimate: string;
  readonly interval: string;
}

/** The line, up to a time; of a course that may be beyond already only how likely that is, for no time of a crossing would be true. */
export function crossingFact(crossing: Crossing, words: MarkerWords, until: number = words.last): CrossingFact {
  const { direction, threshold, from, probabilityAlready, quantiles } = crossing;
  if (isNear(crossing)) {
    const side = direction === "up" ? "Above" : "Below";
    const title = `${side} ${words.exact(threshold)} already at ${words.when(from)}`;
    return { title, estimate: percentChance(probabilityAlready), interval: "" };
  }
  /** Null is later than the last time that is told. */
  const time = (probability: number) => {
    const at = quantiles.find((q) => q.probability === probability)?.time ?? null;
    return at !== null && at <= until ? at : null;
  };
  const [early, middle, late] = [time(0.05), time(0.5), time(0.95)];
  return {
    title: `${direction === "up" ? "Rises above" : "Falls below"} ${words.exact(threshold)} in ${words.timeWord}`,
    estimate: middle === null ? `after ${words.time(until)}` : words.time(middle),
    interval: early === null ? "" : `${words.time(early)} to ${late === null ? "later" : words.time(late)}`,
  };
}
