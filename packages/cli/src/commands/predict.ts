/** dtm predict MODEL VISITS: courses of individuals at given times, or when they cross a threshold. */

import { join } from "node:path";
import {
  type Cohort,
  type Marker,
  type Placement,
  placeIndividual,
  predict,
  predictCrossing,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { markerCohort, valueLimits } from "@trajectory-maps/core/ingest";
import {
  type BandKind,
  basisDomain,
  codingOf,
  embedPlaces,
  type ForecastGuard,
  forecastGuard,
  isMapModel,
  markerIndex,
  modelAt,
  SUPPORTED,
  type Visits,
  viewMarker,
  viewPlacement,
} from "@trajectory-maps/core/models";
import { type CsvCell, toCsv } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { fileExists, isFolder } from "../io/read.ts";
import { openRun, readModel, VISITS_FILE } from "../io/run-folder.ts";
import { type Command, type CommandResult, type Context, type Options, textOption } from "./command.ts";
import { checkSubjects, SUBJECTS_OPTION, tellFar } from "./covariates.ts";
import { MODEL_ARGUMENT } from "./embed.ts";
import { limitsOf, realNumber, seedOf, timesOf } from "./numbers.ts";
import { COLUMN_OPTIONS, readVisitsFor, UNIT_OPTION, VISITS_ARGUMENT } from "./visits.ts";

/** The word for --at that asks for the times of everybody's own visits. */
const OWN_TIMES = "visits";
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
    "Forecast the courses of individuals; prints CSV: id, time, mean, sd, lower, upper, median, extrapolated on the marker's own scale, and where values have a lower limit that limit and the probability to be below it. Of several markers every row says which it is of, each given all of them.",
  arguments: [MODEL_ARGUMENT, { ...VISITS_ARGUMENT, optional: true }],
  options: [
    ...COLUMN_OPTIONS,
    UNIT_OPTION,
    SUBJECTS_OPTION,
    { flags: "--marker <name>", description: "which of several markers to forecast (default: each)" },
    {
      flags: "--at <times>",
      description: "from:to:step, a list with commas, or visits: the times at which each individual was measured",
    },
    {
      flags: "--interval <kind>",
      description: "band of a new measurement, of the curve without noise, or as calibrated (dtm calibrate)",
      default: "observation",
      choices: ["observation", "curve", "conformal"],
    },
    { flags: "--level <share>", description: "probability inside the band", default: "0.9" },
    {
      flags: "--scale <name>",
      description: "the marker's own scale or the model's",
      default: "marker",
      choices: ["marker", "model"],
    },
    { flags: "--limits <low,high>", description: "what the values can be, in place of the limits in the model" },
    { flags: "--population", description: "also predict for somebody without visits; alone without VISITS" },
    { flags: "--threshold <value>", description: "predict instead when the curve first crosses this value" },
    { flags: "--above", description: "crossing upwards (default: away from where the curve is)" },
    { flags: "--below", description: "crossing downwards" },
    { flags: "--from <time>", description: "start of the search (default: the last visit of each individual)" },
  ],
  examples: [
    "dtm predict run/ visits.csv --at 0:10:0.25 > courses.csv",
    "dtm predict run/model.json --population --at 0:10:1 --limits 0,30",
    "dtm predict run/ visits.csv --threshold 50 --below --from 2",
    "dtm predict three/ visits.csv --at 0:10:1 --marker albumin",
  ],
  run: async ([modelPath = "", path], options, context) => {
    const model = readModel(modelPath);
    checkSubjects(model, options);
    const at = textOption(options, "at");
    const threshold = textOption(options, "threshold");
    if ((at === undefined) === (threshold === undefined)) {
      throw new UsageError(
        "Choose what to predict: values with --at 0:10:0.25, or the time to a threshold with --threshold 50.",
      );
    }
    const known =
      path === undefined && options.population === true
        ? []
        : historiesOf((await readVisitsFor(model, path ?? "-", options, context)).cohort);
    const histories = options.population === true ? [{ id: "population", markers: {} }, ...known] : known;
    const coding = codingOf(model);
    if (options.population === true && coding !== undefined) {
      context.talk.warn(
        `population: somebody with the average of ${coding.covariates.map(({ name }) => name).join(", ")} of those fitted. People differ in them, so a cohort varies more than this band.`,
      );
    }
    if (textOption(options, "interval") === "conformal") {
      context.talk.say(
        "Calibrated are times after the last visit of an individual; at others, and without visits, bands are the model's own.",
      );
    }
    const chosen = chosenMarkers(model, options);
    const guards = at === undefined ? undefined : await guardsOf(modelPath, model, chosen, context);
    return context.talk.during("Predictions", () => {
      const individuals = histories.map((history) => placeDescribed(model, history));
      const far = individuals.map(({ own }) => own.farCovariates ?? []);
      tellFar(
        individuals.map(({ history }) => history.id),
        far,
        context,
      );
      return at === undefined
        ? crossings(model, chosen, individuals, options, context)
        : courses(model, chosen, individuals, at === OWN_TIMES ? at : timesOf("--at", at), guards, options, context);
    });
  },
};

