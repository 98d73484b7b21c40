/** From results of the core to the parts of a report. */
import type { Complaint, Groups } from "@trajectory-maps/core";
import type { ReadCohort } from "@trajectory-maps/core/ingest";
import type { NumberOfGroups } from "@trajectory-maps/core/study";
import { joinGroups, type Study, summarizeCohort } from "@trajectory-maps/report";
import type { RunRecord } from "./run-record.ts";

type StudyGroups = NonNullable<Study["groups"]>;

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

/** Groups with courses, names, evidence and stability. */
export function studyGroups(
  groups: Groups,
  lastTimes: Float64Array,
  number: NumberOfGroups | null,
  stability:
    | (NonNullable<StudyGroups["stability"]> & { readonly groups?: readonly { group: number; pairsKept: number }[] })
    | null,
): StudyGroups {
  return joinGroups({
    labels: groups.labels,
    courses: groups.groups.map(({ course, from, until, parts }) => ({ ...course, from, until, parts })),
    names: groups.groups.map(({ letter, name }, group) => ({ group, letter, name })),
    lastTimes,
    membership: groups.membership,
    method:
      `${groups.method === "ward" ? "Ward's method on" : "A mixture of Gaussians fitted to"} the places of ` +
      `${groups.clustered.length} individuals; ` +
      "the others joined the group that holds most of the posterior of their place.",
    ...(number === null ? {} : { number }),
    ...(stability === null ? {} : { stability }),
    entropy: groups.certainty,
    mergeHeights: groups.tree.heights,
    tree: groups.treeTop,
  });
}
