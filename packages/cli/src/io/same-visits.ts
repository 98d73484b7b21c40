/** Whether visits that are read for a run are those it was fitted to: as many, of the same individuals, seen as often, with the same times and values. */
import { join } from "node:path";
import { type Cohort, numIndividuals, type TrajectoryModel } from "@trajectory-maps/core";
import { numObservations, readSubjectsFile } from "@trajectory-maps/core/ingest";
import { UsageError } from "../exit-codes.ts";
import { counted } from "../print/words.ts";
import { checkBelongs, digestText, readDigests } from "./belongs.ts";
import { fileExists, readBlocks } from "./read.ts";

const PLACEMENTS_FILE = "placements.csv";

/** Refuses visits that are not those of the run, with the first difference; `copy` is what the run would have kept of them. */
export async function checkSameVisits(
  folder: string,
  { record }: TrajectoryModel,
  cohort: Cohort,
  copy: () => Iterable<string>,
): Promise<void> {
  const [m, N] = [numIndividuals(cohort), numObservations(cohort)];
  if (m !== record.numIndividuals || N !== record.numObservations) {
    const expected = `${counted(record.numIndividuals, "individual")} and ${counted(record.numObservations, "observation")}`;
    throw otherVisits(folder, expected, `${counted(m, "individual")} and ${counted(N, "observation")}`);
  }
  const path = join(folder, PLACEMENTS_FILE);
  if (!fileExists(path)) return;
  checkBelongs(folder, PLACEMENTS_FILE);
  const { table } = await readSubjectsFile(readBlocks(path), { file: path, id: "id", delimiter: "," });
  const visits = table.columns.find(({ name }) => name === "visits")?.cells ?? [];
  const known = new Map(table.ids.map((id, i) => [id, Number(visits[i])]));
  for (const [i, id] of cohort.ids.entries()) {
    const own = cohort.markers.reduce((sum, { offsets }) => sum + (offsets[i + 1] ?? 0) - (offsets[i] ?? 0), 0);
    // Ids that a spreadsheet would run as a formula are written with an apostrophe.
    const expected = known.get(id) ?? known.get(`'${id}`);
    if (expected === own) continue;
    const found = `${counted(own, "visit")} of "${id}"`;
    throw otherVisits(folder, expected === undefined ? "individuals of the run" : String(expected), found);
  }
  const digest = readDigests(folder)["visits.csv"];
  if (digest !== undefined && digestText(copy()) !== digest) {
    throw otherVisits(folder, "with the same times and values", "other times or values");
  }
}

function otherVisits(folder: string, expected: string, received: string): UsageError {
  return new UsageError(
    `--visits: expected the visits that ${folder} was fitted to, ${expected}, received ${received}. Name that file, read with the same columns and options.`,
  );
}
