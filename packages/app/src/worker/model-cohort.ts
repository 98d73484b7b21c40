/** The cohort in memory as a model reads it: markers in the order of the model, and its covariates. */
import { type Cohort, DtmError, type TrajectoryModel } from "@trajectory-maps/core";
import {
  type CovariateChoices,
  codeCovariates,
  encodeTable,
  readSubjectsFile,
  takeCoded,
  withCovariates,
} from "@trajectory-maps/core/ingest";
import { codingOf } from "@trajectory-maps/core/models";
import type { LoadedSubjects } from "./api.ts";
import { blocksOf } from "./file-blocks.ts";

/** The cohort with the covariates that a fit is to take into account; whom they leave out is not in it. */
export function withChosen(
  cohort: Cohort,
  chosen: CovariateChoices | undefined,
  subjects: LoadedSubjects | null,
): Cohort {
  if (chosen === undefined || chosen.covariates.length === 0) return cohort;
  const names = chosen.covariates.map(({ name }) => name);
  return withCovariates(cohort, codeCovariates(tableWith(names, subjects), cohort.ids, chosen));
}

/**
 * The cohort with the markers of a model in its order, empty where it lacks one, and with its covariates: from the table of
 * individuals, or from the coded ones that a run keeps.
 * @throws DtmError "other-marker" if the cohort has none of the markers, "missing-covariate" without the covariates.
 */
export async function cohortFor(
  model: TrajectoryModel,
  cohort: Cohort,
  subjects: LoadedSubjects | null,
  coded?: Blob,
): Promise<Cohort> {
  const own = withMarkers(model, cohort);
  const coding = codingOf(model);
  if (coding === undefined) return own;
  if (coded !== undefined) {
    const { table } = await readSubjectsFile(blocksOf(coded, "covariates.csv"), { file: "covariates.csv", id: "id" });
    return { ...own, covariates: { coding, values: takeCoded(coding, table, own.ids) } };
  }
  const names = coding.covariates.map(({ name }) => name);
  return { ...own, covariates: { coding, values: encodeTable(coding, tableWith(names, subjects), own.ids) } };
}

function withMarkers({ markers }: TrajectoryModel, cohort: Cohort): Cohort {
  const names = markers.map(({ marker }) => marker.name);
  const given = cohort.markers.map(({ marker }) => marker.name);
  if (markers.length === 1 || names.join("\n") === given.join("\n")) return cohort;
  const other = given.find((name) => !names.includes(name));
  if (other !== undefined) {
    throw new DtmError(
      "other-marker",
      `Expected markers among ${names.join(", ")}, received "${other}". Choose the markers of the model under Columns.`,
    );
  }
  const nobody = { offsets: new Int32Array(cohort.ids.length + 1), times: NONE, values: NONE };
  const series = markers.map(
    ({ marker }) => cohort.markers.find((own) => own.marker.name === marker.name) ?? { marker, ...nobody },
  );
  return { ...cohort, markers: series };
}

const NONE = new Float64Array(0);

function tableWith(names: readonly string[], subjects: LoadedSubjects | null): LoadedSubjects["table"] {
  if (subjects !== null) return subjects.table;
  throw new DtmError(
    "missing-covariate",
    `Expected a table of individuals with ${names.join(", ")}, received none. Add one under Data.`,
  );
}
