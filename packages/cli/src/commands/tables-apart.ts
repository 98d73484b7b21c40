/** Tables of visits and of individuals that are given together, in whatever order: ids repeat in the one and not in the other. */
import { resolve } from "node:path";
import { previewFile, type TableKind } from "@trajectory-maps/core/ingest";
import { shellWord } from "../command-line.ts";
import { UsageError } from "../exit-codes.ts";
import { FROM_OMOP, FROM_QUERY, isFolder, nameOf } from "../io/read.ts";
import { readTable } from "../io/table-file.ts";
import { type Context, type Options, textOption } from "./command.ts";
import { isFromColumn } from "./origin-table.ts";
import { delimiterOf, encodingOf } from "./table-form.ts";

export interface TablesApart {
  /** The table of visits. */
  readonly visits: string;
  /** The options, with the table of individuals in `subjects`. */
  readonly options: Options;
}

/** Which of two tables holds the visits; `second` is one given behind the first without a flag. */
export async function tellApart(
  first: string,
  second: string | undefined,
  options: Options,
  context: Context,
): Promise<TablesApart> {
  if (first === FROM_QUERY || first === FROM_OMOP) return { visits: first, options };
  const flagged = textOption(options, "subjects");
  if (second !== undefined && flagged !== undefined) {
    throw new UsageError(`--subjects: expected one table of individuals, received ${flagged} and ${second}.`);
  }
  if (second !== undefined && resolve(first) === resolve(second)) {
    throw new UsageError(
      `Expected a table of visits and one of individuals, received ${nameOf(first)} twice. Give it once; for characteristics in it, --subjects ${shellWord(first)}.`,
    );
  }
  const other = second ?? flagged;
  if (other === undefined || isFolder(first) || first === other) return { visits: first, options };
  const [kind, otherKind] = [await kindOf(first, options), await kindOf(other, options)];
  const isSwapped = kind === "subjects" && (otherKind === "visits" || otherKind === "wide");
  if (second !== undefined && kind === "visits" && otherKind === "visits") {
    throw new UsageError(
      `Expected one table of visits, received two: ids repeat in ${nameOf(first)} and in ${nameOf(other)}. Join them into one.`,
    );
  }
  const [visits, subjects] = isSwapped ? [other, first] : [first, other];
  if (isSwapped || second !== undefined) {
    context.talk.say(`${nameOf(visits)} is taken as the visits, ${nameOf(subjects)} as the individuals, a row each.`);
  }
  const isRead = isFromColumn(options) || options.covariates !== undefined;
  if (isRead || second === undefined) return { visits, options: { ...options, subjects } };
  context.talk.warn(
    `${nameOf(subjects)} is not read: name what is wanted of it, by --covariates or --origin column:NAME.`,
  );
  return { visits, options };
}

/** What a file is of, by its first rows; what cannot be told is left to be read, and complained of there. */
async function kindOf(path: string, options: Options): Promise<TableKind> {
  if (path === "-" || isFolder(path)) return "unknown";
  try {
    const form = { ...delimiterOf(options), ...encodingOf(options), file: nameOf(path) };
    return (await previewFile(readTable(path), form)).kind;
  } catch {
    return "unknown";
  }
}
