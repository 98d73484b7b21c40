/** The table of individuals as the place of an origin of times. */
import type { SubjectsTable } from "@trajectory-maps/core/ingest";
import { UsageError } from "../exit-codes.ts";
import { type Context, type Options, textOption } from "./command.ts";
import { readSubjectsTable } from "./subjects.ts";

/** Whether times are counted from a column, by an option or as a model was fitted. */
export function isFromColumn(options: Options, fitted?: string): boolean {
  return (textOption(options, "origin") ?? fitted ?? "").startsWith("column:");
}

/** The table of individuals, where the origin may stand in it. */
export async function originTable(
  options: Options,
  context: Context,
  fitted?: string,
): Promise<{ subjects?: SubjectsTable }> {
  const path = textOption(options, "subjects");
  if (path === undefined || !isFromColumn(options, fitted)) return {};
  return { subjects: await readSubjectsTable(path, options, context, true) };
}

/** Refuses a table of individuals where nothing of it is read. */
export function checkOriginTable(options: Options): void {
  if (options.subjects === undefined || isFromColumn(options)) return;
  throw new UsageError("--subjects: expected with --origin column:NAME, which names a column of it. Leave it out.");
}
