/** dtm calculator RUN|MODEL -o PAGE: one offline page that places and forecasts one patient by a model, and nothing else. */
import { gzipSync } from "node:zlib";
import { TIME_UNITS, timeUnitOf } from "@trajectory-maps/core/ingest";
import { counted } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { patientModelOf, patientPage } from "../io/patient-page.ts";
import { readModel } from "../io/run-folder.ts";
import { ownVersion } from "../io/version.ts";
import { checkOutputFile, writeSingle } from "../io/write.ts";
import { type Command, textOption } from "./command.ts";
import { MODEL_ARGUMENT } from "./embed.ts";

/** Bytes, gzipped, above which a page is slow to send with a paper. */
const LARGE = 400_000;

const WORDS = ["title", "cohort", "years", "citation"] as const;

export const calculatorCommand: Command = {
  name: "calculator",
  description:
    "Write a single page that opens from disk and places and forecasts one patient by a model: for the supplement of a paper. It asks nothing of any network and holds no individual data. From a run it also tells groups of eleven or more, and from one with its visits how long similar people were followed.",
  arguments: [MODEL_ARGUMENT],
  options: [
    { flags: "-o, --out <file>", description: "the page, .html" },
    { flags: "--title <text>", description: "title of the page (default: the markers)" },
    { flags: "--cohort <text>", description: "who the people were, such as the name of the study" },
    { flags: "--years <text>", description: 'when they were seen, such as "2000 to 2005"' },
    { flags: "--citation <text>", description: "what is to be cited, with its DOI" },
    { flags: "--intended-use <text>", description: "intended use, in the place of the usual words" },
    { flags: "--force", description: "overwrite an existing page" },
  ],
  examples: [
    "dtm calculator run/ -o calculator.html",
    'dtm calculator run/model.json -o calculator.html --cohort "Mayo Clinic PBC trial" --years "1974 to 1984"',
  ],
  run: async ([path = ""], options, { talk }) => {
    const out = textOption(options, "out");
    if (out === undefined || !/\.html?$/i.test(out)) {
      throw new UsageError(
        `--out: expected a file that ends in .html, received ${out === undefined ? "none" : `"${out}"`}.`,
      );
    }
    checkOutputFile(out, options.force === true);
    const model = readModel(path);
    const { timeUnit = "" } = model.markers[0]?.marker ?? {};
    if (timeUnitOf(timeUnit) === undefined) {
      talk.warn(
        `the page takes no dates and speaks of "time": expected a model that says in which unit its times are (${TIME_UNITS.join(", ")}), ` +
          `received ${timeUnit === "" ? "none" : `"${timeUnit}"`}. Fit it again with --time-unit, such as --time-unit years.`,
      );
    }
    const patient = await patientModelOf(path, model);
    const use = textOption(options, "intendedUse");
    const said = Object.fromEntries(
      WORDS.flatMap((name) => {
        const text = textOption(options, name);
        return text === undefined ? [] : [[name, text]];
      }),
    );
    const page = patientPage(patient, { ...said, ...(use !== undefined && { use }), version: ownVersion() });
    const file = writeSingle(out, page, options.force === true);
    const gzipped = gzipSync(page).length;
    const { groups, followed } = patient;
    const { numIndividuals } = model.record;
    const held = [
      `the model of ${counted(numIndividuals, "individual")}`,
      ...(groups.length > 0 ? [`regions of ${counted(groups.length, "group")}`] : []),
      ...(followed === null ? [] : ["how long similar people were followed"]),
    ];
    const text = [
      `Written   ${file}   (${Math.round(gzipped / 1000)} kB compressed)`,
      `Contains  ${held.join(", ")}. No identifiers and no measurements.`,
      ...(gzipped > LARGE ? [`          More than ${LARGE / 1000} kB compressed: the model has many markers.`] : []),
    ].join("\n");
    return {
      text,
      json: {
        files: [file],
        bytes: Buffer.byteLength(page),
        gzipped,
        individuals: numIndividuals,
        markers: model.markers.map(({ marker }) => marker.name),
        groups: groups.map(({ letter, name }) => ({ letter, name })),
        followed: followed !== null,
      },
    };
  },
};
