/** Files of the explorer's server: the built page and what it opens with, listed before the first request. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
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

/** The page for one patient, by the paths it is served at; it stands one or two folders above this one: beside src/io and dist alike. */
export function calculatorFiles(): Map<string, Served> {
  const folders = ["../calculator", "../../calculator"].map((name) => fileURLToPath(new URL(name, import.meta.url)));
  const folder = folders.find((path) => existsSync(join(path, "index.html")));
  if (folder === undefined) throw new FileError("The calculator is missing: install the package again.");
  const files = [...filesOf(folder)].map(([name, file]) => [`/calculator${name}`, file] as const);
  const page = files.find(([name]) => name === "/calculator/index.html");
  return new Map([...files, ["/calculator", page![1]]]);
}
