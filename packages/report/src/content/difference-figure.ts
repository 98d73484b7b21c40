/** The figure of differences: one panel for each outcome related to the map. */

import { type DifferencePanel, differencePanel, drawDifferenceMaps } from "../figures/difference-maps.ts";
import type { Figure } from "../figures/figure.ts";
import { valueAt } from "../figures/land.ts";
import type { MapData } from "../figures/map-data.ts";
import { halfWidths } from "../figures/share.ts";
import { fixed, percent } from "../numbers.ts";
import { shareText } from "../small-cells.ts";
import { outcomeName } from "../words.ts";
import type { Context } from "./context.ts";

const MOST_PANELS = 6;

/** Outcomes below 0.05 after Holm, in the order of the table; none without any. */
export function differenceFigure({ study, smallCell }: Context, map: MapData): Figure | undefined {
  const { association, placements } = study;
  if (association === undefined || placements === undefined || placements.mapDimension !== 2) return undefined;
  const related = association.outcomes.filter(({ adjusted }) => adjusted.holm < 0.05);
  const panels = related.slice(0, MOST_PANELS).flatMap(({ outcome, differenceMap, effect: { auc } }) => {
    if (differenceMap?.axes.length !== 2) return [];
    const note = `AUC ${fixed(auc.value, 2)} (${fixed(auc.lower, 2)} to ${fixed(auc.upper, 2)})`;
    return [differencePanel(outcomeName(outcome), note, differenceMap, map.box)];
  });
  if (panels.length === 0) return undefined;
  const facts = panels.map((panel) => factsOf(panel, map, smallCell));
  return {
    key: "difference-maps",
    title: "Where on the map groups differ",
    caption: `Share of individuals with the outcome, each counted where it may stand (its whole posterior), smoothed over the map. Outlined: the difference between those with and without it lies outside the band in which, with 95% probability, it would stay everywhere without any relation. No colour where too few are near.${related.length > MOST_PANELS ? ` The first ${MOST_PANELS} of ${related.length} related outcomes.` : ""}`,
    summary: panels
      .map(
        ({ title }, k) =>
          `${title}: smoothed share ${facts[k].low} to ${facts[k].high} (10th to 90th percentile of individuals); more with it than without any relation at the places of ${facts[k].above} of individuals, fewer at those of ${facts[k].below}`,
      )
      .join("; ")
      .concat("."),
    table: {
      columns: [
        "Outcome",
        "share, 10th percentile",
        "90th percentile",
        "individuals where more have it",
        "where fewer",
        "where uncertain",
      ],
      rows: panels.map(({ title }, k) => {
        const { low, high, above, below, vague } = facts[k];
        return [title, low, high, above, below, vague];
      }),
    },
    width: 1112,
    draw: (canvas) => drawDifferenceMaps(panels, map, canvas),
  };
}

/** What the picture shows, in shares of individuals. */
function factsOf(panel: DifferencePanel, map: MapData, smallCell: number) {
  const m = map.visits.length;
  const width = { ...panel.share, values: halfWidths(panel, smallCell) };
  const at = (grid: DifferencePanel["share"], i: number) => valueAt(grid, map.places[2 * i], map.places[2 * i + 1]);
  const everyone = Array.from({ length: m }, (_, i) => i);
  const shares = everyone.map((i) => at(panel.share, i)).sort((a, b) => a - b);
  const part = (holds: (i: number) => boolean) => shareText(everyone.filter(holds).length, m, smallCell);
  return {
    low: percent(shares[Math.round(0.1 * (m - 1))]),
    high: percent(shares[Math.round(0.9 * (m - 1))]),
    // Nobody is counted where the map says nothing.
    above: part((i) => at(panel.above, i) > 0 && at(panel.individuals, i) > 0),
    below: part((i) => at(panel.below, i) > 0 && at(panel.individuals, i) > 0),
    vague: part((i) => at(width, i) > 0.2),
  };
}
