/** How tables of visits are read by every command: columns are picked, never renamed; guesses are reported. */

import { DtmError, type MarkerModel, type TrajectoryModel } from "@trajectory-maps/core";
import {
  checkMarkers,
  type Delimiter,
  type MarkerChoice,
  type ReadCohort,
  type ReadCohortOptions,
  readCohortFile,
  showComplaint,
  TRANSFORMS,
  type Transform,
} from "@trajectory-maps/core/ingest";
import { codingOf } from "@trajectory-maps/core/models";
import { UsageError } from "../exit-codes.ts";
import { nameOf, readBlocks } from "../io/read.ts";
import { type Context, type OptionSpec, type Options, textOption } from "./command.ts";
import { readCovariatesFor } from "./covariates.ts";
import { markersOf } from "./marker-list.ts";
import { limitsOf, wholeNumber } from "./numbers.ts";

const DELIMITER_NAMES: Readonly<Record<string, Delimiter>> = { comma: ",", tab: "\t", semicolon: ";", bar: "|" };

export const VISITS_ARGUMENT = {
  name: "visits",
  description: 'CSV or TSV file, plain or .gz, one row per observation; "-" for standard input',
} as const;

/** Options for picking columns out of a table. */
export const COLUMN_OPTIONS: readonly OptionSpec[] = [
  { flags: "--id <column>", description: "column with the id (guessed from usual names)" },
  { flags: "--time <column>", description: "column with the time, a number (guessed)" },
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
  {
    flags: "--delimiter <name>",
    description: "column separator (guessed)",
    choices: Object.keys(DELIMITER_NAMES),
  },
  { flags: "--decimal <mark>", description: "decimal mark", choices: [".", ","] },
  { flags: "--skip-line <number>", description: "line to skip, such as one with units", repeatable: true },
  { flags: "--keep-repeats", description: "keep rows that repeat another exactly; they are left out otherwise" },
  { flags: "--leave-out-bad", description: "skip rows that cannot be read instead of refusing the file" },
];

/** Options that say what the marker is; a model brings its own. */
export const MARKER_OPTIONS: readonly OptionSpec[] = [
  { flags: "--transform <name>", description: "scale of the model", default: "identity", choices: TRANSFORMS },
  { flags: "--marker <name>", description: "name of the marker (default: the value column's)" },
  { flags: "--unit <text>", description: "unit of the values" },
  { flags: "--time-unit <text>", description: "unit of the times" },
  {
    flags: "--limits <low,high>",
    description: "lowest and highest value that the marker can have, such as 0,30 or 0, (predictions keep within)",
  },
];

/** The delimiter asked for, if any. */
export function delimiterOf(options: Options): { delimiter?: Delimiter } {
  const delimiter = DELIMITER_NAMES[textOption(options, "delimiter") ?? ""];
  return delimiter === undefined ? {} : { delimiter };
}

export function decimalOf(options: Options): { decimal?: "." | "," } {
  const decimal = textOption(options, "decimal");
  return decimal === "." || decimal === "," ? { decimal } : {};
}

/** A new cohort, its marker or markers described by the options. */
export async function readVisits(path: string, options: Options, context: Context): Promise<ReadCohort> {
  const several = markersOf(options);
  if (several !== undefined) return readSeveral(path, several, options, context);
  const name = textOption(options, "marker");
  const limits = limitsOf(options);
  const marker = {
    ...(name === undefined ? {} : { name }),
    ...(limits === undefined ? {} : { limits }),
    unit: textOption(options, "unit") ?? "",
    timeUnit: textOption(options, "timeUnit") ?? "",
    transform: (textOption(options, "transform") ?? "identity") as Transform,
  };
  return tell(await readCohortFile(readBlocks(path), { ...readingOptions(path, options), marker }), context);
}

