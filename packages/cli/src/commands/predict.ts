/** dtm predict MODEL VISITS: courses of individuals at given times, or when they cross a threshold. */

import type { Cohort, Marker, Prediction, TrajectoryModel } from "@trajectory-maps/core";
import { type Limits, valueLimits } from "@trajectory-maps/core/ingest";
import {
  type BandKind,
  basisDomain,
  codingOf,
  type ForecastGuard,
  isMapModel,
  markerIndex,
  predictPopulation,
  SUPPORTED,
} from "@trajectory-maps/core/models";
import type { CsvCell } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { isFolder } from "../io/read.ts";
import { hasVisits, openRun, readModel } from "../io/run-folder.ts";
import { suspectWarning } from "../print/quality.ts";
import { type Command, type Context, type Options, textOption } from "./command.ts";
import {
  COURSE_COLUMNS,
  courseOf,
  courseRows,
  emptyRows,
  forecastGuards,
  impossibleWarning,
  LIMIT_COLUMNS,
  orReason,
  toldAs,
  visitsOfMarker,
  withReasons,
} from "./courses.ts";
import { checkSubjects, SUBJECTS_OPTION, tellFar } from "./covariates.ts";
import { crossings, record } from "./crossings.ts";
import { MODEL_ARGUMENT } from "./embed.ts";
import { FHIR_OPTIONS } from "./fhir.ts";
import { historiesOf, type PlacedHistory, placeDescribed } from "./histories.ts";
import { limitsOf, realNumber, timesOf } from "./numbers.ts";
import { checkTableOut, type ResultTable, TABLE_OUT_OPTIONS, tableResult } from "./table-out.ts";
import { tellApart } from "./tables-apart.ts";
import { COLUMN_OPTIONS, MODEL_UNIT_OPTIONS, readVisitsFor, VISITS_ARGUMENT } from "./visits.ts";
import { QUERY_OPTIONS, visitsPath } from "./visits-source.ts";

/** The word for --at that asks for the times of everybody's own visits. */
const OWN_TIMES = "visits";
export const predictCommand: Command = {
  name: "predict",
  description:
    "Forecast the courses of individuals; prints CSV: id, time, mean, sd, lower, upper, median, extrapolated, model_weight (below 1 where the forecast falls back on a mixed model), suspects (how many of the individual's values are probably wrong) on the marker's own scale, and where values have a lower limit that limit and the probability to be below it. Of several markers every row says which it is of, each given all of them.",
  arguments: [MODEL_ARGUMENT, VISITS_ARGUMENT],
  options: [
    ...COLUMN_OPTIONS,
    ...QUERY_OPTIONS,
    ...MODEL_UNIT_OPTIONS,
    ...FHIR_OPTIONS,
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
    ...TABLE_OUT_OPTIONS,
  ],
  examples: [
    "dtm predict run/ visits.csv --at 0:10:0.25 > courses.csv",
    "dtm predict run/ visits.parquet --at 0:10:0.25 -o courses.parquet",
    "dtm predict run/model.json --population --at 0:10:1 --limits 0,30",
    "dtm predict run/ visits.csv --threshold 50 --below --from 2",
    "dtm predict three/ visits.csv --at 0:10:1 --marker albumin",
  ],
  run: async ([modelPath = "", table], given, context) => {
    checkTableOut(given);
    const times = askedTimes(given);
    const bands = bandsOf(given);
    checkAsked(times !== undefined, given, context);
    const model = readModel(modelPath);
    checkSubjects(model, given);
    const { visits: path, options } =
      table === undefined && given.sql === undefined && given.fhir === undefined && given.population === true
        ? { visits: undefined, options: given }
        : await tellApart(visitsPath(table, given), undefined, given, context);
    const known = path === undefined ? [] : historiesOf((await readVisitsFor(model, path, options, context)).cohort);
    // People differ in covariates: a population is then averaged over those of the run.
    const isAveraged = options.population === true && codingOf(model) !== undefined;
    const isPopulation = options.population === true && !isAveraged;
    const histories = isPopulation ? [{ id: "population", markers: {} }, ...known] : known;
    const cohort = isAveraged || (times !== undefined && isMapModel(model)) ? await cohortOf(modelPath) : undefined;
    if (isAveraged && (times === undefined || cohort === undefined)) {
      throw new UsageError(
        `--population: this model has covariates, and a population is an average over those of its cohort. Expected ${times === undefined ? "--at, not --threshold" : "the folder of a run that keeps its visits, not a model file"}; or give VISITS and --subjects of individuals.`,
      );
    }
    if (bands.interval === "conformal") {
      context.talk.say(
        "Calibrated are times after the last visit of an individual; at others, and without visits, bands are the model's own.",
      );
    }
    const chosen = chosenMarkers(model, options);
    const guards = times === undefined ? undefined : guardsOf(cohort, model, chosen, context);
    const predicted = context.talk.during("Predictions", () => {
      const individuals = histories.map((history) => placeDescribed(model, history));
      const far = individuals.map(({ own }) => own.farCovariates ?? []);
      tellFar(
        individuals.map(({ history }) => history.id),
        far,
        context,
      );
      const suspects = individuals.flatMap(({ placement }) => placement.suspects ?? []);
      if (suspects.length > 0) context.talk.warn(suspectWarning(suspects, model.markers.length > 1));
      if (times === undefined) return crossings(model, chosen, individuals, options, context);
      const people = { individuals, averaged: isAveraged ? cohort : undefined };
      return courses(model, chosen, people, times, guards, bands, context);
    });
    return tableResult(predicted.table, predicted.json, options);
  },
};

