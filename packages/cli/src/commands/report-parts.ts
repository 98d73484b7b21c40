/** From results of the core to the parts of a report. */
import type { Complaint } from "@trajectory-maps/core";
import type { ReadCohort } from "@trajectory-maps/core/ingest";
import { type Study, summarizeCohort } from "@trajectory-maps/report";
import type { RunRecord } from "./run-record.ts";

/** The cohort in numbers; rows and findings are those of the file first read, where the run knows them. */
export function studySummary(read: ReadCohort, record: RunRecord | undefined): Study["cohort"] {
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
