/** dtm embed MODEL VISITS: places of individuals under a fitted model, without refitting. */

import { embed } from "@trajectory-maps/core";
import { toCsv } from "@trajectory-maps/report";
import { readModel } from "../io/run-folder.ts";
import type { Command } from "./command.ts";
import { checkSubjects, SUBJECTS_OPTION, tellFar } from "./covariates.ts";
import { markerCells, markerColumns, placeCells, placeColumns } from "./placements.ts";
import { COLUMN_OPTIONS, readVisitsFor, UNIT_OPTION, VISITS_ARGUMENT } from "./visits.ts";

export const MODEL_ARGUMENT = { name: "model", description: "model file, or the folder of a run" } as const;

export const embedCommand: Command = {
  name: "embed",
  description:
    "Place individuals on a fitted map; prints CSV: id, x1, x2, var11, var12, var22 (and noise_ratio where individuals differ in their noise).",
  arguments: [MODEL_ARGUMENT, VISITS_ARGUMENT],
  options: [...COLUMN_OPTIONS, UNIT_OPTION, SUBJECTS_OPTION],
  examples: ["dtm embed run/model.json new-visits.csv > places.csv", "cat visits.csv | dtm embed run/ - --json"],
  run: async ([modelPath = "", path = "-"], options, context) => {
    const model = readModel(modelPath);
    checkSubjects(model, options);
    const { cohort } = await readVisitsFor(model, path, options, context);
    const placements = context.talk.during("Places", () => embed(model, cohort));
    const outside = placements.numOutsideTimes.reduce((sum, n) => sum + n, 0);
    if (outside > 0) {
      context.talk.warn(
        `${outside} observations lie outside the times of the training data; they are used as if made at its first or last time.`,
      );
    }
    tellFar(placements.ids, placements.farCovariates ?? [], context);
    const columns = [...placeColumns(model.mapDimension), ...markerColumns(model, placements)];
    const rows = placements.ids.map((_, i) => [...placeCells(placements, i), ...markerCells(placements, i)]);
    return {
      text: toCsv(columns, rows),
      json: {
        dimension: model.mapDimension,
        placements: rows.map((cells, i) => ({
          ...Object.fromEntries(columns.map((name, k) => [name, cells[k]])),
          visits: placements.numObservations[i],
          logLikelihood: placements.logLikelihood[i],
          area50: placements.area50[i],
          area90: placements.area90[i],
        })),
      },
    };
  },
};
