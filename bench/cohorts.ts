/** The simulated cohorts that cases share, and files made of them for other programs. */
import { closeSync, openSync, writeSync } from "node:fs";
import { designMatrix } from "../packages/core/src/basis/bspline.ts";
import type { BasisStatistics } from "../packages/core/src/basis/statistics.ts";
import type { Cohort } from "../packages/core/src/cohort/cohort.ts";
import { linearStart } from "../packages/core/src/models/linear/start.ts";
import type { MapStart } from "../packages/core/src/models/map-start.ts";
import { prepareCohort } from "../packages/core/src/models/prepare.ts";
import { simulateCohort } from "../packages/core/src/simulate/cohorts.ts";
import { scratchFile } from "./peers.ts";

/** The size of the paper's PFVC cohort. */
export const PAPER_SIZE = 2323;

/** The simulated PFVC registry of the paper's size, or of another. */
export function registry(numIndividuals = PAPER_SIZE): Cohort {
  return simulateCohort("pfvc", { numIndividuals, seed: 1 }).cohort;
}

/** The statistics and linear start of a cohort under the default basis. */
export function startOf(cohort: Cohort): { readonly statistics: BasisStatistics; readonly start: MapStart } {
  const { statistics } = prepareCohort(cohort);
  return { statistics, start: linearStart(statistics, { mapDimension: 2 }) };
}

/** Writes visits as CSV (id, time, value) and returns the path. */
export function writeVisits(cohort: Cohort, name: string): string {
  return writeLines(name, "id,time,value", cohort, (i, j) => `${cohort.ids[i]},${cohort.times[j]},${cohort.values[j]}`);
}

/** Writes visits with their spline basis (id, value, b1 to bd) and returns the path. */
export function writeDesign(cohort: Cohort, name: string): string {
  const { basis } = prepareCohort(cohort).statistics;
  const d = basis.numBasis;
  const B = designMatrix(basis, cohort.times); // [N,d]
  const names = Array.from({ length: d }, (_, k) => `b${k + 1}`);
  return writeLines(
    name,
    `id,value,${names.join(",")}`,
    cohort,
    (i, j) => `${cohort.ids[i]},${cohort.values[j]},${B.subarray(j * d, (j + 1) * d).join(",")}`,
  );
}

function writeLines(name: string, head: string, cohort: Cohort, line: (i: number, j: number) => string): string {
  const path = scratchFile(name);
  const file = openSync(path, "w");
  let lines = [head];
  for (let i = 0; i < cohort.ids.length; i++) {
    for (let j = cohort.offsets[i]; j < cohort.offsets[i + 1]; j++) lines.push(line(i, j));
    // A text of all lines of a large cohort would be longer than a string may be.
    if (lines.length > 100_000) {
      writeSync(file, `${lines.join("\n")}\n`);
      lines = [];
    }
  }
  if (lines.length > 0) writeSync(file, `${lines.join("\n")}\n`);
  closeSync(file);
  return path;
}
