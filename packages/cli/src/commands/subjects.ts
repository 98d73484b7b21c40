/** How tables of individuals are read by every command. */
import { readSubjectsFile, type SubjectsTable } from "@trajectory-maps/core/ingest";
import { nameOf, readBlocks } from "../io/read.ts";
import { type Context, type Options, textOption } from "./command.ts";
import { decimalOf, delimiterOf } from "./visits.ts";

/** A table of individuals, and a note of how it was understood. */
export async function readSubjectsTable(path: string, options: Options, { talk }: Context): Promise<SubjectsTable> {
  const id = textOption(options, "id");
  const { table, notes } = await readSubjectsFile(readBlocks(path), {
    file: nameOf(path),
    ...(id === undefined ? {} : { id }),
    ...delimiterOf(options),
    ...decimalOf(options),
  });
  for (const note of notes) talk.say(note);
  return table;
}
