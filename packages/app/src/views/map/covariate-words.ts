/** What covariates do, for the map: arrows, and whose courses are shown. */
import type { TrajectoryModel } from "@trajectory-maps/core";
import type { ShiftRow } from "@trajectory-maps/core/models";
import { effectCautions, effectTables } from "@trajectory-maps/report";
import type { CovariateRow } from "../../state/held.svelte.ts";
import type { Fitted } from "../../worker/api.ts";

/** Shifts of places, by which every marker of a map moves. */
export function arrowsOf(model: TrajectoryModel): readonly ShiftRow[] {
  // Effects in the mean are told of all markers together: a view of one has none to tell.
  return effectTables(model.kind === "dtm" ? { ...model, effects: undefined } : model)?.shifts ?? [];
}

/** What to be careful with in effects in the mean, in sentences. */
export function cautionsOf({ model, cohort, placements }: Pick<Fitted, "model" | "cohort" | "placements">): string[] {
  return effectCautions(model, cohort, placements);
}

/** Whose courses are shown. */
export function describedSentence(row: CovariateRow): string {
  const parts = Object.entries(row).map(([name, value]) => `${name} ${value}`);
  return `Courses of individuals with ${parts.join(", ")}.`;
}
