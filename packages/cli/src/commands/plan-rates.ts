/**
 * What the kernels take on this machine, measured on a small simulated cohort on one thread: a few seconds. Short work
 * is done four times and the least time counts, since it is compiled on the way. CPU time: others may be at work here now.
 */
import process from "node:process";
import { readCohort, simulateCohort } from "@trajectory-maps/core";
import { embedStatistics, numVisits, prepareMarkers, startPrepared } from "@trajectory-maps/core/hosts";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { placementRows } from "./placements.ts";

/** Seconds of CPU time. */
export interface Rates {
  /** Of a visit of one marker: its row read, and its part in statistics. */
  readonly read: number;
  readonly reduce: number;
  /** Of an individual, all markers: in the linear models, in one pass of the map, placed, and its place written. */
  readonly linear: number;
  readonly pass: number;
  readonly place: number;
  readonly write: number;
}

/** What is planned for. */
export interface PlannedKind {
  readonly markers: number;
  readonly noise: "white" | "level";
}

/** Individuals of the trial: fewer where each takes longer. */
const TRIAL = { one: 4_096, several: 1_024 };
const PASSES = 2;
const TRIALS = 4;
const LONG_SECONDS = 0.3;

/** Rates of this machine. */
export function measureRates({ markers, noise }: PlannedKind): Rates {
  const trial = markers === 1 ? TRIAL.one : TRIAL.several;
  const cohorts = Array.from({ length: markers }, (_, k) =>
    simulateCohort("pfvc", { numIndividuals: trial, seed: k + 1 }),
  );
  const [first] = cohorts;
  const { ids } = first!.cohort;
  const text = visitsText(first!.cohort);
  const rows = onlyMarker(first!.cohort).times.length;
  const [read] = timed(() => readCohort(text));
  const [reduce] = timed(() => prepareMarkers(first!.cohort, { noise }));
  const statistics = cohorts.map(({ cohort }) => prepareMarkers(cohort, { noise }).statistics[0]!);
  const names = cohorts.map(({ cohort }) => onlyMarker(cohort).marker);
  const prepared = { markers: names, statistics };
  const start = () => startPrepared(prepared, { schedule: "svi", batchSize: trial, sampleSize: trial });
  // Long enough to be compiled on the way.
  const [linear, run] = once(start);
  run.step();
  const [passes] = timed(() => {
    for (let k = 0; k < PASSES; k++) run.step();
  });
  const model = run.finish();
  const [place, places] = timed(() => embedStatistics(model, ids, statistics));
  const [write] = timed(() => placementRows(places, { from: 0, to: trial }));
  return {
    ...{ read: read / rows, reduce: reduce / numVisits(statistics[0]!) },
    ...{ linear: linear / trial, pass: passes / (PASSES * trial) },
    ...{ place: place / trial, write: write / trial },
  };
}

/** The least seconds that work takes in some trials, and what it gives. Long work is compiled before its first trial ends. */
function timed<T>(work: () => T): [number, T] {
  const first = once(work);
  if (first[0] > LONG_SECONDS) return first;
  const trials = [first, ...Array.from({ length: TRIALS - 1 }, () => once(work))];
  return trials.reduce((least, own) => (own[0] < least[0] ? own : least));
}

function once<T>(work: () => T): [number, T] {
  const began = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(began);
  // The clock of CPU time may stand still over short work.
  return [Math.max(user + system, 1) / 1e6, result];
}

function visitsText(cohort: ReturnType<typeof simulateCohort>["cohort"]): string {
  const { offsets, times, values } = onlyMarker(cohort);
  const lines = cohort.ids.flatMap((id, i) =>
    Array.from(times.subarray(offsets[i], offsets[i + 1]), (t, j) => `${id},${t},${values[offsets[i]! + j]}`),
  );
  return `id,time,value\n${lines.join("\n")}\n`;
}
