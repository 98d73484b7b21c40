/**
 * Faults of the disk, injected: one call that changes files fails as on a full disk, or is the last one ever made, as if the process
 * were killed in it (half of what it was to write is there). Calls are counted, so that each of them can be the one.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What writing consists of; all file access of the program is by these. */
const CALLS = [
  "chmodSync",
  "fsyncSync",
  "linkSync",
  "mkdirSync",
  "openSync",
  "renameSync",
  "rmdirSync",
  "rmSync",
  "writeFileSync",
] as const;

// Node looks up what removing a folder needs when it first does so: that must be the real calls.
const trial = fs.mkdtempSync(join(tmpdir(), "dtm-"));
fs.mkdirSync(join(trial, "inner"));
fs.rmSync(trial, { recursive: true });

export type FaultKind = "full disk" | "kill";

export interface Fault {
  readonly kind: FaultKind;
  /** Which call, from 0; beyond the last, none. */
  readonly at: number;
}

type Call = (...args: unknown[]) => unknown;

/** Does some work under a fault; returns what came of it and how many calls were made up to the end or the kill. */
export async function withFault<T>(
  fault: Fault | undefined,
  work: () => T | Promise<T>,
): Promise<{ readonly result: T | undefined; readonly calls: readonly string[] }> {
  const table = fs as unknown as Record<string, Call>;
  const real = new Map(CALLS.map((name) => [name, table[name] as Call]));
  const calls: string[] = [];
  let isDead = false;
  const failing = (name: string, code: string) =>
    Object.assign(new Error(`${code}: injected in ${name}`), { code, injected: true });
  for (const name of CALLS) {
    // The machine does not lose its power meanwhile: that the disk is asked is what counts.
    const call = name === "fsyncSync" ? () => {} : (real.get(name) as Call);
    table[name] = (...args) => {
      if (isDead) throw failing(name, "EIO");
      calls.push(name);
      if (calls.length - 1 !== fault?.at) return call(...args);
      if (fault.kind === "kill") {
        isDead = true;
        if (name === "writeFileSync") call(args[0], halfOf(args[1]), ...args.slice(2));
      }
      throw failing(name, "ENOSPC");
    };
  }
  syncBuiltinESMExports();
  try {
    return { result: await work(), calls };
  } catch (error) {
    if (fault === undefined || !(error instanceof Error)) throw error;
    return { result: undefined, calls };
  } finally {
    for (const [name, call] of real) table[name] = call;
    syncBuiltinESMExports();
  }
}

function halfOf(data: unknown): string | Uint8Array {
  if (typeof data === "string") return data.slice(0, data.length >> 1);
  return data instanceof Uint8Array ? data.subarray(0, data.length >> 1) : "";
}

/** Every file under a folder with its bytes, by path; what is hidden is the program's own affair. */
export function contents(folder: string): Record<string, string> {
  if (!fs.existsSync(folder)) return {};
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => `${entry.parentPath}/${entry.name}`).filter((path) => !path.includes("/."));
  return Object.fromEntries(
    paths.sort().map((path) => [path.slice(folder.length + 1), fs.readFileSync(path, "latin1")]),
  );
}

/** Names of what writers leave behind while they work. */
export function leftovers(folder: string): string[] {
  return (fs.readdirSync(folder, { recursive: true }) as string[]).filter((name) => /(^|\/)\.dtm-|\.tmp$/.test(name));
}