/** Visits by the names of their markers. */
type MarkerHistory = { readonly id: string; readonly markers: { readonly [name: string]: Visits } };

/** The same with the covariates of the individual, coded. */
type Described = MarkerHistory & { readonly covariates?: Float64Array };

/** An individual placed by all markers. */
interface PlacedHistory {
  readonly history: MarkerHistory;
  /** The model as it is for the individual: covariates are in it. */
  readonly own: TrajectoryModel;
  readonly placement: Placement;
}

/** Somebody without covariates stands for the average of those fitted. */
function placeDescribed(model: TrajectoryModel, { covariates, ...history }: Described): PlacedHistory {
  const coding = codingOf(model);
  if (coding === undefined) return { history, own: model, placement: placeIndividual(model, history) };
  const values = covariates ?? new Float64Array(coding.columns.length);
  const placement = placeIndividual(model, history, { covariates: { coding, values } });
  return { history, own: modelAt(model, values), placement };
}

function historiesOf(cohort: Cohort): Described[] {
  return cohort.ids.map((id, i) => {
    const own = cohort.markers.map(({ marker, offsets, times, values, censored }) => {
      const [from, to] = [offsets[i], offsets[i + 1]];
      const visits = { times: times.subarray(from, to), values: values.subarray(from, to) };
      return [marker.name, { ...visits, ...(censored && { censored: censored.subarray(from, to) }) }] as const;
    });
    const P = cohort.covariates?.coding.columns.length ?? 0;
    const covariates = cohort.covariates?.values.subarray(i * P, (i + 1) * P);
    return { id, markers: Object.fromEntries(own), ...(covariates && { covariates }) };
  });
}

/** Positions of the markers to forecast. */
function chosenMarkers(model: TrajectoryModel, options: Options): number[] {
  const name = textOption(options, "marker");
  if (name !== undefined) return [markerIndex(model, name)];
  const names = model.markers.map(({ marker }) => marker.name);
  for (const [option, what] of [
    ["threshold", "a value"],
    ["limits", "limits"],
  ] as const) {
    if (names.length > 1 && options[option] !== undefined) {
      throw new UsageError(
        `--${option}: expected ${what} of one marker, received with ${names.length}. Add --marker, one of ${names.join(", ")}.`,
      );
    }
  }
  return names.map((_, k) => k);
}

/** What forecasts of each marker of a map fall back on: a run that keeps its visits has it, a model file alone has not. */
async function guardsOf(
  path: string,
  model: TrajectoryModel,
  chosen: readonly number[],
  { talk }: Context,
): Promise<readonly ForecastGuard[] | undefined> {
  if (!isMapModel(model)) return undefined;
  if (!isFolder(path) || !fileExists(join(path, VISITS_FILE))) {
    talk.say("Without the visits of a run, forecasts are not held against how long similar individuals were followed.");
    return undefined;
  }
  const { cohort } = (await openRun(path)).read;
  return talk.during("Follow-up of similar individuals", () => {
    const places = embedPlaces(model, cohort);
    return chosen.map((k) => forecastGuard(viewMarker(model, k), markerCohort(cohort, k), { places }));
  });
}

const COURSE_COLUMNS = ["id", "time", "mean", "sd", "lower", "upper", "median", "extrapolated"];
/** Further ones of measurements of a marker whose values have a lower limit. */
const LIMIT_COLUMNS = ["limit", "below_limit"];

/** Courses of the chosen markers, one after the other. */
function courses(
  model: TrajectoryModel,
  chosen: readonly number[],
  individuals: readonly PlacedHistory[],
  times: Float64Array | typeof OWN_TIMES,
  guards: readonly ForecastGuard[] | undefined,
  options: Options,
  context: Context,
): CommandResult {
  const each = chosen.map((k, c) => coursesOf(model, k, individuals, times, guards?.[c], options, context));
  const [{ told }] = each as [(typeof each)[number]];
  const isLimited = each.some(({ rows }) => (rows[0]?.length ?? 0) > COURSE_COLUMNS.length);
  const own = isLimited ? [...COURSE_COLUMNS, ...LIMIT_COLUMNS] : COURSE_COLUMNS;
  if (model.markers.length === 1) {
    const [{ rows }] = each as [(typeof each)[number]];
    return {
      text: toCsv(own, rows),
      json: { ...told, predictions: rows.map((row) => record(own, row)) },
    };
  }
  const columns = ["marker", ...own];
  const rows = each.flatMap(({ told: { marker }, rows: theirs }) =>
    theirs.map((row) => columns.map((_, c) => (c === 0 ? marker.name : (row[c - 1] ?? Number.NaN)))),
  );
  return {
    text: toCsv(columns, rows),
    json: {
      ...told,
      markers: each.map(({ told: { marker } }) => marker),
      predictions: rows.map((row) => record(columns, row)),
    },
  };
}

