/** Several markers of a table as the user chooses them: value columns, or names in a column of markers. Pure, so that it can be tested. */
import type { TablePreview } from "@trajectory-maps/core/ingest";
import type { ReadChoice } from "../../worker/api.ts";
import { unitsOfMarker } from "./marker-units.ts";
import { type MarkerRow, markerRows, roleOf, splitUnit, type TableChoice } from "./table-choice.ts";

/** A marker that can be chosen, and whether it is. */
export interface OfferedMarker {
  /** Column, or name in the column of markers. */
  readonly source: string;
  readonly column: number;
  readonly level: string;
  /** Position among the chosen, −1 if it is not. */
  readonly chosen: number;
}

/** Markers that the table offers, in its order: the chosen, and columns that look like markers or names of them. */
export function offeredMarkers(choice: TableChoice, { columns, otherMarkers, guesses }: TablePreview): OfferedMarker[] {
  const rows = markerRows(choice);
  if (choice.namesColumn >= 0) {
    return (columns[choice.namesColumn]?.levels ?? []).map((level) => {
      const chosen = rows.findIndex((row) => row.level === level);
      return { source: level, column: -1, level, chosen };
    });
  }
  const guessed = guesses.find(({ role }) => role === "value")?.column ?? -1;
  const offered = new Set([guessed, ...otherMarkers, ...rows.map(({ column }) => column)]);
  return columns.flatMap(({ name: source }, column) => {
    const use = roleOf(choice, column);
    if (!offered.has(column) || (use !== "value" && use !== "none")) return [];
    return [{ source, column, level: "", chosen: rows.findIndex((row) => row.column === column) }];
  });
}

/** The choice with a marker more. */
export function addMarker(
  choice: TableChoice,
  { source, column, level }: OfferedMarker,
  table: TablePreview,
): TableChoice {
  const row: MarkerRow = { column, level, transform: "identity", ...splitUnit(source) };
  return { ...choice, others: [...choice.others, withOwnUnit(choice, row, table)] };
}

/** The choice without one of its markers; the last stays. */
export function dropMarker(choice: TableChoice, k: number): TableChoice {
  const rows = markerRows(choice).filter((_, j) => j !== k);
  return rows.length === 0 ? choice : withRows(choice, rows);
}

/** The choice with something else said about one of its markers. */
export function describeMarker(
  choice: TableChoice,
  k: number,
  change: Partial<Pick<MarkerRow, "name" | "unit" | "transform">>,
): TableChoice {
  return withRows(
    choice,
    markerRows(choice).map((row, j) => (j === k ? { ...row, ...change } : row)),
  );
}

/** The choice with a column that names the marker of each row: the first names are taken, as many as share a map well. */
export function nameMarkersBy(choice: TableChoice, column: number, table: TablePreview): TableChoice {
  const { columns } = table;
  const positions = { ...choice.positions };
  for (const role of ["id", "time", "value"] as const) if (positions[role] === column) positions[role] = -1;
  const named = { ...choice, positions, namesColumn: column };
  const levels = (columns[column]?.levels ?? []).slice(0, FIRST_LEVELS);
  const rows = levels.map((level) =>
    withOwnUnit(named, { column: -1, level, name: level, unit: "", transform: "identity" }, table),
  );
  return withRows(named, rows);
}

const FIRST_LEVELS = 3;

/** The marker with the only unit that a column names for it, if none is known yet. */
function withOwnUnit(choice: TableChoice, row: MarkerRow, table: TablePreview): MarkerRow {
  const units = unitsOfMarker(choice, row, table)?.units ?? [];
  return row.unit === "" && units.length === 1 ? { ...row, unit: units[0] } : row;
}

/** The choice with the markers of a model or of the command line, as far as the table has them. */
export function withMarkers(choice: TableChoice, { columns }: TablePreview, said: ReadChoice): TableChoice {
  const { markers = [], markerColumn } = said;
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const namesColumn = markerColumn === undefined ? -1 : at(markerColumn);
  const rows = markers.flatMap(({ column, name = column, unit = "", transform = "identity" }): MarkerRow[] => {
    if (namesColumn >= 0) return [{ column: -1, level: column, name, unit, transform }];
    const found = at(column) < 0 ? at(name) : at(column);
    return found < 0 ? [] : [{ column: found, level: "", name, unit, transform }];
  });
  const timeUnit = markers[0]?.timeUnit ?? choice.timeUnit;
  return rows.length === 0 ? choice : withRows({ ...choice, timeUnit, namesColumn }, rows);
}

function withRows(choice: TableChoice, [first, ...others]: readonly MarkerRow[]): TableChoice {
  if (first === undefined) return { ...choice, others: [], level: "" };
  const value = choice.namesColumn >= 0 ? choice.positions.value : first.column;
  return {
    ...choice,
    positions: { ...choice.positions, value },
    level: first.level,
    markerName: first.name,
    markerUnit: first.unit,
    transform: first.transform,
    others,
  };
}
