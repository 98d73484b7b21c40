/** Time, memory and shards of a large fit, from rates measured here and from how many passes fits were seen to take (docs/scaling.md). */
import { LINEAR_SAMPLES, MANY_INDIVIDUALS, MAP_SAMPLE, usualRestarts } from "@trajectory-maps/core/models";
import type { PlannedKind, Rates } from "./plan-rates.ts";

/** A cohort to plan for. */
export interface PlannedCohort extends PlannedKind {
  readonly individuals: number;
  /** Visits of an individual at which a marker was measured, on average. */
  readonly visits: number;
}

/** What there is to work with. */
export interface Machine {
  readonly jobs: number;
  readonly memoryBytes: number;
  /** What the program may hold in texts and lists: ids of individuals. */
  readonly heapBytes: number;
}

export type Way = "visits" | "statistics" | "shards";

/** One way of fitting. */
export interface WayEstimate {
  readonly way: Way;
  readonly stages: readonly { readonly stage: string; readonly seconds: number }[];
  readonly seconds: number;
  /** Most memory of one process. */
  readonly memoryBytes: number;
  /** Files of statistics, or jobs. */
  readonly parts: number;
  readonly fits: boolean;
}

export interface Estimate {
  readonly ways: readonly WayEstimate[];
  readonly recommended: Way | undefined;
  readonly statisticsBytes: number;
  readonly schedule: "batch" | "svi";
  readonly passes: number;
}

// Passes that the time of simulated registries comes to (docs/scaling.md): 190 to 380 where all are over everybody. Other cohorts take more or fewer.
export const ITERATIONS = 300;
export const SAMPLE_PASSES = 24;
/** Passes over everybody once a sample has settled: minibatches, the exact map and its bound; likelihoods and starting places count as one. */
const WHOLE_PASSES = 3;
/** What each thread beyond the first adds. */
export const THREAD_GAIN = 0.55;

// Bytes. Of a file: 18 doubles and a count; in memory two more doubles.
const FILE_BYTES = 148;
const STATISTICS_BYTES = FILE_BYTES + 16;
/** An individual's squares before and after a pass, kept, with directions. */
const LEVEL_BYTES = 3 * 6 * 8 + 5 * 8;
/** Starting places (twice mean, covariance) and places as they are put together (twice mean, covariance, likelihood, count). */
const PLACE_BYTES = 2 * 48 + 2 * 60 + 16;
/** A short id in a list, and while ids are put in order. */
const ID_BYTES = 90;
/** A visit while its table is read. */
const VISIT_BYTES = 120;
/** The program itself with its threads and what they leave behind for a while. */
const PROGRAM_BYTES = 450 * 2 ** 20;
/** Share of memory that may be used. */
const USABLE = 0.75;
/** Individuals of one file of statistics. */
const FILE_INDIVIDUALS = 200_000;
/** Above this many individuals a table of visits is better taken in parts, which can be made anew one by one. */
const ONE_TABLE = 2_000_000;

export function estimate(cohort: PlannedCohort, rates: Rates, machine: Machine): Estimate {
  const { individuals: m, visits, markers } = cohort;
  const rows = m * visits * markers;
  const threads = 1 + THREAD_GAIN * (machine.jobs - 1);
  const schedule = m > MANY_INDIVIDUALS ? "svi" : "batch";
  const { many, enough } = markers === 1 ? LINEAR_SAMPLES.one : LINEAR_SAMPLES.several;
  const linear = rates.linear * (m > many ? enough : m);
  const sample = m >= 2 * MAP_SAMPLE ? MAP_SAMPLE : m;
  const passes = schedule === "svi" ? SAMPLE_PASSES : ITERATIONS * (1 + usualRestarts(m));
  const visited = schedule === "svi" ? passes * sample + WHOLE_PASSES * m : passes * m;
  const statistics = { stage: "statistics", seconds: rows * (rates.read + rates.reduce) };
  const map = { stage: "map", seconds: linear + (visited * rates.pass) / threads };
  const places = { stage: "places of everyone", seconds: (m * (rates.place + rates.write)) / threads };
  const individualBytes = fitBytes(cohort);
  const memory = machine.memoryBytes * USABLE;
  const way = (name: Way, stages: WayEstimate["stages"], memoryBytes: number, parts: number, held: number) => ({
    ...{ way: name, stages, parts, memoryBytes },
    seconds: stages.reduce((sum, { seconds }) => sum + seconds, 0),
    fits: memoryBytes <= memory && held * ID_BYTES <= machine.heapBytes * USABLE,
  });
  const fitMemory = PROGRAM_BYTES + m * individualBytes;
  const inOneGo = way("visits", [statistics, map, places], fitMemory + rows * VISIT_BYTES, 1, m);
  const byFile = way("statistics", [statistics, map, places], fitMemory, Math.ceil(m / FILE_INDIVIDUALS), m);
  // Every job makes whole passes over its own individuals, in the linear models too.
  const most = Math.min((memory - PROGRAM_BYTES) / individualBytes, (machine.heapBytes * USABLE) / ID_BYTES);
  const jobs = Math.max(1, Math.ceil(m / Math.max(most, 1)), Math.ceil(m / ONE_TABLE));
  const own = m / jobs;
  const spread = [
    { ...statistics, seconds: statistics.seconds / jobs },
    { ...map, seconds: own * (rates.linear + (ITERATIONS * rates.pass) / threads) },
    { ...places, seconds: places.seconds / jobs },
  ];
  // Levels of several markers are fitted in one place only.
  const canSpread = markers === 1 || cohort.noise === "white";
  const inJobs = canSpread ? [way("shards", spread, PROGRAM_BYTES + own * individualBytes, jobs, own)] : [];
  const ways = [inOneGo, byFile, ...inJobs];
  const recommended = ways.find(({ way, fits }) => fits && (way !== "visits" || m <= ONE_TABLE))?.way;
  return { ways, recommended, statisticsBytes: m * markers * FILE_BYTES, schedule, passes };
}

/** What a fit keeps of an individual. */
function fitBytes({ markers, noise }: PlannedKind): number {
  return markers * (STATISTICS_BYTES + (noise === "level" ? LEVEL_BYTES + 32 : 0)) + PLACE_BYTES + ID_BYTES;
}
