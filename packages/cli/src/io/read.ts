/** Reading files: bytes come in here and nowhere else. Gzip is known by its first bytes, whatever the file is called. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { DtmError, decodeText } from "@trajectory-maps/core";
import { FileError } from "../exit-codes.ts";

/** Bytes a packed file may unpack to: text of half this size is more than any cohort needs, and a bomb is stopped. */
export const MAX_UNPACKED = 2 ** 29;

/** Text of a file, or of standard input for "-"; gzip is unpacked. */
export function readText(path: string): string {
  const name = nameOf(path);
  const bytes = path === "-" ? readBytes(0, name) : readFile(path);
  return decodeText(bytes[0] === 0x1f && bytes[1] === 0x8b ? unpack(bytes, name) : bytes, name).text;
}

/** What a path is called in messages. */
export function nameOf(path: string): string {
  return path === "-" ? "standard input" : path;
}

export function fileExists(path: string): boolean {
  return existsSync(path);
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

function unpack(bytes: Uint8Array, name: string): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED });
  } catch (error) {
    const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw tooLarge
      ? new DtmError(
          "too-large",
          `${name}: expected at most ${MAX_UNPACKED / 2 ** 20} MB once unpacked, received more. Give a smaller file.`,
        )
      : new DtmError(
          "not-text",
          `${name}: expected whole gzip data, received damaged or cut bytes. Pack or copy the file again.`,
        );
  }
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
