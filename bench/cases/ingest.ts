/** Reading a million rows of CSV into a cohort: against DuckDB, which makes lists per individual of the same file. */
import { createReadStream } from "node:fs";
import { numIndividuals, onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import { readCohortFile } from "../../packages/core/src/ingest/read-cohort.ts";
import { against, type BenchCase, requireClose } from "../case.ts";
import { registry, writeVisits } from "../cohorts.ts";
import { leastCpu } from "../measure.ts";
import { runPython } from "../peers.ts";

const BLOCK = 1 << 20;

export const ingest: BenchCase = {
  name: "ingest",
  about: "a million rows of CSV read, checked and sorted into a cohort, against DuckDB",
  run: async ({ quick, say }) => {
    const cohort = registry(quick ? 5000 : 225_000);
    const { times } = onlyMarker(cohort);
    const path = writeVisits(cohort, "ingest.csv");
    const ours = await leastCpu(() => readCohortFile(createReadStream(path, { highWaterMark: BLOCK })), quick ? 1 : 2);
    requireClose("rows read", onlyMarker(ours.value.cohort).times.length, times.length, 0);
    say("DuckDB");
    const duck = runPython("duckdb_read.py", [path]);
    if (duck !== undefined) requireClose("individuals read by DuckDB", duck.individuals, numIndividuals(cohort), 0);
    const rows = `${times.length} rows`;
    return [
      against(`CSV ingest, ${rows}, CPU time`, "s cpu", ours.cpu, "DuckDB", duck?.cpu, {
        note: "ours checks every cell and says what is wrong with it",
      }),
      against(`CSV ingest, ${rows}, wall clock`, "s", ours.wall, "DuckDB, two threads", duck?.wall),
    ];
  },
};
