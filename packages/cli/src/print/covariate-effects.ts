/** What covariates do under a fitted map, as a terminal shows it. */
import type { TrajectoryModel } from "@trajectory-maps/core";
import { effectNote, effectTable, effectTables, SHIFT_NOTE, shiftTable } from "@trajectory-maps/report";
import { table } from "./table.ts";
import { line } from "./words.ts";

/** Shifts of places and effects in the mean, with 95 % intervals; empty for a model without covariates. */
export function effectsPage(model: TrajectoryModel, cautions: readonly string[] = []): string {
  const { shifts = [], effects = [] } = effectTables(model) ?? {};
  const part = (title: string, note: string, { columns, rows }: ReturnType<typeof shiftTable>) =>
    rows.length === 0 ? [] : [`${line(title, note)}\n\n${table(columns, rows)}`];
  return [
    ...part("Shifts", `${SHIFT_NOTE} Read them on the map.`, shiftTable(shifts)),
    ...part("Effects", effectNote(effects), effectTable(effects)),
    ...cautions.map((text) => line("Caution", text)),
  ].join("\n\n");
}
