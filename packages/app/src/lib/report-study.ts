/** The study as the report wants it, from what the page holds: the same report as the command line writes. */
import { LIBRARY_VERSION } from "@trajectory-maps/core";
import { joinGroups, type Study, summarizeCohort } from "@trajectory-maps/report";
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
  const { loaded, fitted, groups, association, comparison, survival, baselines, outcomes, view } = explorer;
  if (loaded === null) return null;
  const { smallCell = 11, individualLevel = "none", date } = choice;
  const { numRows, numRowsLeftOut, warnings, notes } = loaded;
  return {
    cohort: summarizeCohort(loaded.cohort, { numRows, numRowsLeftOut, warnings, notes }),
    ...(fitted === null ? {} : { model: fitted.model, placements: fitted.placements }),
    ...(baselines === null ? {} : { baselines: baselines.map(({ name, placements }) => ({ name, placements })) }),
    ...(groups === null || fitted === null ? {} : { groups: namedGroups(explorer) }),
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

/** Groups with the names shown on the page. */
function namedGroups(explorer: Explorer): Study["groups"] {
  const { groups, fitted, stability } = explorer;
  if (groups === null || fitted === null) return undefined;
  return joinGroups({
    labels: groups.labels,
    courses: groups.groups.map(({ course, from, until, parts }) => ({ ...course, from, until, parts })),
    names: groups.groups.map(({ letter }, group) => ({ group, letter, name: explorer.groupName(group) })),
    lastTimes: fitted.placements.lastTime,
    membership: groups.membership,
    method:
      `Ward's method on the places of ${groups.clustered.length} individuals; ` +
      "the others joined the group that holds most of the posterior of their place.",
    ...(groups.choice === null ? {} : { number: groups.choice }),
    ...(stability === null ? {} : { stability }),
    entropy: groups.certainty,
    mergeHeights: groups.tree.heights,
    tree: groups.treeTop,
  });
}
