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

/** Numbers, and columns of few levels, that are neither outcomes nor the ids. */
export function offeredCovariates(table: SubjectsTable, outcomes: readonly Outcome[]): OfferedCovariate[] {
  const { ids, columns, decimal = "." } = table;
  return columnColours(table, outcomes).flatMap(({ key }) => {
    const name = key.replace("column:", "");
    const cells = columns.find((column) => column.name === name)?.cells ?? [];
    if (cells.every((cell, i) => cell === ids[i])) return [];
    const levels = [...new Set(cells.map((cell) => cell.trim()))].filter((cell) => !isMissing(cell)).sort(compareText);
    const areNumbers = levels.every((level) => !Number.isNaN(readNumber(level, decimal)));
    return [{ name, kind: areNumbers ? "number" : "category", levels }];
  });
}
