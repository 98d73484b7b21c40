/**
 * How time and memory grow with the cohort (docs/scaling.md): statistics part by part, then a fit of them by the built program.
 * Parts are simulated and reduced here, without a table of visits between; one part also goes through `dtm statistics`.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { writeStatistics } from "../../packages/cli/src/io/statistics-file.ts";
import { numIndividuals, onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import { prepareMarkers } from "../../packages/core/src/models/choose-noise.ts";
import {
  plannedStatistics,
  type StatisticsPlan,
  statisticsPlan,
} from "../../packages/core/src/models/saving/packed-statistics.ts";
import { simulateCohort } from "../../packages/core/src/simulate/cohorts.ts";
import { alone, type BenchCase, type BenchContext, type Row } from "../case.ts";
import { registry, writeVisits } from "../cohorts.ts";
import { runDtm, scratchFile } from "../peers.ts";

const SIZES = [1e3, 1e4, 1e5];
const LARGE_SIZES = [1e6, 1e7];
/** Individuals of one part. */
const PART = 200_000;

export const scaling: BenchCase = {
  name: "scaling",
  about: "growth from 1,000 individuals on, statistics to places, two threads (1e6 and 1e7 with --large)",
  run: async (context) => {
    const { large, quick } = context;
    const sizes = quick ? [1e3] : large ? [...SIZES, ...LARGE_SIZES] : SIZES;
    const rows: Row[] = [await fromVisits(quick ? 1e3 : PART)];
    for (const m of sizes) rows.push(...(await grown(m, context)));
    return rows;
  },
};

/** `dtm statistics` of a table of visits. */
async function fromVisits(m: number): Promise<Row> {
  const cohort = registry(m);
  const path = writeVisits(cohort, "scaling.csv");
  const { cpu, peakBytes } = await runDtm(["statistics", path, "--noise", "white", "-o", scratchFile("one.parquet")]);
  const visits = onlyMarker(cohort).times.length;
  const note = `${visits} visits, ${megabytes(peakBytes).toFixed(0)} MB at most`;
  return alone(`m = ${m}, dtm statistics of a CSV table`, "s cpu", cpu, { note });
}

async function grown(m: number, { say }: BenchContext): Promise<Row[]> {
  say(`${m} individuals: statistics`);
  const folder = scratchFile(`scaling-${m}`);
  const taken = await writeParts(m, folder);
  say(`${m} individuals: fit`);
  const fit = ["fit", "--statistics", folder, "--json", "--progress", "json", "-j", "2", "-o", join(folder, "run")];
  const { wall, cpu, peakBytes, talk } = await runDtm(fit);
  const stages = stagesOf(talk);
  const rest = cpu - stages.reduce((sum, { seconds }) => sum + seconds, 0);
  const told = [...stages, { title: "likelihoods and files", seconds: rest }]
    .map(({ title, seconds }) => `${title.trim().toLowerCase()} ${seconds.toFixed(1)} s`)
    .join(", ");
  return [
    alone(`m = ${m}, statistics taken and written`, "s cpu", taken.seconds, {
      note: `${taken.visits} visits in ${taken.parts} files; simulation not counted`,
    }),
    alone(`m = ${m}, statistics read, map fitted, all placed`, "s cpu", cpu, {
      note: `${told}; wall clock ${wall.toFixed(0)} s`,
    }),
    alone(`m = ${m}, most memory of that`, "MB", megabytes(peakBytes)),
  ];
}

/** Writes statistics of m simulated individuals, those of all parts in the basis of the first. */
async function writeParts(m: number, folder: string) {
  mkdirSync(folder, { recursive: true });
  let plan: StatisticsPlan | undefined;
  let [seconds, visits, parts] = [0, 0, 0];
  for (let from = 0; from < m; from += PART) {
    const { cohort } = simulateCohort("pfvc", { numIndividuals: Math.min(PART, m - from), seed: ++parts });
    const ids = Array.from({ length: numIndividuals(cohort) }, (_, i) => `p${from + i + 1}`);
    const began = process.cpuUsage();
    const first = plan === undefined ? prepareMarkers(cohort, { noise: "white" }) : undefined;
    plan ??= statisticsPlan(first!.statistics, [onlyMarker(cohort).marker], [], first!.warnings);
    const statistics = first?.statistics ?? plannedStatistics(plan, cohort);
    await writeStatistics(join(folder, `part-${String(parts).padStart(4, "0")}.parquet`), plan, ids, statistics);
    const { user, system } = process.cpuUsage(began);
    seconds += (user + system) / 1e6;
    visits += onlyMarker(cohort).times.length;
  }
  return { seconds, visits, parts };
}

/** Stages of a run that say when they end, with their CPU time, which hardly depends on who else is at work. */
function stagesOf(talk: string): { readonly title: string; readonly seconds: number }[] {
  return talk.split("\n").flatMap((line) => {
    if (!line.startsWith('{"event":"end"')) return [];
    const { title, cpuMilliseconds } = JSON.parse(line) as { title: string; cpuMilliseconds: number };
    return [{ title, seconds: cpuMilliseconds / 1000 }];
  });
}

function megabytes(bytes: number): number {
  return bytes / 2 ** 20;
}
