/**
 * Reads a Parquet file of visits into a cohort in a process of its own and prints CPU time and the most memory it held, as JSON:
 *   node bench/parquet-read.mjs visits.parquet
 */
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import process from "node:process";
import { readCohortFile } from "../packages/core/dist/ingest.mjs";

const [path] = process.argv.slice(2);
const file = await open(path);
const source = {
  size: statSync(path).size,
  slice: async (from, to) => (await file.read(new Uint8Array(to - from), 0, to - from, from)).buffer,
};
const { cohort, numRows } = await readCohortFile(source);
await file.close();
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
process.stdout.write(
  `${JSON.stringify({ individuals: cohort.ids.length, rows: numRows, cpu: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 })}\n`,
);
