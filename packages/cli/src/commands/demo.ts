/** dtm demo: the three models on the bundled cohort, a summary, and the map in out/. */
import { readCohort } from "@trajectory-maps/core";
import { bundledFile, readText } from "../io/read.ts";
import { checkOutputs, writeOutputs } from "../io/write.ts";
import { cohortSummary, courseTable, mapPicture, mapSummary, modelTable } from "../print/summary.ts";
import type { Command } from "./command.ts";
import { textOption } from "./command.ts";
import { fitAndPlace, OUTPUT_NAMES, outputsOf } from "./fit-model.ts";
import { wholeNumber } from "./numbers.ts";

export const demo: Command = {
  name: "demo",
  description: "Fit three models to the bundled cohort, show what they found, write map and places to out/.",
  arguments: [],
  options: [
    { flags: "-o, --out <folder>", description: "where results go", default: "out" },
    { flags: "--seed <number>", description: "seed of all randomness", default: "1" },
  ],
  examples: ["dtm demo", "dtm demo --seed 7 -o elsewhere"],
  run: (_, options, context) => {
    const folder = textOption(options, "out") ?? "out";
    const seed = wholeNumber("--seed", textOption(options, "seed") ?? "1");
    // The demo's own folder may be written over; any other may not.
    checkOutputs(folder, OUTPUT_NAMES, folder === "out");
    const read = readCohort(readText(bundledFile("visits.csv")), {
      columns: { id: "id", time: "time", value: "bili" },
      marker: { name: "serum bilirubin", unit: "mg/dl", timeUnit: "years", transform: "log" },
      file: "examples/pbc/visits.csv",
    });
    const choice = { mapDimension: 2, mean: "scalar", seed } as const;
    const fits = (["lmm", "fpca", "dtm"] as const).map((kind) => fitAndPlace(read, { ...choice, kind }, context));
    const map = fits[2]!;
    const paths = writeOutputs(folder, outputsOf(map, `dtm demo --seed ${seed}`));
    context.print(
      [
        "Disease trajectory map: primary biliary cholangitis, 312 people of the Mayo Clinic trial\n",
        `${cohortSummary(read.cohort)}\n`,
        `${modelTable(fits)}\n`,
        `${mapSummary(map.model)}\n`,
        `${mapPicture(map)}\n`,
        `${courseTable(map.model)}\n`,
        `Written   ${paths.join("\n          ")}`,
      ].join("\n"),
    );
  },
};
