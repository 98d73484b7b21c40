/** dtm embed MODEL VISITS: places of individuals under a fitted model, without refitting. */

import { embed, type Placements } from "@trajectory-maps/core";
import { suspectVisits } from "@trajectory-maps/core/models";
import { MOST_LOOKED_THROUGH } from "@trajectory-maps/core/study";
import type { CsvCell } from "@trajectory-maps/report";
import { isFolder } from "../io/read.ts";
import { readModel } from "../io/run-folder.ts";
import { type GroupRegions, groupShares, readGroupRegions } from "../io/run-groups.ts";
import { countById, suspectWarning } from "../print/quality.ts";
import type { Command } from "./command.ts";
import { impossibleWarning, withReasons } from "./courses.ts";
import { checkSubjects, SUBJECTS_OPTION, tellFar } from "./covariates.ts";
import { FHIR_OPTIONS } from "./fhir.ts";
import { markerCells, markerColumns, placeCells, placeColumns } from "./placements.ts";
import { checkTableOut, TABLE_OUT_OPTIONS, tableResult } from "./table-out.ts";
import { tellApart } from "./tables-apart.ts";
import { COLUMN_OPTIONS, MODEL_UNIT_OPTIONS, readVisitsFor, VISITS_ARGUMENT } from "./visits.ts";
import { QUERY_OPTIONS, visitsPath } from "./visits-source.ts";

export const MODEL_ARGUMENT = { name: "model", description: "model file, or the folder of a run" } as const;

export const embedCommand: Command = {
  name: "embed",
  description:
    "Place individuals on a fitted map; prints CSV: id, x1, x2, var11, var12, var22 (and noise_ratio where individuals differ in their noise), suspects: how many values are probably wrong, area90: size of the 90 % region of the place; from a run with groups also group and probability_A, ...",
  arguments: [MODEL_ARGUMENT, VISITS_ARGUMENT],
  options: [
    ...COLUMN_OPTIONS,
    ...QUERY_OPTIONS,
    ...MODEL_UNIT_OPTIONS,
    ...FHIR_OPTIONS,
    SUBJECTS_OPTION,
    ...TABLE_OUT_OPTIONS,
  ],
  examples: [
    "dtm embed run/model.json new-visits.csv > places.csv",
    "dtm embed run/ new-visits.parquet -o places.parquet",
    "cat visits.csv | dtm embed run/ - --json",
  ],
  run: async ([modelPath = "", table], given, context) => {
    checkTableOut(given);
    const model = readModel(modelPath);
    checkSubjects(model, given);
    const { visits: path, options } = await tellApart(visitsPath(table, given), undefined, given, context);
    const { cohort } = await readVisitsFor(model, path, options, context);
    const placements = context.talk.during("Places", () => embed(model, cohort));
    const outside = placements.numOutsideTimes.reduce((sum, n) => sum + n, 0);
    if (outside > 0) {
      context.talk.warn(
        `${outside} observations lie outside the times of the training data; they are used as if made at its first or last time.`,
      );
    }
    tellFar(placements.ids, placements.farCovariates ?? [], context);
    const isLookedThrough = cohort.ids.length <= MOST_LOOKED_THROUGH;
    const suspects = isLookedThrough ? context.talk.during("Suspect values", () => suspectVisits(model, cohort)) : null;
    if (suspects === null) context.talk.say("Suspect values are not looked for in so many individuals.");
    else if (suspects.length > 0) context.talk.warn(suspectWarning(suspects, model.markers.length > 1));
    const ofEach = countById(suspects ?? []);
    const groups = isFolder(modelPath) ? readGroupRegions(modelPath, model) : undefined;
    const grouped = groupCells(groups, placements);
    const names = [
      ...placeColumns(model.mapDimension),
      ...markerColumns(model, placements),
      ...["suspects", "area90"],
      ...grouped.columns,
    ];
    const faults = new Map(placements.faults?.map(({ individual, reason }) => [individual, reason]));
    const reasons = new Map<CsvCell[], string>();
    const found = placements.ids.map((id, i): CsvCell[] => {
      const numSuspects = suspects === null ? Number.NaN : (ofEach.get(id) ?? 0);
      const reason = faults.get(i);
      if (reason !== undefined) {
        const row = names.map((name) =>
          name === "id" ? id : name === "suspects" ? numSuspects : name === "group" ? "" : Number.NaN,
        );
        reasons.set(row, reason);
        return row;
      }
      return [
        ...placeCells(placements, i),
        ...markerCells(placements, i),
        numSuspects,
        placements.area90[i] ?? Number.NaN,
        ...grouped.cells(i),
      ];
    });
    if (faults.size > 0) {
      context.talk.warn(
        impossibleWarning(
          [...faults.keys()].map((i) => placements.ids[i] ?? ""),
          faults.values(),
        ),
      );
    }
    const { columns, rows } = withReasons(names, found, reasons);
    return tableResult(
      { columns, rows },
      {
        dimension: model.mapDimension,
        ...(groups && { groups: groups.groups.map(({ letter, name }) => ({ letter, name })) }),
        suspects,
        placements: rows.map((cells, i) => ({
          ...Object.fromEntries(columns.map((name, k) => [name, cells[k]])),
          visits: placements.numObservations[i],
          logLikelihood: placements.logLikelihood[i],
          area50: faults.has(i) ? Number.NaN : placements.area50[i],
        })),
      },
      options,
    );
  },
};

/** The most probable group of each place and the probabilities of all, where there are groups; columns as in groups.csv. */
function groupCells(groups: GroupRegions | undefined, placements: Placements) {
  if (groups === undefined) return { columns: [], cells: () => [] };
  const shares = groupShares(groups, placements);
  const K = groups.groups.length;
  return {
    columns: ["group", ...groups.groups.map(({ letter }) => `probability_${letter}`)],
    cells: (i: number) => {
      const own = shares.subarray(i * K, (i + 1) * K);
      return [groups.groups[own.indexOf(Math.max(...own))]?.letter ?? "", ...own];
    },
  };
}
