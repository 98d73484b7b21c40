/** Files of the explorer's server: the built page and what it opens with, listed before the first request. */
import { existsSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join, sep } from "node:path";
import { FileError } from "../exit-codes.ts";
import { fileExists } from "./read.ts";

/** A file the page may fetch, read when it is asked for. */
export interface ServedFile {
  readonly type: string;
  readonly path: string;
}

/** What the page may fetch: a file, or bytes that were made. */
export type Served = ServedFile | MadeFile;

interface MadeFile {
  readonly type: string;
  readonly bytes: () => Buffer;
  /** Content security policy of a page whose scripts stand in it; the server's own for all others. */
  readonly policy?: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Every file under a folder, by the path it is served at. Listed once: a request can name nothing else. */
export function filesOf(folder: string): Map<string, Served> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = path.slice(folder.length).split(sep).join("/");
      return [name, { type: TYPES[extname(path)] ?? "application/octet-stream", path }];
    }),
  );
}

/** One file, read when it is asked for. */
export function servedFile(path: string, type: string): Served {
  if (!fileExists(path)) throw new FileError(`There is no file ${path}.`);
  return { type, path };
}

/** Folder of the built explorer. */
export function builtExplorer(): string {
  try {
    const page = createRequire(import.meta.url).resolve("@trajectory-maps/app/dtm.html");
    const folder = join(dirname(page), "served");
    if (existsSync(join(folder, "index.html"))) return folder;
  } catch {
    // Said below.
  }
  throw new FileError("The explorer is not built. In the repository, any npm script builds it: npm run demo.");
}

/** An open file with its size; undefined where it is gone. It reads no more than that, though the file may grow. */
export async function openServed(path: string) {
  const file = await open(path).catch(() => undefined);
  const about = await file?.stat();
  if (file === undefined || !about?.isFile()) {
    await file?.close();
    return undefined;
  }
  const { size } = about;
  return { size, read: () => file.createReadStream({ end: size - 1 }), close: () => file.close() };
}
