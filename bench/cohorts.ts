/** The simulated cohorts that cases share, and files made of them for other programs. */
import { closeSync, openSync, writeSync } from "node:fs";
import { designMatrix } from "../packages/core/src/basis/bspline.ts";
import type { BasisStatistics } from "../packages/core/src/basis/statistics.ts";
import { type Cohort, makeCohort, numIndividuals, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { linearStart } from "../packages/core/src/models/linear/start.ts";
import type { MapStart } from "../packages/core/src/models/map-start.ts";
import { prepareCohort } from "../packages/core/src/models/prepare.ts";
import { drawNoise, levelNoise } from "../packages/core/src/noise/noise.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { simulateCohort } from "../packages/core/src/simulate/cohorts.ts";
import { scratchFile } from "./peers.ts";

/** The size of the paper's PFVC cohort. */
export const PAPER_SIZE = 2323;

/** The simulated PFVC registry of the paper's size, or of another. */
export function registry(numIndividuals = PAPER_SIZE): Cohort {
  return simulateCohort("pfvc", { numIndividuals, seed: 1 }).cohort;
}

/**
 * The cohort that the goals were set with, number by number: sparse individuals on a two-dimensional map, median 3 visits,
 * at most 55, more of them early; a course bends with both coordinates and has a smooth residual of its own. Its mixed
 * model is nearly singular (log-likelihood −35920.1805), which is where such fits take longest.
 */
export function bendingCohort(m = PAPER_SIZE): Cohort {
  const uniform = mulberry32(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const [ids, times, values]: [string[], number[], number[]] = [[], [], []];
  for (let i = 0; i < m; i++) {
    const n = i === 0 ? 55 : Math.min(55, Math.max(1, Math.round(Math.exp(Math.log(3.1) + 0.95 * normal()))));
    const [x, y] = [normal(), normal()];
    const own = Array.from({ length: 5 }, () => 1.5 * normal());
    const visits = Array.from({ length: n }, () => 10 * uniform() * uniform() ** 0.3).sort((a, b) => a - b);
    for (const t of visits) {
      const a = t / 10;
      const course = 80 + 12 * x - 20 * Math.tanh(1.2 * y) * a - 8 * Math.max(0, x * y) * a * a;
      const residual = own[0] * (1 - a) + own[1] * a + own[2] * Math.sin(Math.PI * a);
      ids.push(String(i + 1));
      times.push(Number(t.toFixed(4)));
      values.push(Number((course + residual + 3.5 * normal()).toFixed(3)));
    }
  }
  return makeCohort({ ids, times, values });
}

/**
 * Individuals with ten visits in ten years, whose courses differ in level, slope and bend, and whose noise has a level of its own
 * (ω = 0.6) and is correlated over half a year.
 */
export function unequalRegistry(m: number, numVisits = 10): Cohort {
  const random = createRandom(1);
  const noise = levelNoise(25, 0.6, { range: 0.5, whiteShare: 0.4 });
  const [ids, times, values]: [string[], number[], number[]] = [[], [], []];
  for (let i = 0; i < m; i++) {
    const [x, y] = [random.normal(), random.normal()];
    const visits = Float64Array.from({ length: numVisits }, () => 10 * random.uniform()).sort();
    const errors = drawNoise(noise, visits, random);
    visits.forEach((t, j) => {
      const a = t / 10;
      ids.push(`${i + 1}`);
      times.push(t);
      values.push(80 + 12 * x - 20 * Math.tanh(1.2 * y) * a - 8 * Math.max(0, x * y) * a * a + errors[j]);
    });
  }
  return makeCohort({ ids, times, values });
}

/** The generator of the bending cohort: 32 bits of state, uniform on [0, 1). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The statistics and linear start of a cohort under the default basis. */
export function startOf(cohort: Cohort): { readonly statistics: BasisStatistics; readonly start: MapStart } {
  const { statistics } = prepareCohort(cohort);
  return { statistics, start: linearStart([statistics], { mapDimension: 2 }) };
}

/** Writes visits as CSV (id, time, value) and returns the path. */
export function writeVisits(cohort: Cohort, name: string): string {
  return writeLines(
    name,
    "id,time,value",
    cohort,
    (id, j) => `${id},${onlyMarker(cohort).times[j]},${onlyMarker(cohort).values[j]}`,
  );
}

/** Writes visits with their spline basis (id, value, b1 to bd) and returns the path. */
export function writeDesign(cohort: Cohort, name: string): string {
  const { basis } = prepareCohort(cohort).statistics;
  const d = basis.numBasis;
  const B = designMatrix(basis, onlyMarker(cohort).times); // [N,d]
  const names = Array.from({ length: d }, (_, k) => `b${k + 1}`);
  return writeLines(
    name,
    `id,value,${names.join(",")}`,
    cohort,
    (id, j) => `${id},${onlyMarker(cohort).values[j]},${B.subarray(j * d, (j + 1) * d).join(",")}`,
  );
}

function writeLines(name: string, head: string, cohort: Cohort, line: (id: string, j: number) => string): string {
  const path = scratchFile(name);
  const file = openSync(path, "w");
  let lines = [head];
  for (let i = 0; i < numIndividuals(cohort); i++) {
    const id = cohort.ids[i];
    for (let j = onlyMarker(cohort).offsets[i]; j < onlyMarker(cohort).offsets[i + 1]; j++) lines.push(line(id, j));
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
