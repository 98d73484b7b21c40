/** dtm inspect VISITS: what is in a table of visits, before any model. */
import { type Cohort, numIndividuals } from "@trajectory-maps/core";
import { inspectCohort, inspectMarkers } from "@trajectory-maps/core/ingest";
import { MOST_LOOKED_THROUGH, type SuspectValue, suspectValues } from "@trajectory-maps/core/study";
import { markersPage, qualityPage, suspectLines } from "../print/quality.ts";
import { type Command, type Context, FORCE_OPTION, repeatedOption } from "./command.ts";
import { SUBJECTS_OPTION } from "./covariates.ts";
import { FHIR_OPTIONS, listCodes } from "./fhir.ts";
import { OMOP_OPTIONS } from "./omop.ts";
import { checkOriginTable } from "./origin-table.ts";
import { tellApart } from "./tables-apart.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS, readVisits, VISITS_ARGUMENT } from "./visits.ts";
import { QUERY_OPTIONS, visitsPath } from "./visits-source.ts";

export const inspect: Command = {
  name: "inspect",
  description:
    "Check a table of visits: individuals, follow-up, gaps, missing cells, repeats, outliers, covered times.",
  arguments: [VISITS_ARGUMENT],
  options: [
    ...COLUMN_OPTIONS,
    ...QUERY_OPTIONS,
    ...OMOP_OPTIONS,
    ...FHIR_OPTIONS,
    ...MARKER_OPTIONS,
    SUBJECTS_OPTION,
    FORCE_OPTION,
  ],
  examples: [
    "dtm inspect visits.csv",
    "dtm inspect visits.tsv.gz --value fvc --time-unit years --json",
    "dtm inspect visits.csv --markers 'bili:log[mg/dl],albumin,protime:log'",
    "dtm inspect visits.csv --value fvc --origin column:onset --subjects subjects.csv --time-unit months",
    "dtm inspect --sql \"select id, time, value from 'visits.parquet' where value > 0\"",
    "dtm inspect --omop cdm/ --measurement 3004410 --index observation_period",
    "dtm inspect --fhir export/",
    "dtm inspect --fhir export/ --code 2160-0,38483-4",
    "dtm inspect tests.csv --marker-column test --markers bilirubin:log,albumin",
  ],
  run: async ([path], given, context) => {
    checkOriginTable(given);
    if (given.fhir !== undefined && repeatedOption(given, "code").length === 0) {
      return listCodes(visitsPath(path, given), given);
    }
    const { visits, options } = await tellApart(visitsPath(path, given), undefined, given, context);
    const read = await readVisits(visits, options, context);
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
