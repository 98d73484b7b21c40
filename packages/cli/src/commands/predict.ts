/** dtm predict MODEL VISITS: courses of individuals at given times, or when they cross a threshold. */

import {
  type Cohort,
  markerModel,
  type Placement,
  placeIndividual,
  predict,
  predictCrossing,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { basisDomain, modelMixture } from "@trajectory-maps/core/models";
import { type CsvCell, toCsv } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { readModel } from "../io/run-folder.ts";
import { type Command, type CommandResult, type Context, type Options, textOption } from "./command.ts";
import { MODEL_ARGUMENT } from "./embed.ts";
import { realNumber, seedOf, timesOf } from "./numbers.ts";
import { COLUMN_OPTIONS, readVisitsFor, UNIT_OPTION, VISITS_ARGUMENT } from "./visits.ts";

const PROBABILITIES = [0.05, 0.25, 0.5, 0.75, 0.95] as const;
const CROSSING_COLUMNS = [
  "id",
  "threshold",
  "direction",
  "from",
  "probability",
  "already",
  ...PROBABILITIES.map((p) => `time${String(Math.round(100 * p)).padStart(2, "0")}`),
];

export const predictCommand: Command = {
  name: "predict",
  description:
    "Forecast the courses of individuals; prints CSV: id, time, mean, sd, lower, upper on the marker's own scale.",
  arguments: [MODEL_ARGUMENT, VISITS_ARGUMENT],
  options: [
    ...COLUMN_OPTIONS,
    UNIT_OPTION,
    { flags: "--at <times>", description: "from:to:step, or a list with commas" },
    {
      flags: "--interval <kind>",
      description: "band of a new measurement, or of the curve without noise",
      default: "observation",
      choices: ["observation", "curve"],
    },
    { flags: "--level <share>", description: "probability inside the band", default: "0.9" },
    {
      flags: "--scale <name>",
      description: "the marker's own scale or the model's",
      default: "marker",
      choices: ["marker", "model"],
    },
    { flags: "--threshold <value>", description: "predict instead when the curve first crosses this value" },
    { flags: "--above", description: "crossing upwards (default: away from where the curve is)" },
    { flags: "--below", description: "crossing downwards" },
    { flags: "--from <time>", description: "start of the search (default: the last visit of each individual)" },
  ],
  examples: [
    "dtm predict run/model.json visits.csv --at 0:10:0.25 > courses.csv",
    "dtm predict run/ visits.csv --threshold 50 --below --from 2",
  ],
  run: async ([modelPath = "", path = "-"], options, context) => {
    const model = readModel(modelPath);
    const at = textOption(options, "at");
    const threshold = textOption(options, "threshold");
    if ((at === undefined) === (threshold === undefined)) {
      throw new UsageError(
        "Choose what to predict: values with --at 0:10:0.25, or the time to a threshold with --threshold 50.",
      );
    }
    const { cohort } = await readVisitsFor(model, path, options, context);
    return context.talk.during("Predictions", () =>
      at === undefined
        ? crossings(model, cohort, options, context)
        : courses(model, cohort, timesOf("--at", at), options, context),
    );
  },
};

function* placed(model: TrajectoryModel, cohort: Cohort): Generator<Placement> {
  const mixture = modelMixture(model);
  const { offsets, times, values } = onlyMarker(cohort);
  for (const [i, id] of cohort.ids.entries()) {
    const [from, to] = [offsets[i], offsets[i + 1]];
    const history = { id, times: times.subarray(from, to), values: values.subarray(from, to) };
    yield placeIndividual(model, history, { mixture });
  }
}

function courses(
  model: TrajectoryModel,
  cohort: Cohort,
  times: Float64Array,
  options: Options,
  { talk }: Context,
): CommandResult {
  const part = markerModel(model);
  const level = realNumber("--level", textOption(options, "level") ?? "0.9");
  if (!(level > 0 && level < 1)) throw new UsageError(`--level: expected a share between 0 and 1, received ${level}.`);
  const interval = textOption(options, "interval") === "curve" ? "curve" : "observation";
  const scale = textOption(options, "scale") === "model" ? "model" : "marker";
  // On the model's own scale nothing is undone: the same model with a marker that was never transformed.
  const shown =
    scale === "model"
      ? ({
          ...model,
          markers: [{ ...part, marker: { ...part.marker, transform: "identity" as const } }],
        } as TrajectoryModel)
      : model;
  const [first, last] = basisDomain(part.basis);
  const beyond = times.filter((t) => t < first || t > last).length;
  if (beyond > 0) {
    talk.warn(
      `${beyond} of ${times.length} times lie outside ${first} to ${last}, the times of the training data: curves are held constant there.`,
    );
  }
  const rows: CsvCell[][] = [];
  for (const placement of placed(model, cohort)) {
    const { mean, sd, lower, upper } = predict(shown, placement, times, { level, interval });
    times.forEach((t, k) => {
      rows.push([placement.id, t, mean[k] ?? 0, sd[k] ?? 0, lower[k] ?? 0, upper[k] ?? 0]);
    });
  }
  const columns = ["id", "time", "mean", "sd", "lower", "upper"];
  return {
    text: toCsv(columns, rows),
    json: {
      interval,
      level,
      scale,
      marker: part.marker,
      predictions: rows.map((row) => record(columns, row)),
    },
  };
}

function crossings(model: TrajectoryModel, cohort: Cohort, options: Options, { talk }: Context): CommandResult {
  const own = markerModel(model);
  const threshold = realNumber("--threshold", textOption(options, "threshold") ?? "");
  if (options.above === true && options.below === true) throw new UsageError("Choose one of --above and --below.");
  const direction = options.above === true ? ("up" as const) : options.below === true ? ("down" as const) : undefined;
  const given = textOption(options, "from");
  const from = given === undefined ? undefined : realNumber("--from", given);
  const [, last] = basisDomain(own.basis);
  const seed = seedOf(options);
  const rows: CsvCell[][] = [];
  let late = 0;
  for (const placement of placed(model, cohort)) {
    if (from === undefined && placement.lastTime > last) {
      // Seen after the last time the model knows: nothing can be said of later ones.
      late++;
      rows.push([placement.id, threshold, "", placement.lastTime, ...Array<number>(7).fill(Number.NaN)]);
      continue;
    }
    const found = predictCrossing(model, placement, {
      threshold,
      seed,
      probabilities: PROBABILITIES,
      ...(direction === undefined ? {} : { direction }),
      ...(from === undefined ? {} : { from }),
    });
    rows.push([
      placement.id,
      threshold,
      found.direction === "up" ? "above" : "below",
      found.from,
      shareOf(1 - found.probabilityNone),
      found.probabilityAlready,
      ...found.quantiles.map(({ time }) => time ?? Number.NaN),
    ]);
  }
  if (late > 0)
    talk.warn(
      `${late} individuals were last seen after ${last}, the last time in the training data; their cells are left empty.`,
    );
  return {
    text: toCsv(CROSSING_COLUMNS, rows),
    json: {
      threshold,
      until: last,
      marker: own.marker,
      crossings: rows.map((row) => record(CROSSING_COLUMNS, row)),
    },
  };
}

/** A share of draws without the last digits that subtraction leaves behind. */
function shareOf(probability: number): number {
  return Math.round(probability * 1e12) / 1e12;
}

function record(columns: readonly string[], row: readonly CsvCell[]): Record<string, CsvCell | null> {
  return Object.fromEntries(
    columns.map((name, k) => {
      const cell = row[k] ?? "";
      return [name, typeof cell === "number" && !Number.isFinite(cell) ? null : cell];
    }),
  );
}
