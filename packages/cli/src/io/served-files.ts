/** Files of the explorer's server: the built page and what it opens with, listed before the first request. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, sep } from "node:path";
import { FileError } from "../exit-codes.ts";
import { fileExists } from "./read.ts";

/** A file the page may fetch, by path. */
export interface Served {
  readonly type: string;
  readonly bytes: () => Buffer;
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
      return [name, { type: TYPES[extname(path)] ?? "application/octet-stream", bytes: () => readFileSync(path) }];
    }),
  );
}

/** One file, read when it is asked for. */
export function servedFile(path: string, type: string): Served {
  if (!fileExists(path)) throw new FileError(`There is no file ${path}.`);
  return { type, bytes: () => readFileSync(path) };
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
