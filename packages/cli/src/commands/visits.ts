/** How tables of visits are read by every command: columns are picked, never renamed; guesses are reported. */

import { DtmError, type MarkerModel, type TrajectoryModel } from "@trajectory-maps/core";
import {
  type Columns,
  checkMarkers,
  type MarkerChoice,
  type ReadCohort,
  type ReadCohortOptions,
  readCohortFile,
  showComplaint,
  TRANSFORMS,
  type Transform,
} from "@trajectory-maps/core/ingest";
import { codingOf } from "@trajectory-maps/core/models";
import { shellWord } from "../command-line.ts";
import { UsageError } from "../exit-codes.ts";
import { FROM_OMOP, nameOf } from "../io/read.ts";
import { type Context, inGroup, type Options, repeatedOption, textOption } from "./command.ts";
import { readCovariatesFor } from "./covariates.ts";
import { type ReadVisits, readFhirVisits } from "./fhir.ts";
import { markersOf } from "./marker-list.ts";
import { limitsOf, wholeNumber } from "./numbers.ts";
import { omopVisits } from "./omop.ts";
import { originTable } from "./origin-table.ts";
import { FORM_OPTIONS, formOf } from "./table-form.ts";
import { CONVERT_OPTION, isSameUnit, rowUnits, UNIT_OPTIONS } from "./units.ts";
import { visitsSource } from "./visits-source.ts";

export const VISITS_ARGUMENT = {
  name: "visits",
  optional: true,
  description:
    'table with one row per observation: CSV, Excel, Parquet, Arrow or JSON, plain, .gz or .zip; "-" for standard input',
} as const;

/** Options for picking columns out of a table. */
export const COLUMN_OPTIONS = inGroup("Reading the table", [
  { flags: "--id <column>", description: "column with the id (guessed from usual names)" },
  { flags: "--time <column>", description: "column with the time, numbers or dates (guessed)" },
  { flags: "--value <column>", description: "column with the marker's value (guessed)" },
  {
    flags: "--markers <list>",
    description: "several markers: their value columns with commas, each with :transform and [unit] if it has one",
  },
  {
    flags: "--marker-column <column>",
    description:
      "column that names the marker of each row, for tables with one value column; --markers chooses among them",
  },
  ...FORM_OPTIONS,
  ...UNIT_OPTIONS,
  { flags: "--skip-line <number>", description: "line to skip, such as one with units", repeatable: true },
  { flags: "--keep-repeats", description: "keep rows that repeat another exactly; they are left out otherwise" },
  { flags: "--leave-out-bad", description: "skip rows that cannot be read instead of refusing the file" },
]);

/** Options that say what the marker is; a model brings its own. */
export const MARKER_OPTIONS = inGroup("Markers", [
  { flags: "--transform <name>", description: "scale of the model", default: "identity", choices: TRANSFORMS },
  { flags: "--marker <name>", description: "name of the marker (default: the value column's)" },
  { flags: "--unit <text>", description: "unit of the values; with --unit-column the one all are brought to" },
  {
    flags: "--time-unit <text>",
    description: "unit of the times; of dates years (the default), months, weeks or days",
  },
  {
    flags: "--limits <low,high>",
    description: "lowest and highest value that the marker can have, such as 0,30 or 0, (predictions keep within)",
  },
]);

/** A new cohort, its marker or markers described by the options. */
export async function readVisits(path: string, options: Options, context: Context): Promise<ReadVisits> {
  if (options.fhir !== undefined) return warnOf(await readFhirVisits(path, options, context), context);
  const several = markersOf(options);
  if (several !== undefined) return readSeveral(path, several, options, context);
  const omop = path === FROM_OMOP ? await omopVisits(options, context) : undefined;
  const name = textOption(options, "marker") ?? omop?.marker.name;
  const limits = limitsOf(options);
  const marker = {
    ...(name === undefined ? {} : { name }),
    ...(limits === undefined ? {} : { limits }),
    unit: textOption(options, "unit") ?? omop?.marker.unit ?? "",
    timeUnit: textOption(options, "timeUnit") ?? "",
    transform: (textOption(options, "transform") ?? "identity") as Transform,
  };
  const source = omop?.rows ?? (await visitsSource(path, options));
  const units = await rowUnits([marker], options);
  const reading = { ...readingOptions(path, options), ...(await originTable(options, context)), ...units };
  const ofOmop = omop && { columns: { id: "id", time: "date", value: "value" }, origin: omop.origin };
  const read = await readCohortFile(source, { ...reading, ...ofOmop, marker });
  omop?.tell();
  return tell(checkedMarkers(read), context);
}

