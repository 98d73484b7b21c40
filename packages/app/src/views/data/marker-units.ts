/** Which column says the unit of a marker's values. Pure, so that it can be tested. */
import type { TablePreview } from "@trajectory-maps/core/ingest";
import { isSeveral, type MarkerRow, markerRows, sourceOf, type TableChoice } from "./table-choice.ts";

export interface UnitsOfMarker {
  readonly column: string;
  /** As they are written, in the order of the file. */
  readonly units: readonly string[];
}

/** The column with the unit of a marker's values, and the units that it names for them; undefined if there is none. */
export function unitsOfMarker(
  choice: TableChoice,
  row: MarkerRow,
  { columns, units }: TablePreview,
): UnitsOfMarker | undefined {
  const bare = (name: string) => name.toLowerCase().replace(/units?|einheit|[^a-z0-9]+/g, "");
  const nameAt = (column: number) => columns[column]?.name ?? "";
  const named = units.find(({ column }) => choice.namesColumn < 0 && bare(nameAt(column)) === bare(nameAt(row.column)));
  const found =
    named ?? units.find(({ column }) => bare(nameAt(column)) === "") ?? (isSeveral(choice) ? undefined : units[0]);
  if (found === undefined) return undefined;
  const beside = found.beside.find(({ column, level }) => column === choice.namesColumn && level === row.level);
  return { column: nameAt(found.column), units: beside?.units ?? found.units };
}

/**
 * The column of units of each marker as the reader takes it, "" for values that are left as they are; undefined if no conversion was asked
 * for. Markers that came in one unit are then held to it.
 */
export function unitColumnsOf(choice: TableChoice, table: TablePreview): string[] | undefined {
  const said = choice.form.unitColumns ?? {};
  const rows = markerRows(choice);
  if (rows.every((row) => (said[sourceOf(row, table)] ?? "") === "")) return undefined;
  return rows.map((row) => {
    const answer = said[sourceOf(row, table)];
    if (answer !== undefined) return answer;
    const { column, units } = unitsOfMarker(choice, row, table) ?? { column: "", units: [] };
    return units.length === 1 && units[0] === row.unit.trim() ? column : "";
  });
}
