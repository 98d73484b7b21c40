/** The public door of the report. */
export { studyCharacteristics } from "./characteristics.ts";
export { type ChecklistItem, checklist } from "./content/checklist.ts";
export { contextOf } from "./content/context.ts";
export { methodsOf } from "./content/methods.ts";
export {
  forecastTable,
  linksTable,
  type PowerSource,
  placesTable,
  powerFigure,
  powerParagraph,
} from "./content/power.ts";
export { variantNotes } from "./content/sensitivity-figure.ts";
export { strobe } from "./content/strobe.ts";
export { studyFigures } from "./content/study-figures.ts";
export {
  type CovariateCourses,
  comparedWords,
  disagreement,
  effectCautions,
  effectNote,
  effectTable,
  effectTables,
  SHIFT_NOTE,
  type StudyCovariates,
  shiftTable,
  studyCovariates,
} from "./covariates.ts";
export { type CsvCell, csvLine, csvPieces, toCsv } from "./csv.ts";
export { drawArrows } from "./figures/arrows.ts";
export { badge } from "./figures/badge.ts";
export { caveatOf, drawCaveat } from "./figures/caveat.ts";
export {
  DARKEST,
  type DensityCells,
  densityCells,
  dotOpacity,
  dotRadius,
  HUGE,
  RING_RADIUS,
  SAMPLE,
  sampled,
} from "./figures/density.ts";
export { drawDifferenceThumb } from "./figures/difference-maps.ts";
export { type DataTable, type Figure, type FigureExport, figureToSvg } from "./figures/figure.ts";
export {
  type Box,
  boxAround,
  contains,
  contourAt,
  type Grid,
  gridOf,
  insideRings,
  type Land,
  type LandOptions,
  landOf,
  levelRings,
  type Ring,
  smoothPlaces,
  stripHeight,
  valueAt,
} from "./figures/land.ts";
export { drawLineLabels, type LineLabel, placeLineLabels } from "./figures/line-labels.ts";
export { bandColour, drawDensity, levelText, type MapLayout } from "./figures/map-base.ts";
export { levelsOn } from "./figures/map-data.ts";
export {
  drawPlus,
  drawScaleBar,
  drawSmallCurves,
  MARKS,
  type SmallCurve,
  scaleBar,
  smallCurveNote,
  smallCurves,
} from "./figures/map-frame.ts";
export { drawPills, PILL_FONT, type Pill, type PxBox, pillBox, pillBoxes, placePills } from "./figures/pills.ts";
export {
  type Attributes,
  type Canvas,
  escapeText,
  fitText,
  haloText,
  make,
  type Pen,
  shorten,
  textWidth,
} from "./figures/svg.ts";
export { niceStep, roundSpan, roundTicks, ticksOf } from "./figures/ticks.ts";
export {
  adjustedPValue,
  cell,
  chance,
  counted,
  decimalsFor,
  fixed,
  interval,
  NONE,
  percent,
  percentChance,
  powerFor,
  powerText,
  pValue,
  ratio,
  ratioInterval,
  shortNumbers,
  signed,
  signedInterval,
  significant,
  sized,
  timeDecimals,
  timeWord,
  trimmed,
  whole,
  wilson,
  withPower,
} from "./numbers.ts";
export {
  isRelated,
  type OutcomeLine,
  type OutcomeWords,
  outcomeLines,
  outcomeNote,
  outcomeSentence,
  placeWords,
} from "./outcome-words.ts";
export { withoutNames } from "./page/header.ts";
export { renderPower } from "./page/power-page.ts";
export { type ReportOptions, renderReport } from "./render-report.ts";
export { cellsOf } from "./small-cells.ts";
export * from "./study.ts";
export type { StudyIncidence, StudyRisk } from "./study-risk.ts";
export { type GroupFacts, type ReadingFacts, studyGroups, summarizeCohort } from "./summary.ts";
export {
  AFTER_DEATH,
  CROSS_FITTED,
  coxCautions,
  deltaText,
  deltaUnit,
  INCIDENCE_NOTE,
  POOLED_NOTE,
  PROPORTIONAL_NOTE,
  shiftSentence,
  tippingSentences,
} from "./survival-words.ts";
export {
  customProperties,
  FONT_STACK,
  greyTokens,
  groupStyle,
  namedColours,
  type Theme,
  type Tokens,
  tokensOf,
} from "./theme.ts";
export {
  adjustedSentence,
  capital,
  gainSentence,
  midSentence,
  modelName,
  numberWord,
  OUTCOME_METHOD,
  outcomeName,
  outcomeReading,
  PREDICTOR_METHOD,
  SEPARATION_NOTE,
  SEVERAL_WORDS,
} from "./words.ts";
