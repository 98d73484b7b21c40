/** dtm inspect VISITS: what is in a table of visits, before any model. */
import { type Cohort, numIndividuals } from "@trajectory-maps/core";
import { inspectCohort, inspectMarkers } from "@trajectory-maps/core/ingest";
import { MOST_LOOKED_THROUGH, type SuspectValue, suspectValues } from "@trajectory-maps/core/study";
import { markersPage, qualityPage, suspectLines } from "../print/quality.ts";
import type { Command, Context } from "./command.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS, readVisits, VISITS_ARGUMENT } from "./visits.ts";

export const inspect: Command = {
  name: "inspect",
  description:
    "Check a table of visits: individuals, follow-up, gaps, missing cells, repeats, outliers, covered times.",
  arguments: [VISITS_ARGUMENT],
  options: [...COLUMN_OPTIONS, ...MARKER_OPTIONS],
  examples: [
    "dtm inspect visits.csv",
    "dtm inspect visits.tsv.gz --value fvc --time-unit years --json",
    "dtm inspect visits.csv --markers 'bili:log[mg/dl],albumin,protime:log'",
    "dtm inspect tests.csv --marker-column test --markers bilirubin:log,albumin",
  ],
  run: async ([path = "-"], options, context) => {
    const read = await readVisits(path, options, context);
    const suspects = suspectsOf(read.cohort, context);
    const text = (page: string) => `${page}\n\n${suspectLines(suspects)}`;
    if (read.cohort.markers.length > 1) {
      const quality = inspectMarkers(read);
      return { text: text(markersPage(quality)), json: { ...quality, columns: read.markerColumns, suspects } };
    }
    const quality = inspectCohort(read);
    return { text: text(qualityPage(quality)), json: { ...quality, columns: read.columns, suspects } };
  },
};

/** Values that are probably wrong; null where the cohort is too large to look. */
function suspectsOf(cohort: Cohort, { talk }: Context): readonly SuspectValue[] | null {
  if (numIndividuals(cohort) > MOST_LOOKED_THROUGH) return null;
  return talk.during("Suspect values", () => suspectValues(cohort));
}
