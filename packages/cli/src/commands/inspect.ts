/** dtm inspect VISITS: what is in a table of visits, before any model. */
import { inspectCohort } from "@trajectory-maps/core/ingest";
import { qualityPage } from "../print/quality.ts";
import type { Command } from "./command.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS, readVisits, VISITS_ARGUMENT } from "./visits.ts";

export const inspect: Command = {
  name: "inspect",
  description:
    "Check a table of visits: individuals, follow-up, gaps, missing cells, repeats, outliers, covered times.",
  arguments: [VISITS_ARGUMENT],
  options: [...COLUMN_OPTIONS, ...MARKER_OPTIONS],
  examples: ["dtm inspect visits.csv", "dtm inspect visits.tsv.gz --value fvc --time-unit years --json"],
  run: async ([path = "-"], options, context) => {
    const read = await readVisits(path, options, context);
    const quality = inspectCohort(read);
    return { text: qualityPage(quality), json: { ...quality, columns: read.columns } };
  },
};
