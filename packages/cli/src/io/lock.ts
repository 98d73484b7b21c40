/**
 * One writer at a time in a folder. The lock is a small file in it with the process that holds it; a lock whose process is gone (a
 * crash, a second Ctrl-C) is taken over, and what that process left behind is finished or cleared away.
 */
import { existsSync, linkSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { FileError } from "../exit-codes.ts";
import { makeFolder } from "./make-folder.ts";
import { codeOf, reason } from "./read.ts";
import { isUnsettled, settleOrTell } from "./transaction.ts";
import { removeTemporaries, temporaryFor } from "./write.ts";

const LOCK_FILE = ".dtm-lock";
/** How long a reader waits for a change that is being made, and how often it looks. */
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 20;
/** A lock without words, younger than this, is one whose words are being written. */
const WRITING_MS = 5000;

interface Holder {
  readonly process: number;
  /** When that process began, as the system counts; numbers of processes are given out again. */
  readonly began: string;
  readonly host: string;
  readonly since: string;
}

/** Locks that this process holds, by path, and how each is let go. */
const held = new Map<string, () => void>();

/** Somebody else holds the lock. */
export class InUseError extends FileError {}

/** Takes the folder for this process, making it if needed; call the result to let it go. Refuses if another process holds it. */
export function lockFolder(folder: string): () => void {
  const path = resolve(folder, LOCK_FILE);
  let made: string | undefined;
  let own: string;
  try {
    if (existsSync(folder) && !statSync(folder).isDirectory()) {
      throw new FileError(`${folder} is a file. Name a folder for the results.`);
    }
    made = makeFolder(folder);
    own = take(folder, path);
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(`${folder} cannot be written: ${reason(error)}. Choose a folder that can.`);
  }
  const unlock = () => {
    held.delete(path);
    try {
      // Not the lock of somebody who took this one for that of a process that is gone.
      if (readOr(path, "") === own) rmSync(path, { force: true });
    } catch {
      // The lock of a process that has ended is taken over.
    }
    if (made !== undefined) removeEmpty(resolve(folder), resolve(made));
  };
  held.set(path, unlock);
  try {
    settleOrTell(folder);
    // Others may be writing a single file here, which needs no lock.
    removeTemporaries(folder, (id) => id === process.pid || !isAlive(id));
  } catch (error) {
    unlock();
    throw error;
  }
  return unlock;
}

/** Lets go what this process holds, before it ends at once. */
export function unlockAll(): void {
  for (const unlock of [...held.values()]) unlock();
}

/** Does some work with the folder locked, if one is named; waits so many milliseconds for another who holds it. */
export async function whileLocked<T>(folder: string | undefined, work: () => T | Promise<T>, patience = 0): Promise<T> {
  // What is no name is told by the work itself.
  if (folder === undefined || folder === "") return work();
  const unlock = await lockedSoon(folder, patience);
  try {
    return await work();
  } finally {
    unlock();
  }
}

async function lockedSoon(folder: string, patience: number): Promise<() => void> {
  for (const until = Date.now() + patience; ; await setTimeout(LOOK_AGAIN_MS)) {
    try {
      return lockFolder(folder);
    } catch (error) {
      if (!(error instanceof InUseError) || Date.now() >= until) throw error;
    }
  }
}

/** Before a folder is read: a change that was made is finished, or awaited where its writer is still there. */
export function settled(folder: string): void {
  if (!isUnsettled(folder)) return;
  if (held.has(resolve(folder, LOCK_FILE))) {
    settleOrTell(folder);
    return;
  }
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const until = Date.now() + PATIENCE_MS;
  while (isUnsettled(folder)) {
    try {
      lockFolder(folder)();
    } catch (error) {
      if (!(error instanceof InUseError) || Date.now() >= until) throw error;
      Atomics.wait(sleeper, 0, 0, LOOK_AGAIN_MS);
    }
  }
}

/** Takes the lock and gives its words. */
function take(folder: string, path: string): string {
  const holder: Holder = {
    process: process.pid,
    began: beginOf(process.pid),
    host: hostname(),
    since: new Date().toISOString(),
  };
  const own = JSON.stringify(holder);
  const temporary = temporaryFor(path);
  writeFileSync(temporary, own);
  try {
    if (putNew(temporary, path)) return own;
    const text = readOr(path, "");
    if (isHeld(path, text)) throw inUse(folder, path, parse(text));
    // Of several who find the lock of a process that is gone, one moves it aside; the others find that it is another one.
    const aside = temporaryFor(path);
    const moved = moveAway(path, aside) ? readOr(aside, "") : text;
    if (moved !== text) putNew(aside, path);
    rmSync(aside, { force: true });
    if (moved !== text || !putNew(temporary, path)) throw inUse(folder, path, parse(moved));
    return own;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Gives a whole file a name that nothing has; false where something has it. */
function putNew(from: string, path: string): boolean {
  try {
    linkSync(from, path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    if (existsSync(path)) return false;
  }
  // Disks without links: the file is there before its words are, for a moment.
  try {
    writeFileSync(path, readFileSync(from), { flag: "wx" });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** False where the file is gone: its holder let it go, or another has moved it. */
function moveAway(path: string, to: string): boolean {
  try {
    renameSync(path, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Whether a lock is held by a process that is there. One on another machine cannot be asked. */
function isHeld(path: string, text: string): boolean {
  const holder = parse(text);
  if (holder === undefined) {
    const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    return Date.now() - mtimeMs < WRITING_MS;
  }
  if (holder.host !== hostname()) return true;
  if (holder.process === process.pid) return held.has(path);
  return isAlive(holder.process) && (holder.began === "" || holder.began === beginOf(holder.process));
}

function inUse(folder: string, path: string, holder: Holder | undefined): InUseError {
  const who = holder === undefined ? "another process" : `process ${holder.process} since ${holder.since}`;
  const elsewhere = holder !== undefined && holder.host !== hostname();
  const where = elsewhere ? ` on ${holder.host}` : "";
  const remedy = elsewhere ? `, or remove ${path} if that process has ended` : "";
  return new InUseError(
    `${folder} is in use by ${who}${where} (in-use). Wait for it, or name another folder${remedy}.`,
  );
}

function parse(text: string): Holder | undefined {
  try {
    const { process: id, began = "", host = hostname(), since = "" } = JSON.parse(text) as Partial<Holder>;
    return typeof id === "number" ? { process: id, began, host, since } : undefined;
  } catch {
    return undefined;
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return otherwise;
  }
}

/** When a process began, where the system says it in a file (Linux); "" elsewhere. */
function beginOf(id: number): string {
  const text = readOr(`/proc/${id}/stat`, "");
  // Behind the name of the program, which may hold anything, come its state and, nineteen fields later, its begin.
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // It is there, but belongs to someone else.
    return codeOf(error) === "EPERM";
  }
}

/** Removes folders that were made for results which never came. */
function removeEmpty(folder: string, top: string): void {
  try {
    for (let path = folder; ; path = dirname(path)) {
      rmdirSync(path);
      if (path === top) return;
    }
  } catch {
    // There is something in it.
  }
}
