/** A first look at columns that say the unit of each value: which units they name, in all and beside each name of a marker. */
import { isMissing } from "./numbers.ts";

export interface UnitsPreview {
  /** Position of the column. */
  readonly column: number;
  /** Different units as they are written, in the order of the file. */
  readonly units: readonly string[];
  /** Units beside each level of each other column of few texts, such as names of markers. */
  readonly beside: readonly { readonly column: number; readonly level: string; readonly units: readonly string[] }[];
}

interface SeenColumn {
  readonly about: { readonly name: string; readonly levels: readonly string[] };
  /** Trimmed, [n]. */
  readonly cells: readonly string[];
}

/** Whether the name of a column says that it holds units. */
function saysUnit(name: string): boolean {
  return /(^|[^a-z])(units?|einheit)([^a-z]|$)/i.test(name);
}

/** The columns of units, by their names, among those of few texts. */
export function previewUnits(columns: readonly SeenColumn[]): UnitsPreview[] {
  return columns.flatMap(({ about, cells }, column) => {
    if (!saysUnit(about.name) || about.levels.length === 0) return [];
    const beside = columns.flatMap((other, k) =>
      saysUnit(other.about.name)
        ? []
        : other.about.levels.map((level) => ({
            column: k,
            level,
            units: different(cells.filter((_, r) => other.cells[r] === level)),
          })),
    );
    return [{ column, units: about.levels, beside }];
  });
}

function different(cells: readonly string[]): string[] {
  return [...new Set(cells.filter((cell) => !isMissing(cell)))];
}
