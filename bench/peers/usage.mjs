/** Loaded before a program: when it ends, writes what it used to the file named by DTM_BENCH_USAGE. */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { isMainThread } from "node:worker_threads";

if (isMainThread && process.env.DTM_BENCH_USAGE !== undefined) {
  process.on("exit", () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const used = { cpu: (userCPUTime + systemCPUTime) / 1e6, peakBytes: maxRSS * 1024 };
    writeFileSync(process.env.DTM_BENCH_USAGE, JSON.stringify(used));
  });
}
