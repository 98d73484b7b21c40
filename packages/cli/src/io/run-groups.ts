/** The groups of a run, as `dtm groups` wrote them: what is told of each, who is in which, and where on the map they lie. */
import { join } from "node:path";
import type { TrajectoryModel } from "@trajectory-maps/core";
import { readSubjectsFile } from "@trajectory-maps/core/ingest";
import { mixtureFromLabels, mixtureMembership } from "@trajectory-maps/core/study";
import { FileError } from "../exit-codes.ts";
import { fileExists, readBlocks } from "./read.ts";
import { readResult } from "./results.ts";
import { PLACEMENTS_FILE } from "./same-visits.ts";

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

/** Groups as regions of the map: a Gaussian over the places of each one's members. No individual is in it. */
export interface GroupRegions {
  readonly groups: readonly RunGroup[];
  readonly regions: ReturnType<typeof mixtureFromLabels>;
}

/** The regions of a run's groups, from the places it wrote; undefined where it has none. */
export async function readGroupRegions(folder: string, model: TrajectoryModel): Promise<GroupRegions | undefined> {
  const path = join(folder, PLACEMENTS_FILE);
  if (!fileExists(path)) return undefined;
  const { table } = await readSubjectsFile(readBlocks(path), { file: path, id: "id", delimiter: "," });
  const found = await readRunGroups(folder, table.ids);
  if (found === undefined) return undefined;
  const q = model.mapDimension;
  const axes = Array.from({ length: q }, (_, a) => table.columns.find(({ name }) => name === `x${a + 1}`)?.cells ?? []);
  // Written with all their digits.
  const location = Float64Array.from({ length: q * table.ids.length }, (_, e) =>
    Number(axes[e % q]?.[Math.floor(e / q)]),
  );
  return { groups: found.groups, regions: mixtureFromLabels(location, q, found.labels, found.groups.length) };
}

/** Probability of each group for places known as N(location [n,q], covariance [n,q,q]), [n,K]. */
export function groupShares(
  { regions }: GroupRegions,
  { location, covariance }: { readonly location: Float64Array; readonly covariance: Float64Array },
): Float64Array {
  return mixtureMembership(regions, location, covariance);
}
