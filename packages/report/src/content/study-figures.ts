/** Every figure a study supports, in the order of the report. */
import type { Figure } from "../figures/figure.ts";
import type { Study } from "../study.ts";
import { contextOf } from "./context.ts";
import { covariateFigures } from "./covariate-figures.ts";
import { flowFigure } from "./flow-figure.ts";
import { groupFigures } from "./group-figures.ts";
import { mapFigures } from "./map-figures.ts";
import { markerFigures } from "./marker-figures.ts";
import { comparisonFigures, dataFigures, fitFigures, survivalFigures } from "./result-figures.ts";
import { riskFigures } from "./risk-figures.ts";
import { sensitivityFigures } from "./sensitivity-figure.ts";

/** Figures of a study; each draws itself as often as asked, in any theme. */
export function studyFigures(study: Study): Figure[] {
  const context = contextOf(study);
  return [
    flowFigure(context),
    ...mapFigures(context),
    ...groupFigures(context),
    ...markerFigures(study),
    ...covariateFigures(context),
    ...comparisonFigures(context),
    ...survivalFigures(context),
    ...riskFigures(context),
    ...sensitivityFigures(context),
    ...fitFigures(context),
    ...dataFigures(context),
  ];
}
