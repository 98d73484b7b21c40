/** How tables of individuals are read by every command. */
import { readSubjectsFile, type SubjectsTable } from "@trajectory-maps/core/ingest";
import { fileExists, nameOf } from "../io/read.ts";
import { type Context, type Options, textOption } from "./command.ts";
import { decimalOf, delimiterOf, encodingOf } from "./table-form.ts";
import { visitsSource } from "./visits-source.ts";

/** A table of individuals, and a note of how it was understood; `orGuess`: --id names a column of visits, which need not be there. */
export async function readSubjectsTable(
  path: string,
  options: Options,
  { talk }: Context,
  orGuess = false,
): Promise<SubjectsTable> {
  const id = textOption(options, "id");
  const { file, sheet } = sheetIn(path);
  const { table, notes } = await readSubjectsFile(await visitsSource(file, options), {
    file: nameOf(path),
    ...(sheet === undefined ? {} : { sheet }),
    ...(id === undefined ? {} : { id }),
    orGuess,
    ...delimiterOf(options),
    ...decimalOf(options),
    ...encodingOf(options),
  });
  for (const note of notes) talk.say(note);
  return table;
}

/** The file and the sheet of "study.xlsx#Subjects"; a file may have the mark in its name. */
function sheetIn(path: string): { readonly file: string; readonly sheet?: string } {
  const [, file, sheet] = /^(.*\.xls[xm])#(.+)$/i.exec(path) ?? [];
  return file === undefined || sheet === undefined || fileExists(path) ? { file: path } : { file, sheet };
}
