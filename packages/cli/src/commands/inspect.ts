/** dtm inspect VISITS: what is in a table of visits, before any model. */
import { inspectCohort, inspectMarkers } from "@trajectory-maps/core/ingest";
import { markersPage, qualityPage } from "../print/quality.ts";
import type { Command } from "./command.ts";
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
    if (read.cohort.markers.length > 1) {
      const quality = inspectMarkers(read);
      return { text: markersPage(quality), json: { ...quality, columns: read.markerColumns } };
    }
    const quality = inspectCohort(read);
    return { text: qualityPage(quality), json: { ...quality, columns: read.columns } };
  },
};
