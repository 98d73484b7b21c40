import fs, { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { InUseError, lockFolder, whileLocked } from "./lock.ts";
import { makeFolder } from "./make-folder.ts";

/** Takes the lock, while another does something in the moment after its name was found taken. */
function lockMeanwhile(others: () => void): () => void {
  const { linkSync } = fs;
  let isFound = false;
  fs.linkSync = (from, to) => {
    try {
      linkSync(from, to);
    } catch (error) {
      if (!isFound) others();
      isFound = true;
      throw error;
    }
  };
  syncBuiltinESMExports();
  try {
    return lockFolder(folder);
  } finally {
    fs.linkSync = linkSync;
    syncBuiltinESMExports();
    expect(isFound).toBe(true);
  }
}

const folder = mkdtempSync(join(tmpdir(), "dtm-lock-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a folder that another holds is refused at once, or waited for", async () => {
  const unlock = lockFolder(folder);
  await expect(whileLocked(folder, () => "done")).rejects.toThrow(InUseError);
  let isFree = false;
  const waiting = whileLocked(folder, () => isFree, 60_000);
  isFree = true;
  unlock();
  expect(await waiting).toBe(true);
});

it("a lock let go between a look at its name and one at its words is taken", () => {
  const unlock = lockMeanwhile(lockFolder(folder));
  expect(() => lockFolder(folder)).toThrow(InUseError);
  unlock();
});

it("a lock whose words are being written is held, and an old one without words is not", () => {
  const path = join(folder, ".dtm-lock");
  writeFileSync(path, "");
  expect(() => lockFolder(folder)).toThrow(InUseError);
  utimesSync(path, 0, 0);
  const unlock = lockFolder(folder);
  // What is let go is one's own lock alone.
  writeFileSync(path, "another's");
  unlock();
  expect(existsSync(path)).toBe(true);
});

it("folders are made one by one, and one that cannot be made is told: Node's own way tries for ever where it is not found", () => {
  const { mkdirSync } = fs;
  const inner = join(folder, "outer", "inner");
  expect(makeFolder(inner)).toBe(join(folder, "outer"));
  expect([existsSync(inner), makeFolder(inner)]).toEqual([true, undefined]);
  // As in /proc: the folder is there, and takes no new one.
  fs.mkdirSync = (_, options) => {
    throw Object.assign(new Error(JSON.stringify(options)), { code: options === undefined ? "ENOENT" : "ELOOP" });
  };
  syncBuiltinESMExports();
  try {
    expect(() => lockFolder(join(folder, "none", "inner"))).toThrow("cannot be written: no such file or folder");
  } finally {
    fs.mkdirSync = mkdirSync;
    syncBuiltinESMExports();
  }
});
