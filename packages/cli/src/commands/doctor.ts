/** dtm doctor: what this machine offers, and whether every part of the program is there. */
import { availableParallelism, freemem, totalmem } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { LIBRARY_VERSION } from "@trajectory-maps/core";
import { loadDuckdb } from "../databases/duckdb.ts";
import { loadRasterizer } from "../io/raster.ts";
import { fileExists } from "../io/read.ts";
import { table } from "../print/table.ts";
import type { Command } from "./command.ts";

interface Check {
  readonly part: string;
  readonly ok: boolean;
  readonly found: string;
  readonly remedy?: string;
}

const OLDEST_NODE = [20, 19] as const;

export const doctor: Command = {
  name: "doctor",
  description: "Check this machine: Node, memory, threads, optional packages.",
  arguments: [],
  options: [],
  examples: ["dtm doctor", "dtm doctor --json"],
  run: async () => {
    const checks = await examine();
    const rows = checks.map(({ part, ok, found, remedy }) => [
      part,
      ok ? "ok" : "missing",
      remedy ? `${found}. ${remedy}` : found,
    ]);
    const bad = checks.filter(({ ok }) => !ok).length;
    const verdict = bad === 0 ? "All parts are present." : `${bad} of ${checks.length} parts are missing.`;
    return { text: `${table(["part", "", "found"], rows, [1, 2])}\n\n${verdict}`, json: { checks, ok: bad === 0 } };
  },
};

async function examine(): Promise<Check[]> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const nodeOk = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  const raster = await loadRasterizer();
  const duckdb = await loadDuckdb().catch(() => undefined);
  const threads = fileExists(fileURLToPath(new URL("./worker.mjs", import.meta.url)));
  const gigabytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GB`;
  return [
    { part: "dtm", ok: true, found: LIBRARY_VERSION },
    {
      part: "Node",
      ok: nodeOk,
      found: `${process.versions.node} on ${process.platform} ${process.arch}`,
      ...(nodeOk ? {} : { remedy: `Install ${OLDEST_NODE.join(".")} or newer` }),
    },
    { part: "memory", ok: totalmem() > 2 ** 30, found: `${gigabytes(freemem())} free of ${gigabytes(totalmem())}` },
    {
      part: "threads",
      ok: true,
      found: threads
        ? `${availableParallelism()} can be used`
        : "work is done on one thread (the thread program is not built)",
    },
    {
      part: "PNG figures",
      ok: raster !== undefined,
      found: raster === undefined ? "@resvg/resvg-js is not installed" : "@resvg/resvg-js",
      ...(raster === undefined ? { remedy: "Figures are written as SVG; install it for PNG" } : {}),
    },
    {
      part: "SQL over files",
      ok: duckdb !== undefined,
      found: duckdb === undefined ? "@duckdb/node-api is not installed" : "@duckdb/node-api",
      ...(duckdb === undefined ? { remedy: "Files are read without it; install it for --sql and DuckDB files" } : {}),
    },
  ];
}
