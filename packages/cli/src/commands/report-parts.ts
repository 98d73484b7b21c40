/** From results of the core to the parts of a report. */
import { type Cohort, type Complaint, numIndividuals } from "@trajectory-maps/core";
import { markerCohort, numObservations, type ReadCohort, selectVisits } from "@trajectory-maps/core/ingest";
import { viewMarker, viewPlacements } from "@trajectory-maps/core/models";
import type { SeveralComparison } from "@trajectory-maps/core/study";
import { type Study, summarizeCohort } from "@trajectory-maps/report";
import type { RunRecord } from "./run-record.ts";
import type { PlacedRun } from "./study-parts.ts";

/** What the report is told of several markers: each by itself, whether they share the map, how they compare. */
export function severalStudy(
  { model, placements, cohort }: PlacedRun,
  record: RunRecord | undefined,
  comparison: SeveralComparison | undefined,
): Study["several"] {
  if (model.markers.length === 1) return undefined;
  return {
    markers: model.markers.map((_, k) => ({
      cohort: summarizeCohort(withMarker(cohort, k)),
      model: viewMarker(model, k),
      placements: viewPlacements(placements, model.markers, k),
    })),
    ...(record?.sharing && { sharing: record.sharing }),
    ...(comparison && { comparison }),
  };
}

/** Marker k of those who have it. */
function withMarker(cohort: Cohort, k: number): Cohort {
  return selectVisits(markerCohort(cohort, k), (n) => n);
}

/** The cohort in numbers; rows and findings are those of the file first read, where the run knows them. */
export function studySummary(all: ReadCohort, record: RunRecord | undefined): Study["cohort"] {
  const several = all.cohort.markers.length > 1;
  const read = several ? { ...all, cohort: withMarker(all.cohort, 0) } : all;
  const numbers = several
    ? { numIndividuals: numIndividuals(all.cohort), numObservations: numObservations(all.cohort) }
    : {};
  return { ...summaryOf(read, record), ...numbers };
}

function summaryOf(read: ReadCohort, record: RunRecord | undefined): Study["cohort"] {
  if (record === undefined) {
    const { numRows, numRowsLeftOut, warnings, notes } = read;
    return summarizeCohort(read.cohort, { numRows, numRowsLeftOut, warnings, notes });
  }
  return summarizeCohort(read.cohort, {
    numRows: record.rows,
    numRowsLeftOut: record.rowsLeftOut,
    warnings: record.findings.map(
      ({ code, count, remedy }): Complaint => ({
        code,
        severity: "warn",
        expected: code.replaceAll("-", " "),
        received: `${count} rows`,
        where: {},
        remedy,
        count,
      }),
    ),
    notes: record.notes,
  });
}