/** Options of values, and of times to a threshold. */
const OF_VALUES = ["interval", "level", "scale", "limits"];
const OF_CROSSINGS = ["above", "below", "from"];

/** The times at which values are asked for; undefined where a threshold is. */
function askedTimes(options: Options): Float64Array | typeof OWN_TIMES | undefined {
  const at = textOption(options, "at");
  if ((at === undefined) === (textOption(options, "threshold") === undefined)) {
    throw new UsageError(
      "Choose what to predict: values with --at 0:10:0.25, or the time to a threshold with --threshold 50.",
    );
  }
  return at === undefined || at === OWN_TIMES ? at : timesOf("--at", at);
}

/** How values are told. */
interface Bands {
  readonly level: number;
  readonly interval: BandKind;
  readonly scale: "model" | "marker";
  readonly limits: Limits | undefined;
}

function bandsOf(options: Options): Bands {
  const level = realNumber("--level", textOption(options, "level") ?? "0.9");
  if (!(level > 0 && level < 1)) throw new UsageError(`--level: expected a share between 0 and 1, received ${level}.`);
  const interval = (textOption(options, "interval") ?? "observation") as BandKind;
  const scale = textOption(options, "scale") === "model" ? "model" : "marker";
  const limits = limitsOf(options);
  if (limits !== undefined && scale === "model") {
    throw new UsageError("--limits are on the marker's own scale: leave out --scale model.");
  }
  return { level, interval, scale, limits };
}

