/** Whether a marker seems to end at 0 or at its highest value, so that it is asked before predictions go beyond. Pure, so that it can be tested. */
import type { CohortQuality } from "@trajectory-maps/core/ingest";

/** As near to 0 as this share of the range. */
const NEAR = 0.05;

/** No value is below 0, some are near it, and nothing was said of another end. A transform has its own. */
export function seemsToEndAtZero({ marker, values }: Pick<CohortQuality, "marker" | "values">): boolean {
  const [lowest, , , , highest] = values.quantiles;
  const said = marker.limits?.[0] ?? 0;
  return marker.transform === "identity" && said === 0 && lowest >= 0 && lowest <= NEAR * (highest - lowest);
}

/** A quarter of the values are the highest, as on a score from 0 to 3, and nothing was said of another end. */
export function seemsToEndAbove({ marker, values }: Pick<CohortQuality, "marker" | "values">): boolean {
  const [lowest, , , upper, highest] = values.quantiles;
  const said = marker.limits?.[1] ?? highest;
  return marker.transform === "identity" && said === highest && upper === highest && lowest < highest;
}
