/** Reading files: bytes come in here and nowhere else. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { decodeText } from "@trajectory-maps/core";
import { FileError } from "../exit-codes.ts";

/** Text of a file, or of standard input for "-". */
export function readText(path: string): string {
  const bytes = path === "-" ? readBytes(0, "standard input") : readFile(path);
  return decodeText(bytes, path === "-" ? "standard input" : path).text;
}

function readFile(path: string): Uint8Array {
  if (!existsSync(path)) throw new FileError(`There is no file ${path}. Check the name and the folder.`);
  if (statSync(path).isDirectory()) throw new FileError(`${path} is a folder. Name a file in it.`);
  return readBytes(path, path);
}

function readBytes(source: string | number, name: string): Uint8Array {
  try {
    return readFileSync(source);
  } catch (error) {
    throw new FileError(`${name} cannot be read: ${reason(error)}. Check who may read it.`);
  }
}

/** A file of the bundled PBC cohort; it stays in the repository and is not part of the published package. */
export function bundledFile(name: string): string {
  const path = fileURLToPath(new URL(`../../../examples/pbc/${name}`, import.meta.url));
  if (!existsSync(path)) {
    throw new FileError("The bundled cohort is only part of the repository. Run the demo there: npm run demo.");
  }
  return path;
}

/** The system's word for what went wrong, without a stack. */
export function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const words: Record<string, string> = {
    EACCES: "permission denied",
    EPERM: "permission denied",
    ENOENT: "no such file or folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only",
    ENOTDIR: "a part of the path is not a folder",
    EISDIR: "it is a folder",
  };
  return words[code] ?? (error instanceof Error ? error.message : String(error));
}
