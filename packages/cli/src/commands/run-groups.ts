/** The groups of a run: those that dtm groups wrote into it, made again, or those of the rule. */
import { UsageError } from "../exit-codes.ts";
import { readResult } from "../io/results.ts";
import type { Pool } from "../threads/pool.ts";
import type { Context, Options } from "./command.ts";
import { choiceOf, groupChoice, type StoredChoice } from "./groups.ts";
import { GROUPS_FILE } from "./run-record.ts";
import { groupsOf, type PlacedRun, type StudiedGroups } from "./study-parts.ts";

/** What groups.json says of groups that commands after it use. */
export type StoredGroups = StoredChoice & {
  readonly choice: StudiedGroups["groups"]["choice"];
  readonly stability: (NonNullable<StudiedGroups["stability"]> & object) | null;
  readonly groups: readonly { readonly pairsKept: number | null }[];
};

/** The stored groups of a run; refuses that others are asked for, since results of two groupings would stand side by side. */
export function storedGroups(folder: string, options: Options, { originOf }: Context): StoredGroups | undefined {
  const stored = readResult<StoredGroups>(folder, GROUPS_FILE);
  const { numGroups } = groupChoice(options);
  if (stored !== undefined && originOf?.("groups") === "flag" && numGroups !== stored.numGroups) {
    throw new UsageError(
      `--groups: expected ${stored.numGroups}, as the run has, received ${numGroups}. Group it anew with dtm groups ${folder} --groups ${numGroups} --force, or leave the option out.`,
    );
  }
  return stored;
}

/** Membership is not stored in the shareable file; grouping again into as many groups gives the same ones. */
export function groupsOfRun(
  run: PlacedRun,
  stored: StoredChoice | undefined,
  options: Options,
  pool: Pool,
  context: Context,
): Promise<StudiedGroups> {
  const wanted = groupChoice(options);
  const choice = stored === undefined ? wanted : { ...wanted, ...choiceOf(stored), resamples: 0 };
  return groupsOf(run, choice, pool, context);
}
