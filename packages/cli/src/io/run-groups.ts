/** The groups of a run, as `dtm groups` wrote them: what is told of each, who is in which, and where on the map they lie. */
import { join } from "node:path";
import type { TrajectoryModel } from "@trajectory-maps/core";
import { readSubjectsFile } from "@trajectory-maps/core/ingest";
import { type GaussianMixture, mixtureMembership, readMixture, type WrittenMixture } from "@trajectory-maps/core/study";
import { FileError } from "../exit-codes.ts";
import { checkBelongs } from "./belongs.ts";
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
  checkBelongs(folder, "groups.csv");
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

/** Groups as regions of the map: the Gaussians of the grouping itself. No individual is in it. */
export interface GroupRegions {
  readonly groups: readonly RunGroup[];
  readonly regions: GaussianMixture;
  /** How many individuals the Gaussians were made from. */
  readonly clustered: number;
}

/** The regions of a run's groups; undefined where it has no groups. */
export function readGroupRegions(folder: string, { mapDimension }: TrajectoryModel): GroupRegions | undefined {
  type Stored = Pick<GroupRegions, "groups" | "clustered"> & { readonly regions?: WrittenMixture };
  const found = readResult<Stored>(folder, "groups.json");
  if (found === undefined) return undefined;
  const { groups, clustered, regions } = found;
  const isOurs = regions?.dimension === mapDimension && regions.numGroups === groups.length;
  if (!isOurs) {
    const received = regions === undefined ? "a file of an earlier version, which has none" : "those of others";
    throw new FileError(
      `${join(folder, "groups.json")}: expected the regions of the groups, received ${received}. Run dtm groups ${folder} again with --force, or name ${join(folder, "model.json")} to go without groups.`,
    );
  }
  return { groups, clustered, regions: readMixture(regions) };
}

/** Probability of each group for places known as N(location [n,q], covariance [n,q,q]), [n,K]. */
export function groupShares(
  { regions }: GroupRegions,
  { location, covariance }: { readonly location: Float64Array; readonly covariance: Float64Array },
): Float64Array {
  return mixtureMembership(regions, location, covariance);
}