/** Refuses options that what is asked for would ignore. */
function checkAsked(isValues: boolean, options: Options, { originOf }: Context): void {
  if (options.above === true && options.below === true) throw new UsageError("Choose one of --above and --below.");
  const odd = (isValues ? OF_CROSSINGS : OF_VALUES).find((option) => originOf?.(option) !== undefined);
  if (odd === undefined) return;
  const [what, other] = isValues ? ["--threshold", "values"] : ["--at", "times to a threshold"];
  throw new UsageError(`--${odd}: expected with ${what}; ${other} do not read it. Leave it out.`);
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

/** The cohort of a run that keeps its visits; undefined of a model file alone. */
async function cohortOf(path: string): Promise<Cohort | undefined> {
  if (!isFolder(path) || !hasVisits(path)) return undefined;
  return (await openRun(path)).read.cohort;
}

/** What forecasts of each marker of a map fall back on: a run that keeps its visits has it, a model file alone has not. */
function guardsOf(
  cohort: Cohort | undefined,
  model: TrajectoryModel,
  chosen: readonly number[],
  { talk }: Context,
): readonly ForecastGuard[] | undefined {
  if (!isMapModel(model)) return undefined;
  if (cohort === undefined) {
    talk.say("Without the visits of a run, forecasts are not held against how long similar individuals were followed.");
    return undefined;
  }
  return talk.during("Follow-up of similar individuals", () => forecastGuards(model, chosen, cohort));
}

/** Whose courses are asked for. */
interface Asked {
  readonly individuals: readonly PlacedHistory[];
  /** The cohort over whose covariates a population is averaged, where that is asked for. */
  readonly averaged: Cohort | undefined;
}

/** Courses of the chosen markers, one after the other. */
function courses(
  model: TrajectoryModel,
  chosen: readonly number[],
  people: Asked,
  times: Float64Array | typeof OWN_TIMES,
  guards: readonly ForecastGuard[] | undefined,
  bands: Bands,
  context: Context,
): { readonly table: ResultTable; readonly json: unknown } {
  const each = chosen.map((k, c) => coursesOf(model, k, people, times, guards?.[c], bands, context));
  const [{ told }] = each as [(typeof each)[number]];
  const isLimited = each.some(({ rows }) => rows.some((row) => row.length > COURSE_COLUMNS.length));
  const own = isLimited ? [...COURSE_COLUMNS, ...LIMIT_COLUMNS] : COURSE_COLUMNS;
  if (model.markers.length === 1) {
    const [{ rows, reasons }] = each as [(typeof each)[number]];
    const table = withReasons(own, rows, reasons);
    return { table, json: { ...told, predictions: table.rows.map((row) => record(table.columns, row)) } };
  }
  const columns = ["marker", ...own];
  const reasons = new Map<CsvCell[], string>();
  const rows = each.flatMap(({ told: { marker }, rows: theirs, reasons: known }) =>
    theirs.map((row) => {
      const whole = columns.map((_, c) => (c === 0 ? marker.name : (row[c - 1] ?? Number.NaN)));
      const reason = known.get(row);
      if (reason !== undefined) reasons.set(whole, reason);
      return whole;
    }),
  );
  const table = withReasons(columns, rows, reasons);
  return {
    table,
    json: {
      ...told,
      markers: each.map(({ told: { marker } }) => marker),
      predictions: table.rows.map((row) => record(table.columns, row)),
    },
  };
}

/** Rows of one marker's courses, and what they are. */
function coursesOf(
  model: TrajectoryModel,
  k: number,
  { individuals, averaged }: Asked,
  asked: Float64Array | typeof OWN_TIMES,
  guard: ForecastGuard | undefined,
  { level, interval, scale, limits }: Bands,
  { talk }: Context,
) {
  const part = model.markers[k]!;
  // On the model's own scale nothing is undone: the same model with a marker that was never transformed.
  const { limits: _, ...described } = part.marker;
  const marker: Marker =
    scale === "model"
      ? { ...described, transform: "identity" }
      : { ...part.marker, ...(limits === undefined ? {} : { limits }) };
  const named = model.markers.length === 1 ? "" : `${part.marker.name}: `;
  const [first, last] = basisDomain(part.basis);
  const timesFor = (one: PlacedHistory) =>
    asked === OWN_TIMES ? Float64Array.from(visitsOfMarker(one, part.marker.name).times) : asked;
  const timesOfAll = asked === OWN_TIMES ? individuals.flatMap((one) => [...timesFor(one)]) : [...asked];
  const beyond = timesOfAll.filter((t) => t < first || t > last).length;
  if (beyond > 0) {
    talk.warn(
      `${named}${beyond} of ${timesOfAll.length} times lie outside ${first} to ${last}, the times of the training data: curves are held constant there.`,
    );
  }
  const rows: CsvCell[][] = [];
  let [numExtrapolated, numHeld] = [0, 0];
  const add = (id: string, found: Prediction, isFar = false, numSuspects = 0) => {
    rows.push(...courseRows(id, found, numSuspects));
    if (!isFar) numExtrapolated += found.extrapolated.reduce((sum, one) => sum + one, 0);
    numHeld += found.beyondLimits.reduce((sum, one) => sum + one, 0);
  };
  if (averaged !== undefined && asked !== OWN_TIMES) {
    const options = { level, interval, marker: marker.name, ...(guard && { guard }) };
    add("population", predictPopulation(toldAs(model, k, marker), averaged, asked, options));
  }
  const reasons = new Map<CsvCell[], string>();
  const impossible: string[] = [];
  for (const individual of individuals) {
    const { own, placement } = individual;
    const found = orReason(() => courseOf(individual, k, marker, timesFor(individual), guard, { level, interval }));
    if ("reason" in found) {
      impossible.push(placement.id);
      for (const row of emptyRows(placement.id, timesFor(individual), placement.suspects?.length ?? 0)) {
        rows.push(row);
        reasons.set(row, found.reason);
      }
    } else add(placement.id, found, own.farCovariates !== undefined, placement.suspects?.length);
  }
  if (impossible.length > 0) talk.warn(`${named}${impossibleWarning(impossible, reasons.values())}`);
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
  return { rows, reasons, told: { interval, level, scale, marker: scale === "model" ? part.marker : marker } };
}
