/** The study as the report wants it, from what the page holds: the same report as the command line writes. */
import { LIBRARY_VERSION } from "@trajectory-maps/core";
import { type Study, studyGroups, summarizeCohort } from "@trajectory-maps/report";
import type { Explorer } from "../state/explorer.svelte.ts";

export interface StudyChoice {
  /** Smallest count that is shown. Default 11. */
  readonly smallCell?: number;
  /** Default "none". */
  readonly individualLevel?: "none" | "places";
  /** Day of the report as text. */
  readonly date?: string;
}

/** Everything the explorer holds as a study, or null before there is a cohort. */
export function studyOf(explorer: Explorer, choice: StudyChoice = {}): Study | null {
  const { loaded, fitted, groups, stability, association, comparison, survival, baselines, outcomes, view } = explorer;
  if (loaded === null) return null;
  const { smallCell = 11, individualLevel = "none", date } = choice;
  const { numRows, numRowsLeftOut, warnings, notes } = loaded;
  const names = groups?.groups.map((_, group) => explorer.groupName(group)) ?? [];
  return {
    cohort: summarizeCohort(loaded.cohort, { numRows, numRowsLeftOut, warnings, notes }),
    ...(fitted === null ? {} : { model: fitted.model, placements: fitted.placements }),
    ...(baselines === null ? {} : { baselines: baselines.map(({ name, placements }) => ({ name, placements })) }),
    ...(groups === null || fitted === null ? {} : { groups: studyGroups(groups, { stability, names }) }),
    ...(outcomes.length === 0 ? {} : { outcomes }),
    ...(comparison === null ? {} : { comparison }),
    ...(association === null ? {} : { association }),
    ...(survival === null ? {} : { survival: { ...survival, logRank: survival.logRank ?? undefined } }),
    run: {
      seed: explorer.fitChoice.seed,
      versions: [{ name: "trajectory-maps", version: LIBRARY_VERSION }],
      source: loaded.source,
      ...(date === undefined ? {} : { date }),
    },
    options: {
      smallCell,
      individualLevel,
      ...(view.terrainTime === null ? {} : { terrainTime: Number(view.terrainTime.toFixed(2)) }),
    },
  };
}
