/** The study as the report wants it, from what the page holds: the same report as the command line writes. */
import { type Cohort, LIBRARY_VERSION, numIndividuals } from "@trajectory-maps/core";
import { numObservations, selectVisits } from "@trajectory-maps/core/ingest";
import { characteristicColumns, lastShownTime } from "@trajectory-maps/core/study";
import {
  type Study,
  studyCharacteristics,
  studyCovariates,
  studyGroups,
  summarizeCohort,
} from "@trajectory-maps/report";
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
  const { stability, association, comparison, survival, baselines, outcomes, view } = explorer;
  const { wholeGroups: groups, whole } = explorer;
  // Of several markers what is drawn for one is drawn for the first.
  const [first] = explorer.views;
  if (whole === null || first === undefined) return null;
  const { loaded, fitted } = first;
  const { smallCell = 11, individualLevel = "none", date } = choice;
  const { numRows, numRowsLeftOut, warnings, notes } = loaded;
  const names = groups?.groups.map((_, group) => explorer.groupName(group)) ?? [];
  return {
    cohort: {
      ...summarizeCohort(withMarker(loaded.cohort), { numRows, numRowsLeftOut, warnings, notes }),
      numIndividuals: numIndividuals(loaded.cohort),
      numObservations: numObservations(explorer.wholeFit?.cohort ?? whole.cohort),
    },
    ...covariatesOf(explorer),
    ...(explorer.views.length > 1 && fitted !== null ? { several: severalOf(explorer) } : {}),
    ...(fitted === null ? {} : { model: fitted.model, placements: fitted.placements }),
    ...(baselines === null ? {} : { baselines: baselines.map(({ name, placements }) => ({ name, placements })) }),
    ...(groups === null || fitted === null ? {} : { groups: studyGroups(groups, { stability, names }) }),
    ...characteristicsIn(explorer),
    ...(outcomes.length === 0 ? {} : { outcomes }),
    ...(comparison === null || explorer.views.length > 1 ? {} : { comparison }),
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

/** Who was studied, by group; outcomes have a section of their own. */
function characteristicsIn({
  whole,
  wholeFit,
  wholeGroups,
  subjects,
  outcomes,
}: Explorer): Pick<Study, "characteristics"> {
  if (whole === null || wholeFit === null || wholeGroups === null) return {};
  // A fit has a cohort of its own only where that is not the one loaded.
  const { cohort = whole.cohort } = wholeFit;
  const groups = { labels: wholeGroups.labels, numGroups: wholeGroups.groups.length };
  if (subjects === null) return { characteristics: studyCharacteristics(cohort, groups) };
  const { table } = subjects;
  const named = new Set(outcomes.map(({ name }) => name));
  const columns = characteristicColumns(table, cohort.ids).filter((name) => !named.has(name));
  return { characteristics: studyCharacteristics(cohort, groups, { table, columns }) };
}

/** What the covariates of the map do, and courses by them. */
function covariatesOf({ wholeFit }: Explorer): Pick<Study, "covariates"> {
  if (wholeFit?.cohort === undefined) return {};
  const { model, cohort, placements } = wholeFit;
  const covariates = studyCovariates(model, cohort, placements, lastShownTime(placements));
  return covariates === undefined ? {} : { covariates };
}

/** What is told of several markers: each by itself, whether they share the map, how they compare. */
function severalOf({ views, sharing, severalComparison }: Explorer): Study["several"] {
  return {
    markers: views.map(({ loaded, fitted }) => ({
      cohort: summarizeCohort(withMarker(loaded.cohort)),
      ...(fitted === null ? {} : { model: fitted.model, placements: fitted.placements }),
    })),
    ...(sharing === null || sharing === "judging" ? {} : { sharing }),
    ...(severalComparison === null ? {} : { comparison: severalComparison }),
  };
}

/** Those who have the marker. */
function withMarker(cohort: Cohort): Cohort {
  return selectVisits(cohort, (n) => n);
}
