/** Columns of the table of individuals that can be covariates, with what they look like. Pure, so that it can be tested. */
import {
  type Covariate,
  compareText,
  isMissing,
  type Outcome,
  readNumber,
  type SubjectsTable,
} from "@trajectory-maps/core/ingest";
import { columnColours } from "../map/colouring.ts";

export interface OfferedCovariate {
  readonly name: string;
  /** A number if all its cells are; what is none cannot become one. */
  readonly kind: Covariate["kind"];
  /** What its cells say, in the order in which the first is the reference unless another is chosen. */
  readonly levels: readonly string[];
}

/** Names of what is only known at the end: how long and how often somebody was seen, and when something came. */
const OF_THE_FUTURE = [
  /\bfollow(ed)?( ?up)?\b|\bfu (time|years?|months?|weeks?|days?)\b/,
  /^((n|num|nr|number|count|total)( of)? )?(visits?|observations?|measurements?)( (count|number))?$/,
  /\b(event|death|survival|censoring|status|last visit|end) (time|date|years?|months?|weeks?|days?)\b/,
  /\b(time|years?|months?|weeks?|days?) (to|until) /,
  /^((vital|survival|event|death|final) )?status$/,
];

/** Whether a column's name says that it holds what is not known at the first visit. */
export function isOfTheFuture(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, " ")
    .trim();
  return OF_THE_FUTURE.some((pattern) => pattern.test(words));
}

/** Numbers, and columns of few levels, that are neither outcomes nor the ids, nor known only at the end. */
export function offeredCovariates(table: SubjectsTable, outcomes: readonly Outcome[]): OfferedCovariate[] {
  const { ids, columns, decimal = "." } = table;
  return columnColours(table, outcomes).flatMap(({ key }) => {
    const name = key.replace("column:", "");
    const cells = columns.find((column) => column.name === name)?.cells ?? [];
    // The time of what another column tells: death and death_time.
    const isTimeOf = columns.some((column) => name === `${column.name}_time`);
    if (isTimeOf || isOfTheFuture(name) || cells.every((cell, i) => cell === ids[i])) return [];
    const levels = [...new Set(cells.map((cell) => cell.trim()))].filter((cell) => !isMissing(cell)).sort(compareText);
    const areNumbers = levels.every((level) => !Number.isNaN(readNumber(level, decimal)));
    return [{ name, kind: areNumbers ? "number" : "category", levels }];
  });
}
