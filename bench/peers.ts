/** Programs of others, if this machine has them: the C compiler, R with its packages, Python with its; and our own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The repository, seen from dist/ or from bench/. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = join(ROOT, "bench");
const ONE_THREAD = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1" };

let scratch: string | undefined;

/** Programs that run; a harness that is stopped takes them along. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill();
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

function watch<C extends ChildProcess>(child: C): C {
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

/** Path of a file of this run, in a folder that is removed when the program ends. */
export function scratchFile(name: string): string {
  if (scratch === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "dtm-bench-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    scratch = folder;
  }
  return join(scratch, name);
}

/** Program made of a C file of bench/c, optimised for this machine; undefined without a compiler or the library. */
export function compileC(name: string, flags: readonly string[] = []): string | undefined {
  const out = scratchFile(`${[name, ...flags].join("")}.program`);
  try {
    execFileSync("cc", ["-O3", "-march=native", join(SOURCES, "c", `${name}.c`), "-o", out, "-lm", ...flags], {
      stdio: "pipe",
    });
    return out;
  } catch (error) {
    // Without a compiler there is nothing to say; a library that is missing is worth a line.
    const said = error instanceof Error && "stderr" in error ? String(error.stderr ?? "").trim() : "";
    if (said !== "") process.stderr.write(`${name}.c was not compiled: ${said.split("\n")[0]}\n`);
    return undefined;
  }
}

/** A child that answers a line with a line, and is still while it is not asked. */
export interface LineChild {
  /** The answer's numbers. */
  ask(line: string): Promise<number[]>;
  close(): void;
}

/** Starts a program of `compileC`; undefined where there is none. */
export function startChild(program: string | undefined): LineChild | undefined {
  if (program === undefined) return undefined;
  const child = watch(spawn(program, { env: { ...process.env, ...ONE_THREAD }, stdio: ["pipe", "pipe", "inherit"] }));
  const waiting: { resolve: (line: string) => void; reject: (reason: Error) => void }[] = [];
  const failed = (reason: Error) => {
    for (const { reject } of waiting.splice(0)) reject(reason);
  };
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(line));
  child.on("error", failed);
  child.on("close", (code) => failed(new Error(`${program} ended with ${code} before it had answered.`)));
  return {
    ask: async (line) => {
      const answer = await new Promise<string>((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${line}\n`);
      });
      return answer.split(" ").map(Number);
    },
    close: () => child.stdin.end(),
  };
}

/** Numbers that an R script of bench/peers prints as JSON; undefined if R or a package is missing. */
export function runR(script: string, args: readonly string[]): Record<string, number> | undefined {
  return runPeer("Rscript", ["--vanilla", join(SOURCES, "peers", script), ...args]);
}

/** As `runR`, for Python; the interpreter may be named by DTM_PYTHON. */
export function runPython(script: string, args: readonly string[]): Record<string, number> | undefined {
  return runPeer(process.env.DTM_PYTHON ?? "python3", [join(SOURCES, "peers", script), ...args]);
}

function runPeer(program: string, args: readonly string[]): Record<string, number> | undefined {
  try {
    const text = execFileSync(program, [...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...ONE_THREAD },
      maxBuffer: 1 << 26,
    });
    return JSON.parse(text.trim().split("\n").at(-1) ?? "") as Record<string, number>;
  } catch {
    return undefined;
  }
}

/** What a run of our own program took and printed. */
export interface ProgramRun {
  readonly out: string;
  /** What it said on standard error. */
  readonly talk: string;
  readonly wall: number;
  /** CPU seconds of all its threads. */
  readonly cpu: number;
  /** Most memory it held, in bytes. */
  readonly peakBytes: number;
}

/** Runs the built `dtm` to its end; throws with what it said if it fails. */
export function runDtm(args: readonly string[]): Promise<ProgramRun> {
  const usageFile = scratchFile("usage.json");
  const hook = pathToFileURL(join(SOURCES, "peers", "usage.mjs")).href;
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const program = join(ROOT, "packages", "cli", "bin", "dtm.mjs");
    const child = watch(
      spawn(process.execPath, ["--import", hook, program, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, DTM_BENCH_USAGE: usageFile },
      }),
    );
    let out = "";
    let talk = "";
    child.stdout.on("data", (bytes) => {
      out += String(bytes);
    });
    child.stderr.on("data", (bytes) => {
      talk += String(bytes);
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(`dtm ${args[0]} ended with ${code}: ${talk.slice(-2000)}`));
      const used = JSON.parse(readFileSync(usageFile, "utf8")) as { cpu: number; peakBytes: number };
      resolve({ out, talk, wall: (performance.now() - began) / 1000, ...used });
    });
  });
}