/** Measurements of OMOP are one marker, whose name and columns are known. */
function refuseOmop(path: string, flag: string): void {
  if (path === FROM_OMOP) throw new UsageError(`${flag}: expected with a file or --sql, received with --omop.`);
}

/** A new cohort of several markers; one that cannot share a map is refused by name. */
async function readSeveral(
  path: string,
  markers: readonly MarkerChoice[],
  options: Options,
  context: Context,
): Promise<ReadCohort> {
  refuseOmop(path, "--markers");
  for (const name of ["transform", "marker", "unit", "limits"]) {
    if (options[name] !== undefined && !(name === "transform" && options[name] === "identity")) {
      throw new UsageError(`--${name}: expected for one marker, received with --markers. Write bili:log[mg/dl] there.`);
    }
  }
  const timeUnit = textOption(options, "timeUnit") ?? "";
  const units = await rowUnits(markers, options);
  const reading = { ...readingOptions(path, options), ...(await originTable(options, context)), ...units };
  const read = await readCohortFile(await visitsSource(path, options), {
    ...reading,
    markers: markers.map((marker) => ({ ...marker, timeUnit })),
  });
  return tell(checkedMarkers(read), context);
}

/** What was read, several markers with warnings of what they share. */
function checkedMarkers(read: ReadCohort): ReadCohort {
  if (read.cohort.markers.length === 1) return read;
  return { ...read, warnings: [...read.warnings, ...checkMarkers(read.cohort)] };
}

/** What the values of new visits are measured in. */
export const MODEL_UNIT_OPTIONS = inGroup("Units", [
  {
    flags: "--unit <text>",
    description: "unit of the values; refused if it is not the model's, unless --convert-unit asks for the conversion",
  },
  CONVERT_OPTION,
]);

/** Visits of individuals to place by a model: its marker, and its column names unless others are picked. */
export async function readVisitsFor(
  model: TrajectoryModel,
  path: string,
  options: Options,
  context: Context,
): Promise<ReadCohort> {
  const read = await readMarkersFor(model, path, options, context);
  const coding = codingOf(model);
  if (coding === undefined) return read;
  const values = await readCovariatesFor(coding, path, read.cohort, options, context, read.subjects);
  return { ...read, cohort: { ...read.cohort, covariates: { coding, values } } };
}

/** What is read alike: markers, and the columns they were read from. */
interface ReadAlike {
  readonly markers: readonly Pick<MarkerModel, "marker" | "columns">[];
}

/** Visits of the markers of a model, or of statistics. */
export async function readMarkersFor(
  model: ReadAlike,
  path: string,
  options: Options,
  context: Context,
): Promise<ReadVisits> {
  if (options.fhir !== undefined) return readFhirFor(model, path, options, context);
  refuseOmop(path, "--like");
  if (model.markers.length > 1) return readSeveralFor(model, path, options, context);
  if (markersOf(options) !== undefined) {
    throw new UsageError("--markers: expected with a model of several markers; this one has one. Use --value.");
  }
  const own = model.markers[0]!;
  const units = await rowUnits([own.marker], options, await otherUnit(own.marker.unit, path, options));
  const fitted = own.columns?.origin;
  const reading = { ...originOf(options, fitted), ...(await originTable(options, context, fitted)), ...units };
  const base = { ...readingOptions(path, options), ...reading, marker: own.marker };
  const picked = Object.keys(base.columns ?? {}).length > 0;
  const columns = { ...own.columns, ...base.columns };
  // The columns may be called otherwise than those the model was fitted to: they are guessed, and that is said.
  const read = await readCohortFile(await visitsSource(path, options), { ...base, columns, orGuess: !picked });
  const found = read.columns.value;
  if (!isSameMarker(own, found)) {
    if (!picked && own.columns !== undefined) throw otherMarker(own, found, path);
    context.talk.warn(`Column "${found}" is taken as "${own.marker.name}", the marker of the model or statistics.`);
  }
  return tell(read, context);
}

/** Visits from resources of FHIR, in the units of the model. */
async function readFhirFor(model: ReadAlike, path: string, options: Options, context: Context): Promise<ReadVisits> {
  if (options.unit !== undefined) {
    throw new UsageError("--unit: resources of FHIR say their units, and a model its own. Leave it out.");
  }
  const own = model.markers.map(({ marker }) => marker);
  return warnOf(await readFhirVisits(path, options, context, own, model.markers[0]?.columns?.origin), context);
}