/** A new cohort of several markers; one that cannot share a map is refused by name. */
async function readSeveral(
  path: string,
  markers: readonly MarkerChoice[],
  options: Options,
  context: Context,
): Promise<ReadCohort> {
  for (const name of ["transform", "marker", "unit", "limits"]) {
    if (options[name] !== undefined && !(name === "transform" && options[name] === "identity")) {
      throw new UsageError(`--${name}: expected for one marker, received with --markers. Write bili:log[mg/dl] there.`);
    }
  }
  const timeUnit = textOption(options, "timeUnit") ?? "";
  const reading = readingOptions(path, options);
  const read = await readCohortFile(readBlocks(path), {
    ...reading,
    markers: markers.map((marker) => ({ ...marker, timeUnit })),
  });
  return tell({ ...read, warnings: [...read.warnings, ...checkMarkers(read.cohort)] }, context);
}

/** What the values of new visits are measured in. */
export const UNIT_OPTION: OptionSpec = {
  flags: "--unit <text>",
  description: "unit of the values; refused if it is not the model's",
};

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
  const values = await readCovariatesFor(coding, path, read.cohort, options, context);
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
): Promise<ReadCohort> {
  if (model.markers.length > 1) return readSeveralFor(model, path, options, context);
  if (markersOf(options) !== undefined) {
    throw new UsageError("--markers: expected with a model of several markers; this one has one. Use --value.");
  }
  const own = model.markers[0]!;
  const unit = textOption(options, "unit");
  if (unit !== undefined && unit !== own.marker.unit) {
    throw new DtmError(
      "other-marker",
      `${nameOf(path)}: expected values in "${own.marker.unit}", the unit of the model, received "${unit}". Convert them first.`,
    );
  }
  const base = { ...readingOptions(path, options), marker: own.marker };
  const picked = Object.keys(base.columns ?? {}).length > 0;
  const columns = { ...own.columns, ...base.columns };
  // The columns may be called otherwise than those the model was fitted to: they are guessed, and that is said.
  const read = await readCohortFile(readBlocks(path), { ...base, columns, orGuess: !picked });
  const found = read.columns.value;
  if (!isSameMarker(own, found)) {
    if (!picked && own.columns !== undefined) throw otherMarker(own, found, path);
    context.talk.warn(`Column "${found}" is taken as "${own.marker.name}", the marker of the model or statistics.`);
  }
  return tell(read, context);
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
  const reading = readingOptions(path, options);
  const { columns: own } = model.markers[0]!;
  const shared = own === undefined ? {} : { id: own.id, time: own.time };
  const inOne = own?.marker === undefined ? {} : { value: own.value };
  const markerColumn = reading.markerColumn ?? own?.marker;
  const markers = model.markers.map(({ marker, columns }, k) => ({
    ...marker,
    column: picked?.[k]?.column ?? columns?.level ?? columns?.value ?? marker.name,
  }));
  return tell(
    await readCohortFile(readBlocks(path), {
      ...reading,
      columns: { ...shared, ...inOne, ...reading.columns },
      markers,
      ...(markerColumn === undefined ? {} : { markerColumn }),
      mayLack: true,
      orGuess: true,
    }),
    context,
  );
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
    `${nameOf(path)}: expected a column of "${marker.name}", the marker of the model, received "${found}". If it is the same marker, pick it: --value ${found}.`,
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
export function tableForm(options: Options): Pick<ReadCohortOptions, "delimiter" | "decimal" | "skipLines"> {
  const skipped = Array.isArray(options.skipLine) ? (options.skipLine as readonly string[]) : [];
  return {
    skipLines: skipped.map((text) => wholeNumber("--skip-line", text, 1)),
    ...delimiterOf(options),
    ...decimalOf(options),
  };
}

function tell(read: ReadCohort, { talk }: Context): ReadCohort {
  for (const note of read.notes) talk.say(note);
  for (const warning of read.warnings) talk.warn(`${showComplaint(warning)} [${warning.code}]`);
  return read;
}
