/**
 * One fit at a time in a folder. The lock is a small file beside the folder with the process that holds it; a lock whose
 * process is gone (a crash, a second Ctrl-C) is taken over.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { FileError } from "../exit-codes.ts";

/** Takes the folder for this process; call the result to let it go. Refuses if another process holds it. */
export function lockFolder(folder: string): () => void {
  let parent = dirname(resolve(folder));
  while (!existsSync(parent)) parent = dirname(parent);
  const path = join(parent, `.dtm-${relative(parent, resolve(folder)).replace(/[\\/]/g, "-")}.lock`);
  const text = JSON.stringify({ process: process.pid, since: new Date().toISOString() });
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    const holder = readHolder(path);
    if (holder !== undefined && holder.process !== process.pid && isAlive(holder.process)) {
      throw new FileError(
        `${folder} is in use by process ${holder.process} since ${holder.since} (in-use). Wait for it, or name another folder.`,
      );
    }
    writeFileSync(path, text);
  }
  return () => rmSync(path, { force: true });
}

function readHolder(path: string): { readonly process: number; readonly since: string } | undefined {
  try {
    const raw = JSON.parse(readFileSync(path, "utf8")) as { process?: unknown; since?: unknown };
    return typeof raw.process === "number" ? { process: raw.process, since: String(raw.since) } : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // It is there, but belongs to someone else.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
