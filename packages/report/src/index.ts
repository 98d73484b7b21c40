/** The public door of the report. */
export { type ChecklistItem, checklist } from "./content/checklist.ts";
export { contextOf } from "./content/context.ts";
export { methodsText } from "./content/methods.ts";
export { studyFigures } from "./content/study-figures.ts";
export { type DataTable, type Figure, type FigureExport, figureToSvg } from "./figures/figure.ts";
export type { Canvas } from "./figures/svg.ts";
export { type ReportOptions, renderReport } from "./render-report.ts";
export * from "./study.ts";
export { joinGroups, type ReadingFacts, summarizeCohort } from "./summary.ts";
export { FONT_STACK, type Theme, type Tokens, tokensOf } from "./theme.ts";
