/** Adjustment of p-values, apart from special.ts so that only association loads it. */
import padjust from "@stdlib/stats-padjust";

/** Adjusted p-values of one family in the order given. */
export function adjustFamily(pValues: readonly number[], method: "holm" | "bh"): readonly number[] {
  return padjust([...pValues], method);
}
