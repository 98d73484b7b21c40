/** Programs of others, if this machine has them: the C compiler, R with its packages, Python with its. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The repository, from dist/bench.mjs. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = join(ROOT, "bench");
const ONE_THREAD = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1" };

let scratch: string | undefined;

/** A folder for files of this run. */
export function scratchFolder(): string {
  scratch ??= mkdtempSync(join(tmpdir(), "dtm-bench-"));
  mkdirSync(scratch, { recursive: true });
  return scratch;
}

/** A C program of bench/c, compiled with optimisation for this machine; undefined without a compiler or library. */
export function compileC(name: string, flags: readonly string[] = []): string | undefined {
  const out = join(scratchFolder(), name);
  try {
    execFileSync("cc", ["-O3", "-march=native", join(SOURCES, "c", `${name}.c`), "-o", out, "-lm", ...flags], {
      stdio: "pipe",
    });
    return out;
  } catch {
    return undefined;
  }
}

/** A child that answers a line with a line, and is still while it is not asked. */
export interface LineChild {
  ask(line: string): Promise<string>;
  close(): void;
}

export function startChild(program: string, args: readonly string[] = []): LineChild {
  const child: ChildProcessWithoutNullStreams = spawn(program, [...args], { env: { ...process.env, ...ONE_THREAD } });
  const waiting: ((line: string) => void)[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.(line));
  return {
    ask: (line) =>
      new Promise((resolve, reject) => {
        waiting.push(resolve);
        child.once("error", reject);
        child.stdin.write(`${line}\n`);
      }),
    close: () => child.stdin.end(),
  };
}

/** JSON that an R script of bench/peers prints last; undefined if R or a package is missing. */
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

export function fileIn(name: string): string {
  return join(scratchFolder(), name);
}

export { existsSync };
