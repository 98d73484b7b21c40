/** dtm fit --dry-run: what would be read, fitted and written; nothing is. */
import { numIndividuals } from "@trajectory-maps/core";
import { numObservations, type ReadCohort } from "@trajectory-maps/core/ingest";
import { isPublished, MANY_INDIVIDUALS } from "@trajectory-maps/core/models";
import { isPrivate } from "../io/run-folder.ts";
import { cohortSummary } from "../print/summary.ts";
import { counted, whole } from "../print/words.ts";
import type { CommandResult } from "./command.ts";
import type { FitChoice } from "./fit-model.ts";

/** The plan of a fit, in words and as data. */
export function planOf(read: ReadCohort, choice: FitChoice, folder: string, names: readonly string[]): CommandResult {
  const { cohort, columns, numRows, numRowsLeftOut, warnings, notes } = read;
  const kind = isPublished(choice) ? "dtm-paper" : choice.kind;
  const schedule =
    kind === "dtm" || kind === "dtm-paper"
      ? (choice.schedule ?? (numIndividuals(cohort) > MANY_INDIVIDUALS ? "svi" : "batch"))
      : null;
  const several = cohort.markers.length > 1;
  const values = read.markerColumns.map(({ value, level }) => `value = "${value}"${level ? ` where "${level}"` : ""}`);
  const roles = [...(["id", "time"] as const).map((role) => `${role} = "${columns[role]}"`), ...values];
  const lines = [
    `${cohortSummary(cohort)}\n`,
    `Columns   ${roles.join(", ")}`,
    `Rows      ${whole(numRows)} read, ${whole(numRowsLeftOut)} left out, ${counted(warnings.length, "warning")}`,
    `Model     ${kind}, ${counted(choice.mapDimension, "dimension")}, ${choice.mean} mean, ${choice.noise === "white" ? "" : `${choice.noise} noise, `}seed ${choice.seed}` +
      `${schedule === null ? "" : `, schedule ${schedule}`}`,
    `Baselines lmm, fpca`,
    `Would write into ${folder}:`,
    ...names.map((name) => `          ${name}${isPrivate(name) ? "   (private)" : ""}`),
    "",
    "Nothing was fitted or written (--dry-run).",
  ];
  return {
    text: lines.join("\n"),
    json: {
      dryRun: true,
      columns,
      marker: cohort.markers[0]!.marker,
      ...(several ? { markers: cohort.markers.map(({ marker }) => marker) } : {}),
      individuals: numIndividuals(cohort),
      observations: numObservations(cohort),
      rows: numRows,
      rowsLeftOut: numRowsLeftOut,
      findings: warnings.map(({ code, count: times, remedy }) => ({ code, count: times ?? 1, remedy })),
      notes,
      model: {
        kind,
        dimension: choice.mapDimension,
        mean: choice.mean,
        noise: choice.noise,
        seed: choice.seed,
        schedule,
      },
      folder,
      files: names.map((name) => ({ name, private: isPrivate(name) })),
    },
  };
}