/** Rows of one marker's courses, and what they are. */
function coursesOf(
  model: TrajectoryModel,
  k: number,
  individuals: readonly PlacedHistory[],
  asked: Float64Array | typeof OWN_TIMES,
  guard: ForecastGuard | undefined,
  options: Options,
  { talk }: Context,
) {
  const part = model.markers[k]!;
  const level = realNumber("--level", textOption(options, "level") ?? "0.9");
  if (!(level > 0 && level < 1)) throw new UsageError(`--level: expected a share between 0 and 1, received ${level}.`);
  const interval = (textOption(options, "interval") ?? "observation") as BandKind;
  const scale = textOption(options, "scale") === "model" ? "model" : "marker";
  const limits = limitsOf(options);
  if (limits !== undefined && scale === "model") {
    throw new UsageError("--limits are on the marker's own scale: leave out --scale model.");
  }
  // On the model's own scale nothing is undone: the same model with a marker that was never transformed.
  const { limits: _, ...described } = part.marker;
  const marker: Marker =
    scale === "model"
      ? { ...described, transform: "identity" }
      : { ...part.marker, ...(limits === undefined ? {} : { limits }) };
  const shown = (own: TrajectoryModel) => {
    const view = viewMarker(own, k);
    return { ...view, markers: [{ ...view.markers[0]!, marker }] } as TrajectoryModel;
  };
  const named = model.markers.length === 1 ? "" : `${part.marker.name}: `;
  const [first, last] = basisDomain(part.basis);
  const seenBy = ({ history }: PlacedHistory) => history.markers[part.marker.name] ?? NO_VISITS;
  const timesOfAll = asked === OWN_TIMES ? individuals.flatMap((one) => Array.from(seenBy(one).times)) : [...asked];
  const beyond = timesOfAll.filter((t) => t < first || t > last).length;
  if (beyond > 0) {
    talk.warn(
      `${named}${beyond} of ${timesOfAll.length} times lie outside ${first} to ${last}, the times of the training data: curves are held constant there.`,
    );
  }
  const rows: CsvCell[][] = [];
  let [numExtrapolated, numHeld] = [0, 0];
  for (const individual of individuals) {
    const { own } = individual;
    const placement = viewPlacement(individual.placement, k);
    const seen = seenBy(individual);
    const times = asked === OWN_TIMES ? Float64Array.from(seen.times) : asked;
    const fallback = guard === undefined ? undefined : placeIndividual(guard.mixedModel, seen);
    const { mean, sd, lower, upper, median, extrapolated, beyondLimits, belowLimit } = predict(
      shown(own),
      placement,
      times,
      {
        level,
        interval,
        ...(guard === undefined || fallback === undefined ? {} : { guard: { guard, fallback } }),
      },
    );
    times.forEach((t, k) => {
      const [m, s, l, u, q] = [mean, sd, lower, upper, median].map((x) => x[k] ?? Number.NaN);
      const below = belowLimit === undefined ? [] : [belowLimit.limit, belowLimit.probability[k] ?? Number.NaN];
      rows.push([placement.id, t, m!, s!, l!, u!, q!, extrapolated[k] ?? 0, ...below]);
      if (own.farCovariates === undefined) numExtrapolated += extrapolated[k] ?? 0;
      numHeld += beyondLimits[k] ?? 0;
    });
  }
  if (numHeld > 0) {
    const [low, high] = valueLimits(marker);
    talk.warn(
      `${named}${numHeld} of ${rows.length} forecasts lie wholly beyond the limits of the marker, ${low} to ${high}: they are held at the limit, and their bands have no width.`,
    );
  }
  if (guard !== undefined && numExtrapolated > 0) {
    talk.warn(
      `${named}${numExtrapolated} of ${rows.length} forecasts are marked as extrapolated: fewer than ${SUPPORTED} similar individuals were followed that long.`,
    );
  }
  return { rows, told: { interval, level, scale, marker: scale === "model" ? part.marker : marker } };
}

const NO_VISITS: Visits = { times: [], values: [] };

function crossings(
  model: TrajectoryModel,
  [k = 0]: readonly number[],
  individuals: readonly PlacedHistory[],
  options: Options,
  { talk }: Context,
): CommandResult {
  const own = model.markers[k]!;
  const threshold = realNumber("--threshold", textOption(options, "threshold") ?? "");
  if (options.above === true && options.below === true) throw new UsageError("Choose one of --above and --below.");
  const direction = options.above === true ? ("up" as const) : options.below === true ? ("down" as const) : undefined;
  const given = textOption(options, "from");
  const from = given === undefined ? undefined : realNumber("--from", given);
  const [, last] = basisDomain(own.basis);
  const seed = seedOf(options);
  const rows: CsvCell[][] = [];
  let late = 0;
  for (const { own: theirs, placement: whole } of individuals) {
    const placement = viewPlacement(whole, k);
    if (from === undefined && placement.lastTime > last) {
      // Seen after the last time the model knows: nothing can be said of later ones.
      late++;
      rows.push([placement.id, threshold, "", placement.lastTime, ...Array<number>(7).fill(Number.NaN)]);
      continue;
    }
    const found = predictCrossing(viewMarker(theirs, k), placement, {
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
