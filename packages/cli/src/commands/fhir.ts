/** Visits from resources of FHIR R4: which codes are the markers, what is taken, and the table of individuals beside them. */
import { basename, dirname } from "node:path";
import type { Marker } from "@trajectory-maps/core";
import {
  type ReadCohort,
  type SubjectsTable,
  TIME_UNITS,
  type TimeUnit,
  type Transform,
  timeUnitOf,
} from "@trajectory-maps/core/ingest";
import { toCsv } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { fhirFiles } from "../io/fhir-files.ts";
import { checkOutputFile, writeOutputs } from "../io/write.ts";
import { table } from "../print/table.ts";
import { type Context, inGroup, listOption, type Options, repeatedOption, textOption } from "./command.ts";
import { markerOf } from "./marker-list.ts";
import { limitsOf } from "./numbers.ts";
import { originTable } from "./origin-table.ts";
import { splitList } from "./quoted.ts";
import { converterOptions } from "./units.ts";

const PERIOD_RULES = ["start", "middle", "end"] as const;

export const FHIR_OPTIONS = inGroup("FHIR", [
  {
    flags: "--fhir <path>",
    description:
      "Observations of FHIR R4 instead of a table: a file or folder of NDJSON or Bundles, plain or .gz; needs --code (inspect lists the codes without one)",
  },
  {
    flags: "--code <codes>",
    description:
      "code of the marker, or several with commas that measure the same, as 2160-0 or loinc|2160-0; given again for each further marker, then as name:transform[unit]=codes",
    repeatable: true,
  },
  {
    flags: "--condition <codes>",
    description: "code of a condition for the table of individuals, or several with commas that are the same",
    repeatable: true,
  },
  {
    flags: "--subjects-out <file>",
    description: "write the individuals of --fhir as CSV: sex, age, death and conditions with their times",
  },
  { flags: "--fhir-status <list>", description: "statuses to take (default: final,amended,corrected)" },
  { flags: "--fhir-period <rule>", description: "day of an effective period", choices: PERIOD_RULES, default: "start" },
  { flags: "--fhir-strings", description: "take numbers that are written as text" },
]);

/** Visits, and where they came with one the table of their individuals. */
export type ReadVisits = ReadCohort & { readonly subjects?: SubjectsTable };

/** Options of tables, which resources do not have. */
const OF_TABLES = [
  "id",
  "time",
  "value",
  "markers",
  "markerColumn",
  "unitColumn",
  "convertAbove",
  "convertBelow",
  "wide",
];