/** The unit of the visits, where it is not the model's and conversion is asked for; refuses it otherwise. */
async function otherUnit(own: string, path: string, options: Options): Promise<string | undefined> {
  const unit = textOption(options, "unit");
  if (unit === undefined || unit === own || (own !== "" && (await isSameUnit(unit, own)))) return undefined;
  if (options.convertUnit === true && own !== "") return unit;
  const remedy =
    own === "" ? "Leave it out: the model says no unit." : "Convert them first, or ask for it: --convert-unit.";
  throw new DtmError(
    "other-marker",
    `${nameOf(path)}: expected values in "${own}", the unit of the model, received "${unit}". ${remedy}`,
  );
}

/** Visits with some or all of the markers of a model: in its columns, or in those picked in the order of its markers. */
async function readSeveralFor(model: ReadAlike, path: string, options: Options, context: Context): Promise<ReadCohort> {
  const picked = markersOf(options);
  if (picked !== undefined && picked.length !== model.markers.length) {
    const names = model.markers.map(({ marker }) => marker.name).join(", ");
    throw new UsageError(
      `--markers: expected ${model.markers.length} columns, for ${names}, received ${picked.length}.`,
    );
  }
  const { columns: own } = model.markers[0]!;
  const counting = { ...originOf(options, own?.origin), ...(await originTable(options, context, own?.origin)) };
  const reading = { ...readingOptions(path, options), ...counting };
  const shared = own === undefined ? {} : sharedColumns(own);
  const inOne = own?.marker === undefined ? {} : { value: own.value };
  const markerColumn = reading.markerColumn ?? own?.marker;
  const markers = model.markers.map(({ marker, columns }, k) => ({
    ...marker,
    column: picked?.[k]?.column ?? columns?.level ?? columns?.value ?? marker.name,
  }));
  const units = await rowUnits(markers, options);
  return tell(
    await readCohortFile(await visitsSource(path, options), {
      ...reading,
      ...units,
      columns: { ...shared, ...inOne, ...reading.columns },
      markers,
      ...(markerColumn === undefined ? {} : { markerColumn }),
      mayLack: true,
      orGuess: true,
    }),
    context,
  );
}

/** What the columns of all markers have in common: id and time, and from when it is counted. */
export function sharedColumns({ id, time, origin, dates }: Columns): Pick<Columns, "id" | "time" | "origin" | "dates"> {
  return { id, time, ...(origin === undefined ? {} : { origin }), ...(dates === undefined ? {} : { dates }) };
}

/** Dates are counted as those of the model; where it had numbers they are refused, unless it is said from when they count. */
function originOf(options: Options, fitted: string | undefined): Pick<ReadCohortOptions, "origin"> {
  const origin = textOption(options, "origin") ?? (fitted === undefined ? "none" : undefined);
  return origin === undefined ? {} : { origin };
}

/** Names that say nothing of which marker it is. */
const ANY_MARKER = ["value", "y", "measurement", "result"];

/** Whether the name of a column says that it is the marker, or nothing of which marker it is. */
function isSameMarker({ marker, columns }: ReadAlike["markers"][number], found: string): boolean {
  const name = found.toLowerCase();
  const own = [marker.name, columns?.value ?? marker.name].map((text) => text.toLowerCase());
  return ANY_MARKER.includes(name) || own.includes(name) || own.some((text) => ANY_MARKER.includes(text));
}

/** A column with the name of another marker is not taken for the model's unless it is picked. */
function otherMarker({ marker }: ReadAlike["markers"][number], found: string, path: string): DtmError {
  return new DtmError(
    "other-marker",
    `${nameOf(path)}: expected a column of "${marker.name}", the marker of the model, received "${found}". If it is the same marker, pick it: --value ${shellWord(found)}.`,
  );
}

function readingOptions(path: string, options: Options): ReadCohortOptions {
  const named = (name: string) => {
    const value = textOption(options, name);
    return value === undefined ? {} : { [name]: value };
  };
  const markerColumn = textOption(options, "markerColumn");
  return {
    columns: { ...named("id"), ...named("time"), ...named("value") },
    ...(markerColumn === undefined ? {} : { markerColumn }),
    file: nameOf(path),
    keepRepeats: options.keepRepeats === true,
    onBad: options.leaveOutBad === true ? "leave-out" : "refuse",
    ...tableForm(options),
  };
}

/** How a table is written, as far as options say it. */
export function tableForm(options: Options): Omit<ReadCohortOptions, "columns" | "marker" | "markers"> {
  return {
    skipLines: repeatedOption(options, "skipLine").map((text) => wholeNumber("--skip-line", text, 1)),
    ...formOf(options),
  };
}

function tell(read: ReadCohort, context: Context): ReadCohort {
  for (const note of read.notes) context.talk.say(note);
  return warnOf(read, context);
}

function warnOf<T extends ReadCohort>(read: T, { talk }: Context): T {
  for (const warning of read.warnings) talk.warn(`${showComplaint(warning)} [${warning.code}]`);
  return read;
}
