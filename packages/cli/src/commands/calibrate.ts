/** dtm calibrate RUN: makes forecast bands hold what they promise; the factors go into the run's model file. */
import { join } from "node:path";
import { numIndividuals, saveModel } from "@trajectory-maps/core";
import { type ForecastCalibration, isCalibratedAt } from "@trajectory-maps/core/models";
import { calibrateByRefits, calibrateForecasts, fewestFor, withCalibrations } from "@trajectory-maps/core/study";
import { UsageError } from "../exit-codes.ts";
import { MODEL_FILE, openRun } from "../io/run-folder.ts";
import { table } from "../print/table.ts";
import { counted, percent, significant } from "../print/words.ts";
import { type Command, textOption } from "./command.ts";
import { SUBJECTS_OPTION } from "./covariates.ts";
import { otherVisits, RUN_ARGUMENT, runWritten, VISITS_OPTION } from "./groups.ts";
import { seedOf, wholeNumber } from "./numbers.ts";
import { runVerdict, writeResults } from "./run-record.ts";
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
    VISITS_OPTION,
    SUBJECTS_OPTION,
  ],
  examples: [
    "dtm calibrate run/",
    "dtm calibrate run/ --new-visits later-patients.csv",
    "dtm predict run/ visits.csv --at 0:10:1 --interval conformal",
  ],
  writes: runWritten,
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

    const calibrated = withCalibrations(model, calibrations);
    const files = [{ name: MODEL_FILE, text: saveModel(calibrated) }];
    writeResults(folder, "calibrate", files, context, { map: runVerdict(folder, calibrated, {}) });
    const told = calibrations.map((calibration, k) => ({ marker: model.markers[k]!.marker, calibration }));
    const several = told.length > 1;
    const pages = told.map(({ marker, calibration }) => {
      const title = several ? `${marker.name}, given what all markers had up to its last visit\n\n` : "";
      return title + calibrationPage(calibration, marker.timeUnit);
    });
    const most = Math.max(...calibrations.map(({ numIndividuals: n }) => n));
    const exact =
      path === undefined
        ? `${most} of ${counted(numIndividuals(read.cohort), "individual")} of the run, those with two visits or more, each forecast by a model fitted to others`
        : `${most} new individuals`;
    return {
      text: `Calibrated on ${exact}.\n\n${pages.join("\n\n")}\n\nWritten   ${join(folder, MODEL_FILE)}   (use: dtm predict --interval conformal)`,
      json: several
        ? { markers: told.map(({ marker, calibration }) => ({ marker: marker.name, ...calibration })) }
        : calibrations[0],
    };
  },
};

/**
 * What 90% bands are multiplied by, downwards and upwards, by visits known and time since the last, to be 90% bands, or those of the highest
 * level that there are individuals for; and for which levels there are too few.
 */
function calibrationPage(calibration: ForecastCalibration, timeUnit: string): string {
  const { levels, knownFrom, horizonFrom, classes, coverage, numIndividuals: n } = calibration;
  const told = levels.filter((level) => isCalibratedAt(calibration, level));
  const shown = Math.max(...told.filter((level) => level <= 0.9));
  const at = levels.indexOf(shown);
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
      const { lower, upper, borrowed } = classes[k * horizonFrom.length + h]!;
      return `${show(lower[at])}, ${show(upper[at])}${borrowed ? "*" : " "}`;
    });
    return [known, ...cells];
  });
  const missing = levels.filter((level) => !told.includes(level));
  const list = (of: readonly number[], words: (level: number) => string) => of.map(words).join(", ");
  return [
    ...(missing.length === 0
      ? []
      : [
          `Too few for levels of ${list(missing, (level) => percent(level))}: these need ${list(missing, (level) => String(fewestFor(level)))} individuals with two visits or more, and there are ${n}. Calibrated levels: ${list(told, (level) => percent(level))}.`,
        ]),
    shown === 0.9
      ? "What the model's own 90% band is multiplied by, downwards and upwards (1: it holds what it promises)"
      : `What the model's own 90% band is multiplied by, downwards and upwards, to be one of ${percent(shown)}`,
    table(["visits known", ...times], rows),
    ...(classes.some(({ borrowed }) => borrowed)
      ? [
          "*: too few individuals with so many visits known; those nearest in visits known, at last everybody, are counted in.",
        ]
      : []),
    ...(coverage === undefined
      ? []
      : [
          `The model's own 90% band holds ${percent(coverage.own)} of their later visits, the calibrated one ${percent(coverage.calibrated)}.`,
        ]),
  ].join("\n\n");
}
