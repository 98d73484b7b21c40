/** The groups of a run, as `dtm groups` wrote them: what is told of each, and who is in which. */
import { join } from "node:path";
import { readSubjectsFile } from "@trajectory-maps/core/ingest";
import { FileError } from "../exit-codes.ts";
import { fileExists, readBlocks } from "./read.ts";
import { readResult } from "./results.ts";

/** What groups.json says of a group. */
export interface RunGroup {
  readonly letter: string;
  readonly name: string;
  readonly summary: string;
  readonly size: number;
  readonly times: readonly number[];
  readonly median: readonly (number | null)[];
  readonly lower: readonly (number | null)[];
  readonly upper: readonly (number | null)[];
}

export interface RunGroups {
  readonly groups: readonly RunGroup[];
  /** Position of the group of each individual, in the order of the cohort, [m]. */
  readonly labels: Int32Array;
}

/** The groups of a run and its individuals; undefined where it has none. */
export async function readRunGroups(folder: string, ids: readonly string[]): Promise<RunGroups | undefined> {
  const found = readResult<{ readonly groups: readonly RunGroup[] }>(folder, "groups.json");
  const path = join(folder, "groups.csv");
  if (found === undefined || !fileExists(path)) return undefined;
  const { table } = await readSubjectsFile(readBlocks(path), { file: path, id: "id", delimiter: "," });
  const letters = table.columns.find(({ name }) => name === "group")?.cells ?? [];
  // Written in the order of the cohort; an id that a spreadsheet would run stands behind a quote.
  const isOurs = table.ids.length === ids.length && table.ids.every((id, i) => id === ids[i] || id === `'${ids[i]}`);
  const labels = Int32Array.from(letters, (letter) => found.groups.findIndex((group) => group.letter === letter));
  if (!isOurs || labels.length !== ids.length || labels.includes(-1)) {
    throw new FileError(
      `${path}: expected the groups of the individuals of this run, received others. Run dtm groups again with --force.`,
    );
  }
  return { groups: found.groups, labels };
}