/** The path of --fhir, if it is given; refuses a table beside it, and its other options without it. */
export function fhirPath(table: string | undefined, options: Options): string | undefined {
  const fhir = textOption(options, "fhir");
  if (fhir !== undefined && table !== undefined) {
    throw new UsageError(
      `--fhir: expected instead of a table of visits, received with ${table}. Leave one of them out.`,
    );
  }
  if (fhir !== undefined) return fhir;
  const idle = FHIR_OPTIONS.slice(1).find(({ flags, default: usual }) => {
    const name = flags.slice(2).replace(/ .*/, "");
    const value = options[name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    return value !== undefined && value !== usual && !(Array.isArray(value) && value.length === 0);
  });
  if (idle !== undefined) {
    throw new UsageError(`${idle.flags.replace(/ .*/, "")}: expected with --fhir, which names the resources.`);
  }
  return undefined;
}

/** The visits of --fhir; with `own` of the markers of a model, in their order. */
export async function readFhirVisits(
  path: string,
  options: Options,
  context: Context,
  own?: readonly Marker[],
  fitted?: string,
): Promise<ReadVisits> {
  const { talk } = context;
  refuseOfTables(options);
  const out = textOption(options, "subjectsOut");
  if (out !== undefined) checkOutputFile(out, options.force === true);
  const { doneWords, readFhir, toldWords } = await import("@trajectory-maps/core/fhir");
  const status = listOption(options, "fhirStatus");
  const markers = await Promise.all(
    markersAsked(options, own).map(async (marker) => {
      const { analyte } = await converterOptions({ ...marker, name: marker.name ?? "" }, options);
      return { ...marker, ...(analyte === undefined ? {} : { analyte }) };
    }),
  );
  const { meant } = await converterOptions({}, options);
  const { told, subjects, ...read } = await readFhir(fhirFiles(path), {
    markers,
    conditions: repeatedOption(options, "condition").map((codes) => splitList(codes, ",")),
    ...(status === undefined ? {} : { status }),
    ...(options.partialDates === "middle" && { partialDates: "middle" as const }),
    period: (textOption(options, "fhirPeriod") ?? "start") as (typeof PERIOD_RULES)[number],
    strings: options.fhirStrings === true,
    meant,
    timeUnit: unitOfTimes(own?.[0]?.timeUnit || textOption(options, "timeUnit")),
    origin: textOption(options, "origin") ?? fitted ?? "first",
    ...(await originTable(options, context, fitted)),
    onBad: options.leaveOutBad === true ? "leave-out" : "refuse",
    keepRepeats: options.keepRepeats === true,
    mayLack: own !== undefined,
  });
  if (told.length > 0) {
    const rows = told.map((line) => [String(line.count), line.what, doneWords(line)]);
    talk.say(table(["count", "found", "what was done"], rows, [1, 2]));
  }
  const words = told.map(toldWords);
  for (const note of read.notes) if (!words.includes(note)) talk.say(note);
  if (out !== undefined) {
    const names = subjects.columns.map(({ name }) => name);
    const rows = subjects.ids.map((_, i) => subjects.columns.map(({ cells }) => cells[i] ?? ""));
    writeOutputs(dirname(out), [{ name: basename(out), text: toCsv(names, rows), private: true }]);
    talk.say(`Written   ${out}   (private)`);
  }
  return { ...read, subjects };
}

function refuseOfTables(options: Options): void {
  const odd = OF_TABLES.find((name) => options[name] !== undefined);
  if (odd === undefined) return;
  const flag = odd.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(
    `--${flag}: expected with a table; resources of FHIR name their parts themselves. Leave it out.`,
  );
}

/** What the resources of --fhir can be asked for, as text and JSON: `inspect` without --code. */
export async function listCodes(path: string, options: Options) {
  refuseOfTables(options);
  const { listFhirCodes } = await import("@trajectory-maps/core/fhir");
  const status = listOption(options, "fhirStatus");
  const listing = await listFhirCodes(fhirFiles(path), {
    ...(status === undefined ? {} : { status }),
    ...(options.partialDates === "middle" && { partialDates: "middle" as const }),
    strings: options.fhirStrings === true,
  });
  const { codes, conditions, patients, deaths } = listing;
  const rows = codes.map(({ code, name, values, individuals, units }) => [
    code,
    name,
    String(values),
    String(individuals),
    units.map(({ unit, count }) => (units.length === 1 ? unit : `${unit || "none"} (${count})`)).join(", "),
  ]);
  const people = conditions.map(({ code, name, individuals }) => [code, name, String(individuals)]);
  const text = [
    ...(codes.length === 0 ? ["No Observation has a number."] : []),
    ...(codes.length === 0 ? [] : [table(["--code", "name", "values", "individuals", "units"], rows, [1, 4])]),
    ...(people.length === 0 ? [] : [table(["--condition", "name", "individuals"], people, [1])]),
    `${patients} Patients, of whom ${deaths} died.`,
  ].join("\n\n");
  return { text, json: listing };
}

type AskedMarker = Partial<Marker> & { readonly codes: readonly string[] };

/** Markers of --code: of one that says nothing of itself the other options do. */
function markersAsked(options: Options, own: readonly Marker[] | undefined): AskedMarker[] {
  const asked = repeatedOption(options, "code").map((text): AskedMarker => {
    const [before = "", ...rest] = splitList(text, "=");
    const codes = splitList(rest.length === 0 ? before : rest.join("="), ",").filter((code) => code !== "");
    if (codes.length === 0)
      throw new UsageError(`--code: expected codes such as 2160-0 or loinc|2160-0, received "${text}".`);
    if (rest.length === 0) return { codes };
    const { column, ...marker } = markerOf(before, "--code");
    return { ...marker, name: column, codes };
  });
  if (asked.length === 0) throw new UsageError("--fhir: expected with --code, the code of the marker, such as 2160-0.");
  if (own !== undefined) {
    if (asked.length !== own.length) {
      const names = own.map(({ name }) => name).join(", ");
      throw new UsageError(`--code: expected ${own.length}, for ${names}, received ${asked.length}.`);
    }
    return own.map((marker, k) => ({ ...marker, codes: asked[k]!.codes }));
  }
  const [first] = asked;
  if (asked.length > 1 || first === undefined || first.name !== undefined) return asked;
  const [name, unit, limits] = [textOption(options, "marker"), textOption(options, "unit"), limitsOf(options)];
  return [
    {
      ...first,
      ...(name === undefined ? {} : { name }),
      ...(unit === undefined ? {} : { unit }),
      ...(limits === undefined ? {} : { limits }),
      transform: (textOption(options, "transform") ?? "identity") as Transform,
    },
  ];
}

function unitOfTimes(text = "years"): TimeUnit {
  const unit = timeUnitOf(text);
  if (unit !== undefined) return unit;
  throw new UsageError(`--time-unit: expected ${TIME_UNITS.join(", ")} with --fhir, received "${text}".`);
}
