/** The public door of the report. */
export { type ChecklistItem, checklist } from "./content/checklist.ts";
export { contextOf } from "./content/context.ts";
export { methodsText } from "./content/methods.ts";
export { studyFigures } from "./content/study-figures.ts";
export { type CsvCell, csvLine, csvPieces, toCsv } from "./csv.ts";
export {
  bandPath,
  DARKEST,
  type DensityCells,
  densityBands,
  densityCells,
  dotOpacity,
  dotRadius,
  HUGE,
  RING_RADIUS,
  SAMPLE,
  sampled,
} from "./figures/density.ts";
export { type DataTable, type Figure, type FigureExport, figureToSvg } from "./figures/figure.ts";
export {
  type Box,
  boxAround,
  contains,
  contourAt,
  type Grid,
  gridOf,
  type Land,
  type LandOptions,
  landOf,
  type Ring,
  smoothPlaces,
  stripHeight,
  valueAt,
} from "./figures/land.ts";
export { levelText } from "./figures/map-base.ts";
export { levelsOn } from "./figures/map-data.ts";
export { type Canvas, escapeText, fitText, shorten, textWidth } from "./figures/svg.ts";
export { niceStep, roundSpan, roundTicks, ticksOf } from "./figures/ticks.ts";
export {
  cell,
  counted,
  decimalsFor,
  fixed,
  interval,
  NONE,
  percent,
  powerFor,
  powerText,
  pValue,
  shortNumbers,
  sized,
  timeWord,
  trimmed,
  whole,
  wilson,
  withPower,
} from "./numbers.ts";
export { type FitEnd, fitEnd } from "./page/header.ts";
export { type ReportOptions, renderReport } from "./render-report.ts";
export * from "./study.ts";
export { joinGroups, type ReadingFacts, summarizeCohort } from "./summary.ts";
export { FONT_STACK, groupStyle, type Theme, type Tokens, tokensOf } from "./theme.ts";
export { capital, midSentence, modelName, outcomeName, outcomeReading } from "./words.ts";
