/** dtm calibrate RUN: makes forecast bands hold what they promise; the factors go into the run's model file. */
import { join } from "node:path";
import { numIndividuals, saveModel } from "@trajectory-maps/core";
import type { ForecastCalibration } from "@trajectory-maps/core/models";
import { calibrateByRefits, calibrateForecasts, withCalibrations } from "@trajectory-maps/core/study";
import { UsageError } from "../exit-codes.ts";
import { MODEL_FILE, openRun } from "../io/run-folder.ts";
import { writeOutputs } from "../io/write.ts";
import { table } from "../print/table.ts";
import { counted, percent, significant } from "../print/words.ts";
import { type Command, textOption } from "./command.ts";
import { SUBJECTS_OPTION } from "./covariates.ts";
import { otherVisits, RUN_ARGUMENT } from "./groups.ts";
import { seedOf, wholeNumber } from "./numbers.ts";
import { laterRecord } from "./run-record.ts";
import { COLUMN_OPTIONS, readVisitsFor } from "./visits.ts";

export const calibrate: Command = {
  name: "calibrate",
  description:
    "Measure how wide forecast bands must be, on individuals not in the fit; writes the factors into model.json.",
  arguments: [RUN_ARGUMENT],
  options: [
    {
      flags: "--new-visits <file>",
      description: "visits of individuals who were not in the fit: the promise is then exact",
    },
    {
      flags: "--folds <number>",
      description: "parts of the run's own individuals, each forecast by a model of the others",
      default: "5",
    },
    ...COLUMN_OPTIONS,
    SUBJECTS_OPTION,
  ],
  examples: [
    "dtm calibrate run/",
    "dtm calibrate run/ --new-visits later-patients.csv",
    "dtm predict run/ visits.csv --at 0:10:1 --interval conformal",
  ],
  run: async ([folder = ""], options, context) => {
    const { talk } = context;
    const { model, read } = await openRun(folder, otherVisits(options, context));
    const path = textOption(options, "newVisits");
    const calibrations = await talk.during("Forecasts of individuals not in the fit", async (onProgress) => {
      if (path !== undefined) {
        const parts = [{ model, cohort: await newIndividuals(path), train: read.cohort }];
        return model.markers.map((_, k) => calibrateForecasts(parts, k));
      }
      const folds = wholeNumber("--folds", textOption(options, "folds") ?? "5", 2);
      return calibrateByRefits(model, read.cohort, {
        folds,
        seed: seedOf(options),
        onProgress: (done, of) =>
          onProgress({ stage: "refits", iteration: done, maxIterations: of, value: Number.NaN }),
      });
    });

    async function newIndividuals(file: string) {
      const { cohort } = await readVisitsFor(model, file, options, context);
      const known = new Set(read.cohort.ids);
      const shared = cohort.ids.filter((id) => known.has(id));
      if (shared.length > 0) {
        throw new UsageError(
          `--new-visits: expected individuals who were not in the fit, received ${counted(shared.length, "individual")} who were. Leave them out of the file.`,
        );
      }
      return cohort;
    }

    const files = [
      { name: MODEL_FILE, text: saveModel(withCalibrations(model, calibrations)) },
      ...laterRecord(folder, "calibrate", context.commandLine, [MODEL_FILE]),
    ];
    writeOutputs(folder, files);
    const told = calibrations.map((calibration, k) => ({ marker: model.markers[k]!.marker, calibration }));
    const several = told.length > 1;
    const pages = told.map(({ marker, calibration }) => {
      const title = several ? `${marker.name}, given what all markers had up to its last visit\n\n` : "";
      return title + calibrationPage(calibration, marker.timeUnit);
    });
    const most = Math.max(...calibrations.map(({ numIndividuals: n }) => n));
    const exact =
      path === undefined
        ? `${numIndividuals(read.cohort)} individuals of the run, each forecast by a model fitted to others`
        : `${most} new individuals`;
    return {
      text: `Calibrated on ${exact}.\n\n${pages.join("\n\n")}\n\nWritten   ${join(folder, MODEL_FILE)}   (use: dtm predict --interval conformal)`,
      json: several
        ? { markers: told.map(({ marker, calibration }) => ({ marker: marker.name, ...calibration })) }
        : calibrations[0],
    };
  },
};

/** What 90% bands are multiplied by, downwards and upwards, by visits known and time since the last. */
function calibrationPage(calibration: ForecastCalibration, timeUnit: string): string {
  const { levels, knownFrom, horizonFrom, classes, coverage } = calibration;
  const at = levels.indexOf(0.9);
  const show = (factor: number | null | undefined) => (factor == null ? "-" : factor.toFixed(2));
  const times = horizonFrom.map((from, h) => {
    const to = horizonFrom[h + 1];
    const unit = timeUnit && ` ${timeUnit}`;
    return to === undefined
      ? `after ${significant(from)}${unit} or more`
      : `after ${significant(from)} to ${significant(to)}`;
  });
  const rows = knownFrom.map((from, k) => {
    const to = knownFrom[k + 1];
    const known = to === undefined ? `${from} or more` : to === from + 1 ? String(from) : `${from} to ${to - 1}`;
    const cells = horizonFrom.map((_, h) => {
      const { lower, upper } = classes[k * horizonFrom.length + h]!;
      return `${show(lower[at])}, ${show(upper[at])}`;
    });
    return [known, ...cells];
  });
  return (
    "What the model's own 90% band is multiplied by, downwards and upwards (1: it holds what it promises)\n\n" +
    table(["visits known", ...times], rows) +
    (coverage === undefined
      ? ""
      : `\n\nThe model's own 90% band holds ${percent(coverage.own)} of their later visits, the calibrated one ${percent(coverage.calibrated)}.`)
  );
}
