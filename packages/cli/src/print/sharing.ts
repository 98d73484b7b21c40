/** Whether markers share a map, as a terminal shows it. */
import type { SharingVerdict } from "@trajectory-maps/core/study";
import { table } from "./table.ts";
import { line, percent, significant, whole } from "./words.ts";

/** The verdict in words, and a row for each marker. */
export function sharingPage({ sentences, markers, area }: SharingVerdict): string {
  const rows = markers.map((own) => [
    own.name,
    whole(own.numIndividuals),
    whole(own.numObservations),
    `${percent(own.varianceShare)} (${percent(own.singleShare)})`,
    own.tau === null ? "" : `${significant(own.tau)}${own.atCap ? ", at its cap" : ""}`,
    `${own.noiseRatio.toFixed(2)}${own.pays ? ", pays" : ""}`,
    `${significant(own.areaAlone)} (${significant(area)})`,
  ]);
  const header = ["Marker", "individuals", "values", "share (own map)", "tau", "noise ratio", "90% region (all)"];
  const note =
    "Share: of the variance between individuals that the map carries, in brackets on the marker's own map. Noise ratio: noise " +
    "variance over that on its own map. 90% region: median size for places by this marker alone, in brackets by all.";
  return [line("Sharing", sentences.join(" ")), "", table(header, rows), "", line("", note)].join("\n");
}
