/** Whether markers share a map, and models of several markers compared, as a terminal shows them. */
import { decimalsApart, type SeveralComparison, type SharingVerdict } from "@trajectory-maps/core/study";
import { SEVERAL_WORDS } from "@trajectory-maps/report";
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

const signed = (x: number, digits: number) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(digits)}`;
const withError = ({ mean, se }: { readonly mean: number; readonly se: number }, digits = 2) =>
  `${signed(mean, digits)} (${se.toFixed(digits)})`;

/** Joint log-likelihoods and their differences, then marker by marker. */
export function severalPage(comparison: SeveralComparison): string {
  const { models, differences, markers, folds, repeats, area, verdict, warnings } = comparison;
  const told = differences.map((own) => [
    `${SEVERAL_WORDS[own.model]} minus ${SEVERAL_WORDS[own.reference]}`,
    withError(own),
    `[${[own.lower, own.upper].map((x) => signed(x, decimalsApart([own.lower, own.upper], 0, 2))).join(", ")}]`,
    signed(own.trimmed, 2),
    percent(own.above),
  ]);
  const each = markers.map(({ marker, numFuture, forecast, fromOthers, coverage, areaAlone }) => [
    marker,
    whole(numFuture),
    withError(forecast.dtm, 3),
    withError(forecast.othersAdd, 3),
    withError(fromOthers.dtm),
    `${percent(coverage.p50)}, ${percent(coverage.p90)}`,
    significant(areaAlone),
  ]);
  const note =
    "Later values, after the median visit: log density per value by one map given all pasts, against the marker's own map; what the " +
    "pasts of the others add. From others: the marker predicted from the others alone, per individual. Hold: 50% and 90% intervals. " +
    `90% region: median size by this marker alone; by all ${significant(area)}.`;
  return [
    line(
      "Compared",
      `held-out log-likelihood of all markers, ${folds} folds${repeats > 1 ? `, ${repeats} times` : ""} (standard error)`,
    ),
    "",
    table(
      ["Model", "per individual"],
      models.map(({ model, perIndividual }) => [SEVERAL_WORDS[model] ?? model, perIndividual.toFixed(3)]),
    ),
    "",
    table(["Difference per individual", "mean", "95% CI", "5% trimmed", "above 0"], told),
    "",
    table(["Marker", "later", "one map", "others add", "from others", "hold", "90% region"], each),
    "",
    line("", note),
    "",
    line("Verdict", verdict),
    ...warnings.map(({ code, message }) => line("Warning", `${message} [${code}]`)),
  ].join("\n");
}
