/**
 * Several files of a folder changed as one: at any moment the folder holds either what it held or all that is new.
 *
 * New files are written into a folder beside their places and brought to the disk. Renaming that folder to `.dtm-commit` is the one
 * moment at which the change is made: before it nothing has happened, after it the change is finished by whoever comes next, by
 * moving the files to their places and removing what is listed (`settle`), which may be begun any number of times.
 * docs/decisions/0023-a-run-is-one-transaction.md says why not otherwise.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { FileError } from "../exit-codes.ts";
import { makeFolder } from "./make-folder.ts";
import { codeOf, reason } from "./read.ts";

const COMMIT = ".dtm-commit";
const LIST = "commit.json";
const FILES = "files";

/** What a change does, beside the files it brings: "/" between parts of names. */
interface ChangeList {
  readonly files: readonly string[];
  readonly remove: readonly string[];
}

/** Text or bytes, in pieces if they are long. */
export type Pieces = string | Uint8Array | Iterable<string>;

/** Writes a file anew and brings it to the disk; the size of each piece is told before it is written. Returns its SHA-256. */
export function writeThrough(path: string, text: Pieces, mode: number, onPiece: (bytes: number) => void): string {
  const hash = createHash("sha256");
  const file = openSync(path, "wx", mode);
  try {
    for (const piece of typeof text === "string" || text instanceof Uint8Array ? [text] : text) {
      const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
      onPiece(bytes.length);
      hash.update(bytes);
      writeFileSync(file, bytes);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}

/** Brings a file that others wrote to the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Systems that cannot bring a folder to the disk say so by one of these. */
const NOT_FOR_FOLDERS = ["EINVAL", "EISDIR", "EPERM", "EACCES", "EBADF", "ENOTSUP", "ENOSYS"];

/** Brings the names in a folder to the disk, where the system can. */
export function syncFolder(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(path, "r");
    fsyncSync(folder);
  } catch (error) {
    if (!NOT_FOR_FOLDERS.includes(codeOf(error))) throw error;
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

/** Where the files of a change that is being prepared are written. */
export function stagedPath(staging: string, name: string): string {
  return join(staging, FILES, name);
}

/** Whether a change of the folder is made and not finished. */
export function isUnsettled(folder: string): boolean {
  return existsSync(join(folder, COMMIT));
}

/** Makes the change whose files stand in `staging`, a folder in the folder. `onMade` is told once there is no way back. */
export function commit(folder: string, staging: string, change: ChangeList, onMade: () => void): void {
  writeThrough(join(staging, LIST), `${JSON.stringify(change)}\n`, 0o600, () => {});
  for (const path of foldersIn(staging)) syncFolder(path);
  renameSync(staging, join(folder, COMMIT));
  onMade();
  syncFolder(folder);
  settle(folder);
}

/** Finishes a change that was made, however far it has come; nothing happens where there is none. */
export function settle(folder: string): void {
  const made = join(folder, COMMIT);
  if (!existsSync(made)) return;
  const list = join(made, LIST);
  if (existsSync(list)) {
    const { files, remove } = JSON.parse(readFileSync(list, "utf8")) as ChangeList;
    for (const name of files) {
      const path = join(folder, name);
      const staged = stagedPath(made, name);
      if (!existsSync(staged)) continue;
      makeFolder(dirname(path));
      renameSync(staged, path);
    }
    for (const name of remove) rmSync(join(folder, name), { recursive: true, force: true });
    for (const path of new Set([folder, ...files.map((name) => dirname(join(folder, name)))])) syncFolder(path);
    // Without its list a change is finished: what is left of it means nothing.
    rmSync(list);
    syncFolder(made);
  }
  rmSync(made, { recursive: true, force: true });
}

/** `settle`, with words for what hinders it. */
export function settleOrTell(folder: string): void {
  try {
    settle(folder);
  } catch (error) {
    throw new FileError(unsettled(folder, error));
  }
}

/** What to say where a change is made and cannot be finished. */
export function unsettled(folder: string, error: unknown): string {
  return `${folder}: results are written and whole, but could not all be put in their places: ${reason(error)}. Close programs that have its files open; the next dtm command on this folder does the rest.`;
}

function foldersIn(path: string): string[] {
  const inner = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [path, ...inner.flatMap(({ name }) => foldersIn(join(path, name)))];
}
