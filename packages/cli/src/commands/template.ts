/** dtm template: a small table that shows how visits or individuals are written. */
import { basename, dirname } from "node:path";
import { TEMPLATES, type TemplateName } from "@trajectory-maps/core/ingest";
import { checkOutputFile, writeOutputs } from "../io/write.ts";
import { type Command, FORCE_OPTION, textOption } from "./command.ts";

const NAMES = Object.keys(TEMPLATES) as readonly TemplateName[];

export const template: Command = {
  name: "template",
  description:
    "Print a small example table, to be filled in: visits (a row each, with dates), subjects (individuals, a row each), or wide (individuals with a column for each time).",
  arguments: [{ name: "table", description: "which table (default: visits)", optional: true, choices: NAMES }],
  options: [{ flags: "-o, --out <file>", description: "file to write (default: standard output)" }, FORCE_OPTION],
  examples: ["dtm template > visits.csv", "dtm template subjects -o subjects.csv", "dtm template wide -o wide.csv"],
  run: ([table = "visits"], options) => {
    const text = TEMPLATES[table as TemplateName];
    const out = textOption(options, "out");
    if (out === undefined) return { text, json: { table, text } };
    checkOutputFile(out, options.force === true);
    const [file] = writeOutputs(dirname(out), [{ name: basename(out), text }]);
    return { text: `Written   ${file}`, json: { table, text, file } };
  },
};
