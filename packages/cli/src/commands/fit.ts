/** dtm fit VISITS: read a table of visits, fit a model, place everyone, write results. */
import {
  type Delimiter,
  type ReadCohort,
  readCohort,
  showComplaint,
  TRANSFORMS,
  type Transform,
} from "@trajectory-maps/core";
import { readText } from "../io/read.ts";
import { checkOutputs, writeOutputs } from "../io/write.ts";
import { cohortSummary, mapPicture, mapSummary, modelTable } from "../print/summary.ts";
import { type Command, type Context, type Options, textOption } from "./command.ts";
import { fitAndPlace, KINDS, type Kind, OUTPUT_NAMES, outputsOf } from "./fit-model.ts";
import { wholeNumber } from "./numbers.ts";

const DELIMITER_NAMES: Readonly<Record<string, Delimiter>> = { comma: ",", tab: "\t", semicolon: ";", bar: "|" };

export const fit: Command = {
  name: "fit",
  description: "Fit a model to a table with one row per observation, and place everyone.",
  arguments: [{ name: "visits", description: 'CSV file with columns for id, time and value; "-" for standard input' }],
  options: [
    { flags: "--id <column>", description: "column with the id (guessed from usual names)" },
    { flags: "--time <column>", description: "column with the time, a number (guessed)" },
    { flags: "--value <column>", description: "column with the marker's value (guessed)" },
    { flags: "--unit <text>", description: "unit of the values", default: "" },
    { flags: "--time-unit <text>", description: "unit of the times", default: "" },
    { flags: "--transform <name>", description: "scale of the model", default: "identity", choices: TRANSFORMS },
    { flags: "--model <kind>", description: "kind of model", default: "dtm", choices: KINDS },
    { flags: "--map-dimension <number>", description: "dimensions of the map", default: "2" },
    { flags: "--mean <kind>", description: "population mean", default: "scalar", choices: ["scalar", "spline"] },
    { flags: "--seed <number>", description: "seed of all randomness", default: "1" },
    {
      flags: "--delimiter <name>",
      description: "what separates columns (guessed)",
      choices: Object.keys(DELIMITER_NAMES),
    },
    { flags: "--decimal <mark>", description: "decimal mark", choices: [".", ","] },
    { flags: "--skip-line <number>", description: "line to skip, such as one with units", repeatable: true },
    { flags: "--leave-out-bad", description: "leave out rows that cannot be read, instead of refusing the file" },
    { flags: "-o, --out <folder>", description: "where results go", default: "run" },
    { flags: "--force", description: "write over results that are already there" },
  ],
  examples: [
    "dtm fit visits.csv --id patient_id --time years --value fvc -o run/",
    "dtm fit visits.csv --value bili --transform log --model lmm --mean spline -o lmm/",
  ],
  run: ([path = "-"], options, context) => {
    const folder = textOption(options, "out") ?? "run";
    const choice = {
      kind: (textOption(options, "model") ?? "dtm") as Kind,
      mapDimension: wholeNumber("--map-dimension", textOption(options, "mapDimension") ?? "2", 1),
      mean: textOption(options, "mean") === "spline" ? ("spline" as const) : ("scalar" as const),
      seed: wholeNumber("--seed", textOption(options, "seed") ?? "1"),
    };
    checkOutputs(folder, OUTPUT_NAMES, options.force === true);
    const read = readVisits(path, options, context);
    const fitted = fitAndPlace(read, choice, context);
    const paths = writeOutputs(folder, outputsOf(fitted, `dtm fit --model ${choice.kind} --seed ${choice.seed}`));
    context.print(
      [
        `${cohortSummary(read.cohort)}\n`,
        `${modelTable([fitted])}\n`,
        `${mapSummary(fitted.model)}\n`,
        `${mapPicture(fitted)}\n`,
        `Written   ${paths.join("\n          ")}`,
      ].join("\n"),
    );
  },
};

function readVisits(path: string, options: Options, { talk }: Context): ReadCohort {
  const named = (name: string) => {
    const value = textOption(options, name);
    return value === undefined ? {} : { [name]: value };
  };
  const delimiter = DELIMITER_NAMES[textOption(options, "delimiter") ?? ""];
  const decimal = textOption(options, "decimal");
  const skipped = Array.isArray(options.skipLine) ? options.skipLine : [];
  const read = readCohort(readText(path), {
    columns: { ...named("id"), ...named("time"), ...named("value") },
    marker: {
      unit: textOption(options, "unit") ?? "",
      timeUnit: textOption(options, "timeUnit") ?? "",
      transform: (textOption(options, "transform") ?? "identity") as Transform,
    },
    file: path === "-" ? "standard input" : path,
    onBad: options.leaveOutBad === true ? "leave-out" : "refuse",
    skipLines: skipped.map((text) => wholeNumber("--skip-line", text, 1)),
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(decimal === "." || decimal === "," ? { decimal } : {}),
  });
  for (const note of read.notes) talk.say(note);
  for (const warning of read.warnings) talk.warn(`${showComplaint(warning)} [${warning.code}]`);
  return read;
}
