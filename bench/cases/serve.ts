/**
 * The built server under load: requests arrive at a stated rate whatever becomes of the earlier ones, and wait from when they were
 * due. Every answer must be 200; anything else ends the case.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { alone, type BenchCase, type Row } from "../case.ts";
import { ROOT, runDtm, scratchFile } from "../peers.ts";

const RATE = 200;
const CONNECTIONS = 50;
/** Three visits and a forecast at three times. */
const BODY = JSON.stringify({
  visits: [
    { time: 0.5, value: 88 },
    { time: 1.2, value: 84 },
    { time: 2.1, value: 77 },
  ],
  at: [3, 5, 8],
});

export const serve: BenchCase = {
  name: "serve",
  about: "dtm serve: one individual placed and forecast, over HTTP",
  run: async ({ quick, say }) => {
    const data = scratchFile("serve-data");
    const runs = [scratchFile("white"), scratchFile("level")];
    await runDtm(["simulate", "pfvc", "--individuals", "500", "-o", data]);
    for (const [k, noise] of ["white", "level"].entries()) {
      const columns = ["--id", "id", "--time", "time", "--value", "value", "--time-unit", "years"];
      await runDtm(["fit", join(data, "visits.csv"), ...columns, "--noise", noise, "--restarts", "0", "-o", runs[k]]);
      await runDtm(["groups", runs[k], "--groups", "4", "--stability", "0"]);
    }
    const server = await start(runs);
    try {
      const seconds = quick ? 3 : 60;
      await inTurn(server, "white", 200);
      say(`${RATE} requests a second over ${CONNECTIONS} connections for ${seconds} s`);
      const before = cpuMilliseconds(server.pid);
      const waits = await load(server, RATE * seconds);
      const cpu = (cpuMilliseconds(server.pid) - before) / waits.length;
      const level = await cpuInTurn(server, "level", quick ? 50 : 500);
      const health = await cpuInTurn(server, undefined, quick ? 200 : 2000);
      const at = (share: number) => waits[Math.floor(share * (waits.length - 1))];
      const what = `place with forecasts, ${RATE} a second over ${CONNECTIONS} connections`;
      const note = `${waits.length} requests, every answer 200; longest ${Math.round(waits.at(-1) ?? 0)} ms`;
      const found: Row[] = [
        alone(`${what}: median`, "ms", at(0.5)),
        alone(`${what}: p99`, "ms", at(0.99), { goal: 50, note }),
      ];
      const ofCpu: readonly [string, number, { goal: number }?][] = [
        ["CPU time of such a request", cpu],
        ["CPU time of such a request, noise levels", level, { goal: 3 * cpu }],
        ["CPU time of /healthz", health],
      ];
      return [...found, ...ofCpu.flatMap(([of, ms, goal]) => (Number.isFinite(ms) ? [alone(of, "ms", ms, goal)] : []))];
    } finally {
      server.child.kill("SIGTERM");
    }
  },
};

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly token: string;
  readonly agent: Agent;
}

function start(runs: readonly string[]): Promise<Running> {
  const program = join(ROOT, "packages", "cli", "bin", "dtm.mjs");
  const child = spawn(process.execPath, [program, "serve", ...runs, "--json", "--no-log"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("close", (code) => reject(new Error(`dtm serve ended with ${code}`)));
    child.stdout.once("data", (bytes) => {
      const { port, token } = JSON.parse(String(bytes)) as { port: number; token: string };
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
      resolve({ child, pid: child.pid ?? 0, port, token, agent });
    });
  });
}

/** One request, which must be answered with 200. */
function ask({ port, token, agent }: Running, model: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = model === undefined ? "/healthz" : `/v1/models/${model}/place`;
    const method = model === undefined ? "GET" : "POST";
    const headers = {
      authorization: `Bearer ${token}`,
      ...(model && { "content-type": "application/json", "content-length": BODY.length }),
    };
    const asked = request({ host: "127.0.0.1", port, path, method, agent, headers }, (response) => {
      response.resume();
      response.on("end", () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`expected 200, received ${response.statusCode}`)),
      );
    });
    asked.on("error", reject);
    asked.end(model && BODY);
  });
}

async function inTurn(server: Running, model: string | undefined, count: number): Promise<void> {
  for (let k = 0; k < count; k++) await ask(server, model);
}

/** Waits from when requests were due to their answers, in milliseconds, ascending. */
async function load(server: Running, count: number): Promise<number[]> {
  const began = performance.now();
  const waits: number[] = [];
  const all: Promise<void>[] = [];
  for (let k = 0; k < count; k++) {
    const due = began + (1000 * k) / RATE;
    const early = due - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const asked = ask(server, "white").then(() => void waits.push(performance.now() - due));
    // Told at the end: a failure must not end the program before.
    asked.catch(() => {});
    all.push(asked);
  }
  await Promise.all(all);
  return waits.sort((a, b) => a - b);
}

/** CPU milliseconds of each of some requests, one after the other. */
async function cpuInTurn(server: Running, model: string | undefined, count: number): Promise<number> {
  await inTurn(server, model, Math.ceil(count / 10));
  const before = cpuMilliseconds(server.pid);
  await inTurn(server, model, count);
  return (cpuMilliseconds(server.pid) - before) / count;
}

/** CPU time that a process has used, user and system, of all its threads; NaN where the system does not tell. */
function cpuMilliseconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    const ticks = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
    return (1000 * (Number(fields[11]) + Number(fields[12]))) / ticks;
  } catch {
    return Number.NaN;
  }
}
